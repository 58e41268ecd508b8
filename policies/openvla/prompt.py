"""An instruction as the ids of OpenVLA's prompt."""

from __future__ import annotations

from tokenizers import Tokenizer

from policies.base import InstructionTooLong
from policies.networks.openvla import OpenVLAConfig


class PromptEncoder:
    def __init__(self, tokenizer: Tokenizer, config: OpenVLAConfig) -> None:
        self.tokenizer, self.config = tokenizer, config

    def encode(self, instruction: str, action_tokens: int) -> list[int]:
        """BOS, the prompt with the instruction in lower case, and the trailing id if the text does not end with it.

        Raises InstructionTooLong when patches, text and `action_tokens` answers exceed what the model takes.
        """
        config = self.config
        text = config.prompt.format(instruction=instruction.lower())
        ids: list[int] = self.tokenizer.encode(text).ids
        if ids[:1] != [config.bos_id]:
            ids = [config.bos_id, *ids]
        if config.trailing_id is not None and ids[-1] != config.trailing_id:
            ids = [*ids, config.trailing_id]
        most = min(config.max_tokens, config.language.max_positions)
        room = most - config.patches - action_tokens
        if len(ids) > room:
            raise InstructionTooLong(f"the instruction makes a prompt of {len(ids)} tokens; the model takes {room}")
        return ids
