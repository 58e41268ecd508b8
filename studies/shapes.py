"""What the API tells of a study."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from django.urls import reverse

from studies.models import Study
from studies.queueing import waiting_before


class StudyJson(TypedDict):
    """`pairs`: played by both, of `planned` at most. `waiting_before`: studies that come first; 0 once it has ended.

    `told`: what the pairs say, as `manage.py compare --json` tells it; empty before the end. `report_url` is null while
    there is no report. `error`: why it failed.
    """

    study_id: str
    state: Literal["waiting", "playing", "completed", "failed", "cancelled"]
    a: str
    b: str
    robot_id: str
    scene_id: str
    tasks: list[str]
    seeds: int
    first_seed: int
    margin: float
    play_all: bool
    pairs: int
    planned: int
    waiting_before: int
    error: str
    told: dict[str, Any]
    url: str
    report_url: str | None
    created_at: str
    ended_at: str | None


class StudyList(TypedDict):
    """Newest first."""

    results: list[StudyJson]


def study_json(study: Study) -> StudyJson:
    return {
        "study_id": study.study_id,
        "state": study.state,  # type: ignore[typeddict-item] # the column's choices
        "a": study.a_id,
        "b": study.b_id,
        "robot_id": study.robot_id,
        "scene_id": study.scene_id,
        "tasks": list(study.tasks),
        "seeds": study.seeds,
        "first_seed": study.first_seed,
        "margin": study.margin,
        "play_all": study.play_all,
        "pairs": study.pairs,
        "planned": study.planned,
        "waiting_before": waiting_before(study) if study.is_open else 0,
        "error": study.error,
        "told": study.told,
        "url": reverse("study", args=[study.study_id]),
        "report_url": reverse("study-report", args=[study.study_id]) if has_report(study) else None,
        "created_at": study.created_at.isoformat(),
        "ended_at": study.ended_at.isoformat() if study.ended_at else None,
    }


def has_report(study: Study) -> bool:
    """It is written at the end, and says the same as `told`."""
    return bool(study.told)
