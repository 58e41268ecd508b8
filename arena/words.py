"""The words of a sentence, counted as people count them. `frontend/src/core/sentence.js` counts the same."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

JOINERS = "\u200c\u200d"  # inside words of some scripts
# Scripts written without blanks, of which a character counts as a word: kana, Chinese characters.
UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
# By the letters of `_sort`: "don't" is one word, "right-hand" two.
WORD = re.compile("u|w[wm]*(?:'[wm]{1,2}(?![wm]))?")


def words(text: str) -> list[tuple[int, int]]:
    """The first character of each word, and the one after its last."""
    return [found.span() for found in WORD.finditer("".join(map(_sort, text)))]


@lru_cache(4096)
def _sort(character: str) -> str:
    """u: a word of its own. w: letters and numbers. m: marks, which continue a word. A blank: what parts words."""
    if character in "'\u2019":
        return "'"
    if UNSPACED.match(character):
        return "u"
    if character in JOINERS:
        return "m"
    return {"L": "w", "N": "w", "M": "m"}.get(unicodedata.category(character)[0], " ")
