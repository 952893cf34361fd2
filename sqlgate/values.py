"""Literals of the dialect as values of a column's type, or a fault with the form that works."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID

from sqlgate import ast
from sqlgate.errors import Fault, Reason, Span, shown
from sqlgate.literals import parse_braces
from sqlgate.schema import NOUNS, Kind

MILLISECOND = timedelta(milliseconds=1)
_LAST_MILLISECOND = datetime.max.replace(tzinfo=UTC) - MILLISECOND
_INSTANT = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)(?:[T ](?P<time>\d\d:\d\d(?::\d\d(?:\.(?P<fraction>\d{1,6}))?)?)"
    r"\s?(?P<zone>[Zz]|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
_UUID = re.compile(r"(?:urn:uuid:)?\{?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})\}?")


@dataclass(frozen=True, slots=True)
class Instant:
    """A point in time that was written down; `rough` when with no more than three decimals of a second."""

    moment: datetime
    rough: bool

    @property
    def end(self) -> datetime:
        """Past the last moment that a rough literal stands for: a whole millisecond."""
        return self.moment + MILLISECOND


def mismatch(name: str, kind: Kind, literal: ast.Operand, form: str | None = None, at: Span | None = None) -> Fault:
    """The fault that a column of `kind` is met by a literal of another type; `form` replaces `at`."""
    message = f"{name} is {NOUNS[kind]}, not {described(literal)}."
    return Fault(Reason.TYPE_MISMATCH, message, at or literal.at, fix=form)


def described(literal: ast.Operand | ast.ArrayEdit) -> str:
    """The literal in words, for a message."""
    match literal:
        case ast.Text(value):
            said = f"the text '{shown(value)}'"
        case ast.Number(value):
            said = f"the number {shown(str(value))}"
        case ast.Column(name):
            said = f"the column {shown(name)}"
        case ast.ArrayEdit(function):
            said = function.upper()
        case ast.Boolean(truth):
            said = str(truth).upper()
        case _:
            said = {ast.Now: "a point in time", ast.Null: "NULL", ast.ListLiteral: "a list"}[type(literal)]
    return said


def quoted(text: str) -> str:
    """`text` as a literal."""
    return "'" + text.replace("'", "''") + "'"


def parse_uuid(text: str) -> UUID | None:
    """The UUID of any usual spelling; None for what is none."""
    found = _UUID.fullmatch(text.strip().lower())
    return UUID("".join(found.groups())) if found else None


def parse_instant(text: str) -> Instant | None:
    """The moment that an ISO 8601 text names, in UTC when it names no zone; None for what is none."""
    found = _INSTANT.fullmatch(text.strip())
    if found is None:
        return None
    clock = found["time"] or "00:00"
    try:
        local = datetime.fromisoformat(f"{found['day']}T{clock.partition('.')[0]}")
        fraction = found["fraction"] or ""
        zone = _zone(found["zone"])
        moment = local.replace(microsecond=int(fraction.ljust(6, "0")), tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return Instant(moment, rough=len(fraction) <= 3 and moment < _LAST_MILLISECOND)


def _zone(text: str | None) -> timezone:
    if text is None or text in "Zz":
        return UTC
    hours, minutes = int(text[1:3]), int(text[3:].lstrip(":") or 0)
    if minutes > 59:
        raise ValueError(text)
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(offset if text[0] == "+" else -offset)


def instant(name: str, literal: ast.Operand, *, now: datetime) -> Instant:
    """The moment of a literal beside a column of timestamps."""
    if isinstance(literal, ast.Now):
        try:
            return Instant(now + literal.offset, rough=False)
        except OverflowError:
            message = "This point in time is outside of the calendar, years 1 to 9999."
            raise Fault(Reason.INVALID_VALUE, message, literal.at, fix="NOW()") from None
    if not isinstance(literal, ast.Text):
        raise mismatch(name, Kind.TIMESTAMP, literal, "'2025-01-31T10:00:00Z'")
    found = parse_instant(literal.value)
    if found is None:
        raise mismatch(name, Kind.TIMESTAMP, literal, "'2025-01-31T10:00:00Z'")
    return found


def number(name: str, kind: Kind, literal: ast.Operand) -> int | Decimal:
    """The number of a literal beside a column of numbers."""
    if isinstance(literal, ast.Number):
        return literal.value
    raise mismatch(name, kind, literal, _number_in(literal))


def _number_in(literal: ast.Operand) -> str:
    if isinstance(literal, ast.Text) and re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,15})?", literal.value.strip()):
        return literal.value.strip()
    if isinstance(literal, ast.ListLiteral) and len(literal.items) == 1 and isinstance(literal.items[0], ast.Number):
        return str(literal.items[0].value)
    return "2"


def boolean(name: str, literal: ast.Operand) -> bool:
    """The truth of a literal beside a boolean column."""
    if isinstance(literal, ast.Boolean):
        return literal.value
    false = (isinstance(literal, ast.Text) and literal.value.strip().lower() in ("false", "f", "no", "0")) or (
        isinstance(literal, ast.Number) and literal.value == 0
    )
    raise mismatch(name, Kind.BOOLEAN, literal, "FALSE" if false else "TRUE")


def text(name: str, literal: ast.Operand) -> str:
    """The text of a literal beside a column of text."""
    if isinstance(literal, ast.Text):
        return literal.value
    if isinstance(literal, ast.Number):
        raise mismatch(name, Kind.TEXT, literal, quoted(str(literal.value)))
    raise mismatch(name, Kind.TEXT, literal, "'text'")


def tags(name: str, literal: ast.Operand, form: str, at: Span) -> list[str]:
    """The texts of a list; `form` replaces `at` when the literal is none."""
    if isinstance(literal, ast.Text) and literal.value.strip().startswith("{") and literal.value.strip().endswith("}"):
        return parse_braces(literal.value, literal.at)
    if not isinstance(literal, ast.ListLiteral):
        raise mismatch(name, Kind.TAGS, literal, form, at)
    wrong = next((item for item in literal.items if not isinstance(item, ast.Text)), None)
    if wrong is not None:
        message = f"{name} holds texts; its list has {described(wrong)} in it."
        raise Fault(Reason.TYPE_MISMATCH, message, wrong.at, fix="'text'")
    return [item.value for item in literal.items if isinstance(item, ast.Text)]


@dataclass(frozen=True, slots=True)
class WholeRange:
    """What `column operator number` asks of a column of whole numbers: one operator and a bound that fits the column.

    `always` tells that every number fulfils it, `never` that none does.
    """

    operator: str
    bound: int
    always: bool = False
    never: bool = False


def whole_range(operator: str, value: int | Decimal, largest: int) -> WholeRange:
    """`operator value` for whole numbers up to `largest`, whatever fraction or size the literal has."""
    whole = math.floor(value)
    if whole != value:
        if operator in ("=", "!="):
            return WholeRange(operator, 0, never=operator == "=", always=operator == "!=")
        operator = {"<": "<=", "<=": "<=", ">": ">", ">=": ">"}[operator]
    if abs(whole) <= largest:
        return WholeRange(operator, whole)
    always = operator == "!=" or (operator != "=" and operator.startswith("<") == (whole > 0))
    return WholeRange(operator, 0, always=always, never=not always)
