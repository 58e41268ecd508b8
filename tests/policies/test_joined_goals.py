"""Texts that mean the same in several scenes."""

from __future__ import annotations

from policies.film.words import needless
from policies.training.dataset import joined


def test_a_text_of_one_task_has_its_number() -> None:
    assert joined([(0, 7), (1, 7), (2, 3)]) == {0: 7, 1: 7, 2: 3}


def test_tasks_that_share_a_text_are_one_goal_for_all_their_texts() -> None:
    assert joined([(0, 2), (0, 9), (1, 9), (2, 2), (3, 4)]) == {0: 2, 1: 2, 2: 2, 3: 4}


def test_chains_of_tasks_are_one_goal_in_any_order() -> None:
    uses = [(0, 5), (0, 6), (1, 6), (1, 7), (2, 7), (3, 8)]
    assert joined(uses) == joined(uses[::-1]) == {0: 5, 1: 5, 2: 5, 3: 8}


def test_a_word_that_two_scenes_use_alike_needs_not_be_read() -> None:
    tokens = {0: [2, 3, 4], 1: [2, 3, 5]}
    apart = needless(tokens, {0: 0, 1: 1})
    assert apart[0].tolist() == [True, True, False]
    together = needless(tokens, joined([(0, 0), (1, 0), (1, 1)]))
    assert together[0].tolist() == [True, True, True]
