"""What balancers and containers ask."""

from __future__ import annotations

import pytest
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from pytest_django import DjangoAssertNumQueries


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_is_answered_on_any_host(db: None, client: Client, path: str) -> None:
    answer = client.get(path, headers={"host": "10.1.2.3:8000"})
    assert answer.status_code == 200
    assert answer["Cache-Control"] == "no-store"
    assert answer["Content-Length"] == str(len(answer.content))
    assert answer["X-Request-Id"]


def test_alive_asks_no_database(client: Client) -> None:
    # Without the `db` fixture a query would fail the test.
    assert client.get("/healthz").json() == {"status": "alive"}


def test_ready_asks_the_database_once(
    db: None, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client.get("/readyz")
    # Finding the table of migrations, and reading it.
    with django_assert_max_num_queries(2):
        assert client.get("/readyz").json() == {"status": "ready"}


def test_a_missing_migration_is_not_ready(db: None, client: Client) -> None:
    newest = MigrationRecorder.Migration.objects.filter(app="flashcards").latest("id")
    newest.delete()
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {"status": "unavailable", "failing": "migrations"}
    assert answer["Retry-After"] == "5"


def test_the_health_checks_are_logged_under_their_route(
    db: None, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "flashcards.request")
    client.get("/healthz")
    assert vars(caplog.records[-1])["fields"]["route"] == "/healthz"
