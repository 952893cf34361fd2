"""A command whose database is no help says so in a line; a traceback is for who asks for one."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from flashcards.management.commands.demo import free_port
from tests.server import fresh_database, manage

pytestmark = pytest.mark.server

COMMANDS = [
    ("create_api_key", "--email", "ada@example.com", "--label", "laptop"),
    ("export_workspace", "--email", "ada@example.com"),
    ("prune",),
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_database_without_tables_is_said_to_be_so(tmp_path: Path, words: tuple[str, ...]):
    with fresh_database(tmp_path) as url:
        ended = manage(*words, environment={"DATA_DIR": str(tmp_path), "DATABASE_URL": url})
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.strip().splitlines() == [
        "The database is not migrated; `manage.py migrate` does it, and so does `manage.py serve`."
    ]


def test_a_database_that_does_not_answer_is_said_to_be_so(tmp_path: Path):
    url = f"postgres://nobody:secret@127.0.0.1:{free_port()}/nothing"
    ended = manage(*COMMANDS[0], environment={"DATA_DIR": str(tmp_path), "DATABASE_URL": url})
    assert ended.returncode == 1
    assert "The database does not answer" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "secret" not in ended.stderr


def test_a_database_that_others_hold_is_said_to_be_busy(tmp_path: Path, is_postgresql: bool):
    if is_postgresql:
        pytest.skip("on PostgreSQL no connection holds the whole database")
    with fresh_database(tmp_path) as url:
        environment = {"DATA_DIR": str(tmp_path), "DATABASE_URL": f"{url}?timeout=1"}
        assert manage("migrate", environment=environment).returncode == 0
        other = sqlite3.connect(urlsplit(url).path.removeprefix("/"), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        ended = manage(*COMMANDS[0], environment=environment)
        other.close()
    assert ended.returncode == 1
    assert ended.stderr.startswith("The database was busy or went away")


def test_who_asks_for_the_traceback_gets_it(tmp_path: Path):
    with fresh_database(tmp_path) as url:
        ended = manage("prune", "--traceback", environment={"DATA_DIR": str(tmp_path), "DATABASE_URL": url})
    assert ended.returncode == 1
    assert "Traceback" in ended.stderr
