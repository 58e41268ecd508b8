"""An instruction as ids for Octo's T5, shortened, ended and padded to a fixed length."""

from __future__ import annotations

import torch
from tokenizers import Tokenizer
from torch import Tensor

from policies.networks.octo import TextConfig
from policies.text import shorten, tokens_of


class TextTokenizer:
    def __init__(self, tokenizer: Tokenizer, config: TextConfig) -> None:
        self.tokenizer, self.config = tokenizer, config

    def encode(self, instruction: str) -> tuple[Tensor, Tensor]:
        """ids (1, L) and, per position, whether it is text and not padding (1, L).

        Of a longer text every word is read, but long ones lose their ends (policies.text.shorten); published Octo reads
        the first L - 1 tokens. The end token comes last.
        """
        special, length = self.config.encoder, self.config.tokens
        tokens = tokens_of(self.tokenizer.encode(instruction))
        if tokens and tokens[-1].id == special.end_id:
            tokens.pop()
        read = [*(token.id for token in shorten(tokens, instruction, length - 1)), special.end_id]
        padded = torch.full((1, length), special.pad_id)
        padded[0, : len(read)] = torch.tensor(read)
        return padded, (torch.arange(length) < len(read))[None]
