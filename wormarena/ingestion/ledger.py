"""Games into the database: one row per game and slot, whatever comes how often and in which order.

Rows of a game are written once. The same file again changes nothing; another file with the same id is refused.
Sums and ratings follow at the end of a batch: until then they are those of before.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction
from django.db.models import F

from wormarena import aggregates
from wormarena.game_file import GameFacts, GameRefused, read
from wormarena.ingestion.rows import Rows, rows_of
from wormarena.models import Decision, Game, LedgerState, Participant
from wormarena.presence import note_games
from wormarena.ratings import refresh

log = logging.getLogger(__name__)
FILES = "snake_game_*.json"
AT_ONCE = 100
"""Files of one transaction."""


@dataclass
class Report:
    """What came of some files. `refused`: path -> why, with the field."""

    new: int = 0
    known: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    models: set[str] = field(default_factory=set)
    pairs: set[tuple[str, str]] = field(default_factory=set)

    @property
    def seen(self) -> int:
        return self.new + self.known + len(self.refused)


def files_under(paths: Iterable[Path]) -> list[Path]:
    """Each file itself, and of each folder the files with games, also in folders in it. GameRefused for neither."""
    found = list[Path]()
    for path in paths:
        if not path.exists():
            raise GameRefused("", f"{path}: there is no such file or folder")
        found += sorted(path.rglob(FILES)) if path.is_dir() else [path]
    return found


def ingest(files: Iterable[Path]) -> Report:
    """Take in what is new, then bring sums and ratings up to date."""
    report = Report()
    try:
        _take_all(files, report)
    finally:
        settle(report)  # also of what came before a failure: its rows are there
    return report


def _take_all(files: Iterable[Path], report: Report) -> None:
    batch = list[tuple[GameFacts, str]]()
    for path in files:
        try:
            batch.append((read(path), str(path.resolve())))
        except (GameRefused, OSError) as error:
            report.refused[str(path)] = str(error)
        if len(batch) == AT_ONCE:
            _take(batch, report)
            batch = []
    _take(batch, report)


def settle(report: Report) -> None:
    """Sums of the models that played, and the ratings; of all models where somebody took games in and was stopped
    before this."""
    if not report.new and Game.objects.count() == LedgerState.load().rated_games:
        return
    _count(report)
    refresh.refresh()
    _announce()


@transaction.atomic
def _count(report: Report) -> None:
    state, games = LedgerState.load(lock=True), Game.objects.count()
    if state.counted_games + report.new == games:
        aggregates.recompute(report.models)
        aggregates.recompute_matchups(report.pairs)
    else:
        aggregates.rebuild()
    LedgerState.objects.filter(pk=state.pk).update(counted_games=games)


def _announce() -> None:
    """From now on answers are others."""
    LedgerState.objects.update(version=F("version") + 1)
    note_games()


@transaction.atomic
def _take(batch: list[tuple[GameFacts, str]], report: Report) -> None:
    if not batch:
        return
    LedgerState.load(lock=True)  # two batches at once would see neither what the other adds
    known = Game.objects.in_bulk([facts.game_id for facts, _ in batch])
    new = dict[str, Rows]()
    for facts, path in batch:
        game = known.get(facts.game_id) or (new[facts.game_id].game if facts.game_id in new else None)
        if game is None:
            new[facts.game_id] = rows_of(facts, path)
        elif game.content_hash == facts.content_hash:
            report.known += 1
            _keep_first_path(game, path)
        else:
            report.refused[path] = f"game.id: {facts.game_id} is known, with other content, from {game.replay_path}"
    _write(list(new.values()))
    report.new += len(new)
    for rows in new.values():
        report.models.update(rows.models)
        report.pairs.add(rows.models)


def _write(new: list[Rows]) -> None:
    Game.objects.bulk_create(rows.game for rows in new)
    Participant.objects.bulk_create(each for rows in new for each in rows.participants)
    Decision.objects.bulk_create((each for rows in new for each in rows.decisions), batch_size=2000)


def _keep_first_path(game: Game, path: str) -> None:
    """Of copies of a file that are there, the first by name: whatever the order in which they came."""
    if path == game.replay_path or (path > game.replay_path and Path(game.replay_path).exists()):
        return
    game.replay_path = path
    if not game._state.adding:
        game.save(update_fields=["replay_path"])


def rebuild(files: Iterable[Path], *, drop: bool = False) -> Report:
    """Take in what is missing, and compute sums and ratings of all games from nothing. `drop` forgets the games."""
    report = Report()
    if drop:
        _forget_games()
    _take_all(files, report)
    LedgerState.load()
    LedgerState.objects.update(counted_games=0)
    aggregates.rebuild()
    refresh.start_again()
    refresh.refresh()
    LedgerState.objects.update(counted_games=Game.objects.count())
    _announce()
    return report


@transaction.atomic
def _forget_games() -> None:
    for table in (Decision, Participant, Game):
        table.objects.all().delete()
