"""Changes of rows that belong together, and announcing them. Only actions publish events and put work on the queue.

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
    pass_all,
    pass_chunks,
    passed,
    refuse_attempt,
    report_progress,
    resend_attempt,
    retry_attempt,
    wanted,
)
from arena.actions.evaluation import tell_evaluation
from arena.actions.expire import expire_battle
from arena.actions.feedback import save_feedback
from arena.actions.sessions import open_next_battle, open_session
from arena.actions.turns import TurnRequest, submit_instruction
from arena.actions.votes import cast_vote
