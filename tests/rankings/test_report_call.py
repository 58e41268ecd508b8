"""`GET /api/leaderboard/report`: the published figures beside the boards."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from django.test import Client

from arena import kinds
from arena.models import Battle, Purpose, Vote
from policies.models import Policy
from rankings.api.report import PublishedReport
from rankings.publication import aggregation
from rankings.publication.report import latest
from tests.arena.test_schema import answer_schema
from tests.factories import ReferenceFactory, VoteFactory
from tests.rankings.ballots import ballots, cast
from tests.rankings.test_report import PICK

pytestmark = pytest.mark.django_db
CALL = "/api/leaderboard/report"


def played() -> None:
    """Votes of two voters, and an episode of a contestant against a reference."""
    cast(ballots(("a", "b", "left_better", 6, "v1"), ("b", "a", "tie", 6, "v2")))
    expert = ReferenceFactory(id="expert")
    sides = {"battle__left_model_id": "a", "battle__right_model": expert}
    VoteFactory(**sides, turn__instruction=PICK, user_id=None, purpose=Purpose.GOLD)


def test_it_tells_what_was_published_and_the_schema_describes_it(client: Client) -> None:
    played()
    cast(ballots(*(("a", "b", "left_better", 1, f"w{number}") for number in range(4))))
    aggregation.aggregate()
    answer = client.get(CALL).json()
    assert set(answer) == set(PublishedReport.__annotations__)
    schema: dict[str, Any] = client.get("/api/schema/", headers={"accept": "application/json"}).json()
    jsonschema.validate(answer, answer_schema(schema, CALL, "get", 200))
    published = latest(kinds.default())
    assert published is not None
    assert answer["input_hash"] == published.snapshot.input_hash
    assert answer["calibration"] == published.content["calibration"]
    assert answer["influence"] == published.content["removal"]
    assert answer["calibration"]["votes"] == 2  # of the last two of the six voters


def test_references_are_on_no_board(client: Client) -> None:
    played()
    cast(ballots(("a", "expert", "left_better", 6, "v3")), start=200)
    aggregation.aggregate()
    published = latest(kinds.default())
    assert published is not None
    assert "expert" in published.content["matrices"]["global"]["names"]
    assert [row["model_id"] for row in client.get(CALL).json()["physics"]["all"]] == ["a"]


def test_before_the_first_publication_it_is_empty(client: Client) -> None:
    answer = client.get(CALL).json()
    assert set(answer) == set(PublishedReport.__annotations__)
    assert (answer["snapshot_at"], answer["physics"], answer["agreement"]) == (None, {}, None)


def test_a_vote_changes_nothing_until_the_next_publication(client: Client) -> None:
    played()
    aggregation.aggregate()
    before = client.get(CALL).json()
    cast(ballots(("a", "b", "left_better", 6, "v3")), start=100)
    assert client.get(CALL).json() == before


def test_no_voter_and_no_control_battle_is_named(client: Client) -> None:
    played()
    Battle.objects.filter(pk=Vote.objects.order_by("pk")[0].battle.pk).update(purpose=Purpose.GOLD)
    aggregation.aggregate()
    told = client.get(CALL).content.decode()
    assert not any(word in told for word in ("v1", "v2", "gold", "repeat", "battle_"))


def test_once_somebody_has_seen_a_publication_it_costs_one_read(client: Client, django_assert_num_queries: Any) -> None:
    played()
    aggregation.aggregate()
    client.get(CALL)
    with django_assert_num_queries(1):
        client.get(CALL)


def test_it_tells_pairs_exposure_the_shadow_board_and_the_trend_of_contestants(client: Client) -> None:
    played()
    cast(ballots(("a", "expert", "left_better", 6, "v3")), start=200)
    aggregation.aggregate()
    answer = client.get(CALL).json()
    assert answer["matrices"]["global"]["names"] == ["a", "b"]
    assert answer["matrices"]["global"]["votes"] == [[0, 12], [12, 0]]
    assert set(answer["shadow"]["rows"]) == {"a", "b"}
    assert set(answer["exposure"]) == set(Policy.objects.filter(reference=False).values_list("id", flat=True))
    assert [set(point["ratings"]) for point in answer["trend"]] == [{"a", "b"}]
