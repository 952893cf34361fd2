"""What the dialect refuses, and why: reason codes, faults with their place, and the answers made from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, NamedTuple

from flashcards.errors import Advice, AppError, InputRefused

FRAGMENT_LENGTH_MAX = 40
EXAMPLE_LENGTH_MAX = 500
NAME_LENGTH_MAX = 200
FIX_LENGTH_MAX = 200


class Reason(StrEnum):
    """The stable reason codes under `details.validationIssues`; docs/reason-codes.md shows an example of each."""

    SYNTAX_ERROR = "syntax_error"
    EMPTY_STATEMENT = "empty_statement"
    INVALID_CHARACTER = "invalid_character"
    TEXT_TOO_LONG = "text_too_long"
    BATCH_LIMIT = "batch_limit"
    TOO_DEEP = "too_deep"
    TOO_COMPLEX = "too_complex"
    WRONG_TOOL = "wrong_tool"
    UNSUPPORTED_STATEMENT = "unsupported_statement"
    UNSUPPORTED_CLAUSE = "unsupported_clause"
    UNSUPPORTED_EXPRESSION = "unsupported_expression"
    UNSUPPORTED_FUNCTION = "unsupported_function"
    UNKNOWN_TABLE = "unknown_table"
    UNKNOWN_COLUMN = "unknown_column"
    READ_ONLY_TABLE = "read_only_table"
    READ_ONLY_COLUMN = "read_only_column"
    NOT_FILTERABLE = "not_filterable"
    NOT_SORTABLE = "not_sortable"
    NOT_GROUPABLE = "not_groupable"
    TYPE_MISMATCH = "type_mismatch"
    NULL_COMPARISON = "null_comparison"
    MISSING_COLUMN = "missing_column"
    MISSING_WHERE = "missing_where"
    INVALID_VALUE = "invalid_value"
    INVALID_LIMIT = "invalid_limit"
    GROUPING = "grouping"
    DISTINCT_ORDER = "distinct_order"
    UNKNOWN_DECK = "unknown_deck"
    AMBIGUOUS_DECK = "ambiguous_deck"
    ROW_LIMIT = "row_limit"


class Span(NamedTuple):
    """A stretch of the SQL text, as offsets in code points; `end` is past the last one."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """From where this begins to where `other` ends."""
        return Span(self.start, other.end)


def shown(text: str) -> str:
    """A fragment of what the caller wrote, fit for a message: one line, long ones cut."""
    line = " ".join(text.split())
    line = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in line[: FRAGMENT_LENGTH_MAX + 1])
    return line if len(line) <= FRAGMENT_LENGTH_MAX else line[:FRAGMENT_LENGTH_MAX] + "…"


@dataclass
class Fault(Exception):
    """Something the dialect refuses, before it is known which statement of which text it stands in.

    `fix` is text that works when it replaces the stretch `at`; `example` is a whole statement that works. `known` are
    the valid names and `wrong_name` the one that is not among them.
    """

    reason: Reason
    message: str
    at: Span | None = None
    fix: str | None = None
    example: str | None = None
    known: Sequence[str] = ()
    wrong_name: str = ""
    statement: int = 0
    names_statement: bool = False
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def unsupported(self) -> bool:
        """Whether SQL has this and the dialect has not."""
        return self.reason.startswith("unsupported_")

    @property
    def did_you_mean(self) -> str | None:
        """The known name that the wrong one comes closest to; None for one that is longer than names are."""
        if not self.wrong_name or len(self.wrong_name) > NAME_LENGTH_MAX:
            return None
        by_folded = {name.lower(): name for name in self.known}
        close = get_close_matches(self.wrong_name.lower(), by_folded, n=1, cutoff=0.6)
        return by_folded[close[0]] if close else None


class QueryInvalidSql(InputRefused):
    """A statement that is malformed, or that asks for what the published tables do not offer."""

    code = "QUERY_INVALID_SQL"
    advice = Advice(
        rest="Correct the statement as error.message says and send the request again. Nothing was stored. "
        "GET /v1/agent/guide/sql_dialect describes the dialect; DESCRIBE cards lists columns.",
        mcp="Correct the statement as error.message says and call the tool again. Nothing was stored. "
        "get_guide with topic sql_dialect describes the dialect; DESCRIBE cards lists columns.",
    )


class QueryUnsupportedSyntax(QueryInvalidSql):
    """Something that SQL has and the dialect has not: a join, a sub-query, a function, another statement."""

    code = "QUERY_UNSUPPORTED_SYNTAX"
    advice = Advice(
        rest="Ask for it in the form that error.message shows, or split the question into several simple requests. "
        "Nothing was stored. GET /v1/agent/guide/sql_dialect describes all that is supported.",
        mcp="Ask for it in the form that error.message shows, or split the question into several simple calls. "
        "Nothing was stored. get_guide with topic sql_dialect describes all that is supported.",
    )


class QueryResultTooLarge(AppError):
    """The answer would not fit into one envelope."""

    code = "QUERY_RESULT_TOO_LARGE"
    status = 400
    advice = Advice(
        rest="Select fewer columns or use a smaller LIMIT, or send the statements of a batch one by one.",
        mcp="Select fewer columns or use a smaller LIMIT, or call sql_query once for each statement of a batch.",
    )


class QueryTimeLimitExceeded(AppError):
    """The database worked for too long on this call and was stopped; nothing was stored."""

    code = "QUERY_TIME_LIMIT_EXCEEDED"
    status = 400
    advice = Advice(
        rest="Narrow the WHERE, for example by tags or created_at, or split the batch. Nothing was stored.",
        mcp="Narrow the WHERE, for example by tags or created_at, or split the batch. Nothing was stored.",
    )


def refusal(fault: Fault, text: str, works: Callable[[str], bool]) -> QueryInvalidSql:
    """The answer to a fault in `text`.

    `details.validationIssues` has one entry: path `sql`, code, message, line and column (from 1), statement (from 1),
    and where it helps known, didYouMean and example, a statement that `works` where the refused one was sent.
    """
    at = fault.at or Span(len(text), len(text))
    form = next(filter(works, _forms(fault)), None)
    message = _message(fault, form)
    issue: dict[str, Any] = {"path": "sql", "code": fault.reason.value, "message": message} | _place(text, at.start)
    issue["statement"] = fault.statement or 1
    if fault.known:
        issue["known"] = list(fault.known)
    if fault.did_you_mean:
        issue["didYouMean"] = fault.did_you_mean
    repaired = _repaired(fault, text)
    example = repaired if repaired and works(repaired) else form
    if example:
        issue["example"] = example
    kind = QueryUnsupportedSyntax if fault.unsupported else QueryInvalidSql
    return kind(message, [issue | fault.extra])


_CONDITION = re.compile(
    r"SELECT [a-z_, ]+ FROM cards WHERE ((?:(?! ORDER BY| GROUP BY| LIMIT).)+)(?: ORDER BY .+| LIMIT .+)?"
)
ANY_READ = "SELECT front_text FROM cards WHERE reps > 2 LIMIT 20"
ANY_WRITE = "UPDATE cards SET suspended = TRUE WHERE tags OVERLAP ('geo')"


def _forms(fault: Fault) -> Iterator[str]:
    """The fault's example, the same condition in a write for where no SELECT can be sent, and what works anyhow."""
    if fault.example is None:
        return
    yield fault.example
    condition = _CONDITION.fullmatch(fault.example)
    if condition is not None:
        yield f"UPDATE cards SET suspended = TRUE WHERE {condition[1]}"
    yield from (ANY_READ, ANY_WRITE)


def _message(fault: Fault, form: str | None) -> str:
    parts = [f"statement {fault.statement}: {fault.message}" if fault.names_statement else fault.message]
    if fault.did_you_mean:
        parts.append(f"Did you mean {fault.did_you_mean}?")
    if fault.fix is not None and len(fault.fix) <= FIX_LENGTH_MAX:
        parts.append(f"Write: {fault.fix}")
    elif form:
        parts.append(f"A form that works: {form}")
    return " ".join(parts)


def _place(text: str, offset: int) -> dict[str, int]:
    before = text[:offset]
    return {"line": before.count("\n") + 1, "column": offset - before.rfind("\n")}


def _repaired(fault: Fault, text: str) -> str | None:
    better = fault.did_you_mean if fault.fix is None else fault.fix
    if better is None or fault.at is None or fault.names_statement or len(text) > EXAMPLE_LENGTH_MAX:
        return None
    return text[: fault.at.start] + better + text[fault.at.end :]
