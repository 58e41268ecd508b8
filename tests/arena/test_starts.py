"""A battle shown from three starts: one instruction, three first states, one vote, and who reached the goal in each."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import IntegrityError

from arena import actions, kinds, starts
from arena.errors import NotRetryable, QueueUnavailable, TooMany
from arena.models import Attempt, Battle, Hosting, Purpose, Turn, Vote
from arena.queue import sweeps
from arena.store import get_store
from arena.visitors.throttles import spend
from rankings.publication import aggregation
from rankings.tally.facts import LEFT
from rankings.tally.weights import clear_winner
from rankings.votes.observed import battles_per_policy, facts_and_answers, played
from robots import play as episodes
from tests.arena.conftest import Visitor, battle_row, cast, play
from tests.arena.test_attempts import lose
from tests.factories import BattleFactory, TurnFactory
from tests.fakes import FakePolicy, FakeRuntime
from tests.people import logged_in, moderator

SIDES = ("left", "right")
WORDS = "pick up the red cube"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The episode ids that were put on the queue, in order."""
    messages: list[str] = []
    monkeypatch.setattr("arena.queue.dispatch.send_to_workers", messages.extend)
    return messages


@pytest.fixture
def battle_id(visitor: Visitor) -> str:
    return visitor.open()


def send_three(visitor: Visitor, battle_id: str, instruction: str = WORDS) -> list[dict[str, Any]]:
    """The turns of an instruction that is to be played from three starts."""
    turns: list[dict[str, Any]] = visitor.send(battle_id, instruction, starts=3)["starts"]
    return turns


def ids(turn: dict[str, Any]) -> list[str]:
    return [turn["left_episode_id"], turn["right_episode_id"]]


def play_three(visitor: Visitor, battle_id: str) -> list[dict[str, Any]]:
    turns = send_three(visitor, battle_id)
    for turn in turns:
        play(turn)
    return turns


def play_with_goals(visitor: Visitor, runtime: FakeRuntime, battle_id: str, left: str, right: str) -> None:
    """Play three starts; in which of them a side reaches the goal is written as in "101"."""
    row = battle_row(battle_id)
    goals = {row.left_model_id: left, row.right_model_id: right}
    for number, turn in enumerate(send_three(visitor, battle_id)):
        runtime.success_at = {model: 3 for model, wins in goals.items() if wins[number] == "1"}
        play(turn)


def send_refused(visitor: Visitor, battle_id: str, instruction: str = WORDS, **more: Any) -> tuple[int, dict[str, Any]]:
    answer = visitor.post(f"battles/{battle_id}/turns", {"instruction": instruction, **more})
    return answer.status_code, answer.json()


def test_one_instruction_is_played_from_three_first_states_that_follow_from_the_battles_seed(
    visitor: Visitor, runtime: FakeRuntime, battle_id: str
) -> None:
    play_three(visitor, battle_id)
    turns = list(Turn.objects.filter(battle__battle_id=battle_id).order_by("seq"))
    battle = battle_row(battle_id)
    assert [turn.start_seed for turn in turns] == starts.seeds(battle)
    assert turns[0].seed == battle.seed
    assert len({turn.seed for turn in turns}) == 3
    assert {turn.instruction for turn in turns} == {WORDS}
    begins = []
    for turn in turns:
        sides = {rollout.side: get_store().get(rollout.episode_id) for rollout in turn.attempts.all()}
        assert sides["left"] is not None
        assert sides["right"] is not None
        assert sides["left"]["seed"] == sides["right"]["seed"] == turn.seed
        assert sides["left"]["start_hash"] == sides["right"]["start_hash"]
        begins.append(sides["left"]["start_hash"])
    assert len(set(begins)) == 3


def test_the_seeds_of_a_battle_are_the_same_whenever_they_are_asked_for() -> None:
    assert starts.seeds(Battle(seed=7, starts=3)) == [7, 231060907, 849297907]
    assert starts.seeds(Battle(seed=7, starts=1)) == [7]


