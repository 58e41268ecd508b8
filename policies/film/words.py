"""Augmentation of texts for wordings outside the training: hide words that no goal depends on, insert unknown ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policies.film.tokenizer import MAX_WORDS, PAD, UNKNOWN

WILDCARD = -1


@dataclass(frozen=True)
class WordNoise:
    """Probabilities to `hide` a needless word behind "unknown", to `drop` it, to `insert` up to three unknown words."""

    hide: float = 0.15
    drop: float = 0.05
    insert: float = 0.2


def needless(tokens: Mapping[int, Sequence[int]], goals: Mapping[int, Hashable]) -> dict[int, NDArray[np.bool_]]:
    """Per text, which words can be hidden without another goal becoming possible, judged by all texts that are given.

    A word is needed when, with a wildcard in its place, the sentence also fits a text of another goal:
    "pick up the * cube" fits two cubes, "pick up the red *" just one thing.
    """
    meanings: dict[tuple[int, ...], set[Hashable]] = defaultdict(set)
    for text, ids in tokens.items():
        for key in _with_wildcards(ids):
            meanings[key].add(goals[text])
    return {
        text: np.array([len(meanings[key]) == 1 for key in _with_wildcards(ids)], bool) for text, ids in tokens.items()
    }


def _with_wildcards(ids: Sequence[int]) -> list[tuple[int, ...]]:
    return [(*ids[:i], WILDCARD, *ids[i + 1 :]) for i in range(len(ids))]


def disturb(ids: Sequence[int], free: NDArray[np.bool_], noise: WordNoise, random: np.random.Generator) -> list[int]:
    """One sentence with noise; never empty, at most MAX_WORDS."""
    chance = random.random(len(ids))
    kept = [
        UNKNOWN if can and roll < noise.hide else word
        for word, can, roll in zip(ids, free, chance, strict=True)
        if not (can and noise.hide <= roll < noise.hide + noise.drop)
    ]
    if random.random() < noise.insert:
        at = int(random.integers(len(kept) + 1))
        kept[at:at] = [UNKNOWN] * int(random.integers(1, 4))
    return (kept or [UNKNOWN])[:MAX_WORDS]


def pad(sentences: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """(B, longest), PAD at the end."""
    out = np.full((len(sentences), max(map(len, sentences))), PAD, np.int64)
    for row, ids in zip(out, sentences, strict=True):
        row[: len(ids)] = ids
    return out
