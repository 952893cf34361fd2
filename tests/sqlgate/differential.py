"""Compares the answers of SQLite, of PostgreSQL and of the oracle to the same random statements over the same data.

    python -m tests.sqlgate.differential [--count 2000] [--seed 1] [--postgres URL]

Each database is a fresh one that is removed afterwards; PostgreSQL takes part when a URL is given, by the option or by
DIFFERENTIAL_POSTGRES_URL. Exit status 0 when all agree.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.sqlgate.generator import NOW, StatementMaker, make_archive

ROOT = Path(__file__).resolve().parent.parent.parent
DATABASE_NAME = "sqlgate_differential"
LENGTH = 600


def make_statements(archive: dict[str, Any], seed: int, count: int) -> list[tuple[str, str]]:
    """(side, text) pairs: five reads for each write."""
    maker = StatementMaker(archive, random.Random(seed))
    return [("write", maker.write()) if index % 6 == 5 else ("read", maker.read()) for index in range(count)]


# In a process of its own: one database


def serve(archive_file: str, statements_file: str) -> None:
    """Load the archive into the configured database and print the answer to each statement, one a line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "flashcards.settings")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("import_workspace", archive_file, email="a@example.com", stdout=sys.stderr, stderr=sys.stderr)
    workspace_id = json.loads(Path(archive_file).read_text())["workspace"]["workspace_id"]
    for side, text in json.loads(Path(statements_file).read_text()):
        sys.stdout.write(json.dumps(answer(side, text, workspace_id)) + "\n")


def answer(side: str, text: str, workspace_id: str) -> Any:
    """What the dialect answers; a write is undone."""
    from uuid import UUID

    from django.db import transaction

    from flashcards.errors import AppError
    from sqlgate import gateway

    run = gateway.query if side == "read" else gateway.execute
    with transaction.atomic():
        try:
            found = run(text, workspace_id=UUID(workspace_id), now=NOW)
        except AppError as error:
            return {"error": error.message}
        finally:
            transaction.set_rollback(side == "write")
    return {key: found.get(key) for key in ("rows", "hasMore", "totalRowCount", "affectedCount", "rowsTruncated")}


# The comparison


def answers_of(url: str, archive_file: Path, statements_file: Path) -> list[Any]:
    """The answers of a database."""
    command = [sys.executable, "-m", "tests.sqlgate.differential", "--serve", str(archive_file), str(statements_file)]
    environment = os.environ | {"DATABASE_URL": url, "DATA_DIR": str(archive_file.parent), "DEBUG": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-3000:])
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def oracle_answers(archive: dict[str, Any], statements: list[tuple[str, str]]) -> list[Any]:
    """The answers of the oracle; None for writes."""
    from sqlgate.parser import parse_reads
    from tests.sqlgate.oracle import Oracle

    oracle: Any = Oracle(live_tables(archive), NOW)
    return [oracle.answer(parse_reads(text)[0]) if side == "read" else None for side, text in statements]


