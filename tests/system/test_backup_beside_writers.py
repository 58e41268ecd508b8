"""A backup of a running arena sees one moment, and nobody who writes has to wait for it."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from arena.consistent_read import consistent_read
from arena.models import Session

pytestmark = pytest.mark.django_db(transaction=True)


def open_session() -> None:
    Session.objects.create(kind="robots", setting="widowx", scene="table")
    connection.close()


def test_visitors_write_while_a_backup_reads_and_it_does_not_see_what_they_wrote() -> None:
    with consistent_read():
        assert Session.objects.count() == 0
        visitor = threading.Thread(target=open_session)
        visitor.start()
        visitor.join(10)
        assert not visitor.is_alive(), "the visitor waits for the backup"
        assert Session.objects.count() == 0
    assert Session.objects.count() == 1


def test_afterwards_transactions_begin_as_they_always_do() -> None:
    before = getattr(connection, "transaction_mode", None)
    with consistent_read():
        pass
    assert getattr(connection, "transaction_mode", None) == before
