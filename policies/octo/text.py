"""An instruction as ids for Octo's T5, truncated, ended and padded to a fixed length."""

from __future__ import annotations

import torch
from tokenizers import Tokenizer
from torch import Tensor

from policies.networks.octo import TextConfig


class TextTokenizer:
    def __init__(self, tokenizer: Tokenizer, config: TextConfig) -> None:
        self.tokenizer, self.config = tokenizer, config

    def encode(self, instruction: str) -> tuple[Tensor, Tensor]:
        """ids (1, L) and, per position, whether it is text and not padding (1, L).

        Of a longer text the first L - 1 tokens are read, as in published Octo, and the end token comes last.
        """
        special, length = self.config.encoder, self.config.tokens
        ids: list[int] = self.tokenizer.encode(instruction).ids
        words = ids[:-1] if ids[-1:] == [special.end_id] else ids
        read = [*words[: length - 1], special.end_id]
        padded = torch.full((1, length), special.pad_id)
        padded[0, : len(read)] = torch.tensor(read)
        return padded, (torch.arange(length) < len(read))[None]
