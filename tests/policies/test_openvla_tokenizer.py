"""The mini's own tokenizer: everything can be read, and instructions never use the ids of actions."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer

from policies.openvla.actions import ActionTokens
from policies.openvla.config import PROMPT, read_config
from policies.openvla.prompt import PromptEncoder
from policies.openvla.sizes import OpenVLAMiniSizes, config_json
from policies.openvla.tokenizer import ACTION_IDS, BOS_ID, VOCABULARY, train_tokenizer
from simulation.catalogue import instructions

TEXTS = [one.text for one in instructions(train=True)]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train_tokenizer(TEXTS, PROMPT)


def test_there_are_512_ids_and_each_has_a_name(tokenizer: Tokenizer) -> None:
    assert sorted(tokenizer.get_vocab().values()) == list(range(VOCABULARY))


def test_no_trained_instruction_uses_an_action_id(tokenizer: Tokenizer) -> None:
    used = {number for text in TEXTS for number in tokenizer.encode(PROMPT.format(instruction=text)).ids}
    assert max(used) < VOCABULARY - ACTION_IDS


def test_action_tokens_are_the_last_256_of_the_base_vocabulary() -> None:
    config = read_config(config_json(OpenVLAMiniSizes()))
    assert config.base_vocabulary == VOCABULARY
    lowest, highest = ActionTokens(config).encode([1.0, -1.0])  # type: ignore[arg-type]
    assert (lowest, highest) == (VOCABULARY - ACTION_IDS, VOCABULARY - 1)


@pytest.mark.parametrize(
    "text", ["grab the violet thing", "Äpfel, 3 Öl!?", "把红色方块放在盘子上", "a\tb\n\n c  d", "🤖"]
)
def test_any_text_is_read_and_read_back(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_words_of_the_training_texts_are_one_token_each(tokenizer: Tokenizer) -> None:
    ids = PromptEncoder(tokenizer, read_config(config_json(OpenVLAMiniSizes()))).encode(
        "Put the red cube on the left plate", 7
    )
    assert ids[0] == BOS_ID
    assert len(ids) == 1 + 1 + 8 + 1  # BOS, the prompt's beginning, eight words, the prompt's end


def test_equal_texts_give_equal_tokenizers() -> None:
    assert train_tokenizer(TEXTS, PROMPT).to_str() == train_tokenizer(list(TEXTS), PROMPT).to_str()
