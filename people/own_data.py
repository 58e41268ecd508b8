"""A visitor's own data: a copy of all of it, and its deletion.

Whatever keeps something of a visitor registers its `Part`s when Django starts: by the name of the module that has them
as `PARTS`, since only whoever asks for data or their deletion needs what these import. `people.parts` has those of the
core.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
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


_modules: list[str] = []


def register(module: str) -> None:
    """`module` has its `PARTS`."""
    if module in _modules:
        raise ValueError(f"own data have the parts of {module} already")
    _modules.append(module)


def parts() -> list[Part]:
    """In the order in which they were registered. Raises ValueError where two have one name."""
    found = [part for module in _modules for part in import_module(module).PARTS]
    names = [part.name for part in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"own data have the parts {', '.join(sorted(twice))} twice")
    return found


def export(owner: Owner) -> Iterator[str]:
    """A JSON document, row by row: an array per part."""
    yield f'{{"made_at": {_json(timezone.now())}'
    for part in parts():
        yield f',\n"{part.name}": ['
        for number, row in enumerate(part.export(owner)):
            yield f"{',' if number else ''}\n  {_json(row)}"
        yield "]"
    yield "}\n"


@transaction.atomic
def forget(owner: Owner) -> None:
    """Delete all of it, or nothing if a part refuses. What was registered last goes first: others may refer to it."""
    pseudonym = new_visitor()
    for part in reversed(parts()):
        part.forget(owner, pseudonym)


def _json(value: Any) -> str:
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False)
