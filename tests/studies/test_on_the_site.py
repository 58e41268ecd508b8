"""Studies asked for on the site: they play in parts behind visitors, go on after a death, and end in a report."""

from __future__ import annotations

import gzip
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from arena.errors import ArenaError, TooMany
from arena.models import Attempt, Battle, Session, Vote
from people.own_data import Owner
from policies.base import MissingFile
from policies.models import Policy
from robots.players import Player
from robots.runtime import WorkerRuntime
from simulation.contracts import PolicyFailure
from studies import advancing, asking, own_parts, queueing
from studies.advancing import Lease
from studies.limits import TooManyStudies
from studies.models import Study, StudyEpisode, StudyReport
from tests.factories import BattleFactory, PolicyFactory, TurnFactory
from tests.studies.conftest import Asks, Queue

pytestmark = pytest.mark.django_db(transaction=True)
State = Study.State


def again(study: Study) -> Study:
    return Study.objects.get(pk=study.pk)


@pytest.mark.usefixtures("all_replays")
def test_it_ends_as_soon_as_it_is_settled_with_a_report_by_its_address(asks: Asks, queue: Queue) -> None:
    study = asks(seeds=40)
    queue.play()
    ended = again(study)
    assert (ended.state, ended.error, 7 <= ended.pairs <= 10) == (State.COMPLETED, "", True), "seven settle it"
    assert ended.told["sequential"]["verdict"] == "good"
    assert ended.told["outcomes"] == {"both": 0, "only_a": ended.pairs, "only_b": 0, "neither": 0}
    page = gzip.decompress(bytes(StudyReport.objects.get(study=study).page)).decode()
    assert page.count("data:image/webp;base64,") >= 10
    assert "good succeeds more often" in page


def test_all_pairs_are_played_where_that_is_asked_for(asks: Asks, queue: Queue) -> None:
    study = asks(seeds=11, play_all=True)
    queue.play()
    assert again(study).pairs == 11
    assert again(study).told["fixed_number"] is True


def test_each_part_goes_to_the_workers_of_its_policy_behind_everything_else(asks: Asks, queue: Queue) -> None:
    asks(seeds=8)
    parts = []
    while queue.sent:
        parts += [(name.rpartition(".")[2] if "good" in name or "bad" in name else name, options["priority"])
                  for name, options in queue.sent]  # fmt: skip
        queue.play(most=1)
    assert {priority for _, priority in parts} == {9}
    assert len(parts) >= 4


def test_it_makes_no_battle_no_vote_and_no_episode(asks: Asks, queue: Queue) -> None:
    asks(seeds=2)
    queue.play()
    assert not any(model.objects.exists() for model in (Session, Battle, Attempt, Vote))


def test_it_waits_while_a_visitor_waits(asks: Asks, queue: Queue) -> None:
    study = asks(seeds=3)
    battle = BattleFactory(left_model_id="good", right_model_id="bad")
    turn = TurnFactory(battle=battle)
    queue.play()
    assert not StudyEpisode.objects.exists()
    assert again(study).leased_until is None, "it is free for the next that comes"
    Attempt.objects.filter(turn=turn).update(status="completed")
    assert queueing.tend() == 1
    queue.play()
    assert again(study).state == State.COMPLETED


def test_what_is_asked_for_later_comes_later(asks: Asks, queue: Queue) -> None:
    first, second = asks(seeds=1), asks(seeds=1)
    assert [options["args"] for _, options in queue.sent] == [[first.pk]]
    assert queueing.waiting_before(second) == 1
    queue.play()
    assert [again(each).state for each in (first, second)] == [State.COMPLETED] * 2
    assert again(first).ended_at < again(second).ended_at


