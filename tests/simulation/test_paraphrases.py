"""Training also says what visitors may say: sentences that a task's patterns understand, and none that is kept out."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from simulation import catalogue
from simulation.courses import TABLE, WIDOWX
from simulation.demonstrator import meaning_list, task_list, text_list
from simulation.matching import usual
from simulation.paraphrases import PER_WORDING, paraphrases

FILLED = task_list(WIDOWX)


@pytest.mark.parametrize(("task_id", "slots"), FILLED[::7])
def test_every_paraphrase_means_its_task(task_id: str, slots: Mapping[str, str]) -> None:
    matcher = catalogue.matcher(catalogue.task(task_id).scene_id)
    for text in paraphrases(task_id, slots):
        assert matcher.meaning(text) == (task_id, slots), text


def test_no_paraphrase_is_kept_out_or_a_wording_itself() -> None:
    """Also where it is kept out of another task of the course, or of the same one with its things in another order."""
    words = catalogue.words()
    kept_out = {usual(one.text, words) for filled in FILLED for one in catalogue.phrasings(*filled, train=False)}
    for task_id, slots in FILLED:
        wordings = catalogue.phrasings(task_id, slots)
        said = paraphrases(task_id, slots)
        assert not {usual(text, words) for text in said} & kept_out, task_id
        assert not set(said) & {one.text for one in wordings}, task_id
        assert len(said) <= PER_WORDING * sum(one.train for one in wordings)


def test_a_task_without_patterns_has_none() -> None:
    assert paraphrases("bridge_carrot", {"object": "carrot", "target": "plate"}) == []


def test_the_words_of_kept_out_wordings_occur_in_other_sentences() -> None:
    said = " ".join(text for task_id, slots in FILLED for text in paraphrases(task_id, slots)).split()
    assert {"grab", "grasp", "lay"} <= {*said}


def test_paraphrases_stand_behind_all_wordings_so_that_no_number_changes() -> None:
    wordings = list(dict.fromkeys(one.text for one in catalogue.instructions(of=WIDOWX.tasks())))
    texts, meanings = text_list(WIDOWX), meaning_list(WIDOWX)
    assert texts[: len(wordings)] == wordings
    assert len(texts) > len(wordings)
    assert all(meanings[len(wordings) :])


def test_other_courses_say_only_their_wordings() -> None:
    assert text_list(TABLE) == list(dict.fromkeys(one.text for one in catalogue.instructions(of=TABLE.tasks())))
