"""What the arena keeps of a visitor: the account, and sessions with battles, instructions and votes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as LoginSession

from arena.actions import owners
from arena.models import Attempt, Battle, BattleStatus, Session, Side, Turn, Vote
from people.models import Account, Token
from people.own_data import Owner, Part, Row
from rankings.moderation import identity


def export_account(owner: Owner) -> Iterator[Row]:
    if owner.user is None:
        return
    account = Account.objects.filter(user=owner.user).first()
    yield {
        "display_name": account.display_name if account else "",
        "created_at": owner.user.date_joined,
        "last_login_at": owner.user.last_login,
        "addresses": list(EmailAddress.objects.filter(user=owner.user).values("email", "verified", "primary")),
        "passkeys": [
            {"name": key.wrap().name, "created_at": key.created_at, "last_used_at": key.last_used_at}
            for key in Authenticator.objects.filter(user=owner.user)
        ],
        "api_tokens": list(
            Token.objects.filter(user=owner.user).values(
                "name", "hint", "scopes", "created_at", "last_used_at", "revoked_at"
            )
        ),
    }


def forget_account(owner: Owner, pseudonym: str) -> None:
    if owner.user is not None:
        _end_logins(owner.user)
        _delete_mails(owner.user)
        owner.user.delete()


def _end_logins(user: User) -> None:
    """On every device. A login session does not tell in a column whose it is."""
    for session in LoginSession.objects.iterator():
        data = session.get_decoded()
        if data.get("_auth_user_id") == str(user.pk) or (user.email and user.email in json.dumps(data)):
            session.delete()


def _delete_mails(user: User) -> None:
    """Those that were written into a folder for want of a mail server."""
    folder = Path(settings.EMAIL_FILE_PATH or "")
    if settings.EMAIL_FILE_PATH and user.email and folder.is_dir():
        for file in folder.glob("*.log"):
            if user.email in file.read_text(errors="replace"):
                file.unlink(missing_ok=True)


def export_sessions(owner: Owner) -> Iterator[Row]:
    if not owner.visitor:
        return
    for session in Session.objects.filter(user_id=owner.visitor).order_by("pk").iterator():
        yield {
            "session_id": session.session_id,
            "kind": session.kind,
            "created_at": session.created_at,
            "last_active_at": session.last_active_at,
            "battles": [_battle(battle) for battle in _battles(session)],
        }


def _battles(session: Session) -> list[Battle]:
    rows = session.battles.order_by("seq_in_session").select_related("left_model", "right_model", "vote")
    return list(rows.prefetch_related("turns__attempts"))


def _battle(battle: Battle) -> Row:
    """Without a vote, only what the visitor did: the rest would tell who plays."""
    voted = battle.status == BattleStatus.VOTED
    turns = sorted(battle.turns.all(), key=lambda turn: turn.seq)
    about = {
        "battle_id": battle.battle_id,
        "opened_at": battle.created_at,
        "status": battle.status,
        "turns": [_turn(turn, with_outcome=voted) for turn in turns],
    }
    names = {"left_model": battle.left_model_id, "right_model": battle.right_model_id, "vote": _vote(battle)}
    return {**about, **names} if voted else about


def _turn(turn: Turn, *, with_outcome: bool) -> Row:
    sent = {"turn_id": turn.turn_id, "instruction": turn.instruction, "sent_at": turn.created_at}
    if not with_outcome:
        return sent
    sides = {attempt.side: _attempt(attempt) for attempt in turn.attempts.all()}
    return {**sent, **{str(side): sides.get(side) for side in Side}}


def _attempt(attempt: Attempt) -> Row:
    return {"episode_id": attempt.episode_id, "success": attempt.success, "progress": attempt.progress}


def _vote(battle: Battle) -> Row | None:
    vote: Vote | None = getattr(battle, "vote", None)
    columns = ("vote_id", "vote", "reasons", "dwell_ms", "voted_at")
    return {name: getattr(vote, name) for name in columns} if vote else None


def forget_sessions(owner: Owner, pseudonym: str) -> None:
    if owner.visitor:
        owners.forget_sessions(owner.visitor, pseudonym)
        identity.rename_voter(owner.visitor, pseudonym, moved=False)


PARTS = (
    Part("account", export_account, forget_account),
    Part("sessions", export_sessions, forget_sessions),
)