def test_a_study_without_a_worker_holds_up_no_other(asks: Asks, queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    first = asks(seeds=1)
    queue.sent.clear()
    second = asks(seeds=1, a_id="bad", b_id=PolicyFactory(id="third", adapter="still").pk)
    monkeypatch.setattr(queueing.hosting.Hosts, "unhosted", lambda self, ids: [each for each in ids if each == "good"])
    queueing.tend()
    queue.play()
    assert (again(first).state, again(second).state) == (State.WAITING, State.COMPLETED)


def test_a_dead_workers_part_is_played_by_the_next_and_nothing_twice(asks: Asks, queue: Queue) -> None:
    study = asks(seeds=6, play_all=True)
    queue.play(most=1)
    kept = list(StudyEpisode.objects.values_list("pk", flat=True))
    assert kept
    queue.sent.clear()
    assert Lease.of(study.pk) is not None  # a worker that dies now
    assert queueing.tend() == 0, "as long as it may live"
    advancing.advance(study.pk)
    assert list(StudyEpisode.objects.values_list("pk", flat=True)) == kept, "nobody plays beside it"
    Study.objects.filter(pk=study.pk).update(leased_until=timezone.now() - timedelta(seconds=1), sent_at=None)
    assert queueing.tend() == 1
    queue.play()
    assert (again(study).state, again(study).pairs) == (State.COMPLETED, 6)
    assert set(kept) <= set(StudyEpisode.objects.values_list("pk", flat=True))


def test_a_message_that_arrives_twice_is_played_once(asks: Asks, queue: Queue) -> None:
    study = asks(seeds=2)
    queue.play()
    before = again(study).ended_at
    advancing.advance(study.pk)
    assert again(study).ended_at == before


def test_a_cancelled_study_stops_within_an_episode_and_goes_on_where_it_was(
    asks: Asks, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = asks(seeds=7, play_all=True)
    play_case, played = advancing.play_case, []

    def cancels(*arguments: Any) -> Any:
        if len(played) == 2:
            asking.cancel(again(study))
            monkeypatch.setattr(advancing, "RENEWED_EVERY_S", -1.0)
        played.append(arguments[2].seed)
        return play_case(*arguments)

    monkeypatch.setattr(advancing, "play_case", cancels)
    queue.play()
    assert (again(study).state, StudyEpisode.objects.count()) == (State.CANCELLED, 2)
    monkeypatch.setattr(advancing, "play_case", play_case)
    asking.resume(again(study))
    queue.play()
    assert (again(study).state, again(study).pairs) == (State.COMPLETED, 7)


def test_a_deleted_study_leaves_nothing(asks: Asks, queue: Queue) -> None:
    study = asks(seeds=2)
    queue.play()
    asking.delete(again(study))
    assert not any(model.objects.exists() for model in (Study, StudyEpisode, StudyReport))
    advancing.advance(study.pk)


def test_a_policy_that_keeps_failing_ends_it_with_the_reason_and_it_can_go_on(
    asks: Asks, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = Player.play

    def fails(player: Player, *arguments: Any) -> Any:
        if type(player.policy).__name__ == "HoldStill":
            raise PolicyFailure("the server said 500")
        return play(player, *arguments)

    monkeypatch.setattr(Player, "play", fails)
    study = asks(seeds=8)
    queue.play()
    ended = again(study)
    assert ended.state == State.FAILED
    assert ended.error == "bad failed in 5 episodes in a row, the last time with: the server said 500."
    assert (ended.told["b"]["failures"], StudyReport.objects.count()) == (5, 1)
    monkeypatch.setattr(Player, "play", play)
    asking.resume(ended)
    queue.play()
    assert (again(study).state, again(study).told["b"]["failures"]) == (State.COMPLETED, 0)


def test_a_policy_that_no_worker_can_open_is_named_without_a_path(
    asks: Asks, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: WorkerRuntime, policy: Policy, *place: str) -> Player:
        raise MissingFile("/srv/secret/model.safetensors is missing")

    monkeypatch.setattr(WorkerRuntime, "player", broken)
    study = asks(seeds=1)
    queue.play()
    assert again(study).error == "good cannot be opened by a worker (missing_file)."


def test_a_policy_that_changed_meanwhile_ends_it(asks: Asks, queue: Queue) -> None:
    study = asks(seeds=1)
    Policy.objects.filter(pk="bad").update(revision="other")
    queue.play()
    assert again(study).error == "bad changed while it was played: ask for a new study."
    with pytest.raises(asking.NotResumable, match="bad changed since: ask for a new study"):
        asking.resume(again(study))


def test_both_sides_are_rendered_alike(asks: Asks, queue: Queue) -> None:
    study = asks(seeds=1)
    Study.objects.filter(pk=study.pk).update(render_profile="another renderer")
    queue.play(most=1)
    assert not StudyEpisode.objects.exists()
    (sent,) = queue.sent
    assert sent[0] == queueing.hosting.queue_of("good", "another renderer")


def test_no_time_is_told_that_would_say_what_plays_beside_it(asks: Asks, queue: Queue) -> None:
    study = asks(seeds=1)
    queue.play()
    assert {row.outcome["infer_ms"] for row in StudyEpisode.objects.all()} == {0.0}
    assert again(study).told["a"]["infer_ms_per_step"] is None


def test_a_report_that_cannot_be_made_ends_it_all_the_same(
    asks: Asks, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*arguments: Any) -> str:
        raise RuntimeError("no renderer")

    monkeypatch.setattr(advancing, "report", breaks)
    study = asks(seeds=1)
    queue.play()
    assert (again(study).state, again(study).error) == (State.FAILED, "The worker could not play it (internal).")


@pytest.mark.parametrize(
    ("changes", "code", "told"),
    [
        ({"a_id": "nobody"}, "unknown_model", "Known: bad, good."),
        ({"b_id": "good"}, "invalid_study", "must differ"),
        ({"scene_id": "moon"}, "unknown_world", "widowx/table"),
        ({"tasks": ["fly"]}, "unknown_task", "pick"),
        ({"tasks": []}, "invalid_study", "at least one task"),
        ({"tasks": ["pick", "pick"]}, "invalid_study", "each once"),
        ({"seeds": 0}, "invalid_study", "at least one seed"),
        ({"first_seed": 999_999}, "invalid_study", "0..999999"),
        ({"margin": 1.0}, "invalid_study", "less than 1"),
        ({"margin": float("nan")}, "invalid_study", "less than 1"),
        ({"seeds": 251, "tasks": ["pick", "place"]}, "too_many_pairs", "at most 500 pairs"),
    ],
)
def test_a_wrong_wish_is_refused_with_what_would_be_right(
    changes: dict[str, Any], code: str, told: str, asks: Asks
) -> None:
    with pytest.raises(ArenaError) as refused:
        asks(**changes)
    assert refused.value.body()["code"] == code
    assert told in str(refused.value)
    assert not Study.objects.exists()


def test_an_account_has_few_open_studies_few_kept_and_few_episodes_a_day(
    asks: Asks, queue: Queue, settings: Any
) -> None:
    settings.STUDIES = {**settings.STUDIES, "open": 2, "kept": 3}
    settings.RATE_LIMITS = {"episodes": {"account": [(12, 86400)]}}
    asks(seeds=1), asks(seeds=1)
    with pytest.raises(TooManyStudies, match="At most 2 studies of an account wait or play"):
        asks(seeds=1)
    queue.play()
    with pytest.raises(TooMany, match="At most 12 episodes a day from one account"):
        asks(seeds=5)
    asks(seeds=4)
    queue.play()
    with pytest.raises(TooManyStudies, match="Delete one first"):
        asks(seeds=1)
    assert asks(by=User.objects.create_user("visitor-2"), seeds=1).state == State.WAITING


def test_own_data_has_ones_studies_and_forgets_them(asks: Asks, owner: User, queue: Queue) -> None:
    asks(seeds=1)
    other = asks(by=User.objects.create_user("visitor-2"), seeds=1)
    (part,) = own_parts.PARTS
    assert [row["a_id"] for row in part.export(Owner("", owner))] == ["good"]
    part.forget(Owner("", owner), "pseudonym")
    assert list(Study.objects.all()) == [other]
    assert not list(part.export(Owner("cookie")))
