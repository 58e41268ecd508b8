"""Of any sentence that the arena lets in, every shipped policy reads every word: the limit is alike for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from django.conf import settings
from hypothesis import assume
from hypothesis import strategies as st

from arena import kinds
from arena.errors import ArenaError
from arena.words import words
from policies.film.tokenizer import UNKNOWN, WordTokenizer
from policies.octo.exported import ExportedOctoPolicy
from policies.octo.text import TextTokenizer
from policies.openvla.exported import ExportedOpenVLAPolicy
from policies.openvla.prompt import PromptEncoder
from policies.registry import open_policy
from policies.text import shorten, tokens_of
from simulation import catalogue
from simulation.contracts import ACTION_DIM
from tests.fuzz.effort import fuzz
from tests.sentences import SENTENCES

Read = Callable[[str], set[int]]
"""The numbers of the words of which something is read."""

SAID = st.lists(st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=20), max_size=16).map(
    " ".join
)
ROBOTS = kinds.get("robots")
FOLDERS = sorted(path for path in settings.POLICY_WEIGHTS.iterdir() if path.is_dir())
ODD = [
    "Donaudampfschifffahrtsgesellschaftskapitän " * 4,
    "antidisestablishmentarianism incomprehensibilities floccinaucinihilipilification " * 2,
    "qzxv jkwq " * 8,
    "add 1 and 2.5 and 37 and 4096 and 65535 and 8 or 9",
    "a, b; c: d - e! f? g (h) i 'j' \"k\" l / m + n = o & p",
    "🤖🟥🟦 put 👩\u200d🔧 the ❤\ufe0f cube 🟨🟩",
    "拿起红色方块放在左边的盘子上吗",
    "빨간 큐브를 왼쪽 접시에 놓아 주세요",
    "Würfel über Teller, größer, schöner, äöü ß ÄÖÜ İ",
    "don't you'll we've they're I'd he's it's can't won't",
    "Положи красный куб на левую тарелку пожалуйста",
    "x" * 200,
]


def spots(text: str) -> dict[int, int]:
    return {place: number for number, span in enumerate(words(text)) for place in range(*span)}


def octo(text: TextTokenizer) -> Read:
    def read(said: str) -> set[int]:
        ids, present = text.encode(said)
        kept = shorten(tokens_of(text.tokenizer.encode(said)), said, text.config.tokens - 1)
        assert ids[present].tolist() == [*(token.id for token in kept), text.config.encoder.end_id]
        at = spots(said)
        return {at[token.last] for token in kept if token.last in at}

    return read


def openvla(prompts: PromptEncoder) -> Read:
    question = len(prompts.encode("", ACTION_DIM))
    room = prompts.room(ACTION_DIM) - question

    def read(said: str) -> set[int]:
        text = said.lower()
        kept = shorten(tokens_of(prompts.tokenizer.encode(text)), text, room)
        assert len(prompts.encode(said, ACTION_DIM)) == question + len(kept)
        at = spots(text)
        return {at[token.last] for token in kept if token.last in at}

    return read


def film(tokenizer: WordTokenizer) -> Read:
    def read(said: str) -> set[int]:
        ids = tokenizer.encode(said)
        if not tokenizer.words:  # the mute one never reads, whatever is said
            assert ids == [UNKNOWN]
            return set(range(len(words(said))))
        return set(range(len(ids))) if words(said) else set()

    return read


def reader(policy: Any) -> Read:
    """The shipped ones are played without torch, each by what reads its own family's sentences."""
    if isinstance(policy, ExportedOctoPolicy):
        return octo(policy._parts.text)
    if isinstance(policy, ExportedOpenVLAPolicy):
        return openvla(policy._parts.prompts)
    return film(policy._tokenizer)


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda folder: folder.name)
def read(request: pytest.FixtureRequest) -> Iterator[Read]:
    policy = open_policy(request.param)
    yield reader(policy)
    policy.close()


@cache
def natural() -> list[tuple[str, set[int]]]:
    """What policies are given of natural sentences and of all wordings, and the numbers of its words."""
    wordings = (wording.text for wording in catalogue.instructions())
    said = (*SENTENCES, *wordings, *catalogue.scene("table").free_suggestions)
    return [(ROBOTS.clean_instruction(each), set(range(len(words(each))))) for each in said]


def test_each_reads_every_word_of_natural_sentences_and_of_all_wordings(read: Read) -> None:
    for given, all_words in natural():
        assert read(given) == all_words, given


@pytest.mark.parametrize("number", range(len(ODD)))
def test_each_reads_every_word_of_odd_sentences(read: Read, number: int) -> None:
    said = ROBOTS.clean_instruction(ODD[number])
    assert read(said) == set(range(len(words(said))))


@fuzz("instructions", 300, said=st.one_of(st.text(min_size=1, max_size=200), SAID))
def test_each_reads_every_word_of_whatever_is_let_in(read: Read, said: str) -> None:
    try:
        text = ROBOTS.clean_instruction(said)
    except ArenaError:
        assume(False)
    lowered = len(words(text.lower())), len(words(text.casefold()))
    assume(lowered == (len(words(text)),) * 2)  # a few letters become two signs in lower case
    assert read(text) == set(range(len(words(text))))


def test_the_limit_leaves_room_for_all_that_the_catalogue_says() -> None:
    assert ROBOTS.most_words is not None
    assert max(len(words(wording.text)) for wording in catalogue.instructions()) <= ROBOTS.most_words
    assert ROBOTS.clean_instruction("cube " * ROBOTS.most_words)
    with pytest.raises(ArenaError, match="at most 16 words"):
        ROBOTS.clean_instruction("cube " * (ROBOTS.most_words + 1))


def test_a_control_token_that_somebody_types_is_read_as_its_letters(read: Read) -> None:
    assert read("<pad> cube </s>") == {0, 1, 2}
