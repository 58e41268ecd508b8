"""Ratings of models from the results of their games."""

from __future__ import annotations

from pathlib import Path

import pytest
import trueskill

from rankings.models import ModelStatsTotal, Snapshot
from tests.wormarena.files import game, put, with_results
from wormarena.ingestion.ledger import ingest
from wormarena.models import ModelAggregate
from wormarena.ratings.skill import Played, Skill, rate
from wormarena.ratings.strength import Pair, strengths


def test_a_win_moves_both_as_trueskill_does() -> None:
    skills: dict[str, Skill] = {}
    rate(skills, [Played("a", "b", "won", "lost")])
    scale = trueskill.TrueSkill(mu=25, sigma=25 / 3, beta=25 / 6, tau=0.5, draw_probability=0.1, backend=None)
    winner, loser = trueskill.rate_1vs1(scale.create_rating(), scale.create_rating(), env=scale)
    assert skills["a"] == pytest.approx((winner.mu, winner.sigma))
    assert skills["b"] == pytest.approx((loser.mu, loser.sigma))


def test_what_is_shown_is_fifty_times_what_is_sure() -> None:
    assert Skill(30.0, 5.0).exposed == 15.0
    assert Skill(30.0, 5.0).display == 750.0


def test_both_tied_is_a_draw_and_both_lost_too() -> None:
    for result in ("tied", "lost"):
        skills: dict[str, Skill] = {}
        rate(skills, [Played("a", "b", result, result)])
        assert skills["a"] == pytest.approx(skills["b"])
        assert skills["a"].sigma < 25 / 3


def test_a_game_against_itself_moves_no_mean() -> None:
    skills: dict[str, Skill] = {}
    rate(skills, [Played("a", "a", "won", "lost")])
    assert skills["a"].mu == pytest.approx(25.0)


def test_the_stronger_model_is_above_and_its_interval_holds_the_rating() -> None:
    found = strengths([Pair("a", "b", 30, 10, 5), Pair("c", "b", 5, 20, 5), Pair("a", "c", 9, 1, 0)])
    assert found["a"]["rating"] > found["b"]["rating"] > found["c"]["rating"]
    low, high = found["a"]["low"], found["a"]["high"]
    assert low is not None and high is not None and low < found["a"]["rating"] < high  # noqa: PT018


def test_strengths_do_not_depend_on_the_side_from_which_a_pair_is_told() -> None:
    one = strengths([Pair("a", "b", 30, 10, 5), Pair("c", "b", 5, 20, 5)])
    other = strengths([Pair("b", "c", 20, 5, 5), Pair("b", "a", 10, 30, 5)])
    assert one == other


def test_intervals_are_clustered_by_pair() -> None:
    """Many games of few pairs that contradict each other say less than their number."""
    circle = [Pair("a", "b", 90, 10, 0), Pair("b", "c", 90, 10, 0), Pair("c", "a", 90, 10, 0)]
    high, low = strengths(circle)["a"]["high"], strengths(circle)["a"]["low"]
    assert high is not None and low is not None  # noqa: PT018
    assert high - low > 200


@pytest.mark.django_db
def test_later_games_add_to_the_ratings_what_going_through_all_again_would(tmp_path: Path) -> None:
    def documents() -> list[dict[str, object]]:
        return [game(f"g-{n}", *("ab" if n % 3 else "ca"), started_at=f"2026-01-01T00:00:{n:02d}") for n in range(9)]

    files = put(tmp_path, *(with_results(each, "won", "lost") for each in documents()))
    for path in files:
        ingest([path])
    one_by_one = list(ModelAggregate.objects.order_by("pk").values())
    from wormarena.ingestion.ledger import rebuild

    rebuild([])
    assert list(ModelAggregate.objects.order_by("pk").values()) == one_by_one


@pytest.mark.django_db
def test_games_touch_nothing_of_the_rankings_by_votes(tmp_path: Path) -> None:
    ingest(put(tmp_path, game()))
    assert not ModelStatsTotal.objects.exists()
    assert not Snapshot.objects.exists()
