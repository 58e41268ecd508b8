"""An arena of the release d88c6e0 becomes one of today with nothing lost: its backup restored, its database migrated.

Every column of every table is compared by the names that the database has for them. A column that is not in its table
any more is looked for in tables made since that add to it row by row; what became of others stands in `BECAME`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.core import signing
from django.core.management import CommandError, call_command
from django.db import connection, models, transaction
from django.test import Client
from pytest_django import DjangoDbBlocker

from arena.store import get_store
from arena.visitors.cookies import COOKIE, SALT
from rankings.publication import aggregation
from tests.old_arena import Json, OldArena, old_arena
from vlaarena import backup
from vlaarena.backup.earlier import Release, scratch_database

pytestmark = pytest.mark.django_db
Model = type[models.Model]

GONE = {"closed_days"}
"""Tables whose rows the aggregation makes anew."""
RESPECTS = ("closer", "smoother", "safer", "faster")
BECAME: dict[tuple[str, str], Callable[[Json], Json]] = {
    ("hostings", "policy_id"): lambda row: {"contestant_id": row["policy_id"]},
    ("turns", "released_steps"): lambda turn: {},  # the clock of a turn says which steps are shown
    ("rollouts", "status"): lambda row: {"status": "held" if is_held(row) else row["status"]},
    ("rollouts", "heartbeat_at"): lambda row: {
        "sent_at" if row["status"] == "queued" else "heartbeat_at": row["heartbeat_at"]
    },
    ("votes", "closer"): lambda vote: {"reasons": {name: vote[name] for name in RESPECTS if vote[name]}},
    **{("votes", name): lambda vote: {} for name in ("smoother", "safer", "faster")},
}
"""Of a table and column: from the columns of a row of then to columns of today and their values."""


def is_held(row: Json) -> bool:
    return bool(row["status"] == "queued" and row["heartbeat_at"] is None)


@pytest.fixture(scope="module")
def old() -> OldArena:
    return old_arena()


@pytest.fixture(scope="module", params=["restored", "migrated"])
def release(
    request: pytest.FixtureRequest,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Release]:
    """The old arena is the one that the settings name; what a test changes there, it changes for itself."""
    old, folder = old_arena(), tmp_path_factory.mktemp("upgrade")
    upgraded = {"restored": restored, "migrated": migrated}[request.param]
    with django_db_blocker.unblock(), no_other_episodes(), upgraded(old, folder) as release:
        yield release


@contextmanager
def restored(old: OldArena, folder: Path) -> Iterator[Release]:
    with transaction.atomic():
        backup.restore(old.file(folder))
        yield Release(old.migrations)
        transaction.set_rollback(True)


@contextmanager
def migrated(old: OldArena, folder: Path) -> Iterator[Release]:
    """Its own SQLite database, in place. Episodes stay where they are in an upgrade."""
    release = Release(old.migrations)
    with scratch_database(folder / "arena.sqlite3"):
        release.fill(old.opened)
        call_command("migrate", interactive=False, verbosity=0)
        for document in old.episodes():
            get_store().save(document)
        yield release


@contextmanager
def no_other_episodes() -> Iterator[None]:
    get_store().delete(list(get_store().ids()))
    yield
    get_store().delete(list(get_store().ids()))


def test_every_column_of_every_row_is_there(release: Release, old: OldArena) -> None:
    compared = 0
    for label in release.labels():
        model = release.apps.get_model(label)
        if model._meta.db_table not in GONE:
            today = rows_of_today(model, release)
            for row in old.rows(label):
                expected = values(model, row)
                found = today[key_of(model, row)]
                assert {column: found.get(column, "no such column") for column in expected} == expected, (label, row)
                compared += len(expected)
    assert compared > 3000


def test_nothing_was_made_up_and_every_key_leads_to_a_row(release: Release, old: OldArena) -> None:
    for label in release.labels():
        model = release.apps.get_model(label)
        if model._meta.db_table not in GONE:
            assert len(rows_of_today(model, release)) == len(old.rows(label)), label
    connection.check_constraints()


def test_accounts_may_do_what_they_might(release: Release, old: OldArena) -> None:
    for row in old.rows("auth.Group"):
        granted = Group.objects.get(name=row["name"]).permissions.select_related("content_type")
        assert sorted(permission.codename for permission in granted) == sorted(key[0] for key in row["permissions"])
        assert all(permission.content_type.model_class() for permission in granted), "a model that is gone"
    for row in old.rows("auth.User"):
        groups = User.objects.get(username=row["username"]).groups.values_list("name")
        assert [list(group) for group in groups] == row["groups"]


def test_visitors_find_their_battles_and_may_watch_them_again(release: Release, old: OldArena) -> None:
    turns, rollouts = old.rows("arena.Turn"), old.rows("arena.Rollout")
    votes = {vote["battle"]: vote for vote in old.rows("arena.Vote")}
    watched = 0
    for session in old.rows("arena.Session"):
        client = Client()
        client.cookies[COOKIE] = signing.dumps(session["user_id"], salt=SALT, compress=False)
        assert session["session_id"] in client.get("/api/sessions/?mine").content.decode()
        for battle in old.rows("arena.Battle"):
            if battle["session"] != session["session_id"]:
                continue
            seen = client.get(f"/api/battles/{battle['battle_id']}").json()
            own = [turn for turn in turns if turn["battle"] == battle["battle_id"]]
            assert [turn["turn_id"] for turn in seen["turns"]] == [turn["turn_id"] for turn in own]
            assert [turn["instruction"] for turn in seen["turns"]] == [turn["instruction"] for turn in own]
            assert seen["status"] == battle["status"]
            if vote := votes.get(battle["battle_id"]):
                assert (seen["vote"]["vote_id"], seen["vote"]["vote"]) == (vote["vote_id"], vote["vote"])
                assert seen["vote"]["reasons"] == {name: vote[name] or None for name in seen["vote"]["reasons"]}
            asked = [each for each in rollouts if each["turn"] in {turn["turn_id"] for turn in own}]
            for rollout in (each for each in asked if each["status"] == "completed"):
                answer = client.get(f"/api/episodes/{rollout['episode_id']}")
                assert answer.status_code == (410 if rollout["expired_at"] else 200), rollout
                if battle["status"] == "voted":
                    watched += 1
                    episode = answer.json()
                    assert len(episode["states"]) == rollout["steps_done"] + 1
                    assert len(episode["actions"]) == rollout["steps_done"]
    assert watched > 30


def test_a_visitor_goes_on_in_an_old_session(release: Release, old: OldArena) -> None:
    session = old.rows("arena.Session")[0]
    client = Client()
    client.cookies[COOKIE] = signing.dumps(session["user_id"], salt=SALT, compress=False)
    opened = client.post(f"/api/sessions/{session['session_id']}/battles", {}, content_type="application/json")
    assert opened.status_code == 201
    body = {"instruction": "pick up the red cube"}
    address = f"/api/battles/{opened.json()['battle_id']}/turns"
    assert client.post(address, body, content_type="application/json").status_code == 202


def test_the_votes_give_the_boards_that_were_published(
    release: Release, old: OldArena, capsys: pytest.CaptureFixture[str]
) -> None:
    """But for ratings and intervals, which are relative to another mean since (decision: ratings)."""
    with pytest.raises(CommandError, match="not what the votes give"):
        call_command("rebuild_rankings", check=True)
    differing = [line.split(":")[0].split()[-1] for line in capsys.readouterr().out.splitlines() if ": stored" in line]
    assert set(differing) == {"elo_score", "elo_ci"}
    before = {row["model"]: row for row in old.rows("rankings.ModelStatsTotal")}
    shown = leaderboard()
    for name, row in before.items():
        assert (shown[name]["elo_score"], shown[name]["elo_sequential"]) == (row["elo_score"], row["elo_sequential"])
    aggregation.aggregate()
    call_command("rebuild_rankings", check=True)
    again = leaderboard()
    for name in before:
        for column in ("vote_count", "win_count", "loss_count", "tie_count", "win_rate", "elo_sequential"):
            assert again[name][column] == shown[name][column], (name, column)


def leaderboard() -> dict[str, Json]:
    board = Client().get("/api/leaderboard").json()
    return {row["model_id"]: row for row in board["rankings"] + board["provisional"]}


# ---- then and now --------------------------------------------------------------------------------------------------


def values(model: Model, row: Json) -> Json:
    """What the database is to hold for a row of then: column -> value. Keys that are names are compared elsewhere."""
    given = {field: row["pk"] if field.primary_key else row[field.name] for field in model._meta.concrete_fields}
    named = {field for field, value in given.items() if field.is_relation and isinstance(value, list)}
    known = {field.column: plain(field.to_python(given[field])) for field in given if field not in named}
    found: Json = {}
    for column, value in known.items():
        became = BECAME.get((model._meta.db_table, column))
        found |= became(known) if became else {column: value}
    return found


def key_of(model: Model, row: Json) -> Any:
    return model._meta.pk.to_python(row["pk"])


def rows_of_today(model: Model, release: Release) -> dict[Any, Json]:
    """The rows of the table that the release's model had: key -> columns, those of tables that add to it among them.

    Where such a table has no row for one of them, nothing else than the columns' defaults may have been known.
    """
    today = {each._meta.db_table: each for each in apps.get_models()}[model._meta.db_table]
    found: dict[Any, Json] = {row.pk: {} for row in today._base_manager.all()}
    for part in [*additions(today, release), today]:
        fields = part._meta.local_concrete_fields
        for columns in found.values():
            columns |= {field.column: plain(field.get_default()) for field in fields}
        for row in part._base_manager.all():
            key = row.pk if part is today else owner_of(row, today)
            found[key] |= {field.column: plain(getattr(row, field.attname)) for field in fields}
    key = model._meta.pk.column
    return found if key == today._meta.pk.column else {columns[key]: columns for columns in found.values()}


def additions(today: Model, release: Release) -> list[Model]:
    """Models made since that have at most one row for each of this one's."""
    before = {each._meta.db_table for each in release.apps.get_models()}
    related = [cast(Model, relation.related_model) for relation in today._meta.related_objects if relation.one_to_one]
    return [model for model in related if model._meta.db_table not in before]


def owner_of(row: models.Model, owner: Model) -> Any:
    """The key of the row to which this one adds."""
    for field in row._meta.concrete_fields:
        if field.one_to_one and field.related_model is owner:
            return getattr(row, field.name).pk
    raise LookupError(f"{row!r} adds to no {owner._meta.label}")


def plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value
