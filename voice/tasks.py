"""The tasks of the queue that are about voice. The drawing worker takes them."""

from __future__ import annotations

from celery import shared_task

from arena.drawings.tasks import LIMITS


@shared_task(name="voice.evaluate", **LIMITS)  # type: ignore[untyped-decorator]
def evaluate(battle_id: str) -> None:
    from voice.battles import evaluating

    evaluating.evaluate_battle(battle_id)
