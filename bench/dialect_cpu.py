"""How much CPU the dialect itself takes for the reads of the benchmark: parsing, and everything but the database.

    python bench/dialect_cpu.py

Runs on an empty SQLite database of its own, so that the database has next to nothing to do; its time is taken off.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ["DATABASE_URL"] = f"sqlite:///{tempfile.mkdtemp()}/cpu.sqlite3"
os.environ.setdefault("DEBUG", "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "flashcards.settings")

import django

django.setup()

from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from plans import READS

from sqlgate.compiler import run_read
from sqlgate.parser import parse_reads

VALUES = {
    "point_id": "0b7c1f3e-5d2a-4c8b-9e6f-1a2b3c4d5e6f", "tag_a": "tag-017", "tag_b": "tag-042", "word": "lantern",
    "rare_word": "zyxqvat", "phrase": "quorum kestrel", "offset": 90000,
}  # fmt: skip
TIMES = 400


def milliseconds(action) -> float:
    spent = []
    for _ in range(TIMES):
        start = time.process_time()
        action()
        spent.append((time.process_time() - start) * 1000)
    return statistics.median(spent)


def main() -> None:
    call_command("migrate", verbosity=0)
    workspace_id, in_database = uuid4(), [0.0]

    def watch(execute, sql, params, many, context):
        start = time.process_time()
        try:
            return execute(sql, params, many, context)
        finally:
            in_database[0] += time.process_time() - start

    print(f"{'':34} parse  all but the database   (ms of CPU, median of {TIMES})")
    for title, text in READS.items():
        sql = text.format(**VALUES)

        def answer(sql=sql):
            (statement,) = parse_reads(sql)
            return run_read(statement, workspace_id=workspace_id, now=timezone.now())

        answer()
        in_database[0] = 0.0
        with connection.execute_wrapper(watch):
            everything = milliseconds(answer)
        parsing = milliseconds(lambda sql=sql: parse_reads(sql))
        print(f"{title:34} {parsing:5.2f}  {everything - in_database[0] / TIMES * 1000:5.2f}")


if __name__ == "__main__":
    main()
