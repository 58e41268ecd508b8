"""Words to ids. The vocabulary is that of the training texts; any other word becomes "unknown"."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from arena.words import words
from policies.base import BadCard

PAD, UNKNOWN = 0, 1
FIRST_WORD = 2
MAX_WORDS = 32
CLOSE = 0.85  # least similarity at which an unknown word is read as a known one ("cubes", "cilinder")
KIND = "words"


def split(text: str) -> list[str]:
    """Lower-case words without punctuation, in order, at most MAX_WORDS."""
    said = text.casefold()
    return [said[first:end] for first, end in words(said)][:MAX_WORDS]


class WordTokenizer:
    """`words` in a fixed order; none for a policy that never reads, for which every text is the same single token."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(words)
        self.ids = {word: FIRST_WORD + index for index, word in enumerate(self.words)}
        self._id = cache(self._find)

    @classmethod
    def from_texts(cls, texts: Iterable[str]) -> WordTokenizer:
        return cls(sorted({word for text in texts for word in split(text)}))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WordTokenizer:
        words = data.get("words")
        if data.get("kind") != KIND or not isinstance(words, list) or not all(isinstance(w, str) for w in words):
            raise BadCard(f'tokenizer.json: expected {{"kind": "{KIND}", "words": [...]}}')
        return cls(words)

    def to_json(self) -> dict[str, Any]:
        return {"kind": KIND, "words": list(self.words)}

    @property
    def size(self) -> int:
        return FIRST_WORD + len(self.words)

    def encode(self, text: str) -> list[int]:
        """At least one id; an empty text, and any text for a policy without words, is [UNKNOWN]."""
        if not self.words:
            return [UNKNOWN]
        return [self._id(word) for word in split(text)] or [UNKNOWN]

    def _find(self, word: str) -> int:
        if word in self.ids:
            return self.ids[word]
        near = difflib.get_close_matches(word, self.words, n=1, cutoff=CLOSE)
        return self.ids[near[0]] if near else UNKNOWN
