"""What is published beside the boards: physics, agreement, exposure, findings, the shadow board, the trend."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from arena import kinds
from arena.models import Attempt, Battle, PairChance, Purpose, Vote
from policies.models import Policy
from rankings.models import Finding, Report, Snapshot
from rankings.publication import aggregation
from rankings.publication.report import ReportContent, latest
from rankings.tally.facts import EVEN, LEFT, UNKNOWN
from rankings.votes import closed_days, ledger, observed, past_days
from tests.factories import PolicyFactory, ReferenceFactory, SessionFactory, TurnFactory, VoteFactory
from tests.rankings.ballots import ballots, cast, rows_of

pytestmark = pytest.mark.django_db
PICK, STACK, FREE = "pick up the red cube", "stack the red cube on the yellow cube", "wave to the crowd"


def content() -> ReportContent:
    aggregation.aggregate()
    report = latest(kinds.default())
    assert report is not None
    return report.content  # type: ignore[no-any-return]


def voted(vote: str = "left_better", *, left: bool | None = None, right: bool | None = None, **more: Any) -> Vote:
    """A vote on a battle of one turn in which the sides succeeded or not."""
    instruction = more.pop("instruction", PICK)
    found: Vote = VoteFactory(vote=vote, turn__instruction=instruction, **more)
    for side, success in (("left", left), ("right", right)):
        turn = found.battle.turns.get()
        turn.attempts.filter(side=side).update(success=bool(success), progress=1.0 if success else 0.25)
    found.battle.turns.update(instruction=instruction)
    return found


@pytest.fixture
def pair() -> dict[str, Any]:
    return {"battle__left_model": PolicyFactory(id="a"), "battle__right_model": PolicyFactory(id="b")}


def test_physics_counts_every_episode_with_a_known_goal_of_battles_with_their_vote(pair: dict[str, Any]) -> None:
    vote = voted(left=True, right=False, **pair)
    TurnFactory(battle=vote.battle, instruction=PICK, completed=True)
    TurnFactory(battle=vote.battle, instruction=FREE, completed=True)
    for unfinished in ({}, {"battle__status": "abandoned"}, {"battle__status": "voted", "battle__spoiled": True}):
        TurnFactory(battle__left_model=pair["battle__left_model"], instruction=PICK, completed=True, **unfinished)
    rows = {row["model_id"]: row for row in content()["physics"]["all"]}
    assert (rows["a"]["episodes"], rows["a"]["successes"], rows["a"]["progress"]) == (2, 1, 0.75)
    assert (rows["b"]["episodes"], rows["b"]["successes"]) == (2, 0)


def test_what_has_no_verdict_is_no_episode_and_a_policys_own_failures_are_counted_by_themselves(
    pair: dict[str, Any],
) -> None:
    vote = voted(left=True, right=True, **pair)
    ends = {"policy_failed": "failed", "worker_lost": "failed", "timeout": "failed", "time_limit": "completed"}
    for reason, status in ends.items():
        turn = TurnFactory(battle=vote.battle, instruction=PICK, completed=True)
        verdict = {"success": False, "progress": 0.3} if status == "completed" else {"success": None, "progress": None}
        Attempt.objects.filter(turn=turn, side="left").update(status=status, termination_reason=reason, **verdict)
    found = {each.contestant: each for each in observed.played(kinds.default())}
    assert {name: (each.episodes, each.successes) for name, each in found.items()} == {"a": (1, 1), "b": (5, 1)}
    assert {name: each.failures for name, each in found.items()} == {"a": 1, "b": 0}
    row = next(row for row in content()["physics"]["pick"] if row["model_id"] == "a")
    assert (row["rate"], row["failures"]) == (1.0, 1)


def test_references_play_for_no_physics_board(pair: dict[str, Any]) -> None:
    voted(left=True, right=True, **{**pair, "battle__right_model": ReferenceFactory(id="expert")})
    assert [each.contestant for each in past_days.observe(kinds.default()).played] == ["a"]


def test_repeats_are_not_played_twice_for_physics(pair: dict[str, Any]) -> None:
    voted(left=True, right=False, **pair)
    Battle.objects.update(purpose=Purpose.REPEAT)
    assert observed.played(kinds.default()) == []


def test_votes_are_set_beside_who_reached_the_goal(pair: dict[str, Any]) -> None:
    voted("right_better", left=True, right=False, **pair)
    voted("tie", left=True, right=True, instruction=STACK, **pair)
    voted("tie", left=True, right=True, instruction=FREE, **pair)
    aggregation.aggregate()
    told = [(each.task, each.vote, each.success) for each in rows_of(observed.facts_and_answers().facts)]
    assert told == [("", 2, UNKNOWN), ("pick", 1, LEFT), ("stack", 2, EVEN)]
    found = content()["agreement"]
    assert found["overall"]["votes"] == 2
    assert found["overall"]["against"]["against"] == 1
    assert set(found["tasks"]) == {"pick", "stack"}
    assert set(found["policies"]) == {"a", "b"}


def test_an_episode_from_before_its_words_had_a_goal_is_not_taken_for_a_miss(pair: dict[str, Any]) -> None:
    voted("left_better", left=True, right=False, **pair)
    unjudged = voted("left_better", **pair).battle.turns.get()
    unjudged.attempts.update(success=None, progress=None)
    aggregation.aggregate()
    found = observed.facts_and_answers()
    assert sorted(each.success for each in rows_of(found.facts)) == sorted([LEFT, UNKNOWN])
    assert content()["agreement"]["overall"]["votes"] == 1
    assert [each.episodes for each in observed.played(kinds.default())] == [1, 1]


@pytest.mark.parametrize("reason", ["policy_failed", "worker_lost", "timeout"])
def test_a_vote_on_a_battle_in_which_a_side_failed_says_nothing_of_agreement(pair: dict[str, Any], reason: str) -> None:
    """The release took a failed side for one that did not reach the goal: 2 votes, where 1 has a verdict."""
    voted("left_better", left=True, right=False, **pair)
    failed = voted("left_better", left=True, right=False, **pair).battle.turns.get()
    failed.attempts.filter(side="right").update(
        status="failed", termination_reason=reason, success=None, progress=None, length=7
    )
    aggregation.aggregate()
    told = [(each.success, each.steps_left, each.steps_right) for each in rows_of(observed.facts_and_answers().facts)]
    assert sorted(told) == [(UNKNOWN, 50, 7), (LEFT, 50, 50)]
    assert content()["agreement"]["overall"]["votes"] == 1


def test_a_cancelled_turn_has_not_been_and_explorations_come_after_the_vote(pair: dict[str, Any]) -> None:
    vote = voted("left_better", left=True, right=False, **pair)
    cancelled = {"attempts__status": "failed", "attempts__termination_reason": "cancelled", "attempts__success": None}
    nothing_done = {"attempts__length": 0, "attempts__progress": None}
    TurnFactory(battle=vote.battle, instruction=PICK, completed=True, **cancelled, **nothing_done)
    TurnFactory(battle=vote.battle, instruction=PICK, completed=True, is_fork=True, fork_seed=1)
    aggregation.aggregate()
    (fact,) = rows_of(observed.facts_and_answers().facts)
    assert (fact.success, fact.steps_left, fact.steps_right) == (LEFT, 50, 50)


def test_where_votes_and_physics_part_moderators_are_told(pair: dict[str, Any], settings: Any) -> None:
    settings.INTEGRITY = {**settings.INTEGRITY, "parted_votes": 5}
    for _ in range(8):
        voted("right_better", left=True, right=False, **pair)
    assert content()["agreement"]["overall"]["parted"]
    subjects = set(Finding.objects.filter(kind="parted").values_list("subject", flat=True))
    assert {"all votes", "task pick", "policy a", "policy b"} == subjects


def test_pairs_are_planned_for_active_contestants_and_the_weights_say_how_often() -> None:
    cast(ballots(("a", "b", "left_better", 30), ("b", "c", "tie", 30), ("c", "a", "left_better", 30)))
    PolicyFactory(id="new")
    PolicyFactory(id="old", status="retired")
    ReferenceFactory(id="expert")
    exposure = content()["exposure"]
    assert set(PairChance.objects.values_list("one", "other")) == {
        ("a", "b"), ("a", "c"), ("a", "new"), ("b", "c"), ("b", "new"), ("c", "new"),
    }  # fmt: skip
    chances = PairChance.objects.filter(pool="robots/widowx/table").values_list("chance", flat=True)
    assert sum(chances) == pytest.approx(1.0)
    weights = dict(Policy.objects.values_list("id", "pairing_weight"))
    assert weights["new"] > 1.3 > weights["a"]
    assert (weights["old"], weights["expert"]) == (0.0, 0.0)
    assert exposure["new"]["planned"] == round(weights["new"], 3)
    assert "expert" not in exposure


def test_exposure_counts_battles_with_their_vote_each_once(pair: dict[str, Any]) -> None:
    """However many turns; not those still being judged, given up, repeated or old."""
    vote = voted(**pair)
    for _ in range(3):
        TurnFactory(battle=vote.battle, completed=True)
    sides = {"battle__left_model": pair["battle__left_model"], "battle__right_model": PolicyFactory(id="d")}
    for other in (
        {"battle__status": "ongoing"},
        {"battle__status": "abandoned"},
        {"battle__status": "voted", "battle__purpose": Purpose.REPEAT},
        {"battle__status": "voted", "battle__purpose": Purpose.GOLD},
        {"battle__status": "voted", "battle__created_at": timezone.now() - timedelta(days=31)},
    ):
        TurnFactory(completed=True, **sides, **other)
    PolicyFactory(id="c")
    found = content()["exposure"]
    assert {name: each["battles"] for name, each in found.items()} == {"a": 1, "b": 1, "c": 0, "d": 0}
    assert (found["a"]["relative"], found["d"]["relative"]) == (2.0, 0.0)


def test_a_spoiled_battle_is_not_among_the_exposure(pair: dict[str, Any]) -> None:
    voted(**pair)
    Battle.objects.update(spoiled=True)
    assert content()["exposure"]["a"]["battles"] == 0


def stuffed() -> None:
    """Forty voters of taste and one who always names d."""
    honest = [
        (left, right, ("left_better", "right_better", "tie")[voter % 3], 1, f"voter-{voter:02}")
        for voter in range(40)
        for left, right in ("ab", "bc", "cd", "da", "ac", "bd")
    ]
    rigged = [("d", other, "left_better", 60, "stuffer") for other in "abc"]
    rigged += [(other, "d", "right_better", 60, "stuffer") for other in "abc"]
    cast(ballots(*honest, *rigged))
    Vote.objects.update(voted_at=timezone.now())


def test_a_voter_unlike_all_others_is_found_and_left_out_of_the_shadow_board() -> None:
    stuffed()
    found = content()
    finding = Finding.objects.get(kind="outlier")
    assert finding.subject == "stuffer"
    assert "always for d" in finding.summary
    assert found["voters"]["flagged"] == 1
    assert found["removal"]["handovers"][0]["upper"] == "d"


def test_voters_are_tested_again_once_they_have_voted_again() -> None:
    stuffed()
    Vote.objects.update(voted_at=timezone.now() - timedelta(hours=3))
    content()
    Finding.objects.all().delete()
    content()
    assert not Finding.objects.filter(kind="outlier").exists()
    again = cast(ballots(("d", "a", "left_better", 1, "stuffer")), start=1000)
    Vote.objects.filter(pk=again[0].pk).update(voted_at=timezone.now())
    content()
    finding = Finding.objects.get(kind="outlier")
    assert (finding.subject, finding.evidence["votes"]) == ("stuffer", 361)


def test_the_shadow_board_shows_who_leans_on_doubtful_voters(settings: Any) -> None:
    settings.INTEGRITY = {**settings.INTEGRITY, "new_hours": 0.0}
    settings.RANKING = {**settings.RANKING, "cap": 0}
    stuffed()
    Finding.objects.create(kind="outlier", subject="stuffer", summary="always for d")
    shadow = content()["shadow"]
    assert (shadow["left_out"], shadow["votes"]) == (1, 360)
    assert shadow["rows"]["d"]["shadow"] is not None
    assert shadow["rows"]["d"]["shadow"] < shadow["rows"]["d"]["rating"] - 20


def test_new_are_voters_whose_first_vote_is_young_and_those_with_few() -> None:
    ages = {"fresh": [1] * 6, "yesterday": [23, 25, 25, 25, 25], "old": [30] * 6, "few": [100] * 2}
    for voter, hours in ages.items():
        votes = cast(ballots(("a", "b", "tie", len(hours), voter)))
        for vote, age in zip(votes, hours, strict=True):
            Vote.objects.filter(pk=vote.pk).update(voted_at=timezone.now() - timedelta(hours=age))
    ledger.count_votes(Vote.objects.all())
    since = timezone.now() - timedelta(hours=24)
    assert observed.new_voters(kinds.default(), closed_days.counts(), since, 5) == {"fresh", "few"}


def test_a_dismissed_finding_found_again_stays_dismissed() -> None:
    stuffed()
    content()
    Finding.objects.update(state="dismissed", summary="")
    found = content()
    finding = Finding.objects.get(kind="outlier")
    assert (finding.state, "always for d" in finding.summary) == ("dismissed", True)
    assert found["voters"]["flagged"] == 0


def test_who_names_the_other_policy_when_the_sides_are_swapped_is_found(pair: dict[str, Any]) -> None:
    session = SessionFactory(user_id="sleepy")
    for _ in range(14):
        first, again = (voted("left_better", battle__session=session, **pair) for _ in range(2))
        Battle.objects.filter(pk=again.battle.pk).update(repeats=first.battle, purpose=Purpose.REPEAT)
        Vote.objects.filter(pk=again.pk).update(purpose=Purpose.REPEAT)
    found = content()
    assert (found["voters"]["controls"], found["voters"]["passed"]) == (14, 0.0)
    assert Finding.objects.get(kind="unreliable").subject == "sleepy"


def test_failed_gold_battles_are_told_and_flag_nobody() -> None:
    for _ in range(5):
        vote = voted("left_better", left=False, right=True, user_id="sleepy")
        Vote.objects.filter(pk=vote.pk).update(purpose=Purpose.GOLD)
    found = content()
    assert (found["voters"]["controls"], found["voters"]["passed"]) == (5, 0.0)
    assert not Finding.objects.filter(kind="unreliable").exists()


def test_a_repeat_is_compared_with_the_first_look(pair: dict[str, Any]) -> None:
    session = SessionFactory(user_id="careful")
    first = voted("left_better", battle__session=session, **pair)
    again = voted("right_better", battle__session=session, **pair)
    Battle.objects.filter(pk=again.battle.pk).update(repeats=first.battle, purpose=Purpose.REPEAT)
    Vote.objects.filter(pk=again.pk).update(purpose=Purpose.REPEAT)
    known = observed.calibration_results(kinds.default())
    assert (known["careful"].items, known["careful"].score) == (1, 1.0)
    TurnFactory(battle=again.battle, completed=True)
    assert observed.calibration_results(kinds.default()) == {}


def test_the_trend_grows_by_a_point_with_each_new_snapshot() -> None:
    cast(ballots(("a", "b", "left_better", 6)))
    assert len(content()["trend"]) == 1
    assert len(content()["trend"]) == 1  # nothing new: the snapshot holds
    cast(ballots(("b", "a", "left_better", 6)), start=100)
    points = content()["trend"]
    assert len(points) == Snapshot.objects.count() == 2
    assert points[0]["ratings"]["a"][0] > points[1]["ratings"]["a"][0] == pytest.approx(1500.0)


def test_an_arena_without_votes_has_an_empty_report() -> None:
    found = content()
    assert found["physics"] == {"all": []}
    assert found["trend"] == []
    assert (found["agreement"]["overall"]["votes"], found["voters"]["passed"]) == (0, None)
    assert Report.objects.count() == 1
