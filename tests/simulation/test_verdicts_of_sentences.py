"""Only a sentence that means a goal of the catalogue, and nothing else, gets a verdict."""

from __future__ import annotations

import pytest

from simulation import catalogue
from simulation.catalogue import task_for
from simulation.environment import Environment
from simulation.expert import HoldStill
from simulation.goals import goal_for
from simulation.runner import run_episode
from tests.sentences import SENTENCES
from tests.simulation.conftest import Record

KNOWN = "pick up the red cube"


@pytest.mark.parametrize("number", range(len(SENTENCES)))
def test_a_sentence_means_what_it_says_or_has_no_goal(number: int) -> None:
    sentence, meant = list(SENTENCES.items())[number]
    assert task_for(sentence) == meant
    assert (goal_for(sentence) is None) == (meant is None)


@pytest.mark.parametrize(
    "changed",
    [
        f"don't {KNOWN}", f"never {KNOWN}", f"{KNOWN} not", f"{KNOWN}, no!", f"not: {KNOWN}", f"if you like, {KNOWN}",
        f"{KNOWN} twice", f"{KNOWN} and {KNOWN}", f"{KNOWN} slowly", f"before you {KNOWN}, wait", f"why {KNOWN}",
        f"{KNOWN} 别", f"не {KNOWN}", f"{KNOWN} 🚫", f"ne {KNOWN} pas", f"≠ {KNOWN}", f"{KNOWN} ½", f"~{KNOWN}~",
    ],
)  # fmt: skip
def test_one_word_or_sign_more_and_there_is_no_verdict(changed: str) -> None:
    assert task_for(changed) is None


@pytest.mark.parametrize(
    "same", [f"{KNOWN}.", f"“{KNOWN}”!", f"  {KNOWN.upper()} … ", f"Please, {KNOWN}?", f"({KNOWN})"]
)
def test_case_blanks_and_the_ends_of_sentences_change_nothing(same: str) -> None:
    assert task_for(same) == task_for(KNOWN) != None  # noqa: E711 - all three alike


def test_what_is_offered_as_free_text_has_no_goal_and_what_is_suggested_has_one() -> None:
    scene = catalogue.scene("table")
    assert [text for text in scene.free_suggestions if task_for(text) is not None] == []
    assert len(scene.free_suggestions) > 3
    assert None not in [task_for(text) for text in scene.suggestions]


def test_an_episode_of_free_text_is_neither_reached_nor_missed(environment: Environment, record: Record) -> None:
    environment.reset(3)
    result = run_episode(environment, HoldStill(environment), "hello robots, how are you today?", 3)
    assert (result.success, result.progress, result.total_reward) == (None, None, 0.0)
    judged = run_episode(environment, HoldStill(environment), KNOWN, 3)
    assert judged.success is False
    assert judged.progress is not None
    document = record("do a little dance", HoldStill(environment))
    assert (document["success"], document["progress"]) == (None, None)
