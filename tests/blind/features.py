"""What was seen of a side before the vote, as numbers.

Three kinds are kept apart. *form*: statuses, sizes, headers and how numbers are written. *time*: when anything came.
*motion*: how the robot moved, which everybody may see; by it alone a policy may be told, and how well is measured.
"""

from __future__ import annotations

import base64
import json
import re
import statistics
import struct
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulation.worlds import load_world, widowx
from tests.blind.peek import FAILED, OF_A_SIDE, SIDES, Peeked, Reply

Numbers = dict[str, float]
Floats = NDArray[np.float64]
ROWS_PER_STEP = 5
STEP_S = 0.2  # of the clock at its shipped speed
STEPS = re.compile(rb'"steps":\s?\d+')
OWN_ADDRESSES = ("episode_id", "episode_url", "states_url")
STILL = 1e-3  # of positions [m, rad, 1]: less is no motion, at the precision that a view has


@cache
def places() -> tuple[list[int], list[int], list[int]]:
    """Which positions are the arm's joints, the fingers', and the things'."""
    model = load_world("widowx", "table").model
    arm = [int(model.joint(f"{widowx.PREFIX}{name}").qposadr[0]) for name in widowx.ARM_JOINTS]
    fingers = [int(model.joint(f"{widowx.PREFIX}{side}_finger").qposadr[0]) for side in ("left", "right")]
    return arm, fingers, [place for place in range(model.nq) if place not in (*arm, *fingers)]


def form_of(peeked: Peeked, side: str, nq: int) -> Numbers:
    """`nq`: positions of a row. How many rows there are is motion: both sides have as many, so they are compared."""
    found: Numbers = {}
    other = _other(side)
    for part in OF_A_SIDE:
        reply, across = peeked.reply(f"episode{part}:{side}"), peeked.reply(f"episode{part}:{other}")
        if reply is None or across is None:
            continue
        found[f"{part} status"] = reply.status
        found[f"{part} headers"] = len(reply.headers)
        found[f"{part} length of headers"] = sum(len(key) + len(value) for key, value in _lasting(reply).items())
        found[f"{part} bytes more"] = len(reply.body) - _explained(reply) - len(across.body) + _explained(across)
        found[f"{part} bytes beyond rows"] = (len(reply.body) - _explained(reply)) % (2 * nq) if part else 0.0
    found |= _numbers(peeked.reply(f"episode:{side}"))
    found["bytes of frames"] = statistics.fmean(sizes) if (sizes := _frame_sizes(peeked, side, nq)) else 0.0
    starts = [reply for reply in peeked.replies if reply.name == "start"]
    found["longest start"] = max((len(reply.body) for reply in starts), default=0)
    for name in ("turn", "battle"):
        sizes = [len(STEPS.sub(b"", reply.body)) for reply in peeked.replies if reply.name == name]
        found[f"longest {name}"] = max(sizes)
    return found | _form_of_failures(peeked, side)


def _form_of_failures(peeked: Peeked, side: str) -> Numbers:
    """How a side is told whose turn failed, beside the other one."""
    found: Numbers = {"failures": float(peeked.failures)}
    told = [reply.json() for reply in peeked.replies if reply.name == f"{FAILED}turn"]
    for key in sorted({key for turn in told for key in turn[side] if key not in OWN_ADDRESSES}):
        more = [len(json.dumps(turn[side][key])) - len(json.dumps(turn[_other(side)][key])) for turn in told]
        found[f"failed: {key} longer"] = statistics.fmean(more)
    return found


def _time_of_failures(peeked: Peeked) -> Numbers:
    seen = [reply for reply in peeked.replies if reply.name == f"{FAILED}turn"]
    told = [reply.at for reply in seen if reply.json()["status"] == "failed"]
    return {"failure told": statistics.fmean(told)} if told else {}


def ends_of(peeked: Peeked) -> float:
    """After how many steps the turn ended, as it is told: motion that everybody sees."""
    told = peeked.reply("turn")
    return max(float(told.json()[side]["steps"] or 0) for side in SIDES) if told else 0.0


