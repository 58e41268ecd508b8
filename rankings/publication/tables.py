"""The tables of the boards: a row per contestant on the global board and on the board of each setting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from django.utils import timezone

from arena.models import Contestant
from rankings.fit.standings import STATISTICS, standings_of
from rankings.models import BoardRow, ModelStatsByRobot, ModelStatsTotal
from rankings.publication.snapshots import Rated
from rankings.tally.table import GLOBAL, Board

BATCH = 1000


class BoardPlace(NamedTuple):
    """A row of a board. `board`: a setting, or GLOBAL for the global board of the contestant's kind."""

    board: str
    model_id: str


Rows = dict[BoardPlace, dict[str, Any]]


def rows_of(rated: Iterable[Rated], sequential: Mapping[str, Mapping[str, int]]) -> Rows:
    """The rows of the tables: the global board and one per setting."""
    contestants = Contestant.objects.only("organization", "license").in_bulk()
    rows: Rows = {}
    for each in rated:
        if not each.board.has_table:
            continue
        for standing in standings_of(each.counts, each.fit, sequential[each.board.name]):
            row = {name: value for name, value in asdict(standing).items() if name != "model_id"}
            if each.board == Board():
                contestant = contestants[standing.model_id]
                row |= {"organization": contestant.organization, "license": contestant.license}
            rows[BoardPlace(each.board.setting or GLOBAL, standing.model_id)] = row
    return rows


def stored_rows() -> Rows:
    settings = ModelStatsByRobot.objects.values("robot_id", "model_id", *STATISTICS)
    totals = ModelStatsTotal.objects.values("model_id", "organization", "license", *STATISTICS)
    return {
        **{BoardPlace(row.pop("robot_id"), row.pop("model_id")): dict(row) for row in settings},
        **{BoardPlace(GLOBAL, row.pop("model_id")): dict(row) for row in totals},
    }


def write(rebuilt: Rows) -> int:
    """Replace the stored rows; returns how many changed, appeared or disappeared."""
    stored = stored_rows()
    changed = {place: row for place, row in rebuilt.items() if stored.get(place) != row}
    gone = stored.keys() - rebuilt.keys()
    totals = {place: row for place, row in changed.items() if place.board == GLOBAL}
    settings = {place: row for place, row in changed.items() if place.board != GLOBAL}
    _upsert(ModelStatsTotal, ["model"], (dict(row, model_id=place.model_id) for place, row in totals.items()))
    _upsert(
        ModelStatsByRobot,
        ["model", "robot_id"],
        (dict(row, model_id=place.model_id, robot_id=place.board) for place, row in settings.items()),
    )
    for place in gone:
        if place.board == GLOBAL:
            ModelStatsTotal.objects.filter(model_id=place.model_id).delete()
        else:
            ModelStatsByRobot.objects.filter(model_id=place.model_id, robot_id=place.board).delete()
    return len(changed) + len(gone)


def _upsert(table: type[BoardRow], key: list[str], rows: Iterable[Mapping[str, Any]]) -> None:
    now = timezone.now()
    made = [table(**row, updated_at=now) for row in rows]
    names = {field.name for field in table._meta.concrete_fields} - {"id", *key}
    table._default_manager.bulk_create(
        made, update_conflicts=True, unique_fields=key, update_fields=sorted(names), batch_size=BATCH
    )
