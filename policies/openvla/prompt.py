"""An instruction as the ids of OpenVLA's prompt."""

from __future__ import annotations

from tokenizers import Tokenizer

from policies.base import BadCard
from policies.networks.openvla_sizes import OpenVLAConfig
from policies.text import Token, shorten, tokens_of


class PromptEncoder:
    def __init__(self, tokenizer: Tokenizer, config: OpenVLAConfig) -> None:
        self.tokenizer, self.config = tokenizer, config

    def encode(self, instruction: str, action_tokens: int) -> list[int]:
        """BOS, the prompt with the instruction in lower case, and the trailing id unless the text ends with it.

        Where patches, prompt and `action_tokens` answers exceed what the model takes, long words of the instruction
        lose their ends (policies.text.shorten); the question around it stays whole. Raises BadCard when not even an
        empty instruction fits.
        """
        room = self.room(action_tokens)
        text = instruction.lower()
        ids = self._ids(text)
        if len(ids) <= room:
            return ids
        question = len(self._ids(""))
        if question > room:
            raise BadCard(f"config.json: a prompt without an instruction has {question} tokens; the model takes {room}")
        return self._ids(text, without=len(ids) - room)

    def room(self, action_tokens: int) -> int:
        """The most tokens that a prompt may have beside patches and `action_tokens` answers."""
        config = self.config
        return min(config.max_tokens, config.language.max_positions) - config.patches - action_tokens

    def _ids(self, instruction: str, without: int = 0) -> list[int]:
        """`without`: how many tokens the instruction has to lose."""
        config = self.config
        tokens = tokens_of(self.tokenizer.encode(config.prompt.format(instruction=instruction)))
        if without:
            tokens = self._shortened(tokens, instruction, without)
        ids = [token.id for token in tokens]
        if ids[:1] != [config.bos_id]:
            ids = [config.bos_id, *ids]
        if config.trailing_id is not None and ids[-1] != config.trailing_id:
            ids = [*ids, config.trailing_id]
        return ids

    def _shortened(self, tokens: list[Token], instruction: str, without: int) -> list[Token]:
        first = len(self.config.prompt.partition("{instruction}")[0].format())
        places = [place for place, token in enumerate(tokens) if 0 <= token.last - first < len(instruction)]
        said = [Token(tokens[place].id, tokens[place].last - first) for place in places]
        kept = [
            Token(token.id, token.last + first) for token in shorten(said, instruction, max(0, len(said) - without))
        ]
        before, after = (tokens[: places[0]], tokens[places[-1] + 1 :]) if places else (tokens, [])
        return [*before, *kept, *after]
