"""The gallery: voted battles alone, newest first, searched and filtered, at the same cost however many there are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from arena.drawings import drawing
from arena.gallery import browsing, entering
from arena.gallery.browsing import GalleryQuery
from arena.models import Attempt, Battle, GalleryEntry, Vote, VoteChoice
from tests.arena.conftest import Visitor, cast, play_battle
from tests.factories import VoteFactory
from tests.fakes import FakeRuntime

BROWSER = "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"


def listed(query: str = "") -> list[dict[str, Any]]:
    answer = Visitor().get(f"gallery{query}")
    assert answer.status_code == 200, answer.content
    return list(json.loads(answer.content)["results"])


def ids(query: str = "") -> list[str]:
    return [row["battle_id"] for row in listed(query)]


def entry(instruction: str = "pick up the red cube", vote: str = VoteChoice.LEFT_BETTER, **sides: Any) -> Vote:
    """A voted battle in the gallery. `left`, `right`: columns of the sides' attempts."""
    made = VoteFactory.create(vote=vote)
    made.battle.turns.update(instruction=instruction)
    for side, columns in sides.items():
        Attempt.objects.filter(turn__battle=made.battle, side=side).update(**columns)
    entering.enter_missing()
    return made


def test_a_battle_is_listed_with_its_vote_and_not_before(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = play_battle(visitor)
    assert listed() == []
    cast(visitor, battle_id, "right_better")
    drawing.draw_battle(battle_id)
    (row,) = listed()
    assert (row["battle_id"], row["vote"], row["instruction"]) == (battle_id, "right_better", "pick up the red cube")
    assert {row["left"]["model_id"], row["right"]["model_id"]} == {"alpha", "beta"}
    assert row["left"]["thumbnail"] == f"/api/episodes/{row['left']['episode_id']}/strip.webp"


def test_it_does_not_say_whose_a_battle_is(visitor: Visitor, runtime: FakeRuntime) -> None:
    cast(visitor, play_battle(visitor))
    entering.enter_missing()
    session = Battle.objects.get().session
    seen = Visitor().get("gallery").content.decode() + Visitor().client.get("/battles/").content.decode()
    assert session.session_id not in seen
    assert str(session.user_id) not in seen


def test_a_battle_whose_message_was_lost_is_entered_by_who_opens_its_page(
    visitor: Visitor, runtime: FakeRuntime
) -> None:
    battle_id = play_battle(visitor)
    cast(visitor, battle_id)
    assert Visitor().client.get(f"/b/{battle_id}").status_code == 200
    assert ids() == [battle_id]


@pytest.mark.django_db
def test_newest_first_and_page_by_page_nothing_is_missed_or_shown_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browsing, "PAGE", 3)
    votes = [entry(f"take {number}") for number in range(7)]
    newest_first = [vote.battle_id for vote in reversed(votes)]
    for show in ("", "&show=watched"):
        GalleryEntry.objects.update(views=2)
        GalleryEntry.objects.filter(vote=votes[0]).update(views=1)
        seen, after = [], ""
        while True:
            page = json.loads(Visitor().get(f"gallery?after={after}{show}").content)
            seen += [row["battle_id"] for row in page["results"]]
            after = page["next"]
            if after is None:
                break
        assert seen == newest_first


@pytest.mark.django_db
def test_words_task_and_model_narrow_it_down() -> None:
    red, green = entry("pick up the RED cube"), entry("wave at the green wall")
    assert ids("?q=red+up") == [red.battle_id]
    assert ids("?q=the") == [green.battle_id, red.battle_id]
    assert ids("?q=red+green") == []
    assert ids("?q=100%25") == []
    assert ids("?task=pick") == [red.battle_id]
    assert ids(f"?model={green.right_model_id}") == [green.battle_id]
    assert ids(f"?model={green.left_model_id}") == [green.battle_id]
    assert ids("?model=nobody") == []