def test_the_starts_are_played_one_after_the_other_whatever_room_there_is(
    visitor: Visitor, runtime: FakeRuntime, battle_id: str, sent: list[str], settings: Any
) -> None:
    settings.QUEUE = {**settings.QUEUE, "at_once": 0}
    first, second, third = send_three(visitor, battle_id)
    sweeps.sweep()
    assert sent == ids(first)
    play(first)
    assert sent == ids(first) + ids(second)
    play(second)
    play(third)
    assert sent == ids(first) + ids(second) + ids(third)


def test_the_next_start_waits_until_the_end_of_the_one_before_is_told(
    visitor: Visitor, runtime: FakeRuntime, battle_id: str, sent: list[str], settings: Any, default_clock: None
) -> None:
    """Else the moment at which it begins would say when both sides were done."""
    settings.QUEUE = {**settings.QUEUE, "at_once": 0}
    first, second, _ = send_three(visitor, battle_id)
    play(first)
    sweeps.sweep()
    assert sent == ids(first)
    Turn.objects.filter(turn_id=first["turn_id"]).update(shown_at="2020-01-01T00:00:00Z")
    sweeps.sweep()
    assert sent == ids(first) + ids(second)


def test_the_vote_opens_once_all_starts_have_been_played(
    visitor: Visitor, runtime: FakeRuntime, battle_id: str
) -> None:
    for number, turn in enumerate(send_three(visitor, battle_id), 1):
        refused = visitor.post("votes", {"battle_id": battle_id, "vote": "tie"})
        assert (refused.status_code, refused.json()["code"]) == (409, "turn_running"), number
        play(turn)
    seen = visitor.battle(battle_id)
    assert (seen["can_vote"], seen["can_send"], seen["start_count"], seen["starts"]) == (True, False, 3, None)
    assert [turn["start_number"] for turn in seen["turns"]] == [1, 2, 3]
    cast(visitor, battle_id)
    assert Vote.objects.filter(battle__battle_id=battle_id).count() == 1


def test_with_the_vote_each_start_says_who_reached_the_goal(
    visitor: Visitor, runtime: FakeRuntime, battle_id: str
) -> None:
    play_with_goals(visitor, runtime, battle_id, left="100", right="110")
    assert "success" not in json.dumps(visitor.battle(battle_id))
    cast(visitor, battle_id, "right_better")
    told = visitor.battle(battle_id)["starts"]
    assert [each["number"] for each in told] == [1, 2, 3]
    assert [each["seed"] for each in told] == starts.seeds(battle_row(battle_id))
    assert [each["left"]["success"] for each in told] == [True, False, False]
    assert [each["right"]["success"] for each in told] == [True, True, False]
    assert told[2]["left"] == {"success": False, "progress": 0.1}
    assert Visitor().get(f"shared/{battle_id}").json()["starts"] == told


def test_a_battle_of_one_start_tells_no_starts(visitor: Visitor, runtime: FakeRuntime, battle_id: str) -> None:
    answer = visitor.send(battle_id)
    assert "starts" not in answer
    play(answer)
    cast(visitor, battle_id)
    seen = visitor.battle(battle_id)
    assert (seen["start_count"], seen["starts"], seen["turns"][0]["start_number"]) == (1, None, None)


@pytest.mark.parametrize("wrong", [0, 2, 4, "3", True, 3.0, [3]])
def test_other_numbers_of_starts_are_refused_naming_those_there_are(
    visitor: Visitor, battle_id: str, wrong: Any
) -> None:
    status, body = send_refused(visitor, battle_id, starts=wrong)
    assert (status, body["code"], body["known"]) == (422, "invalid_starts", [1, 3])
    assert visitor.battle(battle_id)["turns"] == []


