"""py3langid's model in 13 MB instead of 53: the same numbers, kept once."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cache

import numpy as np
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from simulation.trimming import trim

WIDTH = 16
"""Of a block. Of 8 or 32 numbers, the model's tables take 2 MB more."""


@cache
def identifier(languages: tuple[str, ...]) -> LanguageIdentifier:
    """It tells these languages apart, and knows no others any more."""
    found = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    found.set_languages(languages)
    found._full_model = found.nb_ptc, found.nb_pc, found.nb_classes  # it would keep 28 MB of all others
    found.tk_nextmove = Blocks(found.tk_nextmove)
    found._rowbase, found.tk_output = array("I", found._rowbase), array("i", found.tk_output)
    trim()
    return found


class Blocks:
    """A long table of numbers (below 2**32) of which most pieces are in it several times: each is kept once. Reads
    like the table."""

    def __init__(self, table: Sequence[int]) -> None:
        """`table`: a multiple of WIDTH long."""
        pieces = np.asarray(table, dtype=np.uint32).reshape(-1, WIDTH)
        as_one = pieces.view(np.dtype((np.void, pieces.itemsize * WIDTH))).ravel()
        kept, number = np.unique(as_one, return_inverse=True)
        self._kept = array("I", kept.tobytes())
        self._begins = array("I", (number * WIDTH).astype(np.uint32).tobytes())

    def __getitem__(self, place: int) -> int:
        return self._kept[self._begins[place // WIDTH] + place % WIDTH]
