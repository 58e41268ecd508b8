"""The tasks of the queues that are about voice. The drawing worker evaluates."""

from __future__ import annotations

from celery import shared_task

from arena.drawings.tasks import LIMITS

WITHIN_S = 900.0
"""On a machine that is busy with other work the detector takes longer than the calls did."""


@shared_task(name="voice.evaluate", **{**LIMITS, "soft_time_limit": WITHIN_S, "time_limit": WITHIN_S + 15})  # type: ignore[untyped-decorator]
def evaluate(battle_id: str) -> None:
    from voice.battles import evaluating

    evaluating.evaluate_battle(battle_id)


@shared_task(name="voice.evaluate_again")  # type: ignore[untyped-decorator]
def evaluate_again() -> None:
    from voice.battles import evaluating

    evaluating.ask_again()