def test_follow_ups_are_not_offered_and_the_number_of_starts_stays(
    visitor: Visitor, runtime: FakeRuntime, battle_id: str
) -> None:
    play_three(visitor, battle_id)
    status, body = send_refused(visitor, battle_id, starts=3)
    assert (status, body["code"]) == (409, "starts_played")
    status, body = send_refused(visitor, battle_id)
    assert (status, body["code"], body["starts"]) == (409, "other_starts", 3)
    single = visitor.open()
    play(visitor.send(single))
    status, body = send_refused(visitor, single, starts=3)
    assert (status, body["code"], body["starts"]) == (409, "other_starts", 1)


def test_a_start_that_a_side_failed_is_played_again_with_the_same_words(
    visitor: Visitor, runtime: FakeRuntime, battle_id: str
) -> None:
    first, second, third = send_three(visitor, battle_id)
    play(first)
    runtime.policies = {battle_row(battle_id).left_model_id: FakePolicy(raises=RuntimeError("out of ideas"))}
    play(second)
    runtime.policies = {}
    play(third)
    seen = visitor.battle(battle_id)
    assert (seen["can_vote"], seen["vote_blocked_because"], seen["can_send"]) == (False, "starts_missing", True)
    refused = visitor.post("votes", {"battle_id": battle_id, "vote": "tie"})
    assert (refused.status_code, refused.json()["code"]) == (409, "starts_missing")
    status, body = send_refused(visitor, battle_id, "stack the red cube on the yellow cube", starts=3)
    assert (status, body["code"], body["instruction"]) == (409, "other_instruction", WORDS)

    [again] = send_three(visitor, battle_id)
    play(again)
    seen = visitor.battle(battle_id)
    assert [turn["start_number"] for turn in seen["turns"]] == [1, 2, 3, 2]
    assert seen["can_vote"]
    cast(visitor, battle_id)
    assert [each["seq"] for each in visitor.battle(battle_id)["starts"]] == [1, 4, 3]


def test_a_moderator_may_have_a_failed_start_played_again_while_no_other_is_open(
    visitor: Visitor, runtime: FakeRuntime, battle_id: str
) -> None:
    first, second, third = send_three(visitor, battle_id)
    runtime.policies = {battle_row(battle_id).left_model_id: FakePolicy(raises=RuntimeError("out of ideas"))}
    play(first)
    failed = Attempt.objects.get(episode_id=first["left_episode_id"])
    with pytest.raises(NotRetryable):
        actions.retry_attempt(failed)
    runtime.policies = {}
    play(second)
    play(third)
    actions.retry_attempt(failed)
    assert visitor.battle(battle_id)["vote_blocked_because"] == "turn_running"
    episodes.play(failed.episode_id)
    assert visitor.battle(battle_id)["can_vote"]


def test_cancelling_stops_what_is_left_of_the_three(
    visitor: Visitor, runtime: FakeRuntime, battle_id: str, sent: list[str]
) -> None:
    first, second, third = send_three(visitor, battle_id)
    play(first)
    assert visitor.post(f"turns/{second['turn_id']}/cancel").status_code == 200
    seen = visitor.battle(battle_id)
    assert [turn["status"] for turn in seen["turns"]] == ["completed", "failed", "failed"]
    assert {turn["left"]["error"] for turn in seen["turns"][1:]} == {"cancelled"}
    assert (seen["vote_blocked_because"], seen["can_send"]) == ("starts_missing", True)
    for episode_id in [*ids(second), *ids(third)]:
        episodes.play(episode_id)
    assert sent == ids(first) + ids(second)
    assert len(send_three(visitor, battle_id)) == 2


def test_nothing_more_is_played_of_a_battle_that_its_visitor_has_left(
    visitor: Visitor, runtime: FakeRuntime, battle_id: str, sent: list[str]
) -> None:
    first, *_ = send_three(visitor, battle_id)
    visitor.post(f"sessions/{visitor.battle(battle_id)['session_id']}/battles")
    play(first)
    sweeps.sweep()
    assert sent == ids(first)
    seen = visitor.battle(battle_id)
    assert seen["status"] == "abandoned"
    assert [turn["status"] for turn in seen["turns"]] == ["completed", "failed", "failed"]


