"""Sends mutated statements through the dialect, parser to database, and reports what came of them.

    python -m tests.sqlgate.fuzz [--count 200000] [--seed 1]

Runs against the configured database, inside a transaction that is rolled back. Whatever is neither a success nor a 400
or 413 in the dialect's own words is a crash. Exit status 0 without a crash, a text that takes over a second of CPU, and
memory that grows.
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
from collections.abc import Iterable
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

WILD = "'%w%w%w%w%x'"
HEAVY = [
    "SELECT name FROM decks WHERE " + "(" * 5000 + "name = 'x'" + ")" * 5000,
    "SELECT name FROM decks WHERE name = '" + "x" * 1_000_000 + "'",
    "SELECT front_text FROM cards WHERE " + " OR ".join(["reps = 1"] * 5000),
    "; ".join(f"SELECT front_text FROM cards WHERE back_text LIKE '{number:02d}{'w%' * 950}'" for number in range(50)),
    "; ".join(["SELECT COUNT(*) FROM cards WHERE front_text ILIKE " + WILD] * 50),
    f"SELECT front_text FROM cards WHERE back_text LIKE {WILD} OR back_text ILIKE {WILD} OR front_text LIKE {WILD}",
    "SELECT front_text FROM cards WHERE back_text LIKE '" + "%w_" * 600 + "x'",
    "UPDATE cards SET back_text = '" + "w" * 90_000 + "' WHERE back_text LIKE " + WILD,
    "SELECT front_text FROM cards WHERE card_id IN (" + ", ".join(["'x'"] * 5000) + ")",
    "INSERT INTO cards (front_text, back_text) VALUES " + ", ".join(["('a', 'b')"] * 500),
    "SELECT name FROM decks WHERE " + "NOT " * 5000 + "name = 'x'",
    "/*" * 20_000 + "SELECT" + "*/" * 20_000,
]
# Texts so long that a card of them is a worst case for a pattern.
LONG_CARDS = 5
LONG_TEXT = "w" * 2000
CPU_SECONDS_MAX = 1.0
MEMORY_GROWTH_MB_MAX = 64.0


@dataclass
class Report:
    """What came of the texts."""

    outcomes: Counter[str] = field(default_factory=Counter)
    crashes: list[str] = field(default_factory=list)
    slowest: list[tuple[float, str]] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)

    @property
    def faults(self) -> list[str]:
        """Crashes, texts that took too long, and memory that grew."""
        slow = [f"SLOW {seconds:.2f} s {text[:200]!r}" for seconds, text in self.slowest if seconds > CPU_SECONDS_MAX]
        grown = self.memory[-1] - self.memory[0] > MEMORY_GROWTH_MB_MAX
        return [*self.crashes, *slow, *([f"MEMORY grew: {self.memory}"] if grown else [])]

    def note(self, outcome: str, seconds: float, text: str) -> None:
        self.outcomes[outcome] += 1
        self.slowest = sorted([*self.slowest, (seconds, text)], reverse=True)[:3]

    def __str__(self) -> str:
        lines = [f"{count:8} {outcome}" for outcome, count in self.outcomes.most_common()]
        lines += [f"worst CPU {seconds * 1000:.1f} ms: {text[:100]!r}" for seconds, text in self.slowest]
        lines.append(f"memory {self.memory[0]:.0f} MB after the first tenth, {self.memory[-1]:.0f} MB at the end")
        return "\n".join([*self.crashes[:20], *lines, f"{self.outcomes.total()} texts, {len(self.crashes)} crashes"])


class Mutator:
    """Makes texts that are nearly statements."""

    def __init__(self, archive: dict[str, Any], seed: int) -> None:
        self.rng = random.Random(seed)
        self.maker = StatementMaker(archive, self.rng)
        document = json.loads(CASES.read_text(encoding="utf-8"))
        self.known = [case["sql"] for case in document["cases"] if "sql" in case]

    def text(self) -> str:
        """One text; one in a hundred is made to hurt before it is mutated."""
        rng = self.rng
        if rng.random() < 0.01:
            return self._signs(rng.choice(HEAVY))
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


def run(texts: Iterable[str], workspace_id: UUID, report: Report) -> None:
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
    if error.status not in (400, 413):
        report.crashes.append(f"STATUS {error.status} {error.message[:300]!r} {text[:200]!r}")
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


def resident_megabytes() -> float:
    """What this process holds in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


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
    for card in archive["cards"][:LONG_CARDS]:
        card |= {"front_text": LONG_TEXT, "back_text": LONG_TEXT}
    mutator, report = Mutator(archive, seed), Report()
    with transaction.atomic():
        workspace_id = load(archive)
        run(["SELECT front_text FROM cards WHERE MATCH('Ü')"], workspace_id, Report())
        share = max(1, count // 10)
        for start in range(0, count, share):
            run((mutator.text() for _ in range(min(share, count - start))), workspace_id, report)
            report.memory.append(resident_megabytes())
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
    sys.stdout.writelines(f"{fault}\n" for fault in report.faults)
    return 1 if report.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
