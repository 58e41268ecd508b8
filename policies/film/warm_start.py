"""Beginning a run with the weights of a policy folder: its words and its statistics go with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from policies import checkpoints
from policies.base import CheckpointError, PolicyCard
from policies.film.tokenizer import UNKNOWN, WordTokenizer, split
from policies.folder import STATISTICS, TOKENIZER, WEIGHTS, check_sums, read_card, read_json

FAMILY = "film"
ADDED = {"stages": "memory.", "move_bins": "moves."}
"""Sizes that a run may add to a folder that has none of them, and how the names of their weights begin."""
WORDS = "text.embedding.weight"  # a row for each word
OPTIONS = {
    "channels": "--channels",
    "text_dim": "--text-dim",
    "hidden": "--hidden",
    "pictures": "--pictures",
    "stages": "--stages",
    "move_bins": "--move-bins",
}


@dataclass(frozen=True)
class WarmStart:
    """A folder to begin with, whose files agree with their hashes."""

    folder: Path
    card: PolicyCard
    tokenizer: WordTokenizer
    statistics: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path) -> WarmStart:
        """Raises PolicyError for a folder that is damaged, or of another family."""
        card = read_card(folder)
        if card.spec.family != FAMILY:
            raise CheckpointError(f"{folder}: expected a policy of the family {FAMILY}, got {card.spec.family}")
        check_sums(folder, required=(WEIGHTS, STATISTICS, TOKENIZER))
        tokenizer = WordTokenizer.from_json(read_json(folder, TOKENIZER))
        return cls(folder, card, tokenizer, read_json(folder, STATISTICS))

    @property
    def origin(self) -> str:
        return f"{self.card.spec.id}, revision {self.card.revision}"

    @property
    def history(self) -> list[dict[str, Any]]:
        """Of its training and of what that began with, the first one first."""
        past = dict(self.card.training)
        here = {"policy": self.card.spec.id, "revision": self.card.revision}
        return [*past.get("before", []), here | {key: past[key] for key in ("samples", "seconds") if key in past}]

    def words_for(self, texts: Mapping[int, str], language: bool) -> WordTokenizer:
        """The folder's words, and behind them those of the demonstrations that it does not know. Raises CheckpointError
        for a folder that reads where nothing is to be read, or the other way round.
        """
        if language != bool(self.tokenizer.words):
            raise CheckpointError(f"{self.folder}: " + ("reads no words; pass --mute" if language else "reads words"))
        said = {word for text in texts.values() for word in split(text)} if language else set()
        return WordTokenizer([*self.tokenizer.words, *sorted(said - {*self.tokenizer.words})])

    def load_into(self, network: nn.Module, sizes: Mapping[str, Any]) -> None:
        """Fill the network. What the folder does not have keeps its initial weights, and a word that it does not know
        begins as the unknown one.

        Raises CheckpointError naming each size that differs, and BadTensors for weights that do not fit the card.
        """
        self._check_sizes(sizes)
        own = network.state_dict()
        added = {name: value for name, value in own.items() if name.startswith(self._added)}
        stored = checkpoints.read_safetensors_header(self.folder / WEIGHTS)
        shapes = {name: tuple(value.shape) for name, value in own.items() if name not in added}
        checkpoints.compare_shapes({**shapes, WORDS: (self.tokenizer.size, *shapes[WORDS][1:])}, stored)
        filled = {name: checkpoints.read(name, tensor) for name, tensor in stored.items()}
        unknown = filled[WORDS][UNKNOWN].expand(len(own[WORDS]) - self.tokenizer.size, -1)
        network.load_state_dict({**added, **filled, WORDS: torch.cat([filled[WORDS], unknown])})

    @property
    def _added(self) -> tuple[str, ...]:
        """How the names of the weights begin that the folder does not have."""
        return tuple(prefix for size, prefix in ADDED.items() if not self.card.network.get(size, 0))

    def _check_sizes(self, sizes: Mapping[str, Any]) -> None:
        known = self.card.network
        theirs = {"pictures": 1, **dict.fromkeys(ADDED, 0), **known, "dilations": tuple(known["dilations"])}
        free = {"vocabulary", *(size for size in ADDED if not theirs[size])}
        wrong = [name for name, size in sizes.items() if name not in free and theirs.get(name) != size]
        if wrong:
            told = "; ".join(f"{name} {theirs.get(name)}, not {sizes[name]}" for name in wrong)
            ways = " ".join(f"{OPTIONS[name]} {theirs[name]}" for name in wrong if name in OPTIONS)
            raise CheckpointError(f"{self.folder}: has {told}" + (f"; train with {ways}" if ways else ""))