def test_three_starts_take_three_places_in_the_queue(visitor: Visitor, battle_id: str, settings: Any) -> None:
    settings.QUEUE = {**settings.QUEUE, "per_visitor": 5}
    send_three(visitor, battle_id)
    other = visitor.open()
    status, body = send_refused(visitor, other, starts=3)
    assert (status, body["code"]) == (429, "too_many_turns")
    assert visitor.battle(other)["turns"] == []
    visitor.send(other)
    assert send_refused(visitor, visitor.open())[0] == 202
    assert send_refused(visitor, visitor.open())[0] == 429


def test_waiting_as_long_as_was_said_is_enough_for_three_starts(settings: Any) -> None:
    settings.RATE_LIMITS = {"turns": {"visitor": [(5, 60)]}}
    spend("turns", {"visitor": "one"}, now=3.0, times=3)
    for now in (4.0, 5.0):
        spend("turns", {"visitor": "one"}, now=now)
        with pytest.raises(TooMany) as refused:
            spend("turns", {"visitor": "one"}, now=now, times=2, already=1)
    spend("turns", {"visitor": "one"}, now=5.0 + (refused.value.retry_after_s or 0), times=3)


@pytest.mark.parametrize("rule", ["turns", "per_address"])
def test_there_has_to_be_room_for_all_three(
    visitor: Visitor, battle_id: str, settings: Any, rule: str, sent: list[str]
) -> None:
    settings.QUEUE = {**settings.QUEUE, rule: 2}
    assert send_refused(visitor, battle_id, starts=3)[0] in (429, 503)
    assert send_refused(visitor, battle_id)[0] == 202


def test_three_starts_cost_three_turns_of_the_rate_limit(visitor: Visitor, battle_id: str, settings: Any) -> None:
    settings.RATE_LIMITS = {"turns": {"visitor": [(4, 60)]}}
    send_three(visitor, battle_id)
    other = visitor.open()
    assert send_refused(visitor, other, starts=3)[0] == 429
    assert send_refused(visitor, other)[0] == 202
    assert send_refused(visitor, visitor.open())[0] == 429


def test_what_could_not_be_queued_leaves_no_start_behind(
    visitor: Visitor, battle_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: Any) -> None:
        raise QueueUnavailable

    with monkeypatch.context() as patched:
        patched.setattr("arena.queue.dispatch.send_to_workers", down)
        assert send_refused(visitor, battle_id, starts=3)[0] == 503
    assert visitor.battle(battle_id)["start_count"] == 1
    assert Turn.objects.count() == 0
    assert len(send_three(visitor, battle_id)) == 3


def test_only_battles_of_one_start_are_repeated(visitor: Visitor, runtime: FakeRuntime, settings: Any) -> None:
    Hosting.objects.bulk_create(Hosting(worker="one", contestant_id=name) for name in ("alpha", "beta"))
    settings.REPEAT_SHARE = 0.0
    for _ in range(5):
        opened = visitor.open()
        play_three(visitor, opened)
        cast(visitor, opened)
    settings.REPEAT_SHARE = 1.0
    play(visitor.send(visitor.open()))
    for _ in range(4):
        opened = visitor.open()
        play(visitor.send(opened))
        cast(visitor, opened)
    send_three(visitor, visitor.open())
    assert set(Battle.objects.values_list("purpose", flat=True)) == {Purpose.RANK}


def test_swapping_the_sides_swaps_what_each_start_tells(visitor: Visitor, runtime: FakeRuntime) -> None:
    told = []
    for swapped in (False, True):
        opened = visitor.open()
        pair = ("alpha", "beta") if not swapped else ("beta", "alpha")
        Battle.objects.filter(battle_id=opened).update(left_model=pair[0], right_model=pair[1], seed=5)
        goals = ("101", "001") if not swapped else ("001", "101")
        play_with_goals(visitor, runtime, opened, *goals)
        cast(visitor, opened)
        told.append(visitor.battle(opened)["starts"])
    for one, other in zip(*told, strict=True):
        assert (one["seed"], one["left"], one["right"]) == (other["seed"], other["right"], other["left"])


