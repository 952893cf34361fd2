"""What the database is asked by the requests of the benchmark, and how it finds the answer: `python -m bench.plans`.

Runs on the data that `make bench` left; what the writes change is rolled back. Prints Markdown: for each operation the
statements on cards that its request sends, from their FROM on, each with the database's plan.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import django
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from bench.dataset import Facts, write_archive
from bench.serving import EMAIL, Failed, Site
from bench.workload import WORK, Values, Work, values_of
from flashcards.configuration import ROOT

# Rows of other tables are a caller's key, workspace and selection, which cost the same for every request.
TABLE = "flashcards_card"
LINE_LENGTH_MAX = 160


def main() -> None:
    """Print the plans of every operation on the data of one size."""
    parser = argparse.ArgumentParser(prog="bench.plans", description=__doc__)
    parser.add_argument("size", type=int, nargs="?", default=100_000, help="default: %(default)s")
    parser.add_argument("--folder", type=Path, default=ROOT / "var" / "bench", help="as for `make bench`")
    parser.add_argument("--database", default="", metavar="URL", help="as for `make bench`")
    options = parser.parse_args()
    engine = options.database.split(":")[0] or "sqlite"
    site = Site(options.folder / f"{engine}-{options.size}", options.database)
    key = site.manage("create_api_key", "--email", EMAIL, "--label", "plans").strip()
    os.environ.update(site.environment, DJANGO_SETTINGS_MODULE="flashcards.settings")
    django.setup()

    facts = facts_of(options.size)
    print(f"## {connection.display_name}, {options.size:,} cards")
    for work in WORK:
        statements = statements_of(work, next(values_of(facts)), key)
        if statements:
            print(f"\n### {work.name}: {work.title}")
        for sql in statements:
            print(f"\n```\n{shortened(sql)}", *(f"    {line}" for line in plan_of(sql)), "```", sep="\n")


def facts_of(size: int) -> Facts:
    """What is known of the data; it is the same whenever it is invented."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        return write_archive(nowhere, size=size, now=datetime.now(UTC))


def statements_of(work: Work, values: Values, key: str) -> list[str]:
    """The statements on cards that one request sends, undone; raises Failed when it is refused."""
    client = Client(headers={"authorization": f"ApiKey {key}", "host": "localhost"})
    with transaction.atomic(), CaptureQueriesContext(connection) as captured:
        answer = client.post(work.path, work.body(values), content_type="application/json")
        transaction.set_rollback(True)
    if answer.status_code != 200:
        raise Failed(f"{work.name} was refused: {answer.status_code} {answer.content[:300].decode()}")
    sent = dict.fromkeys(query["sql"] for query in captured.captured_queries)
    return [sql for sql in sent if TABLE in sql and sql.startswith(("SELECT", "UPDATE", "DELETE", "WITH"))]


def shortened(sql: str) -> str:
    """The statement from its FROM or, if it changes rows, its table on."""
    return (sql.partition(" FROM ")[2] if sql.startswith("SELECT") else sql)[:LINE_LENGTH_MAX]


def plan_of(sql: str) -> Iterator[str]:
    """The lines of the database's plan."""
    explain = "EXPLAIN (COSTS OFF)" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    with connection.cursor() as cursor:
        cursor.execute(f"{explain} {sql}")
        for row in cursor.fetchall():
            yield str(row[-1])[:LINE_LENGTH_MAX]


if __name__ == "__main__":
    main()
