"""The text that OpenVLA reads: its form, its ends, and what is too long for it."""

from __future__ import annotations

import pytest

from policies.base import BadCard
from policies.openvla.config import read_config
from policies.openvla.prompt import PromptEncoder
from tests.policies.tiny_networks import BOS, SPACE, openvla_json, word_tokenizer

ACTION_TOKENS = 7


def encoder(bos: bool = True, **changes: object) -> PromptEncoder:
    return PromptEncoder(word_tokenizer(bos), read_config(openvla_json(**changes)))


def test_the_sentence_is_put_into_the_published_question() -> None:
    asked = "In: What action should the robot take to pick up the cube?\nOut:"
    assert encoder().encode("pick up the cube", ACTION_TOKENS)[:-1] == word_tokenizer().encode(asked).ids


def test_the_instruction_is_read_in_lower_case() -> None:
    loud, quiet = (encoder().encode(text, ACTION_TOKENS) for text in ("Pick UP the Red Cube", "pick up the red cube"))
    assert loud == quiet


def test_the_trailing_id_is_added_when_the_text_does_not_end_with_it() -> None:
    ids = encoder().encode("pick up the cube", ACTION_TOKENS)
    assert ids[-1] == SPACE
    assert ids[-2] != SPACE


def test_the_trailing_id_is_not_doubled() -> None:
    spaced = encoder(prompt="in: {instruction} out: ")
    ids = spaced.encode("pick up the cube", ACTION_TOKENS)
    assert ids == spaced.tokenizer.encode("in: pick up the cube out: ").ids
    assert ids[-1] == SPACE


def test_a_tokenizer_without_such_an_id_gets_none() -> None:
    ids = encoder(trailing_token_id=None).encode("pick up the cube", ACTION_TOKENS)
    assert ids == encoder().encode("pick up the cube", ACTION_TOKENS)[:-1]


def test_bos_comes_first_exactly_once_whether_or_not_the_tokenizer_adds_it() -> None:
    with_bos, without = (encoder(bos).encode("pick up", ACTION_TOKENS) for bos in (True, False))
    assert with_bos == without
    assert with_bos.count(BOS) == 1


def test_braces_in_an_instruction_are_only_text() -> None:
    assert encoder().encode("{instruction} {0} {}", ACTION_TOKENS)[0] == BOS


def test_an_empty_instruction_still_makes_a_prompt() -> None:
    assert encoder().encode("", ACTION_TOKENS)[-1] == SPACE


@pytest.mark.parametrize(
    "limit",
    [{"llm_max_length": 60}, {"text_config": openvla_json()["text_config"] | {"max_position_embeddings": 60}}],
)
def test_of_an_instruction_too_long_as_much_is_asked_as_fits(limit: dict[str, object]) -> None:
    room = 60 - 16 - ACTION_TOKENS  # minus patches and answer
    limited, free = encoder(**limit), encoder()
    assert len(limited.encode("pick up", ACTION_TOKENS)) <= room
    told = " ".join(["pick up the red cube"] * 10)

    ids = limited.encode(told, ACTION_TOKENS)

    question, whole = free.encode("", ACTION_TOKENS), free.encode(told, ACTION_TOKENS)
    assert len(ids) == room < len(whole)
    after = next(n for n in range(1, len(question)) if question[-n:] != whole[-n:]) - 1
    assert (ids[:4], ids[-after:]) == (whole[:4], question[-after:])  # what stands around the instruction
    left = iter(whole)
    assert all(number in left for number in ids)  # in order, and nothing else


def test_a_prompt_that_has_no_room_even_without_an_instruction_is_a_fault_of_the_card() -> None:
    with pytest.raises(BadCard, match="without an instruction"):
        encoder(llm_max_length=16 + ACTION_TOKENS + 1).encode("pick up", ACTION_TOKENS)
