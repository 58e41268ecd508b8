"""An instruction as the ids of OpenVLA's prompt."""

from __future__ import annotations

from tokenizers import Tokenizer

from policies.base import BadCard
from policies.networks.openvla import OpenVLAConfig


class PromptEncoder:
    def __init__(self, tokenizer: Tokenizer, config: OpenVLAConfig) -> None:
        self.tokenizer, self.config = tokenizer, config

    def encode(self, instruction: str, action_tokens: int) -> list[int]:
        """BOS, the prompt with the instruction in lower case, and the trailing id unless the text ends with it.

        Where patches, prompt and `action_tokens` answers exceed what the model takes, the prompt has the longest
        beginning of the instruction that fits; the question around it stays whole. Raises BadCard when not even an
        empty instruction fits.
        """
        room = self.room(action_tokens)
        text = instruction.lower()
        ids = self._ids(text)
        if len(ids) <= room:
            return ids
        ids = self._ids("")
        if len(ids) > room:
            raise BadCard(f"config.json: a prompt without an instruction has {len(ids)} tokens; the model takes {room}")
        fits, exceeds = 0, len(text)
        while exceeds - fits > 1:
            middle = (fits + exceeds) // 2
            cut = self._ids(text[:middle])
            if len(cut) <= room:
                fits, ids = middle, cut
            else:
                exceeds = middle
        return ids

    def room(self, action_tokens: int) -> int:
        """The most tokens that a prompt may have beside patches and `action_tokens` answers."""
        config = self.config
        return min(config.max_tokens, config.language.max_positions) - config.patches - action_tokens

    def _ids(self, instruction: str) -> list[int]:
        config = self.config
        ids: list[int] = self.tokenizer.encode(config.prompt.format(instruction=instruction)).ids
        if ids[:1] != [config.bos_id]:
            ids = [config.bos_id, *ids]
        if config.trailing_id is not None and ids[-1] != config.trailing_id:
            ids = [*ids, config.trailing_id]
        return ids
