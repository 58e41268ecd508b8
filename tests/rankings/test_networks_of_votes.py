"""Networks and trust, from the vote to the boards: what is stored, published, checked and given away."""

from __future__ import annotations

import csv
import json
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from arena import kinds
from arena.models import Vote
from arena.signals import vote_cast
from rankings.models import ClosedDay, ExcludedVoter, Finding, ModelStatsTotal, VoteCount
from rankings.moderation import acts
from rankings.publication import aggregation, checking, integrity, tables
from rankings.tally.weights import NEWCOMER, Answers
from rankings.votes import observed
from tests.factories import PolicyFactory, VoteFactory
from tests.rankings.ballots import FIRST_VOTE, ballots, cast

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
PICK = "pick up the red cube"


def put(votes: list[Vote], *, network: str, at: datetime | None = None) -> None:
    """Say where these votes came from, and when."""
    more: dict[str, Any] = {"network": network} | ({"voted_at": at} if at else {})
    Vote.objects.filter(pk__in=[vote.pk for vote in votes]).update(**more)


def honest() -> None:
    """Votes from a network without a cap, as all were before networks were kept."""
    cast(ballots(("a", "b", "left_better", 20, "v1"), ("b", "a", "left_better", 20, "v2"), ("b", "c", "tie", 15, "v3")))


def rating(policy: str) -> int:
    return int(ModelStatsTotal.objects.get(model_id=policy).elo_score)


def calibrated(voter: str, right: int, at: datetime, network: str = "home") -> None:
    """Votes for the side that reached the goal where the other stayed far from it."""
    for number in range(right):
        vote = VoteFactory(
            user_id=voter,
            vote="left_better",
            voted_at=at + timedelta(seconds=number),
            battle__left_model_id="a",
            battle__left_model=None,
            battle__right_model_id="b",
            battle__right_model=None,
        )
        vote.battle.turns.update(instruction=PICK)
        vote.battle.turns.get().attempts.filter(side="left").update(success=True, progress=1.0)
        vote.battle.turns.get().attempts.filter(side="right").update(success=False, progress=0.2)
        put([vote], network=network)


def test_a_vote_is_counted_with_its_network() -> None:
    vote = VoteFactory(network="f" * 24)
    vote_cast.send(sender=Vote, vote=vote)
    assert VoteCount.objects.get().network == "f" * 24


def test_a_hundred_votes_of_fresh_cookies_of_one_network_hardly_move_a_rating() -> None:
    honest()
    aggregation.aggregate()
    before = rating("c")
    for number in range(50):
        put(cast(ballots(("c", "a", "left_better", 2, f"fresh{number}")), start=1000 + 2 * number), network="net")
    aggregation.aggregate()
    assert abs(rating("c") - before) <= 15  # of its 15 votes
    assert checking.differences() == []
    Vote.objects.update(network="")
    aggregation.rebuild()
    assert rating("c") - before > 100  # so they would have without a network


def test_answers_in_calibration_battles_are_counted_and_make_votes_weigh_more_from_the_second_day_on() -> None:
    honest()
    cast(ballots(("a", "b", "tie", 1)))
    calibrated("new", 4, FIRST_VOTE)
    aggregation.aggregate()
    assert observed.facts_and_answers().answers == {"robots": {"new": Answers(right=4)}}
    first = rating("a")
    put(cast(ballots(("b", "c", "tie", 1, "new")), start=50), network="home", at=FIRST_VOTE + DAY)
    aggregation.aggregate()
    assert rating("a") > first
    assert checking.differences() == []
    assert ClosedDay.objects.exclude(answers={}).count() == 1


def test_rebuilding_changes_nothing_and_the_export_gives_the_same_ratings(tmp_path: Path) -> None:
    honest()
    for name in ("d", "e"):
        PolicyFactory(id=name)
    for number in range(6):
        put(cast(ballots(("c", "a", "left_better", 9, f"n{number}")), start=100 * number), network="net")
        put(cast(ballots(("a", "c", "tie", 2, f"n{number}")), start=999), network="net" if number < 3 else "lone")
    calibrated("n1", 4, FIRST_VOTE + DAY, network="net")
    put(cast(ballots(("c", "b", "both_bad", 1, "alone")), start=5000), network="only")
    aggregation.aggregate()
    before = tables.stored_rows()
    aggregation.rebuild()
    assert tables.stored_rows() == before
    assert checking.differences() == []
    for name in ("votes.csv", "votes.parquet"):
        call_command("export_votes", str(tmp_path / name), stdout=StringIO())
        out = StringIO()
        call_command("rate", str(tmp_path / name), "--json", stdout=out)
        rated = json.loads(out.getvalue())["models"]
        assert {policy: round(rated[policy]["rating"]) for policy in "abc"} == {name: rating(name) for name in "abc"}


def test_the_export_numbers_networks_that_voters_share_and_is_silent_on_all_others(tmp_path: Path) -> None:
    honest()
    for number, network in enumerate(("secret-1", "secret-1", "secret-2")):
        put(cast(ballots(("c", "a", "tie", 1, f"n{number}")), start=100 * number), network=network)
    aggregation.aggregate()
    call_command("export_votes", str(tmp_path / "votes.csv"), stdout=StringIO())
    text = (tmp_path / "votes.csv").read_text()
    assert "secret" not in text
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["network"] for row in rows if row["network"]] == ["n000001", "n000001"]
    assert sorted(row["trust"] for row in rows if row["trust"] != "1") == [f"{NEWCOMER:g}"] * 3


def campaign(pushed: str) -> None:
    """Many voters who were here before, and twelve new cookies of four networks who push one policy."""
    for number in range(40):
        pairs = (("a", "b"), ("b", "c"), ("c", "a"))
        some = [(*pair, outcome, 1, f"old{number}") for pair in pairs for outcome in ("left_better", "right_better")]
        cast(ballots(*some), start=10 * number)
    for number in range(12):
        votes = cast(ballots((pushed, "a", "left_better", 10, f"fresh{number}")), start=9000)
        put(votes, network=f"net{number % 4}", at=FIRST_VOTE + 20 * DAY)


def test_a_campaign_is_a_finding_with_its_voters_who_leave_the_shadow_board() -> None:
    campaign("c")
    aggregation.aggregate()
    found = Finding.objects.get(kind="campaign", subject__startswith="for c")
    assert found.subject == "for c, 2026-W04"
    assert found.evidence["policy"] == "c"
    assert {voter[:5] for voter in found.evidence["voters"]} == {"fresh"}
    assert len(found.evidence["voters"]) >= 8
    assert found.evidence["networks"] == ["net0", "net1", "net2", "net3"]
    assert integrity.flagged(kinds.default())[found.evidence["voters"][0]][0] in ("campaign", "outlier")


def test_moderators_exclude_the_voters_of_a_campaign_together() -> None:
    campaign("c")
    aggregation.aggregate()
    finding = Finding.objects.get(kind="campaign", subject__startswith="for c")
    votes = acts.exclude_found([finding], acts.By(None, "a campaign"))
    assert votes == 10 * len(finding.evidence["voters"])
    finding.refresh_from_db()
    assert finding.state == "acted"
    assert ExcludedVoter.objects.count() == len(finding.evidence["voters"])
