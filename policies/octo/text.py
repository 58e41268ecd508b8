"""An instruction as ids for Octo's T5: ended, padded to a fixed length."""

from __future__ import annotations

import torch
from tokenizers import Tokenizer
from torch import Tensor

from policies.base import InstructionTooLong
from policies.networks.octo import TextConfig


class TextEncoder:
    def __init__(self, tokenizer: Tokenizer, config: TextConfig) -> None:
        self.tokenizer, self.config = tokenizer, config

    def encode(self, instruction: str) -> tuple[Tensor, Tensor]:
        """ids (1, L) and, per position, whether it is text and not padding (1, L). Raises InstructionTooLong."""
        special, length = self.config.encoder, self.config.tokens
        ids: list[int] = self.tokenizer.encode(instruction).ids
        if ids[-1:] != [special.end_id]:
            ids = [*ids, special.end_id]
        if len(ids) > length:
            raise InstructionTooLong(f"the instruction has {len(ids)} tokens with its end; the model takes {length}")
        padded = torch.full((1, length), special.pad_id)
        padded[0, : len(ids)] = torch.tensor(ids)
        return padded, (torch.arange(length) < len(ids))[None]
