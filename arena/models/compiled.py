"""Queries that calls ask again and again, compiled once in a process.

Django compiles a query anew whenever it is asked. For a row with its relations that takes several times as long as
the engine needs to answer, and it was a third of the processor time of a vote.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from types import SimpleNamespace
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import QuerySet
from django.db.transaction import TransactionManagementError

Answer = TypeVar("Answer")
SLOT = "text {number} of a compiled query"
"""Stands for a text while the query is compiled."""


class _Statement(NamedTuple):
    rows: QuerySet[Any, Any]
    compiler: Any
    sql: str
    params: tuple[Any, ...]


class Compiled(Generic[Answer]):
    """A query of rows, or of `values_list`, that depends on nothing but some texts.

    `rows` makes the query set for these texts, which have to reach the engine as they are: of a field that keeps text,
    compared as a whole. It must depend on nothing else that changes, such as the time. Relations come by
    `select_related`; nothing is prefetched.
    """

    def __init__(self, rows: Callable[..., QuerySet[Any, Answer]]) -> None:
        self._rows = rows
        self._statements: dict[str, _Statement] = {}  # by engine: a process may ask two

    def __call__(self, *texts: str) -> list[Answer]:
        """The answers, by one query. Raises TransactionManagementError where it locks rows outside a transaction."""
        said = {SLOT.format(number=number): text for number, text in enumerate(texts)}
        engine = connections[DEFAULT_DB_ALIAS].vendor
        statement = self._statements.get(engine)
        if statement is None:
            statement = self._statements[engine] = _compiled(self._rows(*said))
        connection = connections[statement.rows.db]
        if statement.rows.query.select_for_update and connection.get_autocommit():
            raise TransactionManagementError("expected a transaction around a query that locks rows")
        params = tuple(said.get(each, each) if isinstance(each, str) else each for each in statement.params)
        return _answers(statement, connection, params)

    def first(self, *texts: str) -> Answer | None:
        """The first answer, or None. Unlike that of a query set it does not sort."""
        return next(iter(self(*texts)), None)


def _compiled(rows: QuerySet[Any, Any]) -> _Statement:
    compiler = rows.query.get_compiler(using=rows.db)
    sql, params = compiler.as_sql()
    compiler.connection = None  # that of this thread
    return _Statement(rows, compiler, sql, tuple(params))


def _answers(statement: _Statement, connection: Any, params: tuple[Any, ...]) -> list[Any]:
    """Ask the engine, and let Django make rows of the answer, as it does for the query set itself.

    Its iterables take a compiler from the query, which compiles; this one has done so, for any connection.
    """
    compiler = copy(statement.compiler)
    compiler.connection = connection
    compiler.as_sql = lambda: (statement.sql, params)
    query = SimpleNamespace(get_compiler=lambda using: compiler)
    rows: Any = SimpleNamespace(query=query, db=connection.alias, _known_related_objects={})
    iterable: Any = statement.rows._iterable_class(rows)
    return list(iterable)
