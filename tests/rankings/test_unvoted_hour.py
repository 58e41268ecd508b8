"""An hour with a battle that has no vote yet changes no byte of anything public: it would name the policies."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from arena.models import Attempt, Battle, BattleStatus, PairChance, Vote
from policies.models import Policy
from rankings.models import CountedVote, Snapshot
from rankings.publication import aggregation, published
from tests.factories import BattleFactory, TurnFactory, VoteFactory
from tests.rankings.ballots import ballots, cast

pytestmark = pytest.mark.django_db

HOUR = datetime(2026, 1, 2, 12, tzinfo=UTC)
PICK = "pick up the red cube"
PUBLIC = (
    *("/", "/models", "/models/a", "/models/c"),
    *("/leaderboard", "/leaderboard/physics", "/leaderboard/pairs", "/leaderboard/checks", "/leaderboard/method"),
    *("/api/leaderboard", "/api/leaderboard?robot_id=widowx", "/api/leaderboard/report", "/api/leaderboard/stats"),
    *("/api/worker/status", "/api/models", "/api/models/a"),
)


@pytest.fixture
def arena(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some votes, one of them on a battle that physics judged, in an hour in which the clock stands still."""
    monkeypatch.setattr(timezone, "now", lambda: HOUR)
    cast(ballots(("a", "b", "left_better", 6, "v1"), ("b", "c", "tie", 6, "v2"), ("c", "a", "left_better", 6, "v3")))
    left, right = Policy.objects.get(pk="a"), Policy.objects.get(pk="b")
    VoteFactory(battle__left_model=left, battle__right_model=right, turn__instruction=PICK, voted_at=HOUR, user_id="v1")


def played(status: str, spoiled: bool = False) -> Battle:
    """A battle of which both sides have played a turn of known goal, one with success."""
    sides = {"left_model": Policy.objects.get(pk="a"), "right_model": Policy.objects.get(pk="c")}
    battle: Battle = BattleFactory(**sides, status=status, spoiled=spoiled, created_at=HOUR)
    turn = TurnFactory(battle=battle, instruction=PICK, completed=True)
    Attempt.objects.filter(turn=turn, side="left").update(success=True, progress=1.0)
    return battle


def everything(client: Client, folder: Path) -> dict[str, Any]:
    """All that anybody may fetch or be given after this hour's publication, byte by byte."""
    for _ in range(2):  # the second has no new votes, whatever came before
        aggregation.aggregate()
    published._kept.cache_clear()
    found: dict[str, Any] = {address: client.get(address) for address in PUBLIC}
    assert {address: answer.status_code for address, answer in found.items() if answer.status_code != 200} == {}
    snapshot = Snapshot.objects.latest("made_at")
    call_command("export_votes", str(folder / "votes.csv"), stdout=StringIO())
    return {
        **{address: answer.content for address, answer in found.items()},
        "counts": gzip.decompress(bytes(snapshot.counts)),
        "boards": snapshot.boards,
        "votes": (folder / "votes.csv").read_bytes(),
        "chances": sorted(PairChance.objects.values_list("one", "other", "chance")),
        "weights": sorted(Policy.objects.values_list("pk", "pairing_weight")),
    }


@pytest.mark.usefixtures("arena")
@pytest.mark.parametrize("status", [BattleStatus.ONGOING, BattleStatus.ABANDONED])
def test_an_hour_with_an_unvoted_battle_changes_no_byte_of_anything_public(
    client: Client, tmp_path: Path, status: str
) -> None:
    before = everything(client, tmp_path)
    played(status)
    after = everything(client, tmp_path)
    assert [name for name in before if before[name] != after[name]] == []


@pytest.mark.usefixtures("arena")
def test_a_vote_on_a_battle_whose_names_were_seen_counts_nowhere(client: Client, tmp_path: Path) -> None:
    before = everything(client, tmp_path)
    battle = played(BattleStatus.VOTED, spoiled=True)
    vote: Vote = VoteFactory(battle=battle, voted_at=HOUR)
    after = everything(client, tmp_path)
    assert [name for name in before if before[name] != after[name]] == []
    assert not CountedVote.objects.filter(vote=vote).exists()
    out = StringIO()
    call_command("rebuild_rankings", "--check", stdout=out)
    assert out.getvalue() == "0 differences\n"


@pytest.mark.usefixtures("arena")
def test_with_its_vote_the_battle_is_told(client: Client, tmp_path: Path) -> None:
    before = everything(client, tmp_path)
    VoteFactory(battle=played(BattleStatus.VOTED), voted_at=HOUR)
    after = everything(client, tmp_path)
    assert before["/leaderboard/physics"] != after["/leaderboard/physics"]
    assert before["/api/leaderboard/report"] != after["/api/leaderboard/report"]
