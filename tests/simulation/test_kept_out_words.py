"""Nobody knows what a word means that he never read: words that were read decide what a kept-out wording asks for."""

from __future__ import annotations

from collections import defaultdict

from policies.film.tokenizer import split
from simulation import catalogue
from simulation.courses import WIDOWX


def test_without_the_words_that_training_never_says_a_wording_of_the_cabinet_still_means_one_thing() -> None:
    said = catalogue.instructions(of=WIDOWX.tasks())
    known = {word for one in said if one.train for word in split(one.text)}
    meanings: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for one in said:
        if catalogue.task(one.task_id).scene_id == "cabinet":
            heard = tuple(word if word in known else "?" for word in split(one.text))
            meanings[heard].add(f"{one.task_id} {one.slots}")
    assert len(meanings) > 500
    assert {heard: found for heard, found in meanings.items() if len(found) > 1} == {}
