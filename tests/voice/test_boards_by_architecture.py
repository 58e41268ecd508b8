"""Boards within one architecture: the votes between its agents alone, beside the board of all."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from arena.models import Vote
from rankings.models import ClassicElo, Snapshot
from rankings.publication import aggregation, checking
from rankings.publication.snapshots import regrouped
from rankings.votes import ledger
from tests.factories import SessionFactory
from tests.rankings.ballots import ballots, cast
from voice.kind import Voice
from voice.models import VoiceAgent

pytestmark = pytest.mark.django_db

CASCADES, REALTIME = ("c1", "c2", "c3"), ("s1", "s2")
VOTES = ballots(
    ("c1", "c2", "left_better", 8, "v1"),
    ("c2", "c3", "left_better", 7, "v2"),
    ("s1", "s2", "left_better", 9, "v3"),
    ("c1", "s1", "right_better", 6, "v4"),
    ("s2", "c3", "left_better", 6, "v5"),
)


def agent(name: str, architecture: str) -> VoiceAgent:
    return VoiceAgent.objects.create(
        id=name, name=name.upper(), provider="local", architecture_type=architecture, config={"mind": "rules"}
    )


def cast_calls(votes: Any, start: int = 0) -> list[Vote]:
    return cast(votes, SessionFactory(kind="voice", setting="booking", scene="haircut"), start)


@pytest.fixture
def agents() -> None:
    for names, architecture in ((CASCADES, "cascade"), (REALTIME, "s2s"), (("o1",), "orchestrator")):
        for name in names:
            agent(name, architecture)


@pytest.fixture
def published(agents: None) -> None:
    cast_calls(VOTES)
    aggregation.aggregate()


def board(**asked: str) -> Any:
    answer = Client().get("/api/leaderboard", {"kind": "voice", **asked})
    assert answer.status_code == 200, answer.content
    return answer.json()


def ids(found: Any) -> list[str]:
    return [row["model_id"] for row in (*found["rankings"], *found["provisional"])]


def test_a_board_of_an_architecture_has_its_agents_and_the_votes_between_them(published: None) -> None:
    within, overall = board(architecture="cascade"), board()
    assert ids(within) == ["c1", "c2", "c3"]
    assert (within["metadata"]["board"], within["metadata"]["total_votes"]) == ("cascade", 15)
    assert overall["metadata"]["total_votes"] == 36
    assert (overall["metadata"]["division"], within["metadata"]["division"]) == ("", "cascade")
    mean = sum(row["elo_score"] * row["elo_weight"] for row in within["rankings"])
    assert mean == pytest.approx(1500, abs=1), "its own mean, not that of all"
    assert within["rankings"][0]["win_count"] == 8, "its loss to s1 is no vote of this board"


def test_it_is_what_the_same_votes_alone_would_give(published: None) -> None:
    within = Snapshot.objects.get(kind="voice").boards["division=s2s"]
    for voter in ("v1", "v2", "v4", "v5"):
        ledger.exclude_voter(voter)
    aggregation.aggregate()
    alone = Snapshot.objects.filter(kind="voice").latest("made_at").boards["global"]
    assert alone["models"] == within["models"]


def test_an_architecture_and_a_category_are_chosen_together(published: None) -> None:
    assert board(architecture="cascade", category_id="booking")["metadata"]["board"] == "booking/cascade"
    assert ids(board(architecture="s2s", category_id="booking", scenario_id="haircut")) == ["s1", "s2"]


def test_architectures_of_one_agent_without_votes_are_no_choice(published: None) -> None:
    assert board()["metadata"]["divisions"] == ["cascade", "s2s"]
    refused = Client().get("/api/leaderboard", {"kind": "voice", "architecture": "orchestrator"})
    assert refused.status_code == 422
    assert "cascade, s2s" in refused.json()["detail"]


def test_other_kinds_have_no_such_boards(published: None) -> None:
    robots = Client().get("/api/leaderboard", {"architecture": "cascade"}).json()
    assert (robots["metadata"]["board"], robots["metadata"]["divisions"]) == ("global", [])


def test_the_page_has_a_tab_for_each_architecture(published: None) -> None:
    page = Client().get("/leaderboard", {"kind": "voice", "architecture": "s2s", "sort": "votes"})
    told = page.content.decode()
    assert page.context["query"].division == "s2s"
    assert [tab.name for tab in page.context["division_tabs"]] == ["All", "Cascade", "Speech to speech"]
    assert [tab.current for tab in page.context["division_tabs"]] == [False, False, True]
    assert '<input type="hidden" name="architecture" value="s2s">' in told
    assert 'aria-label="Architectures"' in told
    assert "S1" in told
    assert "C1" not in told
    assert 'aria-label="Architectures"' not in Client().get("/leaderboard").content.decode()


def test_the_page_lists_each_scenario_once(published: None) -> None:
    page = Client().get("/leaderboard", {"kind": "voice", "category_id": "booking"})
    assert page.context["scene_tabs"] == []
    assert [tab.name for tab in page.context["task_tabs"]][:2] == ["All tasks", "A haircut"]
    link = 'href="?kind=voice&amp;category_id=booking&amp;scenario_id=haircut"'
    assert page.content.decode().count(link) == 1


@pytest.mark.parametrize("asked", [{"scenario_id": "haircut"}, {"task": "haircut"}])
def test_the_scenario_of_the_board_is_marked_however_it_was_asked_for(published: None, asked: dict[str, str]) -> None:
    page = Client().get("/leaderboard", {"kind": "voice", **asked})
    assert [tab.name for tab in page.context["task_tabs"] if tab.current] == ["A haircut"]


def test_the_classic_elo_of_an_architecture_goes_on_from_the_votes_within_it(published: None) -> None:
    cast_calls(ballots(("c3", "c1", "left_better", 3, "v9"), ("c3", "s2", "left_better", 3, "v9")), start=1000)
    aggregation.aggregate()
    went_on = ClassicElo.objects.get(kind="voice", board="division=cascade").ratings
    assert set(went_on) == set(CASCADES)
    ClassicElo.objects.all().delete()
    aggregation.rebuild()
    assert ClassicElo.objects.get(kind="voice", board="division=cascade").ratings == went_on


def test_an_agent_that_is_of_another_architecture_now_changes_boards_with_its_votes(published: None) -> None:
    VoiceAgent.objects.filter(pk="c3").update(architecture_type="s2s")
    assert regrouped(Voice()) == {"cascade", "s2s"}
    aggregation.aggregate()
    assert ids(board(architecture="cascade")) == ["c1", "c2"]
    assert set(ids(board(architecture="s2s"))) == {"s1", "s2", "c3"}
    assert set(ClassicElo.objects.get(kind="voice", board="division=s2s").ratings) == {"s1", "s2", "c3"}
    assert regrouped(Voice()) == set()
    assert checking.differences() == []
