"""An instruction as ids for Octo's T5, shortened, ended and padded to a fixed length."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from policies.networks.octo_sizes import TextConfig
from policies.text import shorten, tokens_of


class TextTokenizer:
    def __init__(self, tokenizer: Tokenizer, config: TextConfig) -> None:
        self.tokenizer, self.config = tokenizer, config

    def encode(self, instruction: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """ids (1, L) and, per position, whether it is text and not padding (1, L).

        Of a longer text every word is read, but long ones lose their ends (policies.text.shorten); published Octo reads
        the first L - 1 tokens. The end token comes last.
        """
        special, length = self.config.encoder, self.config.tokens
        tokens = tokens_of(self.tokenizer.encode(instruction))
        if tokens and tokens[-1].id == special.end_id:
            tokens.pop()
        read = [*(token.id for token in shorten(tokens, instruction, length - 1)), special.end_id]
        padded = np.full((1, length), special.pad_id, np.int64)
        padded[0, : len(read)] = read
        return padded, (np.arange(length) < len(read))[None]
