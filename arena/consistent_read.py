"""Reading many tables consistently while others write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def consistent_read() -> Iterator[None]:
    """A transaction that reads all tables as of one moment, without blocking writers.

    It takes no lock, so it works on a replica, too. Inside another transaction it is a part of that one.
    """
    if connection.in_atomic_block:
        with transaction.atomic():
            yield
        return
    connection.ensure_connection()  # sets the usual mode
    usual = getattr(connection, "transaction_mode", None)
    if connection.vendor == "sqlite":
        # The default mode would begin with the lock for writing.
        connection.transaction_mode = None  # type: ignore[attr-defined] # SQLite's alone
    try:
        with transaction.atomic():
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:
                    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    finally:
        if connection.vendor == "sqlite":
            connection.transaction_mode = usual  # type: ignore[attr-defined]