@pytest.mark.django_db
def test_disagreement_is_a_success_that_the_voter_did_not_prefer() -> None:
    won, lost = {"success": True, "progress": 1.0}, {"success": False, "progress": 0.1}
    against = entry(vote=VoteChoice.LEFT_BETTER, left=lost, right=won)
    neither = entry(vote=VoteChoice.BOTH_BAD, left=won, right=lost)
    entry(vote=VoteChoice.RIGHT_BETTER, left=lost, right=won)
    entry(vote=VoteChoice.LEFT_BETTER, left=lost, right=lost)
    entry(vote=VoteChoice.LEFT_BETTER, left={"success": None}, right=won)
    assert ids("?show=disagreement") == [neither.battle_id, against.battle_id]


@pytest.mark.django_db
def test_a_near_miss_came_close_without_success() -> None:
    near = entry(left={"success": False, "progress": 0.8})
    entry(left={"success": True, "progress": 1.0}, right={"success": False, "progress": 0.2})
    assert ids("?show=near-miss") == [near.battle_id]


@pytest.mark.django_db
def test_what_staff_spoiled_is_not_listed() -> None:
    vote = entry()
    Battle.objects.filter(battle_id=vote.battle_id).update(spoiled=True)
    assert ids() == []
    assert Visitor().client.get(f"/embed/battles/{vote.battle_id}/").status_code == 404
    assert Visitor().get(f"battles/{vote.battle_id}/preview.jpg").status_code == 404


@pytest.mark.django_db
def test_calibration_battles_are_listed_like_all_others() -> None:
    vote = entry()
    Battle.objects.filter(battle_id=vote.battle_id).update(purpose="gold")
    assert ids() == [vote.battle_id]


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["?show=best", "?after=x", "?after=1-2-3", "?after=" + "9" * 40])
def test_what_does_not_exist_is_refused_and_the_page_shows_all(query: str) -> None:
    assert Visitor().get(f"gallery{query}").status_code == 422
    answer = Visitor().client.get(f"/battles/{query}")
    assert (answer.status_code, answer["Location"]) == (302, "/battles/")


@pytest.mark.django_db
def test_a_page_costs_as_many_queries_with_one_battle_as_with_many() -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as asked:
            assert Visitor().client.get("/battles/?q=cube").status_code == 200
        return len(asked)

    entry()
    queries()  # every page asks now and then whether there are games
    one = queries()
    for _ in range(5):
        entry()
    assert queries() == one
    assert one <= 4


@pytest.mark.django_db
def test_battles_of_before_the_gallery_are_entered_once() -> None:
    VoteFactory.create_batch(3)
    assert entering.enter_missing() == 3
    assert entering.enter_missing() == 0
    assert len(listed()) == 3


@pytest.mark.django_db
def test_a_vote_that_is_gone_is_gone_from_the_gallery() -> None:
    entry().delete()
    assert GalleryEntry.objects.count() == 0


def visit(vote: Vote, address: str = "198.51.100.7", agent: str = BROWSER) -> None:
    client = Visitor().client
    answer = client.get(f"/b/{vote.battle_id}", REMOTE_ADDR=address, headers={"User-Agent": agent})
    assert answer.status_code == 200


@pytest.mark.django_db
def test_views_count_once_a_day_for_each_network_and_never_for_programs() -> None:
    vote = entry()
    for _ in range(3):
        visit(vote)
    visit(vote, "198.51.100.200")
    visit(vote, "203.0.113.1", "Mozilla/5.0 (compatible; Examplebot/2.1)")
    visit(vote, "203.0.113.1", "")
    assert GalleryEntry.objects.get().views == 1
    visit(vote, "203.0.113.1")
    assert GalleryEntry.objects.get().views == 2
    assert ids("?show=watched") == [vote.battle_id]


@pytest.mark.django_db
def test_very_long_searches_are_cut_and_answered() -> None:
    entry()
    assert ids("?q=" + "+".join(["cube"] * 60)) != []
    assert len(GalleryQuery(q="a " * 50).words) == browsing.MOST_WORDS
