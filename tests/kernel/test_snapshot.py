"""A snapshot outside of any transaction, as requests take it."""

from __future__ import annotations

import threading

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from flashcards.models import Workspace
from flashcards.snapshot import snapshot

pytestmark = pytest.mark.django_db(transaction=True)


def in_another_thread(work) -> None:
    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def test_a_snapshot_does_not_see_what_others_write_meanwhile(is_postgresql):
    if not is_postgresql:
        pytest.skip("SQLite keeps the test database in memory, where readers and writers lock each other out")
    Workspace.objects.create(name="First")
    with snapshot():
        assert Workspace.objects.count() == 1
        in_another_thread(lambda: Workspace.objects.create(name="Second"))
        assert Workspace.objects.count() == 1
    assert Workspace.objects.count() == 2


def test_a_snapshot_refuses_to_write_and_the_connection_writes_again_afterwards():
    with pytest.raises(DatabaseError), snapshot():
        Workspace.objects.create(name="Never")
    Workspace.objects.create(name="Again")
    assert list(Workspace.objects.values_list("name", flat=True)) == ["Again"]


def test_a_snapshot_leaves_the_write_lock_to_others(is_postgresql):
    if is_postgresql:
        pytest.skip("PostgreSQL has no lock on all writing")
    with CaptureQueriesContext(connection) as queries:
        with snapshot():
            Workspace.objects.count()
        with transaction.atomic():
            Workspace.objects.count()
    assert [query["sql"] for query in queries if "BEGIN" in query["sql"]] == ["BEGIN DEFERRED", "BEGIN IMMEDIATE"]
