"""The limit on the time that the database may work on one call."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import OperationalError, connection

from sqlgate.errors import QueryTimeLimitExceeded

QUERY_CANCELED = "57014"
STEPS_BETWEEN_LOOKS = 1_000


class _Clock:
    """Counts the time that the database works, and stops it when it is used up."""

    def __init__(self, limit_seconds: float) -> None:
        self.limit_seconds = limit_seconds
        self.spent_seconds = 0.0
        self.started: float | None = None

    def remaining_seconds(self) -> float:
        """What is left, the statement at work included."""
        running = 0.0 if self.started is None else time.monotonic() - self.started
        return self.limit_seconds - self.spent_seconds - running

    def is_over(self) -> bool:
        """Whether the time is used up; SQLite asks this while it works."""
        return self.remaining_seconds() <= 0

    def watch(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        """Django's hook around each statement."""
        if self.is_over():
            raise _exceeded(self.limit_seconds)
        if connection.vendor == "postgresql" and self.spent_seconds >= 1:
            self._tell_postgresql()
        self.started = time.monotonic()
        try:
            return execute(sql, params, many, context)
        except OperationalError as error:
            if self._stopped(error):
                raise _exceeded(self.limit_seconds) from None
            raise
        finally:
            self.spent_seconds += time.monotonic() - self.started
            self.started = None

    def _tell_postgresql(self) -> None:
        """Give the next statement what is left; the first has the connection's own limit."""
        milliseconds = max(1, int(self.remaining_seconds() * 1000))
        with connection.connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(milliseconds)])

    def _stopped(self, error: OperationalError) -> bool:
        if connection.vendor == "sqlite":
            return self.is_over() and "interrupted" in str(error)
        return getattr(error.__cause__, "sqlstate", None) == QUERY_CANCELED


def _exceeded(limit_seconds: float) -> QueryTimeLimitExceeded:
    message = f"The database worked on this for more than {limit_seconds:g} seconds and was stopped."
    return QueryTimeLimitExceeded(message)


@contextmanager
def database_time_limit() -> Iterator[None]:
    """Statements inside may work for STATEMENT_SECONDS_MAX together; QueryTimeLimitExceeded ends the one over it."""
    clock = _Clock(settings.STATEMENT_SECONDS_MAX)
    connection.ensure_connection()
    session = connection.connection
    if connection.vendor == "sqlite":
        session.set_progress_handler(clock.is_over, STEPS_BETWEEN_LOOKS)
    try:
        with connection.execute_wrapper(clock.watch):
            yield
    finally:
        if connection.vendor == "sqlite":
            session.set_progress_handler(None, 0)
