"""What moderators do about votes and voters. Each act changes the counts and the audit log in one transaction.

Boards follow with the next publication, or at once with `publish_now`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction

from arena.models import Vote
from rankings.models import ExcludedVoter, Finding, ModerationAct
from rankings.publication import aggregation
from rankings.publication.integrity import DOUBTFUL, voters_of
from rankings.votes import ledger

Action = ModerationAct.Action
State = Finding.State


class NoReason(ValueError):
    """A moderation act lacks its reason."""

    def __init__(self) -> None:
        super().__init__("Say why, in a few words: the audit log keeps it.")


@dataclass(frozen=True)
class By:
    """Who acts, and why. `moderator` None: a command."""

    moderator: User | None
    reason: str

    def __post_init__(self) -> None:
        if not self.reason.strip() or "\0" in self.reason:  # PostgreSQL refuses NUL, after all else is done
            raise NoReason

    def about(self, subject: str) -> By:
        """The same, with `subject` added to the reason."""
        return By(self.moderator, f"{self.reason.strip()[:400]} ({subject})")

    def note(self, action: str, subject: str, votes: int = 0) -> None:
        ModerationAct.objects.create(
            action=action,
            subject=subject,
            reason=self.reason.strip()[:500],
            votes=votes,
            moderator=self.moderator,
            moderator_name=self.moderator.get_username() if self.moderator else "",
        )


@transaction.atomic
def exclude_votes(votes: Iterable[Vote], by: By) -> int:
    """Take votes out of the counts; returns how many were in them."""
    return sum(_logged(vote, by, Action.EXCLUDE_VOTE, ledger.exclude_votes([vote.pk])) for vote in votes)


@transaction.atomic
def restore_votes(votes: Iterable[Vote], by: By) -> int:
    """Undo `exclude_votes`. A vote of an excluded voter counts again only once the voter is restored too."""
    return sum(_logged(vote, by, Action.RESTORE_VOTE, ledger.restore_votes([vote.pk])) for vote in votes)


@transaction.atomic
def exclude_voter(voter: str, by: By) -> int:
    """Exclude a voter's votes, future ones included; returns how many were counted."""
    if ExcludedVoter.objects.filter(voter=voter).exists():
        return 0
    votes = ledger.exclude_voter(voter)
    Finding.objects.filter(kind__in=DOUBTFUL, subject=voter).update(state=State.ACTED)
    by.note(Action.EXCLUDE_VOTER, voter, votes)
    return votes


@transaction.atomic
def exclude_found(findings: Iterable[Finding], by: By) -> int:
    """Exclude the voters whom these findings are about; returns how many of their votes were counted."""
    doubts = [each for each in findings if voters_of(each)]
    votes = sum(exclude_voter(voter, by) for voter in sorted({voter for each in doubts for voter in voters_of(each)}))
    Finding.objects.filter(pk__in=[each.pk for each in doubts]).update(state=State.ACTED)
    return votes


@transaction.atomic
def restore_voter(voter: str, by: By) -> int:
    """Undo `exclude_voter`; what was found about the voter is open again. Returns how many votes count again."""
    if not ExcludedVoter.objects.filter(voter=voter).exists():
        return 0
    votes = ledger.restore_voter(voter)
    Finding.objects.filter(kind__in=DOUBTFUL, subject=voter, state=State.ACTED).update(state=State.OPEN)
    by.note(Action.RESTORE_VOTER, voter, votes)
    return votes


@transaction.atomic
def dismiss(findings: Iterable[Finding], by: By) -> int:
    """Close findings without an act, for good; returns how many. Found again, they stay dismissed."""
    dismissed = list(findings)
    for finding in dismissed:
        by.note(Action.DISMISS, f"{finding.kind}: {finding.subject}"[:255])
    return Finding.objects.filter(pk__in=[finding.pk for finding in dismissed]).update(state=State.DISMISSED)


def publish_now(by: By) -> aggregation.RunReport:
    """Publish again within the hour, for what must take effect at once; the log entry follows."""
    report = aggregation.aggregate()
    by.note(Action.PUBLISH, "boards")
    return report


def note_act(*, action: str, subject: str, reason: str, moderator: User | None, **named: object) -> None:
    """Receiver of `arena.signals.moderated`: the same log has what is done elsewhere."""
    By(moderator, reason or "no reason given").note(Action(action), subject[:255])


def _logged(vote: Vote, by: By, action: str, changed: int) -> int:
    if changed:
        by.note(action, vote.vote_id, changed)
    return changed
