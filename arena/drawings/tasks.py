"""The tasks of the drawing worker."""

from __future__ import annotations

from typing import Any

from celery import shared_task

from arena.queue.retry import BUSY

DRAWN_WITHIN_S = 180.0


LIMITS: dict[str, Any] = {
    "autoretry_for": BUSY,
    "retry_backoff": 5,
    "max_retries": 4,
    "soft_time_limit": DRAWN_WITHIN_S,
    "time_limit": DRAWN_WITHIN_S + 15,
}


@shared_task(name="arena.draw", **LIMITS)  # type: ignore[untyped-decorator]
def draw(owner: str, name: str) -> None:
    from arena.drawings import drawing

    drawing.draw(owner, name)


@shared_task(name="arena.draw_battle", **LIMITS)  # type: ignore[untyped-decorator]
def draw_battle(battle_id: str) -> None:
    from arena.drawings import drawing

    drawing.draw_battle(battle_id)
