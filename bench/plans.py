"""Show how the database answers the statements of the benchmark: every statement sent, its plan, the best time of 25.

    DATABASE_URL=… python bench/plans.py PARAMS.json WORKSPACE_ID

PARAMS.json gives the values to fill in (an id, two tags, words, a phrase, an offset). Run on a loaded and analysed
database; the writes are rolled back. Prints Markdown: docs/plans.md is this output for both databases.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "flashcards.settings")

import django

django.setup()

from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from flashcards.models import Workspace
from review.queue import next_card
from sqlgate import gateway

READS = {
    "q1 one card by id": "SELECT * FROM cards WHERE card_id = '{point_id}'",
    "q2 any of two tags, newest 20": "SELECT card_id, front_text, back_text, tags, created_at FROM cards "
    "WHERE tags OVERLAP ('{tag_a}', '{tag_b}') ORDER BY created_at DESC LIMIT 20",
    "q3 a word on 2.5 % of the cards": "SELECT card_id, front_text, back_text, tags FROM cards "
    "WHERE front_text LIKE '%{word}%' OR back_text LIKE '%{word}%' ORDER BY created_at DESC LIMIT 20",
    "q3r a rare word": "SELECT card_id, front_text, back_text, tags FROM cards "
    "WHERE front_text LIKE '%{rare_word}%' OR back_text LIKE '%{rare_word}%' ORDER BY created_at DESC LIMIT 20",
    "q4 a phrase": "SELECT card_id, front_text, back_text, tags FROM cards WHERE MATCH('{phrase}') "
    "ORDER BY created_at DESC LIMIT 20",
    "q5 cards by tag": "SELECT tag, COUNT(*) AS n FROM cards UNNEST tags AS tag GROUP BY tag ORDER BY n DESC LIMIT 100",
    "q6 how many are due": "SELECT COUNT(*) AS n FROM cards WHERE due_at <= NOW()",
    "q7 a page far down": "SELECT card_id, front_text, back_text, tags, due_at FROM cards "
    "ORDER BY created_at DESC, card_id ASC LIMIT 20 OFFSET {offset}",
}
WRITES = {
    "q9 change one card": "UPDATE cards SET back_text = 'bench' WHERE card_id = '{point_id}'",
    "q10 change 100 cards": "UPDATE cards SET back_text = 'bench' WHERE tags OVERLAP ('{tag_bulk}')",
}


def values(path: Path) -> dict[str, Any]:
    params = json.loads(path.read_text())
    tag_a, tag_b = params["tags_q2"]
    return {**params, "point_id": params["point_ids"][7], "tag_a": tag_a, "tag_b": tag_b}


def work(params: dict[str, Any], workspace_id: UUID) -> Iterator[tuple[str, Callable[[], object]]]:
    for title, text in READS.items():
        sql = text.format(**params)
        yield title, lambda sql=sql: gateway.query(sql, workspace_id=workspace_id, now=timezone.now())
    for title, text in WRITES.items():
        sql = text.format(**params)
        yield title, lambda sql=sql: undone(lambda: gateway.execute(sql, workspace_id=workspace_id, now=timezone.now()))
    workspace = Workspace.objects.get(pk=workspace_id)
    yield "q11 the next card", lambda: next_card(workspace, now=timezone.now())


def undone(action: Callable[[], object]) -> None:
    with transaction.atomic():
        action()
        transaction.set_rollback(True)


def plan_of(sql: str) -> list[str]:
    explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)" if postgresql() else "EXPLAIN QUERY PLAN"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"{explain} {sql}")
        rows = [str(row[-1]) for row in cursor.fetchall()]
        transaction.set_rollback(True)
    return [row[:200] for row in rows]


def postgresql() -> bool:
    return connection.vendor == "postgresql"


def milliseconds(action: Callable[[], object], times: int = 25) -> float:
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        spent.append((time.perf_counter() - start) * 1000)
    return min(spent)


def main() -> None:
    params, workspace_id = values(Path(sys.argv[1])), UUID(sys.argv[2])
    print(f"## {'PostgreSQL' if postgresql() else 'SQLite'}\n")
    for title, action in work(params, workspace_id):
        action()
        best = milliseconds(action)
        with CaptureQueriesContext(connection) as captured:
            action()
        print(f"### {title}: {best:.1f} ms\n")
        for query in captured.captured_queries:
            sql = query["sql"]
            if sql.split(None, 1)[0] not in ("SELECT", "UPDATE"):
                continue
            print("```")
            print(sql.partition(" FROM ")[2][:300] or sql[:300])
            print(*(f"    {line}" for line in plan_of(sql)), sep="\n")
            print("```\n")


if __name__ == "__main__":
    main()
