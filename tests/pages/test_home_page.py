"""The home page: two robots that act, the latest battles as pictures, and nobody ranked who is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from arena.drawings.store import get_drawings
from arena.models import Attempt, Vote
from arena.store import EpisodeStore, StoreUnavailable
from policies.models import Policy
from rankings.publication import aggregation
from robots.kind import Robots
from tests.factories import BattleFactory, PolicyFactory, TurnFactory, VoteFactory
from vlaarena import shown_battles

pytestmark = pytest.mark.django_db


def voted(
    vote: str = "left_better", *, left: bool | None = False, right: bool | None = False, drawn: bool = True
) -> Vote:
    """A voted battle in which these sides reached the goal, with a picture of each side."""
    cast = VoteFactory(vote=vote)
    for side, success in (("left", left), ("right", right)):
        Attempt.objects.filter(turn__battle=cast.battle, side=side).update(success=success)
    for episode_id in Attempt.objects.filter(turn__battle=cast.battle).values_list("episode_id", flat=True):
        if drawn:
            get_drawings().keep(episode_id, "picture.webp", Robots.look, b"RIFF")
    return cast


def acted() -> shown_battles.ShownBattle:
    return shown_battles.shown_battles()[0]


def test_a_visitor_of_a_new_arena_sees_the_exhibition_that_ships_with_it(client: Client) -> None:
    page = client.get("/").content.decode()
    shown = acted()
    assert shown.page == ""
    assert shown.left.name == "Octo mini"
    assert f'data-left="{shown.left.view}"' in page
    assert f'src="{shown.right.picture}"' in page
    assert "a demonstration by two of the arena" in page
    assert "Latest battles" not in page


def test_the_exhibitions_models_go_by_the_names_that_this_arena_gives_them() -> None:
    PolicyFactory(id="octo-mini", name="Another name")
    assert acted().left.name == "Another name"
    assert acted().left.model_id == "octo-mini"
    assert acted().right.model_id == ""


def test_a_battle_that_one_side_won_by_vote_and_by_physics_is_acted_rather_than_a_newer_one() -> None:
    good = voted("right_better", right=True)
    voted("tie", left=True, right=True)
    voted("left_better", left=None, right=None)
    assert acted().page == f"/b/{good.battle_id}"
    assert acted().right.won
    assert not acted().left.won
    newer = voted("left_better", left=True)
    assert acted().page == f"/b/{newer.battle_id}"


def test_without_a_better_one_any_complete_battle_is_acted() -> None:
    only = voted("both_bad")
    assert acted().page == f"/b/{only.battle_id}"


def spoil(vote: Vote) -> None:
    vote.battle.spoiled = True
    vote.battle.save()


def fail_a_side(vote: Vote) -> None:
    Attempt.objects.filter(turn__battle=vote.battle, side="left").update(status="failed")


def forget_a_recording(vote: Vote) -> None:
    Attempt.objects.filter(turn__battle=vote.battle, side="left").update(expired_at=vote.voted_at)


@pytest.mark.parametrize("change", [spoil, fail_a_side, forget_a_recording])
def test_a_battle_that_cannot_be_watched_whole_is_not_shown(client: Client, change: Callable[[Vote], None]) -> None:
    cast = voted(left=True)
    change(cast)
    assert acted().page == ""
    assert f"/b/{cast.battle_id}" not in client.get("/").content.decode()


def test_a_battle_without_its_pictures_is_not_acted_yet_but_asks_for_them_among_the_latest(client: Client) -> None:
    cast = voted(left=True, drawn=False)
    page = client.get("/").content.decode()
    assert acted().page == ""
    for episode_id in Attempt.objects.filter(turn__battle=cast.battle).values_list("episode_id", flat=True):
        assert f'src="/api/episodes/{episode_id}/picture.webp"' in page


def test_the_home_page_opens_while_the_episode_store_is_down(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    cast = voted(left=True)

    def down(store: EpisodeStore, collection: str) -> None:
        raise StoreUnavailable

    monkeypatch.setattr(EpisodeStore, "beside", down)
    page = client.get("/")
    assert page.status_code == 200
    assert f"/b/{cast.battle_id}" in page.content.decode()


def test_the_latest_battles_tell_instruction_names_and_winner_the_newest_first(client: Client) -> None:
    PolicyFactory(id="hero", name="Hero & Co")
    hero, rival = Policy.objects.get(pk="hero"), PolicyFactory(name="Rival")
    battle = BattleFactory(left_model=hero, right_model=rival, status="voted")
    VoteFactory(battle=battle, vote="left_better")
    later = VoteFactory(vote="tie")
    page = client.get("/").content.decode()
    latest = page[page.index('class="latest"') : page.index('class="now"')]
    assert latest.index(f"/b/{later.battle_id}") < latest.index(f"/b/{battle.battle_id}")
    assert "put the red cube on the left plate" in latest
    assert "Hero &amp; Co <b>won</b>" in latest
    assert "Rival <b>" not in latest
    assert "<b>Tie</b>" in latest


def test_the_battle_that_is_acted_is_not_among_the_latest_as_well() -> None:
    good, other = voted(left=True), voted("tie")
    shown, latest = shown_battles.shown_battles()
    assert [shown.page, *(each.page for each in latest)] == [f"/b/{good.battle_id}", f"/b/{other.battle_id}"]


def test_at_most_four_of_the_latest_battles_are_shown() -> None:
    VoteFactory.create_batch(5)
    assert len(shown_battles.shown_battles()[1]) == 4


def test_explorations_after_the_vote_are_not_what_is_shown_of_a_battle() -> None:
    cast = voted(left=True)
    TurnFactory(battle=cast.battle, completed=True, is_fork=True, fork_seed=1, instruction="dance")
    assert acted().instruction == "put the red cube on the left plate"


def test_nobody_is_ranked_on_the_home_page_without_a_vote_or_unable_to_play(client: Client) -> None:
    left, right, _ = PolicyFactory(name="Voted"), PolicyFactory(name="Gone"), PolicyFactory(name="New")
    VoteFactory(battle=BattleFactory(left_model=left, right_model=right, status="voted"))
    aggregation.aggregate()
    right.retire("replaced")
    page = client.get("/").content.decode()
    leaders = page[page.index('class="leaders"') :]
    assert "Voted" in leaders
    assert "Gone" not in leaders
    assert "New" not in leaders


def test_before_any_vote_the_home_page_has_no_ranking(client: Client) -> None:
    PolicyFactory.create_batch(2)
    aggregation.aggregate()
    assert 'class="leaders"' not in client.get("/").content.decode()


def test_the_home_page_says_what_a_vla_is(client: Client) -> None:
    assert "A VLA (vision-language-action model) sees" in client.get("/").content.decode()


def shown_count(client: Client) -> str:
    return client.get("/").content.decode().partition('data-figure="votes">')[2].partition("<")[0]


def test_the_count_of_votes_follows_each_vote_and_leaves_out_spoiled_battles(client: Client) -> None:
    assert shown_count(client) == "0"
    for number in ("1", "2", "3"):
        cast = voted()
        assert shown_count(client) == number
    spoil(voted())
    assert shown_count(client) == "3"
    spoil(cast)
    cache.clear()
    assert shown_count(client) == "2"


def test_old_votes_are_not_counted_at_every_visit(client: Client) -> None:
    voted()
    shown_count(client)
    last = voted()
    with CaptureQueriesContext(connection) as queries:
        assert shown_count(client) == "2"
    counting = [query["sql"] for query in queries if "COUNT" in query["sql"] and '"votes"' in query["sql"]]
    assert len(counting) == 1
    assert f'"votes"."id" > {last.pk - 1}' in counting[0]
