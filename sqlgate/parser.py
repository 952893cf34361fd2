"""SQL text to statements. The only module that knows Lark; its errors end here and leave as faults of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, cast

from lark import Lark, Transformer, UnexpectedToken
from lark import Token as LarkToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from sqlgate import ast
from sqlgate.advice import explain_unexpected
from sqlgate.builder import Builder
from sqlgate.errors import ANY_READ, ANY_WRITE, Fault, Reason, Span, shown
from sqlgate.lexer import Token, split_statements, statement_at, tokenize

STATEMENTS_MAX = 50
DEPTH_MAX = 16


class Side(StrEnum):
    """Which kind of statements a call takes; the value is the tool for them."""

    READ = "sql_query"
    WRITE = "sql_execute"


READS = frozenset({"SELECT", "SHOW", "DESCRIBE", "DESC"})
WRITES = frozenset({"INSERT", "UPDATE", "DELETE"})


def parse(text: str, side: Side) -> tuple[ast.Statement, ...]:
    """The statements of a batch, in order. Fault, with the statement's number, for whatever is not of the dialect."""
    tokens = _tokens(text)
    parts = list(split_statements(tokens))
    if len(parts) > STATEMENTS_MAX:
        message = f"The text has {len(parts):,} statements; one call takes at most {STATEMENTS_MAX}."
        first_too_many, end = parts[STATEMENTS_MAX]
        at = first_too_many[0].at if first_too_many else end
        raise Fault(Reason.BATCH_LIMIT, message, at, statement=STATEMENTS_MAX + 1)
    statements = []
    for number, (part, end) in enumerate(parts, start=1):
        with numbered(number, of=len(parts)):
            _check_first_word(part, side, end or Span(len(text), len(text)))
    for number, (part, _) in enumerate(parts, start=1):
        with numbered(number, of=len(parts)):
            statements.append(_parse_statement(part))
    return tuple(statements)


def parse_reads(text: str) -> tuple[ast.Read, ...]:
    """As `parse`, for texts of statements that read."""
    return cast("tuple[ast.Read, ...]", parse(text, Side.READ))


def parse_writes(text: str) -> tuple[ast.Write, ...]:
    """As `parse`, for texts of statements that write."""
    return cast("tuple[ast.Write, ...]", parse(text, Side.WRITE))


@contextmanager
def numbered(number: int, *, of: int) -> Iterator[None]:
    """Faults raised inside say which statement of the batch they stand in."""
    try:
        yield
    except Fault as fault:
        fault.statement = number
        fault.names_statement = of > 1
        raise


def _tokens(text: str) -> list[Token]:
    try:
        return tokenize(text)
    except Fault as fault:
        if fault.at is not None:
            fault.statement = statement_at(text, fault.at.start)
            several = fault.statement > 1 or ";" in text[fault.at.end :].rstrip("; \t\r\n")
            fault.names_statement = several and fault.reason is not Reason.TEXT_TOO_LONG
        raise


def _check_first_word(tokens: list[Token], side: Side, end: Span) -> None:
    if not tokens:
        message = "The statement is empty."
        raise Fault(Reason.EMPTY_STATEMENT, message, end, example=EXAMPLES[side])
    first = tokens[0]
    right, wrong = (READS, WRITES) if side is Side.READ else (WRITES, READS)
    if first.word in wrong:
        other = Side.WRITE if side is Side.READ else Side.READ
        kind = "a write; send it to" if side is Side.READ else "a read; send it to"
        message = f"{first.word} is {kind} {other.value}. {side.value} takes {_listed(right)}."
        raise Fault(Reason.WRONG_TOOL, message, first.at)
    if first.word not in right:
        message = f"{shown(first.text)} begins an unsupported statement. {_supported(side)}"
        raise Fault(Reason.UNSUPPORTED_STATEMENT, message, first.at, example=EXAMPLES[side])
    _check_depth(tokens)


EXAMPLES = {
    Side.READ: ANY_READ,
    Side.WRITE: ANY_WRITE,
}


def _supported(side: Side) -> str:
    return f"{side.value} takes {_listed(READS if side is Side.READ else WRITES)}."


def _listed(words: frozenset[str]) -> str:
    return ", ".join(sorted(words - {"DESC"}))


def _check_depth(tokens: list[Token]) -> None:
    """Refuse conditions nested too deeply before parsing, so that nothing after it can recurse far."""
    opening, depth = [False], 0
    before = ""
    for token in tokens:
        if token.type == "LPAR":
            groups = before in _BEFORE_GROUP
            depth += groups
            opening.append(groups)
            if depth > DEPTH_MAX:
                message = f"Conditions nest at most {DEPTH_MAX} parentheses deep. Leave out those that are not needed."
                raise Fault(Reason.TOO_DEEP, message, token.at)
        elif token.type == "RPAR" and len(opening) > 1:
            depth -= opening.pop()
        before = token.type


_BEFORE_GROUP = frozenset({"WHERE", "HAVING", "AND", "OR", "NOT", "LPAR"})


def _parse_statement(tokens: list[Token]) -> ast.Statement:
    machine = _lark().parse_interactive()
    last = tokens[-1].at.end
    end = Token("$END", "", last)
    result: Any = None
    for index, token in enumerate([*tokens, end]):
        try:
            # Lark asks of a token only its `type`.
            result = machine.feed_token(cast("LarkToken", token))
        except UnexpectedToken:
            raise explain_unexpected(tokens, index, _acceptable(machine)) from None
    return cast("ast.Statement", result)


def _acceptable(machine: InteractiveParser) -> frozenset[str]:
    accepted: set[str] = machine.accepts()  # type: ignore[no-untyped-call]  # Lark leaves it untyped
    return frozenset(accepted)


@cache
def _lark() -> Lark:
    grammar = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        grammar,
        parser="lalr",
        start="statement",
        transformer=cast("Transformer[Any, Any]", Builder()),
        maybe_placeholders=True,
    )
