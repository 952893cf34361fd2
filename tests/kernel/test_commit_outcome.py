from __future__ import annotations

import pytest
from django.db import OperationalError, connection

from flashcards.errors import CommitOutcomeUnknown, ServiceUnavailable
from flashcards.outcome import as_app_error, committed
from tests.factories import make_user


class BrokenCommit:
    """A connection that dies while it commits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connection, "commit", self.commit)
        monkeypatch.setattr(connection, "is_usable", lambda: False)
        self.rollback = connection.rollback

    def commit(self) -> None:
        self.rollback()
        raise OperationalError("server closed the connection unexpectedly")


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_breaks_in_commit_leaves_the_outcome_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    BrokenCommit(monkeypatch)
    with pytest.raises(CommitOutcomeUnknown), committed():
        make_user()
    monkeypatch.undo()


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_breaks_before_commit_is_plain_unavailability() -> None:
    with pytest.raises(OperationalError) as raised, committed():
        raise OperationalError("server closed the connection unexpectedly")
    error = as_app_error(raised.value)
    assert isinstance(error, ServiceUnavailable)
    assert error.headers["Retry-After"]
    assert "server closed" not in error.message