def time_of(peeked: Peeked, side: str, nq: int) -> Numbers:
    """Seconds. When a turn ends is motion, which a clock shows: what counts is how far from the clock anything came."""
    found: Numbers = {}
    for name in ("sent", "turn", "queue", "battle"):
        took = [reply.took for reply in peeked.replies if reply.name == name]
        found[f"{name} took"] = statistics.fmean(took)
        found[f"{name} took at most"] = max(took)
    starts = [reply for reply in peeked.replies if reply.name == "start"]
    found["start asked for"] = len(starts)
    found["start made"] = starts[-1].at if starts else 0.0
    for part in OF_A_SIDE:
        mine, others = (peeked.reply(f"episode{part}:{each}") for each in (side, _other(side)))
        found[f"{part} took longer"] = mine.took - others.took if mine and others else 0.0
    heard = [(at, json.loads(text)) for at, text in peeked.heard]
    moments = {event["type"]: at for at, event in heard}
    turns = [(reply.at, reply.json()["status"]) for reply in peeked.replies if reply.name == "turn"]
    found["first seen running"] = next((at for at, status in turns if status != "queued"), 0.0)
    found["started"] = moments.get("rollout.started", 0.0)
    line = next((reply.json() for reply in peeked.replies if reply.name == "queue" and reply.status == 200), {})
    found |= {f"line: {key}": float(value) for key, value in line.items() if isinstance(value, int | float)}
    return found | _lateness(side, heard, nq) | _time_of_failures(peeked)


def motion_of(rows: Floats) -> Numbers:
    """`rows`: (steps + 1, nq) positions at the robots' 5 Hz."""
    of_arm, of_fingers, of_things = places()
    arm, fingers, things = rows[:, of_arm], rows[:, of_fingers], rows[:, of_things]
    speed = np.abs(np.diff(arm, axis=0))
    jerk = np.abs(np.diff(arm, n=2, axis=0)) if len(arm) > 2 else np.zeros((1, 6))
    closed = np.abs(np.diff(fingers[:, 0])) if len(fingers) > 1 else np.zeros(1)
    first = arm[min(5, len(arm) - 1)] - arm[0]
    found = {"steps": float(_moving(rows)), "reach of things": float(np.abs(things[-1] - things[0]).sum())}
    for joint in range(6):
        found[f"speed {joint}"] = float(speed[:, joint].mean()) if len(speed) else 0.0
        found[f"fastest {joint}"] = float(speed[:, joint].max(initial=0.0))
        found[f"jerk {joint}"] = float(jerk[:, joint].mean())
        found[f"first second {joint}"] = float(first[joint])
    found["finger moves"] = float((closed > STILL).sum())
    found["first grasp"] = float(np.argmax(closed > 2 * STILL))
    found["finger opening"] = float(fingers[:, 0].mean())
    return found


def rows_of(peeked: Peeked, side: str, manifest: Mapping[str, Any]) -> Floats:
    """(steps + 1, nq): what a visitor may know of the positions at 5 Hz: of the view, or of exact states if given."""
    nq, nv = manifest["nq"], manifest["nv"]
    view = peeked.reply(f"episode/view.bin:{side}")
    if view is not None and view.status == 200:
        rows = np.frombuffer(view.body, "<i2").reshape(-1, nq) * np.array(manifest["view"]["scale"])
        return np.asarray(rows[::ROWS_PER_STEP], dtype=np.float64)
    states = peeked.reply(f"episode/states.bin:{side}")
    if states is None or states.status != 200:
        raise AssertionError("neither a view nor states could be fetched")
    return np.frombuffer(states.body, "<f4").reshape(-1, 1 + nq + nv)[:, 1 : 1 + nq].astype(np.float64)


def _moving(rows: Floats) -> int:
    """After how many steps nothing moves any more."""
    moves = np.flatnonzero(np.abs(np.diff(rows, axis=0)).max(axis=1, initial=0.0) > STILL)
    return int(moves[-1]) + 1 if len(moves) else 0


def _other(side: str) -> str:
    return SIDES[1 - SIDES.index(side)]


def _lasting(reply: Reply) -> dict[str, str]:
    """Headers without what differs from answer to answer by chance or with the time of day."""
    return {key: value for key, value in reply.headers.items() if key not in ("date", "x-request-id", "content-length")}


