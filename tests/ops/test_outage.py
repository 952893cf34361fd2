"""A database that goes away or is locked: the documented 503, and recovery without help."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.agent import Answered
from tests.ops.database_proxy import DatabaseProxy, database_proxy
from tests.server import LiveServer, kill, migrated_database, start_server

pytestmark = pytest.mark.server


@dataclass
class Cuttable:
    """A server whose database can be cut off, and a key to it."""

    server: LiveServer
    proxy: DatabaseProxy
    key: str

    def read(self) -> Answered:
        """One read that needs the database."""
        return self.server.request("GET", "/v1/agent/me", key=self.key)


@pytest.fixture(params=["persistent", "pooled"])
def cuttable(request: pytest.FixtureRequest, tmp_path: Path, is_postgresql: bool) -> Iterator[Cuttable]:
    if not is_postgresql:
        pytest.skip("an SQLite file has no connection that could be cut")
    with migrated_database(tmp_path) as url:
        at = urlsplit(url)
        with database_proxy(at.hostname or "127.0.0.1", at.port or 5432) as proxy:
            login = at.netloc.rpartition("@")[0]
            through = at._replace(netloc=f"{login}@127.0.0.1:{proxy.port}").geturl()
            pool = str(request.param == "pooled")
            server = start_server(tmp_path, environment={"DATABASE_URL": through, "DATABASE_POOL": pool})
            try:
                yield Cuttable(server, proxy, server.create_api_key())
            finally:
                kill(server)


def assert_unavailable(answer: Answered) -> None:
    assert answer.status == 503
    assert answer.error["code"] == "SERVICE_UNAVAILABLE"
    assert answer.headers["Retry-After"].isdigit()
    assert "Nothing was stored" in answer.body["instructions"]
    text = str(answer.body)
    assert not any(inside in text for inside in ("psycopg", "sqlite", "OperationalError", "locked", "connection to"))


def test_a_database_that_goes_away_is_503_and_comes_back_unaided(cuttable: Cuttable) -> None:
    assert cuttable.read().status == 200
    for _ in range(2):
        cuttable.proxy.cut()
        for _ in range(3):
            assert_unavailable(cuttable.read())
        assert cuttable.server.request("GET", "/healthz").status == 200
        ready = cuttable.server.request("GET", "/readyz")
        assert (ready.status, ready.body["failing"]) == (503, "database")
        assert ready.headers["Retry-After"].isdigit()
        status, headers, _ = cuttable.server.raw_request("GET", "/admin/", headers={"Cookie": f"sessionid={'a' * 32}"})
        assert (status, headers["Retry-After"].isdigit()) == (503, True), "a page that looks for its session"
        cuttable.proxy.mend()
        assert cuttable.read().status == 200
        assert cuttable.server.request("GET", "/readyz").status == 200


def test_connections_that_broke_while_idle_are_not_noticed_by_anyone(cuttable: Cuttable) -> None:
    # Several threads, each with its own persistent connection.
    assert all(cuttable.read().status == 200 for _ in range(12))
    cuttable.proxy.cut()
    cuttable.proxy.mend()
    assert all(cuttable.read().status == 200 for _ in range(12))


@pytest.fixture
def locked_server(tmp_path: Path) -> Iterator[tuple[LiveServer, Path]]:
    file = tmp_path / "cards.sqlite3"
    server = start_server(tmp_path, environment={"DATABASE_URL": f"sqlite:///{file}?timeout=1"})
    try:
        yield server, file
    finally:
        kill(server)


def test_a_locked_sqlite_file_is_503_for_writers_while_readers_read(locked_server: tuple[LiveServer, Path]) -> None:
    server, file = locked_server
    key = server.create_api_key()
    insert = {"sql": "INSERT INTO cards (front_text, back_text) VALUES ('Q', 'A')"}
    assert server.request("GET", "/v1/agent/me", key=key).status == 200, "touches last_used_at"
    other = sqlite3.connect(file, isolation_level=None)
    try:
        other.execute("BEGIN EXCLUSIVE")
        assert_unavailable(server.request("POST", "/v1/agent/sql/execute", insert, key=key))
        count = server.request("POST", "/v1/agent/sql/query", {"sql": "SELECT COUNT(*) FROM cards"}, key=key)
        assert count.data["rows"] == [{"count": 0}]
        other.execute("ROLLBACK")
    finally:
        other.close()
    assert server.request("POST", "/v1/agent/sql/execute", insert, key=key).data["affectedCount"] == 1
