"""The pages, and when the site leads to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import OperationalError
from django.test import Client

from wormarena import presence
from wormarena.ingestion import demo
from wormarena.models import Game
from wormarena.pages.base import dollars
from wormarena.pages.charts import intervals, shares

pytestmark = pytest.mark.django_db


def shown(client: Client, address: str) -> str:
    response = client.get(f"/wormarena/{address}")
    assert response.status_code == 200
    return response.content.decode()


def test_the_navigation_leads_to_games_once_there_are_some(client: Client, games: Path) -> None:
    assert 'class="nav-worm"' in client.get("/about/").content.decode()
    Game.objects.all().delete()
    cache.clear()
    assert "WormArena" not in client.get("/about/").content.decode()


def test_the_navigation_does_not_depend_on_what_another_process_notes(client: Client, games: Path) -> None:
    """Without a server for the cache every process has its own, and games come in a worker's."""
    cache.clear()
    assert 'class="nav-worm"' in client.get("/about/").content.decode()


def test_a_database_that_is_down_costs_the_navigation_a_link_and_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def down() -> bool:
        raise OperationalError("down")

    monkeypatch.setattr(Game.objects, "exists", down)
    assert not presence.has_games()


def test_pages_without_a_game_say_so(client: Client) -> None:
    for address in ("", "games", "pairs", "live"):
        assert "board-empty" in shown(client, address)


def test_the_board_lists_every_model_with_its_figures(client: Client, games: Path) -> None:
    page = shown(client, "")
    assert 'href="/wormarena/model?name=gamma%2Fx+y%3Afree"' in page
    assert "50 %" in page
    assert "Hit a wall: 3" in page


def test_a_model_s_page_tells_deaths_opponents_costs_and_games(client: Client, games: Path) -> None:
    page = shown(client, "model?name=alpha")
    for text in ("Opponents", "Longest games", "Costliest games", "Cost per game over time", "gamma/x y:free"):
        assert text in page
    assert client.get("/wormarena/model?name=Alpha").status_code == 404


def test_names_are_shown_as_text(client: Client, games: Path) -> None:
    Game.objects.update(model_a_name="<script>alert(1)</script>")
    assert "<script>alert" not in shown(client, "games/g-1")


def test_games_are_filtered_and_come_in_pages(client: Client, games: Path) -> None:
    assert "games/g-4" in shown(client, "games")
    assert "games/g-4" not in shown(client, "games?model=beta")
    assert client.get("/wormarena/games?result=drawn").status_code == 302


def test_head_to_head_counts_a_tie_as_half(client: Client, games: Path) -> None:
    assert 'title="alpha – beta: 2 · 1 · 0">83<' in shown(client, "pairs")


def test_the_replay_s_page_names_sides_results_and_deaths(client: Client, games: Path) -> None:
    page = shown(client, "games/g-1")
    assert 'data-replay="/api/wormarena/games/g-1"' in page
    assert "Hit a wall" in page
    assert client.get("/wormarena/games/none").status_code == 404


def test_an_empty_arena_shows_reference_players_if_the_setting_says_so(client: Client, settings: Any) -> None:
    settings.WORMARENA_DEMO = False
    assert demo.enter() == 0
    settings.WORMARENA_DEMO = True
    assert demo.enter() == 27
    assert demo.enter() == 0
    page = shown(client, "")
    assert "greedy (reference player)" in page
    assert "SmolLM2 135M, plain" in page, "the ladder of the model beside the arena was really played"


@pytest.mark.parametrize(
    ("cost", "text"), [(None, "–"), (0, "$0"), (0.00001, "$1.0e-05"), (0.0123, "$0.012"), (12.345, "$12.35")]
)
def test_costs_have_the_digits_they_need(cost: float | None, text: str) -> None:
    assert dollars(cost) == text


def test_segments_fill_their_bar_and_intervals_share_a_scale() -> None:
    assert [part["width"] for part in shares([("a", "a", 1), ("b", "b", 3)])] == ["25.00", "75.00"]
    first, second = intervals([(1500.0, 1400.0, 1600.0), (1500.0, None, None)])
    assert first.middle == second.middle
    assert second.low == "0.00%"
