"""Opening a checkpoint's tokenizer.json."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer

from policies.base import BadCard, MissingFile


def read_tokenizer(path: Path, vocabulary: int) -> Tokenizer:
    """A tokenizer whose ids fit the vocabulary, without padding or truncation of its own. Raises PolicyError."""
    if not path.is_file():
        raise MissingFile(f"{path.parent}: {path.name} is missing")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # noqa: BLE001  # the library raises bare Exception
        raise BadCard(f"{path}: not a tokenizer: {error}") from None
    if (highest := max(tokenizer.get_vocab().values(), default=0)) >= vocabulary:
        raise BadCard(f"{path}: ids up to {highest}; the network's vocabulary has {vocabulary}")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
