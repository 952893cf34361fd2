"""How much CPU the dialect itself takes for the reads of the benchmark: parsing, and everything but the database.

    python -m bench.dialect_cpu

Runs on an empty SQLite database of its own, so that the database has next to nothing to do; its time is taken off.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

import django
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from bench.dataset import Facts
from bench.workload import READS, values_of

TIMES = 400
WORKSPACE = "0b7c1f3e-5d2a-4c8b-9e6f-1a2b3c4d5e6f"


def milliseconds(action: Callable[[], object]) -> float:
    """CPU of one run, the median of many."""
    spent = []
    for _ in range(TIMES):
        start = time.process_time()
        action()
        spent.append((time.process_time() - start) * 1000)
    return statistics.median(spent)


def main() -> None:
    """Print parsing, and everything but the database, for each read."""
    os.environ |= {"DATABASE_URL": f"sqlite:///{tempfile.mkdtemp()}/cpu.sqlite3", "DEBUG": "1"}
    os.environ["DJANGO_SETTINGS_MODULE"] = "flashcards.settings"
    django.setup()
    call_command("migrate", verbosity=0)
    print(f"{'':40} parse  all but the database   (ms of CPU, median of {TIMES})")
    facts = Facts(100_000, WORKSPACE, point_ids=[WORKSPACE])
    for work in READS:
        sql = work.body(next(values_of(facts)))["sql"]
        parsing, everything = _cost(sql)
        print(f"{work.title:40} {parsing:5.2f}  {everything:5.2f}")


def _cost(sql: str) -> tuple[float, float]:
    from sqlgate.compiler import run_read  # noqa: PLC0415  there are no models before django.setup()
    from sqlgate.parser import parse_reads  # noqa: PLC0415  as above

    in_database = 0.0

    def watch(execute: Callable[..., object], *statement: Any) -> object:
        nonlocal in_database
        start = time.process_time()
        try:
            return execute(*statement)
        finally:
            in_database += time.process_time() - start

    def answer() -> object:
        (statement,) = parse_reads(sql)
        return run_read(statement, workspace_id=UUID(WORKSPACE), now=timezone.now())

    answer()
    in_database = 0.0
    with connection.execute_wrapper(watch):
        everything = milliseconds(answer)
    return milliseconds(lambda: parse_reads(sql)), everything - in_database / TIMES * 1000


if __name__ == "__main__":
    main()
