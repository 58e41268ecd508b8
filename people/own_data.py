"""A visitor's own data: a copy of all of it, and its deletion.

Whatever keeps something of a visitor registers a `Part` when Django starts. `people.parts` has those of the core.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.utils import timezone

from arena.visitors.cookies import new_visitor

Row = dict[str, Any]


@dataclass(frozen=True)
class Owner:
    """`visitor`: the id of sessions and votes, "" if there are none. `user`: None without an account."""

    visitor: str = ""
    user: User | None = None


class Part(NamedTuple):
    """`export` yields what is kept of an owner, as JSON. Of a battle without a vote it must not tell who plays.

    `forget` deletes it, inside a transaction. What others need stays under the pseudonym, the same for all parts, which
    nothing connects with the owner.
    """

    name: str
    export: Callable[[Owner], Iterator[Row]]
    forget: Callable[[Owner, str], None]


_parts: dict[str, Part] = {}


def register(part: Part) -> None:
    if part.name in _parts:
        raise ValueError(f"own data have a part {part.name} already")
    _parts[part.name] = part


def export(owner: Owner) -> Iterator[str]:
    """A JSON document, row by row: an array per part."""
    yield f'{{"made_at": {_json(timezone.now())}'
    for part in _parts.values():
        yield f',\n"{part.name}": ['
        for number, row in enumerate(part.export(owner)):
            yield f"{',' if number else ''}\n  {_json(row)}"
        yield "]"
    yield "}\n"


@transaction.atomic
def forget(owner: Owner) -> None:
    """Delete all of it, or nothing if a part refuses. What was registered last goes first: others may refer to it."""
    pseudonym = new_visitor()
    for part in reversed(_parts.values()):
        part.forget(owner, pseudonym)


def _json(value: Any) -> str:
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False)
