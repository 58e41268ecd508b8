"""What was said on a call, line by line, as visitors read it. A line is a chunk of the turn."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

MOST = 200
"""Lines of a call that are shown; the last one has what follows."""
SECONDS = 0.01
"""From one line to the next: the visitor has heard them all."""


def of_turns(turns: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The lines of a conversation (`Conversation.turns`): who said them, and the words, without any time."""
    said = [{"role": str(each["role"]), "text": str(each["text"])} for each in turns if each["text"]]
    if len(said) > MOST:
        said[MOST - 1 :] = [{**said[MOST - 1], "text": " ".join(each["text"] for each in said[MOST - 1 :])}]
    return said


def chunk(line: Mapping[str, str]) -> bytes:
    return json.dumps(line).encode()


def write(said: Sequence[Mapping[str, str]]) -> str:
    """The lines as the store keeps them: in `text`, whose words go with those of the visitor."""
    return json.dumps(list(said))


def read(text: str) -> list[dict[str, str]]:
    """The lines in the `text` of a document; none where the words were removed."""
    try:
        return list(json.loads(text))
    except ValueError:
        return []
