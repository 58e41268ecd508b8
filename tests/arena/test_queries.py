"""Reading costs a few queries, however much there is to read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from arena import kinds
from arena.models import Attempt, Battle, Hosting, Turn
from rankings.models import Snapshot
from rankings.publication import aggregation
from robots import play
from tests import routes
from tests.arena.conftest import Visitor, play_battle, side_of
from tests.factories import BattleFactory, PolicyFactory, TurnFactory
from tests.fakes import FakeRuntime
from vlaarena.preferences import strings_version
from wormarena.ingestion import demo
from wormarena.models import Game

MOST = 10


@pytest.fixture
def rich(visitor: Visitor, runtime: FakeRuntime) -> str:
    """A session with 6 battles of 6 turns each; answers the first battle's id."""
    battle_id = play_battle(visitor)
    first = Battle.objects.select_related("session", "left_model", "right_model").get()
    for _ in range(5):
        left, right = PolicyFactory(), PolicyFactory()
        battle = BattleFactory(session=first.session, left_model=left, right_model=right, status="abandoned")
        TurnFactory.create_batch(6, battle=battle, completed=True)
    TurnFactory.create_batch(5, battle=first, completed=True)
    for _ in range(5):
        visitor.open()
    return battle_id


def test_every_address_of_the_site_is_in_the_table_of_routes() -> None:
    toys = {kind.address for kind in kinds.every() if type(kind).__module__.startswith("tests.")}
    pages_of_toys = {name for toy in toys for name in (toy, f"{toy}-detail")}
    assert routes.names() - pages_of_toys == {*routes.READ, *routes.ACT, *routes.APART}


def test_reading_needs_at_most_ten_queries_wherever_it_is_done(visitor: Visitor, rich: str) -> None:
    aggregation.aggregate()
    things = things_of(visitor, rich)
    for addresses in routes.READ.values():
        for address in addresses:
            called = address.format(**things)
            count, answer = counted(lambda called=called: visitor.client.get(called))
            assert answer.status_code in (200, 202), called
            assert count <= MOST, called


def things_of(visitor: Visitor, voted: str) -> dict[str, str]:
    """What stands in the braces of `routes.READ`."""
    assert visitor.post("votes", {"battle_id": voted, "vote": "tie"}).status_code == 201
    aggregation.aggregate()
    battle_id = visitor.open()
    waiting = visitor.send(battle_id)
    seen = Attempt.objects.get(turn__battle=voted, turn__seq=1, side="left")
    demo.enter()
    worm = Game.objects.all()[0]
    return {
        "worm_game": worm.game_id,
        "worm_model": worm.model_a_name,
        "battle": battle_id,
        "voted": voted,
        "session": visitor.battle(voted)["session_id"],
        "turn": seen.turn_id,
        "episode": seen.episode_id,
        "waiting": waiting["turn_id"],
        "model": "alpha",
        "counts": Snapshot.objects.latest("made_at").input_hash,
        "version": strings_version("de"),
        "scene_file": routes.scene_file(visitor.client),
    }


def test_a_snapshot_costs_the_same_with_one_turn_and_with_many(
    visitor: Visitor, rich: str, django_assert_num_queries: Any
) -> None:
    other = Battle.objects.filter(turns=None, session__user_id=side_of(rich, "left").turn.session.user_id)[0]
    TurnFactory(battle=other, completed=True)
    for battle_id in (rich, other.battle_id):
        with django_assert_num_queries(2):
            visitor.battle(battle_id)


def test_the_calls_that_follow_each_turn_and_vote_read_no_more_than_they_tell(visitor: Visitor, rich: str) -> None:
    """Columns of every kind, and the cards of all policies, once took more of their time than all else."""
    assert visitor.post("votes", {"battle_id": rich, "vote": "tie"}).status_code == 201
    aggregation.aggregate()
    seen = Attempt.objects.get(turn__battle=rich, turn__seq=1, side="left").episode_id
    unread = ("robot_rollouts", "text_answers", "voice_conversations", "robot_policies")
    for address in (f"episodes/{seen}/view.bin", f"episodes/{seen}/replay.bin", f"battles/{rich}/effect"):
        visitor.client.get(f"/api/{address}")  # what is read once
        with CaptureQueriesContext(connection) as queries:
            assert visitor.client.get(f"/api/{address}").status_code == 200, address
        assert not [each["sql"] for each in queries if any(table in each["sql"] for table in unread)], address


