"""Rows that change together, then telling others. Nothing else publishes an event or puts work on the queue.

Every action that touches a battle locks the battle's row first, so the order of its events is the order of its changes.
"""

from arena.actions.admission import send_due_or_leave_to_the_sweep
from arena.actions.attempts import (
    Ending,
    RendersOtherwise,
    claim_attempt,
    fail_attempt,
    finish_attempt,
    give_up_attempt,
    pass_chunks,
    refuse_attempt,
    report_progress,
    resend_attempt,
    retry_attempt,
)
from arena.actions.expire import expire_battle
from arena.actions.sessions import open_next_battle, open_session
from arena.actions.turns import TurnRequest, submit_instruction
from arena.actions.votes import cast_vote

__all__ = [
    "Ending",
    "RendersOtherwise",
    "TurnRequest",
    "cast_vote",
    "claim_attempt",
    "expire_battle",
    "fail_attempt",
    "finish_attempt",
    "give_up_attempt",
    "open_next_battle",
    "open_session",
    "pass_chunks",
    "refuse_attempt",
    "report_progress",
    "resend_attempt",
    "retry_attempt",
    "send_due_or_leave_to_the_sweep",
    "submit_instruction",
]
