"""Sends mutated statements through the dialect, parser to database, and reports what came of them.

    python -m tests.sqlgate.fuzz [--count 200000] [--seed 1]

Runs against the configured database, inside a transaction that is rolled back. Whatever is not a success or a refusal
of the dialect's own is a crash and is printed. Exit status 0 without crashes.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.sqlgate.generator import NOW, StatementMaker, make_archive

CASES = Path(__file__).with_name("cases") / "dialect.json"
PIECES = [
    *("SELECT", "FROM", "WHERE", "AND", "OR", "NOT", "(", ")", "[", "]", "{", "}", ",", ";", "'", '"', "''", "*", "."),
    *("=", "<>", "!=", "<", ">=", "==", "||", "::", "@>", "&&", "~", "->>", "--", "/*", "*/", "\\", "$1", "?", ":x"),
    *("NULL", "TRUE", "IN", "LIKE", "ILIKE", "BETWEEN", "IS", "ANY(tags)", "ARRAY[", "UNNEST", "CROSS JOIN", "JOIN"),
    *(
        "GROUP BY",
        "HAVING",
        "ORDER BY",
        "LIMIT",
        "OFFSET",
        "DISTINCT",
        "AS",
        "RETURNING",
        "VALUES",
        "SET",
        "INSERT INTO",
    ),
    *("COUNT(*)", "COUNT(DISTINCT reps)", "SUM(reps)", "MAX(front_text)", "DATE(due_at)", "LOWER(front_text)", "NOW()"),
    *("INTERVAL '7 days'", "MATCH('x')", "IN_DECK('Geo')", "ARRAY_APPEND(tags, 'x')", "RANDOM()", "ESCAPE '!'"),
    *("cards", "decks", "tags", "reps", "due_at", "metadata", "deleted_at", "deck_id", "nope", "card_id", "element"),
    *("12", "-3", "0.5", "1e5", "99999999999999999999", "'geo'", "'2025-01-31'", "'{a,b}'", "'%a_'", "('a','b')", "()"),
    *("\x00", "\ud800", "\u200b", "\ufeff", "猫", "🙂", "’", "\n", "\t", "\u00a0", "x" * 300, "(" * 20, "NOT " * 30),
]


@dataclass
class Report:
    """What came of the texts."""

    outcomes: Counter[str] = field(default_factory=Counter)
    crashes: list[str] = field(default_factory=list)
    slowest: list[tuple[float, str]] = field(default_factory=list)

    def note(self, outcome: str, seconds: float, text: str) -> None:
        self.outcomes[outcome] += 1
        self.slowest = sorted([*self.slowest, (seconds, text)], reverse=True)[:3]

    def __str__(self) -> str:
        lines = [f"{count:8} {outcome}" for outcome, count in self.outcomes.most_common()]
        lines += [f"worst CPU {seconds * 1000:.1f} ms: {text[:100]!r}" for seconds, text in self.slowest]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        lines.append(f"peak memory of the process {peak:.0f} MB")
        return "\n".join([*self.crashes[:20], *lines, f"{self.outcomes.total()} texts, {len(self.crashes)} crashes"])


class Mutator:
    """Makes texts that are nearly statements."""

    def __init__(self, archive: dict[str, Any], seed: int) -> None:
        self.rng = random.Random(seed)
        self.maker = StatementMaker(archive, self.rng)
        document = json.loads(CASES.read_text(encoding="utf-8"))
        self.known = [case["sql"] for case in document["cases"] if "sql" in case]

    def text(self) -> str:
        """One text."""
        rng = self.rng
        source = rng.choice([lambda: rng.choice(self.known), self.maker.read, self.maker.write])()
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            source = rng.choice([self._words, self._signs, self._splice])(source)
        return source

    def _words(self, text: str) -> str:
        words = text.split(" ")
        index = self.rng.randrange(len(words))
        kind = self.rng.randrange(4)
        if kind == 0:
            del words[index]
        elif kind == 1:
            words.insert(index, self.rng.choice(PIECES))
        elif kind == 2:
            words[index] = self.rng.choice(PIECES)
        else:
            other = self.rng.randrange(len(words))
            words[index], words[other] = words[other], words[index]
        return " ".join(words)

    def _signs(self, text: str) -> str:
        index = self.rng.randrange(len(text) + 1)
        end = index + self.rng.randrange(3)
        return text[:index] + self.rng.choice(["", self.rng.choice(PIECES)]) + text[end:]

    def _splice(self, text: str) -> str:
        other = self.rng.choice(self.known)
        joiner = self.rng.choice(["", " ", "; ", " OR ", " AND "])
        return text[: self.rng.randrange(len(text) + 1)] + joiner + other[self.rng.randrange(len(other) + 1) :]


def run(texts: list[str], workspace_id: UUID, report: Report) -> None:
    """Send each text to the side that its first word asks for; what it writes is undone."""
    from django.db import transaction

    from flashcards.errors import AppError
    from sqlgate import gateway

    for text in texts:
        writes = text.lstrip()[:6].upper() in ("INSERT", "UPDATE", "DELETE")
        send = gateway.execute if writes else gateway.query
        start = time.process_time()
        try:
            with transaction.atomic():
                send(text, workspace_id=workspace_id, now=NOW)
                transaction.set_rollback(writes)
            outcome = "answered"
        except AppError as error:
            outcome = checked(error, text, report)
        except Exception as error:  # noqa: BLE001  a crash is what is looked for
            report.crashes.append(f"CRASH {type(error).__name__}: {str(error)[:200]} {text!r}")
            outcome = "crash"
        report.note(outcome, time.process_time() - start, text)


def checked(error: Any, text: str, report: Report) -> str:
    """The reason of a refusal; one that says less than it should counts as a crash."""
    issues = error.details.get("validationIssues")
    if not issues:
        return str(error.code)
    issue = issues[0]
    inside = [
        word for word in ("lark", "django", "sqlite", "psycopg", "traceback", "$end") if word in message_of(error)
    ]
    placed = issue["line"] >= 1 and issue["column"] >= 1 and issue["statement"] >= 1
    if inside or not placed or not error.message or len(error.message) > 700:
        report.crashes.append(f"MESSAGE {error.message[:300]!r} {text[:200]!r}")
    return f"{error.code} {issue['code']}"


def message_of(error: Any) -> str:
    """The fixed part of a message: what a caller wrote may hold any word."""
    return error.message.partition(":")[0].lower() if "'" not in error.message else ""


def load(archive: dict[str, Any]) -> UUID:
    """The workspace of an archive that was just imported."""
    from django.core.management import call_command

    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(archive, file)
        file.flush()
        call_command("import_workspace", file.name, email="f@example.com", stdout=io.StringIO(), stderr=io.StringIO())
    return UUID(archive["workspace"]["workspace_id"])


def fuzz(*, count: int, seed: int) -> Report:
    """The report on `count` texts; leaves the database as it was."""
    from django.db import transaction

    archive = make_archive(seed, cards=25)
    mutator, report = Mutator(archive, seed), Report()
    with transaction.atomic():
        workspace_id = load(archive)
        run(["SELECT front_text FROM cards WHERE MATCH('Ü')"], workspace_id, Report())
        for start in range(0, count, 1000):
            run([mutator.text() for _ in range(min(1000, count - start))], workspace_id, report)
        transaction.set_rollback(True)
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "flashcards.settings")
    import django

    django.setup()
    report = fuzz(count=options.count, seed=options.seed)
    sys.stdout.write(f"{report}\n")
    return 1 if report.crashes else 0


if __name__ == "__main__":
    raise SystemExit(main())
