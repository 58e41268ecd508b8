"""The page on which one picks two policies and a task, which pairs are settled, and terms beside the ratings."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from rankings.pages.compare import percent
from rankings.pages.density import BASE, WIDTH, density
from rankings.publication import aggregation
from tests import synthetic_arena
from tests.factories import PolicyFactory
from tests.rankings.ballots import ballots, cast


def page(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return str(answer.content.decode())


@pytest.fixture
def arena(db: None) -> None:
    synthetic_arena.fill(votes=150, voters=20)
    aggregation.aggregate()


@pytest.mark.usefixtures("arena")
def test_it_opens_with_the_best_two_and_tells_each_task(client: Client) -> None:
    text = page(client, "/leaderboard/compare")
    assert '<option value="openvla-7b" selected>' in text
    assert "is better with a probability of" in text
    for task in ("All tasks", "Pick up", "Stack"):
        assert task in text
    assert 'class="density-a"' in text


@pytest.mark.usefixtures("arena")
def test_it_answers_what_the_address_asks(client: Client) -> None:
    text = page(client, "/leaderboard/compare?a=film-mute&b=openvla-7b&task=stack")
    assert "FiLM without words – OpenVLA 7B: Table top: Stack" in text
    assert "<b>FiLM without words</b> is better with a probability of <b>" in text
    assert 'class="plain-strong"><th scope="row">Table top: Stack' in text
    assert "a=film-mute&amp;b=openvla-7b&amp;task=pick" in text


@pytest.mark.usefixtures("arena")
@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ("a=openvla-7b&b=openvla-7b", "Choose two different models."),
        ("a=openvla-7b&b=nobody", "Unknown model"),
        ("a=openvla-7b&b=octo-base&task=juggle", "Unknown task"),
        ("b=octo-base", "Unknown model"),
    ],
)
def test_what_cannot_be_answered_is_said_beside_the_form(client: Client, asked: str, word: str) -> None:
    text = page(client, f"/leaderboard/compare?{asked}")
    assert word in text
    assert "is better with a probability" not in text
    assert '<select name="a">' in text


@pytest.mark.django_db
def test_nothing_is_claimed_of_two_that_no_votes_connect(client: Client) -> None:
    cast(ballots(("a", "b", "left_better", 6), ("c", "d", "left_better", 6)))
    aggregation.aggregate()
    text = page(client, "/leaderboard/compare?a=a&b=c&task=pick")
    assert "No votes connect the two" in text
    assert "is better with a probability" not in text
    assert '<svg viewBox="0 0 360' not in text


@pytest.mark.django_db
def test_without_two_policies_there_is_nothing_to_compare(client: Client) -> None:
    PolicyFactory(id="alone")
    assert "There are not two models to compare yet." in page(client, "/leaderboard/compare?a=alone&b=alone")


@pytest.mark.django_db
def test_each_pair_says_whether_it_is_settled_and_leads_to_its_comparison(client: Client) -> None:
    cast(ballots(("a", "b", "left_better", 60), ("b", "c", "left_better", 3), ("d", "e", "tie", 3)))
    aggregation.aggregate()
    text = page(client, "/leaderboard/pairs")
    assert re.search(r"\d of 4 pairs (is|are) settled", text)
    cells = _cells(text)
    assert cells[("a", "b")] == "&gt;"
    assert cells[("b", "a")] == "&lt;"
    assert cells[("a", "d")] == "–"
    assert text.count('<span class="heat-number">2.1</span>') == 3  # a group of its own, in each table
    assert cells[("d", "e")].isdigit() or cells[("d", "e")] == "∞"


def _cells(text: str) -> dict[tuple[str, str], str]:
    found = re.findall(r'href="/leaderboard/compare\?a=(\w)&amp;b=(\w)" aria-label="[^"]*">([^<]*)<', text)
    return {(one, other): mark for one, other, mark in found}


@pytest.mark.usefixtures("arena")
def test_the_checks_tell_what_side_order_length_and_success_are_worth(client: Client) -> None:
    text = page(client, "/leaderboard/checks")
    for word in (
        "With all else equal",
        "Being on the left",
        "Taking twice as long",
        "Being the only one to reach the goal",
    ):
        assert word in text
    assert "±" in text.partition("With all else equal")[2]


@pytest.mark.parametrize(
    ("share", "said"), [(0.934, "93 %"), (0.9996, "> 99 %"), (1.0, "> 99 %"), (0.0, "< 1 %"), (0.5, "50 %")]
)
def test_nothing_is_said_to_be_sure(share: float, said: str) -> None:
    assert percent(share) == said


@pytest.mark.parametrize(
    ("mean", "low", "high"), [(0.0, -50.0, 50.0), (300.0, 250.0, 350.0), (-800.0, -830.0, -770.0), (2.0, -900.0, 904.0)]
)
def test_the_picture_holds_the_curve_the_interval_and_zero(mean: float, low: float, high: float) -> None:
    found = density(mean, low, high)
    assert 0 <= float(found.low) < float(found.mean) < float(found.high) <= WIDTH
    assert 70 <= float(found.zero) <= WIDTH - 70  # the words beside it have room
    assert 2 <= len(found.ticks) <= 8
    points = [float(y) for _, y in re.findall(r"([\d.]+),([\d.]+)", found.curve)]
    assert max(points) <= BASE
    assert bool(found.a_better) == (high > -400)
    assert bool(found.b_better) == (low < 200)