def live_tables(archive: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The rows that the dialect shows, with times as times and what an archive leaves out filled in."""
    cards = {
        "card_id": "", "front_text": "", "back_text": "", "card_type": "basic", "metadata": {}, "tags": [],
        "due_at": None, "created_at": None, "reps": 0, "lapses": 0, "updated_at": None, "deleted_at": None,
        "fsrs_card_state": "new", "fsrs_step_index": None, "fsrs_stability": None, "fsrs_difficulty": None,
        "fsrs_last_reviewed_at": None, "fsrs_scheduled_days": None, "suspended": False,
    }  # fmt: skip
    decks = {"deck_id": "", "name": "", "tags": [], "created_at": None, "updated_at": None, "deleted_at": None}
    workspace = {
        "workspace_id": "", "name": "", "created_at": None, "algorithm": "fsrs-6", "desired_retention": 0.9,
        "learning_steps_minutes": [1, 10], "relearning_steps_minutes": [10], "maximum_interval_days": 36500,
        "enable_fuzz": True,
    }  # fmt: skip
    return {
        "cards": [timed(cards | card) for card in archive["cards"] if not card["deleted_at"]],
        "decks": [timed(decks | deck) for deck in archive["decks"] if not deck["deleted_at"]],
        "review_events": [timed(event) for event in archive["review_events"]],
        "workspace": [timed(workspace | archive["workspace"])],
    }


def timed(row: dict[str, Any]) -> dict[str, Any]:
    from tests.sqlgate.oracle import TIMES

    return {name: datetime.fromisoformat(value) if name in TIMES and value else value for name, value in row.items()}


def same(left: Any, right: Any) -> bool:
    """Equality up to the last digits of a float."""
    if isinstance(left, float) or isinstance(right, float):
        both = isinstance(left, int | float) and isinstance(right, int | float)
        return both and math.isclose(left, right, rel_tol=1e-9)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return left == right


def agree(found: Any, wanted: Any) -> bool:
    """Whether an answer is the one that the oracle gives; metadata, which it does not know, is left out."""
    if wanted is None:
        return True
    if "error" in found:
        return False
    rows = [{key: value for key, value in row.items() if key != "metadata"} for row in found["rows"]]
    wanted_rows = [{key: value for key, value in row.items() if key != "metadata"} for row in wanted["rows"]]
    if found["rowsTruncated"]:
        return bool(rows) and found["hasMore"] and same(rows, wanted_rows[: len(rows)])
    return same(rows, wanted_rows) and all(found[key] == wanted[key] for key in ("hasMore", "totalRowCount"))


def postgres_database(url: str) -> str:
    """The URL of a fresh database on the server of `url`."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {DATABASE_NAME}")
        connection.execute(f"CREATE DATABASE {DATABASE_NAME}")
    return urlsplit(url)._replace(path=f"/{DATABASE_NAME}").geturl()


def drop_postgres_database(url: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {DATABASE_NAME}")


def compare(*, seed: int, count: int, postgres_url: str | None) -> list[str]:
    """Descriptions of the statements on which the answers differ."""
    archive = make_archive(seed)
    statements = make_statements(archive, seed, count)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archive_file, statements_file = folder / "archive.json", folder / "statements.json"
        archive_file.write_text(json.dumps(archive))
        statements_file.write_text(json.dumps(statements))
        by_engine = {"SQLite": answers_of(f"sqlite:///{folder / 'a.sqlite3'}", archive_file, statements_file)}
        if postgres_url:
            url = postgres_database(postgres_url)
            try:
                by_engine["PostgreSQL"] = answers_of(url, archive_file, statements_file)
            finally:
                drop_postgres_database(postgres_url)
    return differences(statements, by_engine, oracle_answers(archive, statements))


def differences(statements: list[tuple[str, str]], by_engine: dict[str, list[Any]], wanted: list[Any]) -> list[str]:
    """One text for each statement that is not answered alike."""
    found = []
    for index, (_, text) in enumerate(statements):
        answers = {engine: answers[index] for engine, answers in by_engine.items()}
        first = next(iter(answers.values()))
        if all(same(first, other) for other in answers.values()) and agree(first, wanted[index]):
            continue
        shown = {**answers, "oracle": wanted[index]}
        found.append("\n".join([text, *(f"  {name}: {json.dumps(value)[:LENGTH]}" for name, value in shown.items())]))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--serve", nargs=2, metavar=("ARCHIVE", "STATEMENTS"))
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--postgres", default=os.environ.get("DIFFERENTIAL_POSTGRES_URL"))
    options = parser.parse_args()
    if options.serve:
        serve(*options.serve)
        return 0
    found = compare(seed=options.seed, count=options.count, postgres_url=options.postgres)
    engines = "SQLite, PostgreSQL and the oracle" if options.postgres else "SQLite and the oracle"
    sys.stdout.write(
        "\n".join([*found, f"{options.count} statements, {len(found)} answered differently by {engines}\n"])
    )
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
