"""What sentences mean, one by one, and what a small change of a sentence does to its meaning."""

from __future__ import annotations

import pytest

from simulation import catalogue
from simulation.catalogue import task_for
from simulation.catalogue_rows import CatalogueError
from simulation.goals import goal_for
from simulation.matching import Matcher, Pattern, Words, expanded, one_slip
from tests.meanings import meanings

TABLE = meanings()


def test_the_table_has_sentences_of_every_task_and_of_none() -> None:
    tasks = {meant[0] for meant in TABLE.values() if meant}
    assert tasks == {task.id for task in catalogue.tasks() if task.scene_id == "table"}
    assert len(TABLE) >= 150


@pytest.mark.parametrize("number", range(len(TABLE)))
def test_a_sentence_means_its_goal_or_none(number: int) -> None:
    sentence, meant = list(TABLE.items())[number]
    assert task_for(sentence) == meant, sentence
    assert (goal_for(sentence) is None) == (meant is None)


@pytest.mark.parametrize(
    "word", ["not", "never", "don't", "without", "after", "except", "unless", "half", "almost", "nothing", "no", "nor"]
)
def test_no_sentence_keeps_its_goal_with_a_word_that_turns_it_round(word: str) -> None:
    for sentence, meant in TABLE.items():
        words = sentence.split()
        for place in range(len(words) + 1) if meant else ():
            changed = " ".join([*words[:place], word, *words[place:]])
            assert task_for(changed) is None, changed


@pytest.mark.parametrize(
    ("word", "slip"),
    [("place", "palce"), ("place", "plce"), ("place", "plaice"), ("place", "plade"), ("place", "plac")],
)
def test_a_slip_is_one_letter_missing_doubled_wrong_or_out_of_place(word: str, slip: str) -> None:
    assert one_slip(slip, word)


@pytest.mark.parametrize("other", ["place", "plaec s", "palec", "plcae ", "place12", "plaaace", "pl", ""])
def test_anything_more_is_no_slip(other: str) -> None:
    assert not one_slip(other, "place")


def test_a_slip_that_may_be_either_of_two_words_is_not_mended() -> None:
    words = Words(near={"stack": [], "stock": []})
    matcher = Matcher(words, {"cube": ["cube"]}, [Pattern("(stack|stock) {a}", "t", [{"a": "cube"}])])
    assert matcher.meaning("stack cube") == ("t", {"a": "cube"})
    assert matcher.meaning("stcck cube") is None
    assert matcher.meaning("staack cube") == ("t", {"a": "cube"})


def test_a_pattern_has_choices_and_words_that_may_be_left_out() -> None:
    assert [" ".join(each.split()) for each in expanded("(put|set) it [down] here")] == [
        "put it here", "put it down here", "set it here", "set it down here",
    ]  # fmt: skip


def test_two_things_of_a_scene_cannot_have_one_name() -> None:
    with pytest.raises(CatalogueError, match='"the block" means both b and a'):
        Matcher(Words(), {"a": ["block"], "b": ["the block"]}, [])


def test_a_sentence_that_means_two_tasks_has_no_goal() -> None:
    one, other = (Pattern("lift {a}", name, [{"a": "cube"}]) for name in ("up", "raise"))
    assert Matcher(Words(), {"cube": ["cube"]}, [one, other]).meaning("lift cube") is None
    assert Matcher(Words(), {"cube": ["cube"]}, [one]).meaning("lift the cube") == ("up", {"a": "cube"})


def test_the_first_releases_understood_exact_wordings_of_three_tasks() -> None:
    assert catalogue.first_meaning("Grab the green orb!") == ("pick", {"object": "green_sphere"})
    for later in ("push the red cube to the left", "can you pick up the red cube", "knock the blue can over"):
        assert task_for(later) is not None
        assert catalogue.first_meaning(later) is None
