"""The smaller copy of the model that tells languages apart."""

from __future__ import annotations

import random
from array import array

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from texts.about import LANGUAGES
from texts.identifier import WIDTH, Blocks, identifier

SAID = (
    "Why is the sky blue?",
    "Почему небо голубое?",
    "为什么天空是蓝色的",
    "ok",
    "Rezept für Reis",
    "日本語 and Deutsch",
    "",
)


@pytest.mark.parametrize("least", [0, 2**32 - 4])
def test_blocks_read_like_the_table(least: int) -> None:
    drawn = random.Random(0)
    table = array("I", [least + drawn.randrange(3) for _ in range(50 * WIDTH)] * 2)
    blocks = Blocks(table)
    assert [blocks[place] for place in range(len(table))] == list(table)


def test_every_language_has_the_chance_that_the_whole_model_gives_it() -> None:
    whole = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    whole.set_languages(LANGUAGES)
    small = identifier(tuple(sorted(LANGUAGES)))
    assert [small.rank(said) for said in SAID] == [whole.rank(said) for said in SAID]
    assert list(small.tk_output) == list(whole.tk_output)
