"""How much CPU the dialect itself takes for the reads of the benchmark.

Three figures: parsing; parsing and compiling, until the first statement is handed to the database; and everything but
the database, the shaping of the answer included.

    python -m bench.dialect_cpu

Runs on an empty SQLite database of its own, so that the database has next to nothing to do; its time is taken off.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import UUID

import django
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from bench.dataset import Facts
from bench.workload import READS, values_of

TIMES = 400
WARM_UP_RUNS = 20
WORKSPACE = "0b7c1f3e-5d2a-4c8b-9e6f-1a2b3c4d5e6f"


def main() -> None:
    """Print the figures of each read."""
    os.environ["DATABASE_URL"] = f"sqlite:///{tempfile.mkdtemp()}/cpu.sqlite3"
    os.environ["DJANGO_SETTINGS_MODULE"] = "flashcards.settings"
    django.setup()
    call_command("migrate", verbosity=0)
    print(f"{'ms of CPU, medians of ' + str(TIMES):40} parse  compile  answer")
    facts = Facts(100_000, WORKSPACE, point_ids=[WORKSPACE])
    for work in READS:
        figures = _cost(work.body(next(values_of(facts)))["sql"])
        print(f"{work.title:40} {figures.parsed:5.2f}  {figures.compiled:7.2f}  {figures.answered:6.2f}")


class Figures(NamedTuple):
    """Milliseconds of CPU until the statement was parsed, compiled and answered."""

    parsed: float
    compiled: float
    answered: float


def _cost(sql: str) -> Figures:
    runs = [_run(sql) for _ in range(TIMES)]
    return Figures(*(statistics.median(figure) * 1000 for figure in zip(*runs[WARM_UP_RUNS:], strict=True)))


def _run(sql: str) -> Figures:
    from sqlgate.compiler import run_read  # noqa: PLC0415  there are no models before django.setup()
    from sqlgate.parser import parse_reads  # noqa: PLC0415  as above

    spans: list[tuple[float, float]] = []

    def watch(execute: Callable[..., object], *statement: Any) -> object:
        began = time.process_time()
        try:
            return execute(*statement)
        finally:
            spans.append((began, time.process_time()))

    with connection.execute_wrapper(watch):
        start = time.process_time()
        (statement,) = parse_reads(sql)
        parsed = time.process_time()
        run_read(statement, workspace_id=UUID(WORKSPACE), now=timezone.now())
        end = time.process_time()
    compiled = spans[0][0] if spans else end
    in_database = sum(after - before for before, after in spans)
    return Figures(parsed - start, compiled - start, end - start - in_database)


if __name__ == "__main__":
    main()
