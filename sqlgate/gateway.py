"""The public face of the dialect: one text in, one result out, within limits of size and time and one transaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from flashcards.outcome import committed
from flashcards.snapshot import snapshot
from sqlgate.clock import database_time_limit
from sqlgate.compiler import ReadResult, check_read, run_read
from sqlgate.errors import Fault, QueryResultTooLarge, refusal
from sqlgate.parser import numbered, parse_reads, parse_writes
from sqlgate.writes import WriteResult, Writing

ENVELOPE_CHARACTERS_MAX = 48_000
# What the envelope holds beside `data`: instructions, addresses, keys.
ENVELOPE_CHARACTERS_AROUND = 1_000
DATA_CHARACTERS_MAX = ENVELOPE_CHARACTERS_MAX - ENVELOPE_CHARACTERS_AROUND
S = TypeVar("S")
T = TypeVar("T")


def query(text: str, *, workspace_id: UUID, now: datetime) -> dict[str, Any]:
    """The answer to a text of reads: the single result, or a batch of them from one snapshot.

    Raises QueryInvalidSql, QueryUnsupportedSyntax, QueryResultTooLarge or QueryTimeLimitExceeded.
    """

    def check(text: str) -> None:
        for statement in parse_reads(text):
            check_read(statement, workspace_id=workspace_id, now=now)

    with answered(text, check):
        statements = parse_reads(text)
        with snapshot(), database_time_limit():
            results = _each(statements, lambda read: run_read(read, workspace_id=workspace_id, now=now))
    head = {"workspaceId": str(workspace_id)}
    if len(results) == 1:
        return _fitted(head, results[0])
    return _batch_of_reads(head, results)


def execute(text: str, *, workspace_id: UUID, now: datetime) -> dict[str, Any]:
    """What a text of writes did: the single result, or a batch of them, done whole or not at all.

    Raises QueryInvalidSql, QueryUnsupportedSyntax or QueryTimeLimitExceeded; nothing is stored then.
    """

    def prepare(text: str) -> list[Callable[[], WriteResult]]:
        return _each(parse_writes(text), Writing(workspace_id, now).prepared)

    with answered(text, prepare):
        prepared = prepare(text)
        with committed(), database_time_limit():
            results = _each(prepared, lambda run: run())
    return _shown_writes({"workspaceId": str(workspace_id)}, results)


@contextmanager
def answered(text: str, check: Callable[[str], object]) -> Iterator[None]:
    """Faults raised inside become the answer, with their place in `text`, and with examples that pass `check`."""
    try:
        yield
    except Fault as fault:
        raise refusal(fault, text, lambda example: _passes(check, example)) from None


def _passes(check: Callable[[str], object], text: str) -> bool:
    try:
        check(text)
    except Fault:
        return False
    return True


def _each(statements: Sequence[S], run: Callable[[S], T]) -> list[T]:
    """The results of the statements in order; a fault raised while one is at work names it."""
    results = []
    for number, statement in enumerate(statements, start=1):
        with numbered(number, of=len(statements)):
            results.append(run(statement))
    return results


def _characters(value: Any) -> int:
    """How many characters `value` takes in the envelope."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _fitted(head: Mapping[str, Any], result: ReadResult) -> dict[str, Any]:
    data = {**head, **result.as_data()}
    room = DATA_CHARACTERS_MAX - _characters({**data, "rows": []})
    fitting = 0
    for row in result.rows:
        room -= _characters(row) + 1
        if room < 0:
            break
        fitting += 1
    if fitting == len(result.rows):
        return data
    if not fitting:
        raise _too_large("Not even one row of the result fits")
    cut = {"rows": result.rows[:fitting], "rowCount": fitting, "hasMore": True, "rowsTruncated": True}
    return data | cut


def _batch_of_reads(head: Mapping[str, Any], results: list[ReadResult]) -> dict[str, Any]:
    data = {
        **head,
        "statementType": "batch",
        "resource": None,
        "statementCount": len(results),
        "affectedCountTotal": None,
        "rowsOmitted": False,
        "statements": [result.as_data() for result in results],
    }
    if _characters(data) > DATA_CHARACTERS_MAX:
        raise _too_large("The results of the batch do not fit together")
    return data


def _too_large(what: str) -> QueryResultTooLarge:
    return QueryResultTooLarge(f"{what} into one answer of {ENVELOPE_CHARACTERS_MAX} characters.")


def _shown_writes(head: Mapping[str, Any], results: list[WriteResult]) -> dict[str, Any]:
    """The results, with rows shrunk to their ids and at last left out where the answer would be too large."""
    data = _writes_data(head, results)
    if _characters(data) <= DATA_CHARACTERS_MAX:
        return data
    for result in results:
        result.shrink_to_ids()
    data = _writes_data(head, results)
    for result in reversed(results):
        if _characters(data) <= DATA_CHARACTERS_MAX:
            break
        result.drop_rows()
        data = _writes_data(head, results)
    return data


def _writes_data(head: Mapping[str, Any], results: list[WriteResult]) -> dict[str, Any]:
    if len(results) == 1:
        return {**head, **results[0].as_data()}
    return {
        **head,
        "statementType": "batch",
        "resource": None,
        "statementCount": len(results),
        "affectedCountTotal": sum(result.affected for result in results),
        "rowsOmitted": any(result.omitted for result in results),
        "statements": [result.as_data() for result in results],
    }
