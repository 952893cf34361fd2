"""What has expired goes by itself, once an hour, whatever the number of processes."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db import OperationalError, connections
from django.utils import timezone

from flashcards.management import upkeep
from flashcards.models import Upkeep
from tests.server import running_server

NOW = timezone.now()


@pytest.fixture
def kept_open(monkeypatch):
    """The test's own connection, which the thread's clearing up would close."""
    monkeypatch.setattr(connections, "close_all", lambda: None)


def expired_session(key: str = "s") -> Session:
    return Session.objects.create(session_key=key, session_data="", expire_date=NOW - timedelta(seconds=1))


@pytest.mark.django_db
def test_pruning_is_done_once_an_hour(kept_open):
    expired_session()
    assert upkeep.prune_if_due(now=NOW)
    assert not Session.objects.exists()
    expired_session()
    assert not upkeep.prune_if_due(now=NOW + timedelta(minutes=59))
    assert Session.objects.exists()
    assert upkeep.prune_if_due(now=NOW + timedelta(hours=1))
    assert not Session.objects.exists()


@pytest.mark.django_db
def test_a_failure_is_logged_and_the_next_hour_tries_again(kept_open, monkeypatch, caplog):
    def away(*, now):
        raise OperationalError("away")
        yield

    with monkeypatch.context() as broken:
        broken.setattr(upkeep, "prune_all", away)
        assert not upkeep.prune_if_due(now=NOW)
    assert "pruning failed" in caplog.text
    assert upkeep.prune_if_due(now=NOW + timedelta(hours=1))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("earlier", [None, timedelta(hours=2)])
def test_of_connections_that_look_at_once_one_prunes(earlier, is_postgresql):
    if not is_postgresql:
        pytest.skip("threads share one cache of the tests' SQLite database; the test of the running server has a file")
    if earlier:
        Upkeep.objects.create(task=upkeep.PRUNE, began_at=NOW - earlier)

    def look(_: int) -> bool:
        try:
            return upkeep._claim(upkeep.PRUNE, now=NOW)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as threads:
        assert sum(threads.map(look, range(6))) == 1


@pytest.mark.server
def test_a_running_server_prunes_by_itself(tmp_path):
    with running_server(tmp_path, WEB_CONCURRENCY="4", LOG_LEVEL="INFO") as server:
        deadline = time.monotonic() + 30
        while "pruned rows=" not in server.printed() and time.monotonic() < deadline:
            time.sleep(0.2)
        time.sleep(1)
        assert server.printed().count("pruned rows=") == 1
