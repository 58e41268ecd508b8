"""Calibration battles: made as often as wanted, played like others, not to be told before the vote, never counted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from celery import current_app

from arena.models import Attempt, Battle, Hosting, Purpose, Vote
from policies.models import Policy
from rankings.models import CountedVote
from robots import calibration
from robots.first_state_maker import make_asked
from tests.arena.conftest import Visitor, play
from tests.arena.test_outages import down
from tests.arena.test_queries import MOST, counted
from tests.factories import PolicyFactory, ReferenceFactory, TurnFactory
from tests.fakes import FakeRuntime

WORDS = "pick up the red cube"
BODY = {"instruction": WORDS}
CHANGED = ("left_model_id", "right_model_id", "seed", "secret")


@pytest.fixture
def hosted(contestants: list[Any]) -> None:
    Hosting.objects.bulk_create(Hosting(worker="one", contestant=policy) for policy in contestants)


def voted(visitor: Visitor, instruction: str = WORDS, vote: str = "left_better") -> Battle:
    """A battle of one turn, played and voted on."""
    battle_id = visitor.open()
    play(visitor.send(battle_id, instruction))
    assert visitor.post("votes", {"battle_id": battle_id, "vote": vote}).status_code == 201
    return Battle.objects.get(battle_id=battle_id)


def sent(visitor: Visitor, instruction: str = WORDS) -> Battle:
    """A battle whose first instruction has just arrived."""
    battle_id = visitor.open()
    visitor.send(battle_id, instruction)
    return Battle.objects.get(battle_id=battle_id)


@pytest.fixture(autouse=True)
def _as_often_as_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "MOST_SHOWN_AGAIN", 1.0)


@pytest.fixture
def history(visitor: Visitor, runtime: FakeRuntime, hosted: None) -> list[Battle]:
    """The first of these is old enough to be repeated."""
    return [voted(visitor), *(voted(visitor, "stack the cubes please") for _ in range(calibration.GAP))]


def test_a_repeat_is_the_earlier_battle_with_the_sides_swapped(
    visitor: Visitor, history: list[Battle], settings: Any
) -> None:
    settings.REPEAT_SHARE = 1.0
    again = sent(visitor, "  Pick up THE red cube! ")
    first = history[0]
    assert (again.purpose, again.repeats_id, again.seed) == (Purpose.REPEAT, first.battle_id, first.seed)
    assert again.secret == first.secret != ""
    assert (again.left_model_id, again.right_model_id) == (first.right_model_id, first.left_model_id)
    sides = {rollout.side: rollout.model_id for rollout in Attempt.objects.filter(turn__battle=again)}
    assert sides == {"left": again.left_model_id, "right": again.right_model_id}


@pytest.mark.usefixtures("history")
def test_other_words_other_voters_and_fresh_battles_are_not_repeated(
    visitor: Visitor, runtime: FakeRuntime, settings: Any
) -> None:
    settings.REPEAT_SHARE = 1.0
    assert sent(visitor, "put the red cube on the left plate").purpose == Purpose.RANK
    assert sent(visitor, "stack the cubes please").purpose == Purpose.RANK  # voted on a moment ago
    assert sent(Visitor()).purpose == Purpose.RANK


def test_a_battle_opens_in_the_scene_that_is_played_whatever_it_becomes(
    visitor: Visitor, history: list[Battle], settings: Any
) -> None:
    settings.REPEAT_SHARE = 1.0
    opened = Battle.objects.get(battle_id=visitor.open())
    assert opened.seed == history[0].seed
    visitor.send(opened.battle_id)
    became = Battle.objects.get(battle_id=opened.battle_id)
    assert (became.purpose, became.seed) == (Purpose.REPEAT, opened.seed)


@pytest.mark.usefixtures("history")
def test_a_battle_that_is_not_due_begins_anew(visitor: Visitor, settings: Any) -> None:
    settings.REPEAT_SHARE = 0.0
    known = set(Battle.objects.values_list("seed", flat=True))
    assert Battle.objects.get(battle_id=visitor.open()).seed not in known


def test_an_earlier_scene_with_other_words_is_an_ordinary_battle_of_the_pair_that_was_drawn(
    visitor: Visitor, history: list[Battle], settings: Any
) -> None:
    settings.REPEAT_SHARE = 1.0
    opened = Battle.objects.get(battle_id=visitor.open())
    assert opened.seed == history[0].seed
    visitor.send(opened.battle_id, "wave to the crowd")
    became = Battle.objects.get(battle_id=opened.battle_id)
    assert became.purpose == Purpose.RANK
    for name in CHANGED:
        assert getattr(became, name) == getattr(opened, name)


def test_an_earlier_scene_with_the_same_words_is_an_ordinary_battle_of_contestants_not_seen_there(
    visitor: Visitor, history: list[Battle], settings: Any
) -> None:
    """So the scene does not tell whether the battle counts, and nobody knows a contestant by its moves there."""
    settings.REPEAT_SHARE = 1.0
    others = [PolicyFactory(id="gamma"), PolicyFactory(id="delta")]
    Hosting.objects.bulk_create(Hosting(worker="one", contestant=policy) for policy in others)
    battle_id = visitor.open()
    Battle.objects.filter(battle_id=battle_id).update(left_model="gamma", right_model="delta")
    visitor.send(battle_id)
    became = Battle.objects.get(battle_id=battle_id)
    assert (became.purpose, became.left_model_id, became.right_model_id) == (Purpose.RANK, "gamma", "delta")
    assert became.seed == history[0].seed
    assert became.secret != history[0].secret


@pytest.mark.usefixtures("history")
def test_a_scene_is_shown_again_once_even_if_nothing_was_said_in_it(visitor: Visitor, settings: Any) -> None:
    settings.REPEAT_SHARE = 1.0
    assert Battle.objects.get(battle_id=visitor.open()).seed == Battle.objects.order_by("pk")[0].seed
    before = set(Battle.objects.values_list("seed", flat=True))
    assert Battle.objects.get(battle_id=visitor.open()).seed not in before


@pytest.mark.usefixtures("history")
def test_opening_takes_as_many_queries_in_an_earlier_scene_as_in_a_new_one(visitor: Visitor, settings: Any) -> None:
    spent, seeds = [], []
    for wanted in (0.0, 1.0):
        settings.REPEAT_SHARE = wanted
        count, answer = counted(lambda: visitor.post("sessions/init", {}))
        spent.append(count)
        seeds.append(Battle.objects.get(battle_id=answer.json()["battle_id"]).seed)
    first = Battle.objects.order_by("pk")[0].seed
    assert (seeds[0] == first, seeds[1] == first) == (False, True)
    assert spent[0] == spent[1] <= MOST


def test_a_battle_is_repeated_once_and_a_repeat_never(visitor: Visitor, history: list[Battle], settings: Any) -> None:
    settings.REPEAT_SHARE = 1.0
    assert sent(visitor).repeats_id == history[0].battle_id
    assert sent(visitor).purpose == Purpose.RANK


def test_a_pair_with_a_retired_policy_is_not_repeated(visitor: Visitor, history: list[Battle], settings: Any) -> None:
    settings.REPEAT_SHARE = 1.0
    PolicyFactory(id="gamma")
    Policy.objects.get(id="alpha").retire("old")
    assert sent(visitor).purpose == Purpose.RANK


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.usefixtures("history")
def test_making_a_battle_a_calibration_battle_takes_no_query_more_than_a_first_turn_needs(
    visitor: Visitor, settings: Any, held: bool
) -> None:
    plain = visitor.open()
    settings.REPEAT_SHARE = 1.0
    repeat = visitor.open()
    settings.REPEAT_SHARE = 0.0
    visitor.send(visitor.open())  # both come to a line in which somebody waits
    if not held:
        settings.QUEUE = dict.fromkeys(settings.QUEUE, 0)
    spent = []
    for battle_id in (plain, repeat):
        count, answer = counted(lambda battle_id=battle_id: visitor.post(f"battles/{battle_id}/turns", BODY))
        assert answer.status_code == 202
        spent.append(count)
    assert Battle.objects.get(battle_id=repeat).purpose == Purpose.REPEAT
    assert spent[0] == spent[1] <= MOST


@pytest.mark.usefixtures("history")
def test_a_second_turn_changes_nobody(visitor: Visitor, settings: Any) -> None:
    battle_id = visitor.open()
    play(visitor.send(battle_id))
    before = Battle.objects.get(battle_id=battle_id)
    settings.REPEAT_SHARE = 1.0
    visitor.send(battle_id)
    after = Battle.objects.get(battle_id=battle_id)
    assert (after.left_model_id, after.purpose) == (before.left_model_id, Purpose.RANK)


def withdrawn(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> str:
    """A battle whose first turn found the queue down."""
    battle_id = visitor.open()
    with monkeypatch.context() as outage:
        outage.setattr(current_app, "send_task", down)
        assert visitor.post(f"battles/{battle_id}/turns", {"instruction": WORDS}).status_code == 503
    return battle_id


def test_a_repeat_whose_turn_was_withdrawn_is_no_repeat_of_other_words(
    visitor: Visitor, history: list[Battle], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REPEAT_SHARE = 1.0
    battle_id = withdrawn(visitor, monkeypatch)
    visitor.send(battle_id, "wave to the crowd")
    battle = Battle.objects.get(battle_id=battle_id)
    assert (battle.purpose, battle.repeats_id) == (Purpose.RANK, None)
    assert battle.seed == history[0].seed  # what was seen is played


@pytest.mark.usefixtures("history")
def test_a_calibration_battle_whose_turn_was_withdrawn_is_again_what_was_drawn(
    visitor: Visitor, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REPEAT_SHARE = 1.0
    drawn: list[Any] = []
    became: list[str] = []
    real = calibration.maybe_repeat

    def spied(battle: Battle, *others: Any) -> Any:
        drawn.append((Purpose.RANK, None, battle.left_model_id, battle.right_model_id, battle.seed, battle.secret))
        found = real(battle, *others)
        became.append(found.purpose)
        return found

    monkeypatch.setattr(calibration, "maybe_repeat", spied)
    battle = Battle.objects.get(battle_id=withdrawn(visitor, monkeypatch))
    assert became == [Purpose.REPEAT]
    assert (battle.purpose, battle.repeats_id, *(getattr(battle, name) for name in CHANGED)) == drawn[0]


def test_a_battle_that_was_explored_after_its_vote_may_be_repeated(
    visitor: Visitor, history: list[Battle], settings: Any
) -> None:
    TurnFactory(battle=history[0], completed=True, is_fork=True, fork_seed=1)
    settings.REPEAT_SHARE = 1.0
    assert sent(visitor).repeats_id == history[0].battle_id


def test_a_battle_of_several_turns_is_not_repeated(visitor: Visitor, history: list[Battle], settings: Any) -> None:
    TurnFactory(battle=history[0], completed=True)
    settings.REPEAT_SHARE = 1.0
    assert sent(visitor).purpose == Purpose.RANK


@pytest.mark.usefixtures("history")
def test_votes_on_calibration_battles_are_kept_and_not_counted(visitor: Visitor, settings: Any) -> None:
    settings.REPEAT_SHARE = 1.0
    battle = voted(visitor)
    vote = Vote.objects.get(battle=battle)
    assert vote.purpose == Purpose.REPEAT
    assert not CountedVote.objects.filter(vote=vote).exists()


@pytest.mark.usefixtures("history")
def test_nothing_that_a_visitor_gets_before_the_vote_tells_a_repeat_from_another(
    visitor: Visitor, settings: Any
) -> None:
    def seen() -> list[str]:
        """Everything that can be asked for, but for ids and times, in the shape in which it comes."""
        battle_id = visitor.open()
        turn = visitor.send(battle_id)
        play(turn)
        assert visitor.get(f"battles/{battle_id}/start").json()["start"] is None  # whether it was seen before or not
        make_asked()
        start = visitor.get(f"battles/{battle_id}/start").json()["start"]
        told = [len(start), visitor.battle(battle_id), visitor.get(f"turns/{turn['turn_id']}").json()]
        told += [visitor.get(f"episodes/{turn[f'{side}_episode_id']}").json() for side in ("left", "right")]
        told.append(visitor.get("sessions/?mine").json()["results"][0])
        return sorted(_keys(told))

    plain = seen()
    settings.REPEAT_SHARE = 1.0
    repeat = seen()
    assert Battle.objects.exclude(purpose=Purpose.RANK).count() == 1
    assert plain == repeat
    for name in ("purpose", "repeats", "gold"):
        assert not any(name in key for key in repeat)


def _keys(value: Any, path: str = "") -> set[str]:
    """Paths of a JSON value with the kind of what is there, and its text where it is a word and no id or time."""
    if isinstance(value, dict):
        return set().union(*(_keys(inner, f"{path}.{name}") for name, inner in value.items())) | {path}
    if isinstance(value, list):
        return set().union(*(_keys(inner, f"{path}[]") for inner in value)) | {path}
    word = value if isinstance(value, str) and "_" not in value and ":" not in value and "-" not in value else ""
    return {f"{path}={json.dumps(word)}:{type(value).__name__}" if word not in (WORDS,) else f"{path}=words"}


@pytest.mark.parametrize(
    ("share", "cap", "least", "most"), [(0.0, 1.0, 0, 0), (0.05, 1.0, 3, 14), (1.0, 1.0, 160, 160), (1.0, 0.2, 12, 55)]
)
def test_scenes_come_again_about_as_often_as_wanted_and_never_oftener_than_allowed(
    share: float, cap: float, least: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "MOST_SHOWN_AGAIN", cap)
    made = 0
    for expected in range(1, 161):
        made += calibration._due(share * expected - made)
    assert least <= made <= most


@pytest.mark.usefixtures("hosted")
def test_no_battle_of_references_is_made_whatever_the_shares(
    visitor: Visitor, runtime: FakeRuntime, settings: Any
) -> None:
    """A robot that answers constant zeros, as in the gold battles of earlier versions, is seen by any program."""
    both = [ReferenceFactory(id="scripted-expert", adapter="expert"), ReferenceFactory(id="hold-still")]
    Hosting.objects.bulk_create(Hosting(worker="one", contestant=policy) for policy in both)
    settings.GOLD_SHARE = settings.REPEAT_SHARE = 1.0
    battles = [sent(visitor) for _ in range(3)]
    assert {battle.purpose for battle in battles} == {Purpose.RANK}
