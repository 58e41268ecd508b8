"""`manage.py rebuild_rankings [--check]`: boards from raw votes alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.db.utils import InternalError

from arena.models import Vote
from rankings.models import ModelStatsByRobot, ModelStatsTotal, WorkerStatus
from rankings.publication import aggregation
from tests.rankings.ballots import ballots, cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def aggregated() -> None:
    cast(ballots(("a", "b", "left_better", 6), ("b", "c", "tie", 5)))
    aggregation.aggregate()


def run(*options: str) -> str:
    out = StringIO()
    call_command("rebuild_rankings", *options, stdout=out)
    return out.getvalue()


@pytest.mark.usefixtures("aggregated")
def test_boards_that_are_right_pass_the_check() -> None:
    assert json.loads(run("--check", "--json")) == {"identical": True, "differences": []}


@pytest.fixture
def no_writing(transactional_db: None, aggregated: None) -> Iterator[None]:
    """The database reads and nothing else, as a replica does."""
    names = {"postgresql": "SET default_transaction_read_only = {}", "sqlite": "PRAGMA query_only = {}"}
    statement = names[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(statement.format("on"))
        yield
        cursor.execute(statement.format("off"))


@pytest.mark.usefixtures("no_writing")
def test_a_replica_that_refuses_to_write_can_be_checked() -> None:
    with pytest.raises((OperationalError, InternalError)):
        Vote.objects.update(vote="tie")
    assert run("--check") == "0 differences\n"


@pytest.mark.usefixtures("aggregated")
def test_pending_votes_are_not_a_difference() -> None:
    cast(ballots(("a", "b", "left_better", 6)), start=100)
    assert run("--check") == "0 differences\n"


@pytest.mark.usefixtures("aggregated")
def test_the_check_names_every_difference_fails_and_changes_nothing() -> None:
    ModelStatsTotal.objects.filter(model_id="a").update(win_count=7)
    ModelStatsByRobot.objects.filter(model_id="c").delete()
    ran = WorkerStatus.objects.get().last_run_at
    out = StringIO()
    with pytest.raises(CommandError, match="not what the votes give"):
        call_command("rebuild_rankings", "--check", "--json", stdout=out)
    assert json.loads(out.getvalue()) == {
        "identical": False,
        "differences": [
            {"board": "global", "model_id": "a", "field": "win_count", "stored": 7, "rebuilt": 6},
            {"board": "widowx", "model_id": "c", "field": "row", "stored": None, "rebuilt": "present"},
        ],
    }
    assert ModelStatsTotal.objects.get(model_id="a").win_count == 7
    assert WorkerStatus.objects.get().last_run_at == ran


@pytest.mark.usefixtures("aggregated")
def test_a_processed_vote_that_no_longer_holds_is_a_difference() -> None:
    Vote.objects.filter(pk=Vote.objects.order_by("pk")[0].pk).update(vote="nan")
    with pytest.raises(CommandError):
        run("--check")


@pytest.mark.usefixtures("aggregated")
def test_a_row_that_no_vote_supports_is_a_difference_and_goes_with_the_rebuild() -> None:
    ModelStatsByRobot.objects.create(model_id="a", robot_id="franka")
    with pytest.raises(CommandError):
        run("--check")
    run()
    assert not ModelStatsByRobot.objects.filter(robot_id="franka").exists()


@pytest.mark.usefixtures("aggregated")
def test_a_rebuild_from_nothing_gives_the_boards_back() -> None:
    before = list(ModelStatsTotal.objects.order_by("model_id").values_list("model_id", "elo_score", "elo_sequential"))
    ModelStatsTotal.objects.all().delete()
    ModelStatsByRobot.objects.all().delete()
    assert json.loads(run("--json")) == {"votes_processed": 11, "votes_failed": 0, "rows_changed": 6}
    assert before == list(
        ModelStatsTotal.objects.order_by("model_id").values_list("model_id", "elo_score", "elo_sequential")
    )
