"""Words are counted as people count them, by the server as by the page (frontend/test/sentence.test.js)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.errors import InstructionTooLong
from arena.instructions import clean_instruction
from arena.words import words

COUNTED: dict[str, int] = json.loads((Path(__file__).parent.parent / "data" / "words.json").read_text("utf-8"))


@pytest.mark.parametrize("number", range(len(COUNTED)))
def test_the_words_of_a_text_are_counted(number: int) -> None:
    text, count = list(COUNTED.items())[number]
    assert len(words(text)) == count, text


def test_a_word_is_told_with_its_place() -> None:
    text = "Don't touch: the red-ish cube"
    assert [text[first:end] for first, end in words(text)] == ["Don't", "touch", "the", "red", "ish", "cube"]


def test_as_many_words_as_may_be_are_let_in_and_one_more_is_refused_with_the_limit() -> None:
    assert clean_instruction("lift it " * 2, most_words=4) == "lift it lift it"
    with pytest.raises(InstructionTooLong, match="at most 4 words, this one 5") as refused:
        clean_instruction("lift it, lift it now!", most_words=4)
    assert refused.value.body() == {
        "code": "instruction_too_long",
        "detail": "An instruction has at most 4 words, this one 5.",
        "longest": 4,
        "unit": "words",
    }
