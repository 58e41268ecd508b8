"""The noise of words is judged by all wordings of a course, not by those that happen to occur."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from policies.film.batches import FilmBatchMaker
from policies.film.tokenizer import WordTokenizer, split
from policies.film.training import FilmPlan, FilmTrainer
from policies.training.dataset import Demonstrations
from policies.training.loop import Pace
from simulation.courses import WIDOWX
from simulation.demonstrator import meaning_list, text_list
from tests.policies.tiny import write_demos


@cache
def course() -> tuple[list[str], list[list[int]]]:
    return text_list(WIDOWX), meaning_list(WIDOWX)


def batches(folder: Path, texts: list[str], told: bool = True) -> FilmBatchMaker:
    """Of demonstrations in which these texts of the course occur alone."""
    write_demos(folder)
    wordings, tasks = course()
    index = json.loads((folder / "dataset.json").read_text("utf-8"))
    numbers = [wordings.index(text) for text in texts]
    index["texts"] = wordings
    index |= {"text_tasks": tasks} if told else {}
    (folder / "dataset.json").write_text(json.dumps(index), "utf-8")
    demos = Demonstrations(folder)
    demos.labels["instruction"][:] = [numbers[row % len(numbers)] for row in range(len(demos))]
    demos.labels["task"][:] = [tasks[number][0] for number in demos.labels["instruction"]]
    demos.texts, demos.goals = demos._instructions(index)
    return FilmTrainer(demos, FilmPlan(samples=16, batch=16), folder / "run", Pace()).batches


def needed(maker: FilmBatchMaker, text: str) -> set[str]:
    number = next(number for number, said in maker.demos.texts.items() if said == text)
    return {word for word, free in zip(split(text), maker.free[number], strict=True) if not free}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("push the red cube left", {"red", "left"}),
        ("move the blue can to the right", {"right"}),
        ("pick up the red cube", {"red"}),
        ("put the red cube on the left plate", {"red", "left"}),
        ("open the top drawer and close it", {"top"}),
    ],
)
def test_a_word_that_alone_tells_two_goals_apart_is_never_hidden(tmp_path: Path, text: str, words: set[str]) -> None:
    assert needed(batches(tmp_path, [text]), text) >= words


def test_some_words_are_still_hidden(tmp_path: Path) -> None:
    text = "push the red cube left"
    assert "push" not in needed(batches(tmp_path, [text]), text)


def test_demonstrations_that_do_not_tell_it_are_judged_by_what_occurs(tmp_path: Path) -> None:
    texts = ["push the red cube left", "push the red cube right"]
    assert needed(batches(tmp_path, texts, told=False), texts[0]) == {"left"}


def test_only_words_of_the_tasks_that_occur_are_known(tmp_path: Path) -> None:
    maker = batches(tmp_path, ["push the red cube left"])
    known = {*WordTokenizer.from_texts(maker.demos.texts.values()).words}
    assert {"push", "shove", "nudge", "red", "cube", "block", "left"} <= known
    assert known.isdisjoint({"green", "bowl", "right", "drawer", "could"})