@pytest.mark.parametrize("address", ["/", "/leaderboard", "/models", "/api/leaderboard"])
def test_what_lists_policies_reads_none_of_their_cards(visitor: Visitor, rich: str, address: str) -> None:
    """A card has tens of kilobytes; of all cards such a list tells a rate each, which stands beside them."""
    aggregation.aggregate()
    visitor.client.get(address)  # what is read once
    with CaptureQueriesContext(connection) as queries:
        assert visitor.client.get(address).status_code == 200
    assert not [each["sql"] for each in queries if '"card"' in each["sql"]]


def test_acting_needs_at_most_ten_queries_whatever_is_done(visitor: Visitor, rich: str) -> None:
    aggregation.aggregate()
    session_id = visitor.battle(rich)["session_id"]
    body = {"instruction": "pick up the red cube"}
    fresh, other = visitor.open(), visitor.open()
    judged = Attempt.objects.get(turn__battle=rich, turn__seq=1, side="left").episode_id
    first = visitor.send(other)
    calls: dict[str, Callable[[], Any]] = {
        "init-session": lambda: visitor.post("sessions/init", {}),
        "next-battle": lambda: visitor.post(f"sessions/{session_id}/battles"),
        "battles": lambda: visitor.post("battles", {"session_id": session_id}),
        "cancel-turn": lambda: visitor.post(f"turns/{first['turn_id']}/cancel"),
        "turns": lambda: visitor.post(f"battles/{fresh}/turns", body),
        "votes": lambda: visitor.post("votes", {"battle_id": rich, "vote": "tie"}),
        "explorations": lambda: visitor.post(f"battles/{rich}/explorations", {"seed": 1}),
        "episode-video": lambda: visitor.post(f"episodes/{judged}/video.mp4"),
        "wish": lambda: visitor.client.post("/wish", {"language": "de"}),
    }
    assert set(calls) == set(routes.ACT)
    spent = {}
    order = ("init-session", "votes", "cancel-turn", "turns", "explorations", "next-battle", "battles")
    for name in (*order, "episode-video", "wish"):
        spent[name], answer = counted(calls[name])
        assert answer.status_code < 400, (name, answer.content)
    assert {name: count for name, count in spent.items() if count > MOST} == {}


def test_a_turn_that_waits_its_turn_needs_no_more_queries_than_one_that_goes_at_once(
    visitor: Visitor, rich: str, contestants: list[Any], runtime: FakeRuntime
) -> None:
    """The dearest of its kind: others are ahead, of the visitor and not, workers announce, and turns came before."""
    Hosting.objects.bulk_create(Hosting(worker="one", contestant=policy) for policy in contestants)
    rows = Battle.objects.filter(session__user_id=side_of(rich, "left").turn.session.user_id)
    rows.update(left_model="alpha", right_model="beta")
    played, fresh = play_battle(visitor), visitor.open()
    assert visitor.post("votes", {"battle_id": rich, "vote": "tie"}).status_code == 201
    neighbour = Visitor()
    neighbour.send(neighbour.open())
    visitor.send(visitor.open())
    body = {"instruction": "pick up the red cube"}
    for address, wish in (
        (f"battles/{played}/turns", body),
        (f"battles/{fresh}/turns", body),
        (f"battles/{rich}/explorations", {"seed": 1}),
    ):
        count, answer = counted(lambda address=address, wish=wish: visitor.post(address, wish))
        assert answer.status_code == 202, answer.content
        assert Turn.objects.get(turn_id=answer.json()["turn_id"]).attempts.filter(status="held").count() == 2
        assert count <= MOST, address


def counted(call: Callable[[], Any]) -> tuple[int, Any]:
    """How many queries a call needs, and its answer."""
    with CaptureQueriesContext(connection) as seen:
        answer = call()
        if answer.streaming:
            b"".join(answer.streaming_content)
    return len(routes.asked(seen.captured_queries)), answer


def test_a_worker_asks_eight_times_for_the_first_side_of_a_turn_and_thirteen_for_the_one_that_ends_it(
    visitor: Visitor, runtime: FakeRuntime
) -> None:
    turn = visitor.send(visitor.open())
    asked = []
    for side in ("left", "right"):
        with CaptureQueriesContext(connection) as seen:
            play.play(turn[f"{side}_episode_id"])
        asked.append(len(routes.asked(seen.captured_queries)))
    assert asked == [8, 13]
