"""Writing comments, and what moderators do with them."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from arena.audit import Act, clean_reason, note
from arena.models import Battle
from community.models import Comment

MOST_SHOWN = 100
State = Comment.State


def are_open() -> bool:
    """Whether comments are shown and taken: settings.COMMENTS."""
    return bool(settings.COMMENTS)


def write(battle: Battle, author: User, text: str) -> Comment:
    """A comment that waits for a moderator."""
    return Comment.objects.create(battle=battle, author=author, text=text)


def shown_to(user: User | AnonymousUser, battle_id: str) -> list[Comment]:
    """The public comments on a battle, and the reader's own that still wait; the oldest first."""
    seen = Q(state=State.PUBLIC)
    if user.is_authenticated:
        seen |= Q(state=State.PENDING, author=user)
    newest = Comment.objects.filter(seen, battle__battle_id=battle_id).select_related("author")[:MOST_SHOWN]
    return list(reversed(newest))


@transaction.atomic
def publish(comment: Comment, moderator: User) -> bool:
    """Let everybody read it. Returns False if everybody may."""
    if not _decide(comment, moderator, State.PUBLIC):
        return False
    note(Act.SHOW_COMMENT, comment, moderator, "")
    return True


@transaction.atomic
def hide(comment: Comment, moderator: User, reason: str) -> bool:
    """Returns False if it is hidden already. Raises ReasonMissing."""
    why = clean_reason(reason)
    if not _decide(comment, moderator, State.HIDDEN):
        return False
    note(Act.HIDE_COMMENT, comment, moderator, why)
    return True


def _decide(comment: Comment, moderator: User, state: Comment.State) -> bool:
    others = Comment.objects.filter(pk=comment.pk).exclude(state=state)
    return bool(others.update(state=state, decided_by=moderator, decided_at=timezone.now()))
