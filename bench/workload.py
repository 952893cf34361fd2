"""What an agent does all day, as requests with answers that are known to be right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from bench.dataset import COMMON, PHRASE, RARE, TAG_OF_A_HUNDRED, TAGS_OF_TWO, Facts

PAGE = 20
TEXTS = "card_id, front_text, back_text, tags"
TAG_OF_INSERTED = "bench-insert"
CLEAN_UP = f"DELETE FROM cards WHERE tags OVERLAP ('{TAG_OF_INSERTED}')"

Values = dict[str, Any]
Check = Callable[[dict[str, Any], Facts], bool]


@dataclass(frozen=True)
class Work:
    """One operation: what it is called, where it goes, with which body, and whether an answer's `data` is right.

    `leaves` says that the rows it inserts are to be deleted again; `per_card` that it takes a due card away for good.
    """

    name: str
    title: str
    path: str
    body: Callable[[Values], dict[str, Any]]
    is_right: Check
    leaves: bool = False
    per_card: bool = False


def values_of(facts: Facts) -> Iterator[Values]:
    """For run after run: ids in turn, a due card that no earlier run had while there are any, a fresh number."""
    for number in range(1_000_000):
        due_id = facts.due_ids[number] if number < len(facts.due_ids) else None
        yield {
            "workspace": facts.workspace_id,
            "number": number,
            "point_id": facts.point_ids[number % len(facts.point_ids)],
            "due_id": due_id,
            "offset": facts.size * 9 // 10,
        }


def _sql(name: str, title: str, sql: str, is_right: Check, *, tool: str = "query", **more: Any) -> Work:
    def body(values: Values) -> dict[str, Any]:
        return {"sql": sql.format(**values), "workspaceId": values["workspace"]}

    return Work(name, title, f"/v1/agent/sql/{tool}", body, is_right, **more)


def _rows(count: Callable[[Facts], int]) -> Check:
    return lambda data, facts: len(data["rows"]) == min(count(facts), 100)


def _affected(count: int) -> Check:
    return lambda data, _: data["affectedCount"] == count


def _inserted_rows() -> str:
    rows = (
        f"('Question {number:03d} about something that takes about seventy characters to ask?', "
        f"'{'An answer in some detail, as a good one is, with an example. ' * 3}', "
        f"('{TAG_OF_INSERTED}', 'tag-001', 'tag-{number % 190:03d}'))"
        for number in range(100)
    )
    return ", ".join(rows)


_TAG_A, _TAG_B = TAGS_OF_TWO
_NEWEST = f"ORDER BY created_at DESC LIMIT {PAGE}"
READS = (
    _sql("q0", "SHOW TABLES", "SHOW TABLES", lambda data, _: data["rowCount"] == 4),
    _sql("q1", "one card by its id", "SELECT * FROM cards WHERE card_id = '{point_id}'", _rows(lambda _: 1)),
    _sql(
        "q2",
        "any of two tags, newest 20",
        f"SELECT {TEXTS}, created_at FROM cards WHERE tags OVERLAP ('{_TAG_A}', '{_TAG_B}') {_NEWEST}",
        _rows(lambda facts: min(PAGE, facts.two_tags)),
    ),
    _sql(
        "q3",
        "LIKE on 2.5 % of the cards, newest 20",
        f"SELECT {TEXTS} FROM cards WHERE front_text LIKE '%{COMMON}%' OR back_text LIKE '%{COMMON}%' {_NEWEST}",
        _rows(lambda facts: min(PAGE, facts.common)),
    ),
    _sql(
        "q3r",
        "LIKE on five cards",
        f"SELECT {TEXTS} FROM cards WHERE front_text LIKE '%{RARE}%' OR back_text LIKE '%{RARE}%' {_NEWEST}",
        _rows(lambda facts: facts.rare),
    ),
    _sql(
        "q4",
        "MATCH of a phrase",
        f"SELECT {TEXTS} FROM cards WHERE MATCH('{PHRASE}') {_NEWEST}",
        _rows(lambda facts: min(PAGE, facts.phrase)),
    ),
    _sql(
        "q5",
        "cards by tag, top 100",
        "SELECT tag, COUNT(*) AS n FROM cards UNNEST tags AS tag GROUP BY tag ORDER BY n DESC LIMIT 100",
        _rows(lambda _: 100),
    ),
    _sql(
        "q6",
        "how many are due",
        "SELECT COUNT(*) AS n FROM cards WHERE due_at <= NOW()",
        lambda data, facts: data["rows"] == [{"n": facts.due}],
    ),
    _sql(
        "q7",
        "a page far down, OFFSET 90 %",
        f"SELECT {TEXTS}, due_at FROM cards ORDER BY created_at DESC, card_id ASC LIMIT {PAGE} OFFSET {{offset}}",
        _rows(lambda _: PAGE),
    ),
)
WRITES = (
    _sql(
        "q9",
        "UPDATE one card",
        "UPDATE cards SET back_text = 'changed in run {number}' WHERE card_id = '{point_id}'",
        _affected(1),
        tool="execute",
    ),
    _sql(
        "q10",
        "UPDATE 100 cards by tag",
        f"UPDATE cards SET back_text = 'changed in run {{number}}' WHERE tags OVERLAP ('{TAG_OF_A_HUNDRED}')",
        _affected(100),
        tool="execute",
    ),
    Work(
        "q11",
        "the next card to review",
        "/v1/agent/reviews/next",
        lambda values: {"workspaceId": values["workspace"]},
        lambda data, _: bool(data["card"]),
    ),
    Work(
        "q12",
        "submit a review",
        "/v1/agent/reviews/submit",
        lambda values: {
            "workspaceId": values["workspace"],
            "cardId": values["due_id"],
            "reviewId": str(uuid4()),
            "rating": "Good",
            "reviewedTimeZone": "UTC",
        },
        lambda data, _: data["rating"] == "Good",
        per_card=True,
    ),
    _sql(
        "q8",
        "INSERT 100 cards",
        f"INSERT INTO cards (front_text, back_text, tags) VALUES {_inserted_rows()}",
        _affected(100),
        tool="execute",
        leaves=True,
    ),
)
WORK = (*READS, *WRITES)
