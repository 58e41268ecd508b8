"""Policies that researchers submit: asking, deciding, and what model pages tell of it.

Nothing connects to an address before a moderator has approved it. Then a worker tries the server as it does for an
operator (`robots.remote_trials`), and the policy that it enters is provisional until the boards' thresholds are met.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from arena.audit import Act, clean_reason, note
from arena.errors import ArenaError, QueueUnavailable
from policies.models import Policy
from robots import remote_trials
from robots.models import PolicyRevision, RemoteTrial, Submission

State = Submission.State
DECLARED = ("name", "organization", "license", "provenance")
"""Columns that a submission states and a contract may have, too. Those of the submission go first."""


class NotDecidable(ArenaError):
    code = "not_decidable"
    status = 409


def approve(row: Submission, moderator: User) -> None:
    """Let a worker try the server, which enters the policy if it does what the contract says. Of a folder only the
    decision is kept: an operator fetches it, and runs `manage.py add_policy`.

    Raises NotDecidable, with what is wrong, and QueueUnavailable; the submission then waits as before.
    """
    with transaction.atomic():
        row = _waiting(row)
        if row.url:
            row.trial = _trial(row, moderator)
        _decide(row, State.APPROVED, moderator, "", Act.APPROVE_SUBMISSION)
    if row.trial is not None:
        _ask(row, row.trial)


def refuse(row: Submission, moderator: User, reason: str) -> None:
    """Raises NotDecidable and ReasonMissing."""
    why = clean_reason(reason)
    with transaction.atomic():
        _decide(_waiting(row), State.REFUSED, moderator, why, Act.REFUSE_SUBMISSION)


def note_revision(instance: Policy, update_fields: Collection[str] | None = None, **_: Any) -> None:
    """Remember, when a policy is saved, that it has this revision from now on. For Django's signal."""
    if instance.revision and (update_fields is None or "revision" in update_fields):
        PolicyRevision.objects.get_or_create(policy_id=instance.pk, revision=instance.revision)


def revisions_of(policy: Policy) -> list[PolicyRevision]:
    """Oldest first."""
    return list(PolicyRevision.objects.filter(policy_id=policy.pk))


def variants_of(policy_id: str) -> list[Submission]:
    """Every approved submission of this policy, of its variants, and of what it is a variant of, with its trial: also
    those that failed it. What no moderator has approved is not public."""
    named = Submission.objects.filter(model_id=policy_id).exclude(variant_of="").values_list("variant_of", flat=True)
    family = {policy_id, *named}
    rows = Submission.objects.filter(Q(model_id__in=family) | Q(variant_of__in=family))
    return list(rows.filter(state=State.APPROVED).select_related("trial").order_by("created_at"))


def contract_of(row: Submission) -> dict[str, Any]:
    return {**row.contract, **{name: getattr(row, name) for name in DECLARED if getattr(row, name)}}


def _trial(row: Submission, moderator: User) -> RemoteTrial:
    trial = RemoteTrial(model_id=row.model_id, url=row.url, contract=contract_of(row), asked_by=moderator)
    try:
        trial.full_clean()
    except ValidationError as error:
        raise NotDecidable("; ".join(error.messages)) from None
    trial.save()
    return trial


def _ask(row: Submission, trial: RemoteTrial) -> None:
    """Send it to a worker, or take the decision back."""
    try:
        remote_trials.ask(trial)
    except QueueUnavailable:
        columns = {"state": State.WAITING, "trial": None, "decided_by": None, "decided_at": None}
        Submission.objects.filter(pk=row.pk).update(**columns)
        raise


def _waiting(row: Submission) -> Submission:
    found = Submission.objects.select_for_update().get(pk=row.pk)
    if found.state != State.WAITING:
        raise NotDecidable(f"it is {found.state} already")
    return found


def _decide(row: Submission, state: str, moderator: User, reason: str, act: Act) -> None:
    row.state, row.reason, row.decided_by, row.decided_at = state, reason, moderator, timezone.now()
    row.save()
    note(act, row, moderator, reason)
