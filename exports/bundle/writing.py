"""Writing a bundle: a publication with its counts, and battles with their recordings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from arena.consistent_read import consistent_read
from arena.kinds import Kind
from arena.models import AttemptStatus, Contestant, Turn, Vote
from arena.store import Document, get_store
from exports import publishable
from exports.bundle import documents, parts
from exports.bundle.cells import COUNTS, FORMAT, RANKING, VERSION, cells_in, ranking_cells
from exports.reading import with_turns
from rankings.files.counts_reader import read_counts, unpacked
from rankings.models import Snapshot
from robots.models import PublishedTask

ABOUT_MODELS = ("id", "name", "organization", "license", "family", "revision", "provenance")
ABOUT_ATTEMPTS = ("episode_id", "status", "length", "success", "progress", "termination_reason")
COLUMNS = ("robot_id", "scene_id", "task_id", "left_model_id", "right_model_id", "day")
Told = Callable[[int], None]


class NotPublished(Exception):
    """There is no publication whose votes a bundle could hold."""


class NotForExport(Exception):
    """Battles that were asked for by name, and that may not leave."""

    def __init__(self, battle_ids: list[str]) -> None:
        super().__init__(f"these battles cannot be exported: {', '.join(battle_ids)}")
        self.battle_ids = battle_ids


@dataclass
class Written:
    """What a bundle holds. `without_recordings`: battles left out because the store does not have all recordings."""

    battles: int = 0
    episodes: int = 0
    without_recordings: int = 0
    worlds: set[tuple[str, str, str, str]] = field(default_factory=set)
    tasks: set[str] = field(default_factory=set)


class _Battle(NamedTuple):
    row: dict[str, Any]
    recordings: dict[str, Document]


def write_bundle(path: Path, kind: Kind, only: Collection[str] = (), told: Told = lambda done: None) -> Written:
    """Write the current publication of a kind with all battles that may leave, or `only` those named.

    `told`: called with the number of battles written so far. Raises NotPublished, NotForExport, StoreUnavailable, what
    `signing.private_key` raises, and OSError; then there is no file.
    """
    with parts.writing(path) as bundle, consistent_read():
        snapshot = Snapshot.objects.filter(kind=kind.id).first()
        if snapshot is None:
            raise NotPublished(f"no boards of {kind.id} are published yet; `manage.py rebuild_rankings` publishes them")
        if only and (unwanted := publishable.left_out(kind, only)):
            raise NotForExport(unwanted)
        counts = bytes(snapshot.counts)
        bundle.add(COUNTS, counts)
        bundle.add(RANKING, _json(_ranking(snapshot)))
        votes = publishable.votes_of(kind)
        votes = votes.filter(battle__battle_id__in=only) if only else votes
        written = _write_battles(bundle, votes, ranking_cells(read_counts(unpacked(counts))), told)
        bundle.add("models.jsonl", _lines(Contestant.objects.filter(kind=kind.id).order_by("pk").values(*ABOUT_MODELS)))
        bundle.add("tasks.jsonl", _lines(_tasks(written.tasks)))
        bundle.close(_about(kind, snapshot, written))
    return written


def _about(kind: Kind, snapshot: Snapshot, written: Written) -> dict[str, Any]:
    names = ("robot_id", "scene_id", "engine_version", "scene_hash")
    return {
        "format": FORMAT,
        "version": VERSION,
        "made_at": timezone.now().isoformat(timespec="seconds"),
        "kind": kind.id,
        "license": settings.DATA_LICENSE,
        "publication": {"made_at": snapshot.made_at.isoformat(), "input_hash": snapshot.input_hash},
        "worlds": [dict(zip(names, world, strict=True)) for world in sorted(written.worlds)],
        "battles": written.battles,
        "episodes": written.episodes,
    }


def _ranking(snapshot: Snapshot) -> dict[str, Any]:
    names = ("input_hash", "code_version", "settings", "boards")
    return {"made_at": snapshot.made_at.isoformat(), **{name: getattr(snapshot, name) for name in names}}


def _tasks(names: Collection[str]) -> Iterator[dict[str, Any]]:
    """The tasks of moderators by which recordings were judged; those of the release are in its own files."""
    for row in PublishedTask.objects.exclude(state=PublishedTask.State.DRAFT).filter(task_id__in=names).order_by("pk"):
        yield {"task_id": row.task_id, "yaml": row.yaml}


def _write_battles(bundle: parts.Writer, votes: QuerySet[Vote], room: Counter[tuple[str, ...]], told: Told) -> Written:
    """`room`: the votes of the publication that no battle has taken yet. A vote for which there is no room, because it
    was restored since, is left out with its battle."""
    written, rows = Written(), list[dict[str, Any]]()
    for vote, turns in with_turns(votes):
        battle = _battle(vote, turns)
        if battle is None:
            written.without_recordings += 1
            continue
        (cell,) = cells_in([battle.row])
        if not room[cell]:
            continue
        room[cell] -= 1
        rows.append(battle.row)
        for episode_id, document in battle.recordings.items():
            bundle.add(f"episodes/{episode_id}.json", documents.to_json(document))
            _note(written, document)
        written.battles, written.episodes = len(rows), written.episodes + len(battle.recordings)
        told(written.battles)
    bundle.add("battles.jsonl", _lines(sorted(rows, key=lambda row: str(row["battle_id"]))))
    return written


def _note(written: Written, document: Document) -> None:
    names = ("robot_id", "scene_id", "engine_version", "scene_hash")
    written.worlds.add(tuple(str(document.get(name, "")) for name in names))  # type: ignore[arg-type] # four of them
    written.tasks.add(str(document.get("task_id") or ""))


def _battle(vote: Vote, turns: Iterable[Turn]) -> _Battle | None:
    """None if the store lacks a recording of a completed attempt."""
    recordings: dict[str, Document] = {}
    for turn in turns:
        for attempt in turn.attempts.all():
            if attempt.status != AttemptStatus.COMPLETED:
                continue
            document = get_store().get(attempt.episode_id)
            if document is None or document.get("instruction") != turn.instruction:
                return None
            recordings[attempt.episode_id] = document
    battle, count = vote.battle, vote.counted_vote.count
    row = {
        "battle_id": battle.battle_id,
        **{name: getattr(count, name) for name in COLUMNS[:-1]},
        "day": count.day.isoformat(),
        "vote": vote.vote,
        "reasons": vote.reasons,
        "seed": battle.seed,
        "starts": battle.starts,
        "secret": battle.secret,
        "render_profile": battle.render_profile,
        "turns": [_turn(turn) for turn in turns],
    }
    return _Battle(row, recordings) if recordings else None


def _turn(turn: Turn) -> dict[str, Any]:
    about = {name: getattr(turn, name) for name in ("turn_id", "seq", "instruction", "start", "seed")}
    sides = {attempt.side: {name: getattr(attempt, name) for name in ABOUT_ATTEMPTS} for attempt in turn.attempts.all()}
    return {**about, **sides}


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True).encode()


def _lines(rows: Iterable[Any]) -> bytes:
    return b"".join(_json(row) + b"\n" for row in rows)
