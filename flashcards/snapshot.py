"""Reading one state of the data, however many queries it takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction


@contextmanager
def snapshot() -> Iterator[None]:
    """A read-only transaction that sees one state of the data; a savepoint inside an open transaction.

    On SQLite it takes no write lock, so that others write on meanwhile.
    """
    if connection.in_atomic_block:
        with transaction.atomic():
            yield
        return
    connection.ensure_connection()
    with _SNAPSHOTS[connection.vendor](), transaction.atomic():
        yield


@contextmanager
def _postgresql_snapshot() -> Iterator[None]:
    from psycopg import IsolationLevel  # noqa: PLC0415  SQLite does not need it

    session = connection.connection
    session.isolation_level, session.read_only = IsolationLevel.REPEATABLE_READ, True
    try:
        yield
    finally:
        if not session.closed:
            session.isolation_level, session.read_only = None, None


@contextmanager
def _sqlite_snapshot() -> Iterator[None]:
    # Django begins SQLite transactions as its `transaction_mode` says, here IMMEDIATE: that is the write lock.
    session, settings = connection.connection, vars(connections[DEFAULT_DB_ALIAS])
    mode = settings["transaction_mode"]
    settings["transaction_mode"] = "DEFERRED"
    session.execute("PRAGMA query_only = ON")
    try:
        yield
    finally:
        session.execute("PRAGMA query_only = OFF")
        settings["transaction_mode"] = mode


_SNAPSHOTS = {"postgresql": _postgresql_snapshot, "sqlite": _sqlite_snapshot}
