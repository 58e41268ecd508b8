"""Checking a bundle without a database: its signature, every part, every recording, and every figure of its boards."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exports.bundle import documents
from exports.bundle.cells import COUNTS, FORMAT, RANKING, VERSION, Cell, cells_in, ranking_cells
from exports.bundle.parts import MANIFEST, Reader, Refused
from exports.bundle.ranking import compare_boards
from rankings.files.counts_reader import CountsFileError, read_counts, unpacked
from rankings.tally.table import VoteTable
from simulation import additions, catalogue
from simulation.additions import Addition
from simulation.catalogue_rows import CatalogueError, read_rows
from simulation.contracts import SimulationError
from simulation.verification import verify_document

BATTLES, TASKS = "battles.jsonl", "tasks.jsonl"
SIDES = ("left", "right")
Told = Callable[[int, int], None]


@dataclass(frozen=True)
class Verified:
    """A bundle that holds. `largest_difference`: of a rating or an end of its interval, in Elo points. `same_code`:
    whether this release's ranking code is the one that made the boards."""

    key: str
    made_at: str
    license: str
    battles: int
    episodes: int
    votes: int
    boards: int
    models: int
    largest_difference: float
    same_code: bool


def verify_bundle(path: Path, key: str | None, told: Told = lambda done, of: None) -> Verified:
    """Check all of a bundle. `key`: the public key that must have signed it; None: any key.

    `told`: called with the number of recordings replayed, and of all. Raises Refused for the first fault, `BadKey` for
    a key that is none, and OSError.
    """
    with Reader(path) as bundle:
        bundle.check_signature(key)
        _check_format(bundle.manifest)
        bundle.check_parts()
        _learn_tasks(bundle.rows(TASKS))
        battles = _battles(bundle)
        counts = _counts(bundle)
        _check_votes(battles, counts)
        ranking = bundle.json(RANKING)
        compared = compare_boards(ranking, counts)
        _check_recordings(bundle, battles, told)  # last: it takes longest
        manifest = bundle.manifest
        return Verified(
            key=str(manifest["public_key"]),
            made_at=str(manifest.get("made_at", "")),
            license=str(manifest.get("license", "")),
            battles=len(battles),
            episodes=len(bundle.names("episodes")),
            votes=int(counts.outcomes.sum()),
            boards=compared.boards,
            models=compared.models,
            largest_difference=compared.largest_difference,
            same_code=compared.same_code,
        )


def _check_format(manifest: Mapping[str, Any]) -> None:
    found = manifest.get("format"), manifest.get("version")
    if found != (FORMAT, VERSION):
        raise Refused("other_format", MANIFEST, f"it is {found[0]} {found[1]}; expected {FORMAT} {VERSION}")


def _learn_tasks(rows: Iterable[Any]) -> None:
    """The tasks of the arena's moderators, in place of those of a database."""
    learned = []
    for row in rows:
        try:
            (entry,) = read_rows(row["yaml"], TASKS)
            learned.append(Addition(catalogue.task_from(entry), entry, additions.NEVER))
        except (CatalogueError, KeyError, TypeError, ValueError) as error:
            raise Refused("malformed_part", TASKS, f"a task cannot be read: {error}") from None
    additions.replace(learned)


def _battles(bundle: Reader) -> list[dict[str, Any]]:
    """The battles, each side of each turn with a recording of the bundle, and each recording in one of them."""
    rows = bundle.rows(BATTLES)
    try:
        named = Counter(
            turn[side]["episode_id"]
            for row in rows
            for turn in row["turns"]
            for side in SIDES
            if turn.get(side, {}).get("status") == "completed"
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise Refused("malformed_part", BATTLES, f"a battle lacks {error}") from None
    recorded = {name.removeprefix("episodes/").removesuffix(".json") for name in bundle.names("episodes")}
    for episode_id in sorted(map(str, named.keys() - recorded)):
        raise Refused("missing_part", f"episodes/{episode_id}.json", "a battle names it")
    for episode_id in sorted(recorded - named.keys()):
        raise Refused("unlisted_part", f"episodes/{episode_id}.json", "no battle names it")
    if twice := [episode_id for episode_id, times in named.items() if times > 1]:
        raise Refused("malformed_part", BATTLES, f"two sides have the recording {twice[0]}")
    return rows


def _check_recordings(bundle: Reader, battles: list[dict[str, Any]], told: Told) -> None:
    done, of = 0, len(bundle.names("episodes"))
    for battle in battles:
        for turn in battle["turns"]:
            starts = set()
            for side in SIDES:
                if turn.get(side, {}).get("status") != "completed":
                    continue
                starts.add(_check_side(bundle, battle, turn, side))
                done += 1
                told(done, of)
            if turn.get("seq") == 1 and len(starts) > 1:
                raise Refused("unequal_start", BATTLES, f"the sides of {turn['turn_id']} started in different states")


def _check_side(bundle: Reader, battle: Mapping[str, Any], turn: Mapping[str, Any], side: str) -> str:
    """Replay a side's recording; answers the hash of the state in which it started."""
    attempt = turn[side]
    name = f"episodes/{attempt['episode_id']}.json"
    try:
        document = documents.of_json(bundle.read(name))
    except ValueError as error:
        raise Refused("malformed_part", name, f"it is no recording: {error}") from None
    expected = {
        "_id": attempt["episode_id"],
        "battle_id": battle["battle_id"],
        "turn_id": turn["turn_id"],
        "side": side,
        "model_id": battle[f"{side}_model_id"],
        "robot_id": battle["robot_id"],
        "scene_id": battle["scene_id"],
        "instruction": turn["instruction"],
        "success": attempt["success"],
        "progress": attempt["progress"],
    }
    for field, value in expected.items():
        if document.get(field) != value:
            raise Refused("other_battle", name, f"its {field} is {document.get(field)!r}; the battle says {value!r}")
    world = {field: document.get(field) for field in ("robot_id", "scene_id", "engine_version", "scene_hash")}
    if world not in bundle.manifest.get("worlds", []):
        raise Refused("other_world", name, "the manifest does not name the scene and engine that recorded it")
    try:
        difference = verify_document(document)
    except (SimulationError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise Refused("malformed_part", name, f"it is no recording: {error!r}") from None
    if difference is not None:
        raise Refused("episode_differs", name, f"step {difference.first_step}: {difference.reason}")
    return str(document["start_hash"])


def _counts(bundle: Reader) -> VoteTable:
    try:
        text = unpacked(bundle.read(COUNTS))
        if hashlib.sha256(text).hexdigest() != bundle.json(RANKING).get("input_hash"):
            raise Refused("other_counts", COUNTS, f"they are not those that {RANKING} was fitted to")
        return read_counts(text)
    except (CountsFileError, AttributeError) as error:
        raise Refused("malformed_part", COUNTS, str(error)) from None


def _check_votes(battles: list[dict[str, Any]], counts: VoteTable) -> None:
    """Every battle's vote is one of the counted ones."""
    try:
        cast: Counter[Cell] = Counter(cells_in(battles))
    except KeyError as error:
        raise Refused("malformed_part", BATTLES, f"a battle lacks {error}") from None
    counted = ranking_cells(counts)
    for cell, votes in sorted(cast.items()):
        if votes > counted[cell]:
            told = " ".join(filter(None, cell))
            raise Refused("vote_not_counted", BATTLES, f"{votes} votes of {told}, of which {counted[cell]} are counted")
