"""A study as one HTML file that needs nothing beside itself: figures, charts, and replays drawn from states."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
from django.template.loader import render_to_string
from PIL import Image as Pictures

from proportions.sequential import log_e
from robots.studies.comparing import SIDES
from robots.studies.playing import Outcome, Pair
from simulation.pictures import Artist
from simulation.worlds import load_world

SIZE, MOST_FRAMES, QUALITY = (256, 192), 12, 60
CHART = {"width": 640, "height": 160}
MOST_EXPONENT = 4.0
"""The chart of evidence ends at ten to this power."""


def report(answer: Mapping[str, Any], plan: Mapping[str, Any], pairs: Sequence[Pair], replays: int) -> str:
    """`answer`: of `comparing.compared`. `replays`: how many pairs are shown in pictures, first those that differ."""
    chosen = list(_chosen(pairs, replays))
    context = {
        "answer": answer,
        "plan": plan,
        "bars": [_bar(name, row["difference"]) for name, row in [("all", answer), *answer["tasks"].items()]],
        "evidence": _evidence(pairs),
        "chart": CHART,
        "replays": _replays(chosen, plan) if chosen else [],
        "pairs": pairs,
    }
    return render_to_string("robots/study.html", context)


def _chosen(pairs: Sequence[Pair], most: int) -> Iterator[Pair]:
    """Pairs that only one side won, of either side in turn, then others."""
    kinds: dict[tuple[bool, bool], list[Pair]] = {}
    for pair in pairs:
        kinds.setdefault((pair.a.success, pair.b.success), []).append(pair)
    one, other = kinds.get((True, False), []), kinds.get((False, True), [])
    mixed = [pair for both in zip(one, other, strict=False) for pair in both]
    rest = [*one[len(other) :], *other[len(one) :], *kinds.get((True, True), []), *kinds.get((False, False), [])]
    yield from [*mixed, *rest][:most]


def _replays(pairs: Sequence[Pair], plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    artists: dict[str, Artist] = {}
    try:
        return [_replay(pair, plan, artists) for pair in pairs]
    finally:
        for artist in artists.values():
            artist.close()


def _replay(pair: Pair, plan: Mapping[str, Any], artists: dict[str, Artist]) -> dict[str, Any]:
    world = load_world(plan["robot_id"], plan["scene_id"], pair.variant)
    artist = artists.setdefault(pair.variant, Artist(world))
    outcomes: dict[str, Outcome] = {side: getattr(pair, side) for side in SIDES}
    rows = {side: outcome.rows(world.model.nq) for side, outcome in outcomes.items()}
    longest = max(map(len, rows.values()))
    moments = np.unique(np.linspace(0, longest - 1, min(longest, MOST_FRAMES)).round().astype(int))
    sides = [
        {
            "model_id": plan[side]["model_id"],
            "outcome": outcomes[side],
            "frames": [_data_uri(artist.draw(row, SIZE)) for row in _until_the_end(rows[side], moments)],
        }
        for side in SIDES
    ]
    return {"pair": pair, "sides": sides, "last": max(0, len(moments) - 1)}


def _until_the_end(rows: Any, moments: Any) -> Any:
    """The rows at these moments; after its end, at which it stays, a side has none, nor has one that never began."""
    if not len(rows):
        return rows
    return rows[np.unique(np.minimum(moments, len(rows) - 1))]


def _data_uri(picture: Any) -> str:
    kept = BytesIO()
    Pictures.fromarray(picture).save(kept, "WEBP", quality=QUALITY, method=4)
    return "data:image/webp;base64," + base64.b64encode(kept.getvalue()).decode()


def _bar(name: str, difference: Mapping[str, float]) -> dict[str, Any]:
    """A row of the chart of differences: places in its width, from -1 at the left to 1 at the right."""
    places = {end: round((difference[end] + 1) / 2 * CHART["width"], 1) for end in ("low", "estimate", "high")}
    return {"name": name, **places, "difference": difference}


def _evidence(pairs: Sequence[Pair]) -> str:
    """The points of a line: the evidence after every pair, from 1 at the bottom."""
    points, first, second = [], 0, 0
    for number, pair in enumerate(pairs, 1):
        first += pair.a.success and not pair.b.success
        second += pair.b.success and not pair.a.success
        exponent = min(MOST_EXPONENT, max(0.0, log_e(first, second) / np.log(10)))
        x = number / len(pairs) * CHART["width"]
        points.append(f"{x:.1f},{CHART['height'] * (1 - exponent / MOST_EXPONENT):.1f}")
    return " ".join(points)
