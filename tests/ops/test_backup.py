"""Backups that are taken and put back under a running server."""

from __future__ import annotations

import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server import LiveServer, running_server

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with running_server(tmp_path_factory.mktemp("backup")) as running:
        yield running


def add_card(server: LiveServer, key: str, front: str) -> None:
    sql = f"INSERT INTO cards (front_text, back_text) VALUES ('{front}', 'A')"
    assert server.request("POST", "/v1/agent/sql/execute", {"sql": sql}, key=key).status == 200


def fronts(server: LiveServer, key: str) -> list[str]:
    sql = "SELECT front_text FROM cards ORDER BY created_at"
    rows = server.request("POST", "/v1/agent/sql/query", {"sql": sql}, key=key).data["rows"]
    return [row["front_text"] for row in rows]


def test_a_backup_brings_back_what_was_stored_and_removes_what_came_later(own_server: LiveServer) -> None:
    key = own_server.create_api_key("restored@example.com")
    add_card(own_server, key, "before")
    taken = own_server.manage("backup")
    assert taken.returncode == 0, taken.stderr
    file = Path(taken.stdout.strip())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    add_card(own_server, key, "after")
    late = own_server.create_api_key("late@example.com")
    put_back = own_server.manage("restore", str(file))
    assert put_back.returncode == 0, put_back.stderr
    assert put_back.stderr.strip() == f"Restored {file}."
    assert fronts(own_server, key) == ["before"]
    assert own_server.request("GET", "/v1/agent/me", key=late).status == 401
    add_card(own_server, key, "and on")
    assert own_server.request("GET", "/readyz").status == 200


def test_a_backup_under_writers_is_consistent(own_server: LiveServer, tmp_path: Path) -> None:
    key = own_server.create_api_key("writer@example.com")
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            add_card(own_server, key, f"card {number}")
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        taken = own_server.manage("backup", str(tmp_path / "copy"))
    finally:
        stop.set()
        writer.join()
    assert taken.returncode == 0, taken.stderr
    stored = len(fronts(own_server, key))
    assert own_server.manage("restore", str(tmp_path / "copy")).returncode == 0
    kept = fronts(own_server, key)
    assert kept == [f"card {number}" for number in range(len(kept))]
    assert len(kept) <= stored


def test_a_backup_overwrites_nothing(own_server: LiveServer, tmp_path: Path) -> None:
    (tmp_path / "copy").write_text("mine")
    ended = own_server.manage("backup", str(tmp_path / "copy"))
    assert (ended.returncode, ended.stderr.strip()) == (1, f"CommandError: {tmp_path / 'copy'} exists already.")
    assert (tmp_path / "copy").read_text() == "mine"


@pytest.mark.parametrize("content", [None, b"", b"no database at all", b"SQLite format 3\x00 and then nothing"])
def test_what_is_no_backup_changes_nothing(own_server: LiveServer, tmp_path: Path, content: bytes | None) -> None:
    key = own_server.create_api_key("untouched@example.com")
    add_card(own_server, key, "still here")
    if content is not None:
        (tmp_path / "copy").write_bytes(content)
    ended = own_server.manage("restore", str(tmp_path / "copy"))
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    assert fronts(own_server, key)[-1] == "still here"


def test_a_folder_that_cannot_be_written_is_named(own_server: LiveServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = own_server.manage("backup", str(tmp_path / "file" / "copy"))
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"CommandError: {tmp_path / 'file' / 'copy'}: cannot be written")
