"""Opening a checkpoint's tokenizer.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tokenizers import Encoding, Tokenizer

from arena.words import words
from policies.base import BadCard, MissingFile
from policies.folder import refuse_pointer


def read_tokenizer(path: Path, vocabulary: int) -> Tokenizer:
    """A tokenizer whose ids fit the vocabulary, without padding or truncation of its own. Raises PolicyError."""
    if not path.is_file():
        raise MissingFile(f"{path.parent}: {path.name} is missing")
    refuse_pointer(path)
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # noqa: BLE001  # the library raises bare Exception
        raise BadCard(f"{path}: not a tokenizer: {error}") from None
    if (highest := max(tokenizer.get_vocab().values(), default=0)) >= vocabulary:
        raise BadCard(f"{path}: the wrong tokenizer: ids up to {highest}; the network's vocabulary has {vocabulary}")
    tokenizer.encode_special_tokens = True  # a sentence that says "</s>" means these letters, not the end
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def check_token(path: Path, tokenizer: Tokenizer, number: int, known: Sequence[str], model: str) -> None:
    """Raise BadCard unless the id stands for one of the known texts, as in the tokenizer of the model."""
    if (found := tokenizer.id_to_token(number)) not in known:
        wanted = " or ".join(map(repr, known))
        raise BadCard(f"{path}: the wrong tokenizer: id {number} is {found!r}, expected {wanted}, as in {model}'s")


class Token(NamedTuple):
    """`last`: the last character that it stands for, -1 for a token that the tokenizer added."""

    id: int
    last: int


def tokens_of(encoding: Encoding) -> list[Token]:
    return [
        Token(number, end - 1 if end > start else -1)
        for number, (start, end) in zip(encoding.ids, encoding.offsets, strict=True)
    ]


def shorten(tokens: Sequence[Token], text: str, room: int) -> list[Token]:
    """At most `room` tokens of `text`, in order.

    Where not all fit, the first token of each word is kept, then the second ones, and so on; what is no word comes
    last.
    So long words lose their ends before the sentence loses a word.
    """
    if len(tokens) <= room:
        return list(tokens)
    word_at = {place: number for number, span in enumerate(words(text)) for place in range(*span)}
    seen: Counter[int] = Counter()
    order: list[tuple[bool, int, int]] = []
    for place, token in enumerate(tokens):
        word = word_at.get(token.last)
        order.append((word is None, 0 if word is None else seen[word], place))
        if word is not None:
            seen[word] += 1
    return [tokens[place] for place in sorted(place for _, _, place in sorted(order)[:room])]
