"""One voter's new id, in everything that the rankings keep about voters: votes, counts, exclusions, findings, acts."""

from __future__ import annotations

from django.db import transaction

from rankings.models import Finding, ModerationAct
from rankings.publication.integrity import DOUBTFUL
from rankings.votes import ledger

State = Finding.State
ABOUT_VOTERS = (ModerationAct.Action.EXCLUDE_VOTER, ModerationAct.Action.RESTORE_VOTER)


@transaction.atomic
def rename_voter(old: str, new: str, *, moved: bool) -> None:
    """Let the rankings know a voter by another id, which may be that of a voter whom they know as well.

    `moved`: the votes come from another cookie, so that their right answers earn no trust. Findings stay: nobody gets
    rid of a doubt by a new id.
    """
    ledger.rename_voter(old, new, moved=moved)
    ModerationAct.objects.filter(action__in=ABOUT_VOTERS, subject=old).update(subject=new)
    for finding in Finding.objects.filter(kind__in=DOUBTFUL, subject=old):
        _rename_subject(finding, new)
    for finding in Finding.objects.filter(kind=Finding.Kind.CAMPAIGN):
        _rename_in_campaign(finding, old, new)


def _rename_subject(finding: Finding, new: str) -> None:
    """Of two findings of one kind about one voter, one stays, and it is open if either is."""
    known = Finding.objects.filter(kind=finding.kind, arena=finding.arena, subject=new).first()
    if known is None:
        finding.subject = new
        finding.save(update_fields=["subject"])
        return
    if finding.state == State.OPEN and known.state != State.OPEN:
        known.state = State.OPEN
        known.save(update_fields=["state"])
    finding.delete()


def _rename_in_campaign(finding: Finding, old: str, new: str) -> None:
    voters = [str(voter) for voter in finding.evidence.get("voters", [])]
    if old in voters:
        finding.evidence["voters"] = list(dict.fromkeys(new if voter == old else voter for voter in voters))
        finding.save(update_fields=["evidence"])