def _explained(reply: Reply) -> int:
    """Of a JSON answer: the bytes that rounded states need, which are motion; 0 where states are exact."""
    if reply.status != 200 or not reply.headers.get("content-type", "").startswith("application/json"):
        return 0
    body = reply.json()
    if body.get("exact", True):
        return 0
    return len(json.dumps(body["states"], separators=(",", ":")))


def _numbers(reply: Reply | None) -> Numbers:
    """How actions are written, where they are told: grippers of exactly 0 or 1, few distinct values, long decimals."""
    actions = reply.json().get("actions") if reply is not None and reply.status == 200 else None
    if not actions:
        return {"actions": 0.0}
    found: Numbers = {"actions": 1.0}
    grippers = [row[6] for row in actions]
    found["plain grippers"] = sum(value in (0.0, 1.0) for value in grippers) / len(grippers)
    found["digits"] = statistics.fmean(len(repr(value)) for row in actions for value in row)
    found["distinct"] = len({value for row in actions for value in row[:6]}) / (6 * len(actions))
    # float32 networks leave values that a float32 holds exactly.
    single = [struct.unpack("f", struct.pack("f", value))[0] == value for row in actions for value in row[:6]]
    found["single precision"] = sum(single) / len(single)
    return found


def _frames(heard: Iterable[tuple[float, dict[str, Any]]]) -> list[tuple[float, dict[str, Any]]]:
    return [(at, event) for at, event in heard if event["type"] == "rollout.frames"]


def _frame_sizes(peeked: Peeked, side: str, nq: int) -> list[int]:
    """Bytes of each message of live frames for this side, beyond those that its rows need."""
    found = []
    for _, event in _frames((at, json.loads(text)) for at, text in peeked.heard):
        part = event[side]
        if isinstance(part, str):
            found.append(len(part) - _written(len(base64.b64decode(event[_other(side)])) // (2 * nq), nq))
        else:
            found += [len(json.dumps(row)) for row in part["steps"]]
    return found


def _written(rows: int, nq: int) -> int:
    """Characters of base64 for so many rows."""
    return 4 * -(-2 * nq * rows // 3)


def _lateness(side: str, heard: list[tuple[float, dict[str, Any]]], nq: int) -> Numbers:
    """By how much steps came off an even pace: all of them, those after this side ended, and those after the other did.

    Which steps these are is motion, so where there are none, all stand for them, and only means are taken: the largest
    of many is larger than that of few.
    """
    came = _frames(heard)
    if len(came) < 3:
        return {}
    moments = np.array([at for at, _ in came])
    steps = np.cumsum([_steps(event, nq) for _, event in came])
    pace = STEP_S if isinstance(came[0][1]["left"], str) else float((moments[-1] - moments[0]) / (steps[-1] - steps[0]))
    late = moments - moments[0] - pace * (steps - steps[0])
    found: Numbers = {"first frame": float(moments[0])}
    for name, begin in (
        ("all", 0),
        ("after mine", _last_news(came, side)),
        ("after the other", _last_news(came, _other(side))),
    ):
        part = late[begin:] if begin < len(late) else late
        found |= {f"late, {name}": float(part.mean()), f"late squared, {name}": float((part**2).mean())}
    ended = next((at for at, event in heard if event["type"] == "turn.finished"), 0.0)
    return found | {"end after the last step": ended - float(moments[-1])}


def _steps(event: dict[str, Any], nq: int) -> int:
    """How many control steps a message of live frames brings."""
    if "to_step" in event:
        return int(event["to_step"] - event["from_step"] + 1)
    return max(1, len(base64.b64decode(event["left"])) // (2 * ROWS_PER_STEP * nq))


def _last_news(came: list[tuple[float, dict[str, Any]]], side: str) -> int:
    """The message after which this side shows nothing new."""
    last, before = 0, ""
    for number, (_, event) in enumerate(came):
        part = event[side]
        shown = part[-40:] if isinstance(part, str) else json.dumps(part["steps"][-1:])
        if shown not in (before, "[]"):
            last, before = number, shown
    return last + 1
