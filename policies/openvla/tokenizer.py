"""This project's tokenizer for OpenVLA: byte-level BPE of 512 ids, of which instructions never use the last 256.

OpenVLA's actions take the last ids of the vocabulary, the rarest of Llama's. Here the order is special tokens, then the
bytes and merges of the training texts, and from id 256 on what they never need: all other bytes, so that any text can
be read, and reserved names up to 512.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

VOCABULARY = 512
ACTION_IDS = 256
SPECIALS = ("<pad>", "<s>", "<unk>")
PAD_ID, BOS_ID = 0, 1


def train_tokenizer(texts: Iterable[str], prompt: str) -> Tokenizer:
    """Merges end at words, but each fixed part of the prompt becomes one token. `prompt` contains {instruction}."""
    fixed = [part for part in prompt.split("{instruction}") if part]
    merges, used = _merges([prompt.format(instruction=text) for text in texts], fixed)
    merges = merges[: VOCABULARY - ACTION_IDS - len(SPECIALS) - len(used)]  # UTF-8 has 243 bytes: there is room
    first = [*SPECIALS, *used, *("".join(pair) for pair in merges)]
    first += [f"<spare-{number}>" for number in range(VOCABULARY - ACTION_IDS - len(first))]
    rest = [byte for byte in sorted(pre_tokenizers.ByteLevel.alphabet()) if byte not in used]
    names = first + rest + [f"<action-{number}>" for number in range(VOCABULARY - len(first) - len(rest))]
    vocabulary = {name: number for number, name in enumerate(names)}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = _pre_tokenizer(fixed)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _pre_tokenizer(fixed: Sequence[str]) -> Any:
    """Splits fixed parts, words with the blank before them, and single other characters; then bytes."""
    pattern = "|".join([*(_escape(part) for part in fixed), r" ?[A-Za-z]+", r" ?[0-9]+", r"\s+|."])
    split = pre_tokenizers.Split(Regex(pattern), behavior="isolated")
    return pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def _escape(text: str) -> str:
    """Every character by its number, for the tokenizer library's regular expressions."""
    return "".join(f"\\x{{{ord(sign):x}}}" for sign in text)


def _merges(texts: Sequence[str], fixed: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """All merges, the most frequent pair first (ties by name), until every piece is one token; and the bytes in use."""
    split = _pre_tokenizer(fixed)
    counts: Counter[str] = Counter(piece for text in texts for piece, _ in split.pre_tokenize_str(text))
    pieces = [(list(piece), count) for piece, count in sorted(counts.items())]
    used = sorted({sign for piece, _ in pieces for sign in piece})
    merges: list[tuple[str, str]] = []
    while pairs := _pairs(pieces):
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        for piece, _ in pieces:
            _merge(piece, best)
    return merges, used


def _pairs(pieces: Sequence[tuple[list[str], int]]) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for piece, count in pieces:
        for pair in pairwise(piece):
            found[pair] += count
    return found


def _merge(piece: list[str], pair: tuple[str, str]) -> None:
    """Join every occurrence in place, from the left."""
    at = 0
    while at < len(piece) - 1:
        if (piece[at], piece[at + 1]) == pair:
            piece[at : at + 2] = ["".join(pair)]
        at += 1
