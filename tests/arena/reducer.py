"""What a browser does with events: an older snapshot becomes the newer one. The events of docs/api.md in code."""

from __future__ import annotations

import copy
from typing import Any

Json = dict[str, Any]


class Gap(Exception):
    """An event is missing: ask for a snapshot."""


def apply(battle: Json, event: Json) -> Json:
    """The snapshot after the event. One that the snapshot includes changes nothing; raises Gap when one is missing."""
    if event["seq"] <= battle["seq"]:
        return battle
    if event["seq"] != battle["seq"] + 1:
        raise Gap
    after = copy.deepcopy(battle)
    after["seq"] = event["seq"]
    after.update(event.get("battle", {}))
    STEPS[event["type"]](after, event)
    return after


def _turn(battle: Json, event: Json) -> Json:
    return next(turn for turn in battle["turns"] if turn["turn_id"] == event["turn_id"])


def _opened(battle: Json, event: Json) -> None:
    others = [turn for turn in battle["turns"] if turn["turn_id"] != event["turn"]["turn_id"]]
    battle["turns"] = sorted([*others, event["turn"]], key=lambda turn: turn["seq"])


def _started(battle: Json, event: Json) -> None:
    turn = _turn(battle, event)
    turn["status"] = turn["left"]["status"] = turn["right"]["status"] = "running"
    turn["release_from"] = event["release_from"]


def _finished(battle: Json, event: Json) -> None:
    _turn(battle, event)[event["side"]].update(status="completed", steps=event["steps"])


def _failed(battle: Json, event: Json) -> None:
    _turn(battle, event)[event["side"]].update(status="failed", steps=event["steps"], error=event["reason"])


def _turn_finished(battle: Json, event: Json) -> None:
    _turn(battle, event).update(event["turn"] or {"status": event["status"]})


def _voted(battle: Json, event: Json) -> None:
    battle.update({name: event[name] for name in ("vote", "left_model", "right_model", "secret", "turns", "starts")})


def _evaluated(battle: Json, event: Json) -> None:
    battle["turns"] = event["turns"]


def _abandoned(battle: Json, event: Json) -> None:
    pass


STEPS = {
    "turn.opened": _opened,
    "rollout.started": _started,
    "rollout.finished": _finished,
    "rollout.failed": _failed,
    "turn.finished": _turn_finished,
    "battle.voted": _voted,
    "battle.evaluated": _evaluated,
    "battle.abandoned": _abandoned,
}
