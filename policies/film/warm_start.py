"""Beginning a run with the weights of a policy folder: its words and its statistics go with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from policies import checkpoints
from policies.base import CheckpointError, PolicyCard
from policies.film.tokenizer import WordTokenizer, split
from policies.folder import STATISTICS, TOKENIZER, WEIGHTS, check_sums, read_card, read_json

FAMILY = "film"
MEMORY = "memory."  # names of the weights that a network with a memory has in addition
OPTIONS = {"channels": "--channels", "text_dim": "--text-dim", "hidden": "--hidden", "pictures": "--pictures"}


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

    def check_words(self, texts: Mapping[int, str], language: bool) -> None:
        """Raise CheckpointError unless the folder knows every word of the demonstrations, or none if none is read."""
        said = {word for text in texts.values() for word in split(text)}
        if language != bool(self.tokenizer.words):
            raise CheckpointError(f"{self.folder}: " + ("reads no words; pass --mute" if language else "reads words"))
        if language and (strange := sorted(said - {*self.tokenizer.words})):
            raise CheckpointError(f"{self.folder}: does not know the words {', '.join(strange)} of the demonstrations")

    def load_into(self, network: nn.Module, sizes: Mapping[str, Any]) -> None:
        """Fill the network; a memory that the folder does not have keeps its initial weights.

        Raises CheckpointError naming each size that differs, and BadTensors for weights that do not fit the card.
        """
        self._check_sizes(sizes)
        stored = checkpoints.read_safetensors_header(self.folder / WEIGHTS)
        added = {} if self._has_memory else _named(network, MEMORY)
        filled = {name: checkpoints.read(name, tensor) for name, tensor in stored.items()}
        checkpoints.compare(
            network, {**stored, **{name: _place_of(value, self.folder) for name, value in added.items()}}
        )
        network.load_state_dict({**added, **filled})

    @property
    def _has_memory(self) -> bool:
        return bool(self.card.network.get("stages", 0))

    def _check_sizes(self, sizes: Mapping[str, Any]) -> None:
        theirs = {"pictures": 1, "stages": 0, **self.card.network, "dilations": tuple(self.card.network["dilations"])}
        free = set() if self._has_memory else {"stages"}
        wrong = [name for name, size in sizes.items() if name not in free and theirs.get(name) != size]
        if wrong:
            told = "; ".join(f"{name} {theirs.get(name)}, not {sizes[name]}" for name in wrong)
            ways = " ".join(f"{OPTIONS[name]} {theirs[name]}" for name in wrong if name in OPTIONS)
            raise CheckpointError(f"{self.folder}: has {told}" + (f"; train with {ways}" if ways else ""))


def _named(network: nn.Module, prefix: str) -> dict[str, Tensor]:
    return {name: value for name, value in network.state_dict().items() if name.startswith(prefix)}


def _place_of(value: Tensor, folder: Path) -> checkpoints.StoredTensor:
    return checkpoints.StoredTensor(folder / WEIGHTS, tuple(value.shape), value.dtype, ())
