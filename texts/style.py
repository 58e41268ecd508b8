"""How an answer looks: its length and its layout, measured alike for every model."""

from __future__ import annotations

import re
from typing import NamedTuple

TOKEN = re.compile(
    r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|\d+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\w\s]|_"
)
"""Words, numbers, signs, and single characters where words have no blanks between them."""
CODE = re.compile(r"^(?:```|~~~).*?(?:^(?:```|~~~)|\Z)", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+\S", re.MULTILINE)
LIST_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S", re.MULTILINE)
BOLD = re.compile(r"\*\*(?=\S)(?:(?!\*\*).)+?(?<=\S)\*\*|(?<!\w)__(?=\S)(?:(?!__).)+?(?<=\S)__(?!\w)")


class Style(NamedTuple):
    """`tokens`: words, numbers and signs. Servers count tokens each in its own way: that would compare vocabularies."""

    tokens: int
    headings: int
    list_items: int
    bold: int


def style_of(answer: str) -> Style:
    """Of a Markdown text. Code has tokens, and no layout."""
    prose = CODE.sub("\n", answer)
    return Style(
        *(
            len(found.findall(text))
            for found, text in ((TOKEN, answer), (HEADING, prose), (LIST_ITEM, prose), (BOLD, prose))
        )
    )
