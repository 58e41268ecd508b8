"""Rows that change together, then telling others. Nothing else publishes an event or puts work on the queue.

Every action that touches a battle locks the battle's row first, so the order of its events is the order of its changes.
"""

from arena.actions.admission import send_due_or_leave_to_the_sweep
from arena.actions.attempts import (
    Outcome,
    RendersOtherwise,
    claim_rollout,
    fail_rollout,
    finish_rollout,
    give_up_attempt,
    pass_rows,
    refuse_rollout,
    report_progress,
    resend_rollout,
    retry_rollout,
)
from arena.actions.expire import expire_battle
from arena.actions.sessions import open_next_battle, open_session
from arena.actions.turns import Task, submit_instruction
from arena.actions.votes import cast_vote
from robots.forks import Wish, explore

__all__ = [
    "Outcome",
    "RendersOtherwise",
    "Task",
    "Wish",
    "cast_vote",
    "claim_rollout",
    "expire_battle",
    "explore",
    "fail_rollout",
    "finish_rollout",
    "give_up_attempt",
    "open_next_battle",
    "open_session",
    "pass_rows",
    "refuse_rollout",
    "report_progress",
    "resend_rollout",
    "retry_rollout",
    "send_due_or_leave_to_the_sweep",
    "submit_instruction",
]