def test_one_vote_counts_once_and_physics_says_who_reached_the_goal_more_often(
    visitor: Visitor, runtime: FakeRuntime, battle_id: str
) -> None:
    Battle.objects.update(left_model="alpha", right_model="beta")
    play_with_goals(visitor, runtime, battle_id, left="101", right="001")
    cast(visitor, battle_id, "left_better")
    aggregation.aggregate()
    assert facts_and_answers().facts.success.tolist() == [LEFT]
    assert battles_per_policy() == {"alpha": 1, "beta": 1}
    sums = {each.contestant: (each.episodes, each.successes) for each in played(kinds.default())}
    assert sums == {"alpha": (3, 2), "beta": (3, 1)}


def test_physics_is_not_clear_where_each_side_reached_the_goal_from_some_start() -> None:
    assert clear_winner(2, 1, 1.0, 1.0) is None
    assert clear_winner(3, 0, 1.0, 0.4, turns=3) == clear_winner(2, 0, 1.0, 0.4, turns=3) == "left_better"


def test_physics_is_not_clear_where_a_side_reached_the_goal_from_one_start_of_three() -> None:
    assert clear_winner(1, 0, 1.0, 0.4, turns=3) is None
    assert clear_winner(0, 1, 0.4, 1.0, turns=3) is None


def test_a_fork_keeps_the_seed_of_the_start_from_which_it_goes_on(
    visitor: Visitor, runtime: FakeRuntime, battle_id: str
) -> None:
    turns = play_three(visitor, battle_id)
    cast(visitor, battle_id)
    wish = {"turn_id": turns[1]["turn_id"], "record": 4}
    explored = visitor.post(f"battles/{battle_id}/explorations", wish).json()
    play(explored)
    seed = starts.seeds(battle_row(battle_id))[1]
    last = visitor.battle(battle_id)["turns"][-1]
    assert (last["exploration"]["seed"], last["start_number"], last["status"]) == (seed, None, "completed")
    assert len(visitor.battle(battle_id)["starts"]) == 3


def test_a_start_is_a_first_state_of_a_judged_turn(db: None) -> None:
    battle = BattleFactory(starts=3)
    with pytest.raises(IntegrityError):
        TurnFactory(battle=battle, start="continue", start_seed=1)


def test_moderators_see_from_how_many_starts_a_battle_is_shown(
    visitor: Visitor, runtime: FakeRuntime, battle_id: str
) -> None:
    turns = play_three(visitor, battle_id)
    staff = logged_in(moderator())
    row = battle_row(battle_id)
    page = staff.get(f"/admin/arena/battle/{row.pk}/change/").content.decode()
    assert "Starts" in page
    turn = Turn.objects.get(turn_id=turns[1]["turn_id"])
    for address in (f"/admin/arena/turn/{turn.pk}/change/", "/admin/arena/turn/", "/admin/arena/battle/"):
        seen = staff.get(address)
        assert seen.status_code == 200
        assert str(turn.start_seed) not in seen.content.decode()


def test_a_start_whose_worker_was_lost_is_played_again_and_the_others_follow(
    visitor: Visitor, runtime: FakeRuntime, battle_id: str, sent: list[str]
) -> None:
    first, second, third = send_three(visitor, battle_id)
    play(first)
    lost = actions.claim_attempt(second["left_episode_id"], "somewhere:1")
    assert lost is not None
    lose(lost)
    sweeps.sweep()
    assert sent[4:] == [second["left_episode_id"]]
    play(second)
    play(third)
    assert visitor.battle(battle_id)["can_vote"]
