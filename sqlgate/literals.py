"""Literals with an inner grammar of their own: lists in braces and intervals. Pure."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

from sqlgate.errors import Fault, Reason, Span, shown
from sqlgate.lexer import Token

INTERVAL_MAX = timedelta(days=3_660_000)
INTERVAL_LENGTH_MAX = 200


def unescaped(quoted: str) -> str:
    """The text of a double-quoted element."""
    return re.sub(r'\\(["\\])', r"\1", quoted[1:-1])


_BRACE_ITEM = re.compile(r'\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*+)"|(?P<bare>[^{}",]*))\s*(?P<end>,|$)', re.DOTALL)


def parse_braces(text: str, at: Span) -> list[str]:
    """The items of a list in braces, such as `{a,two words,"b,c"}`; white space around an item is not part of it."""
    inside = text.strip()[1:-1]
    items: list[str] = []
    position = 0
    more = bool(inside.strip())
    while more:
        found = _BRACE_ITEM.match(inside, position)
        if found is None:
            raise Fault(Reason.SYNTAX_ERROR, f"{shown(text)} is no list.{_LIST_FORMS}", at)
        quoted, bare = found["quoted"], (found["bare"] or "").strip()
        if quoted is None and (not bare or bare.upper() == "NULL"):
            said = "a stray comma" if not bare else "NULL among its items"
            raise Fault(Reason.SYNTAX_ERROR, f"The list {shown(text)} has {said}.{_LIST_FORMS}", at)
        items.append(bare if quoted is None else unescaped(f'"{quoted}"'))
        position, more = found.end(), found["end"] == ","
    return items


_LIST_FORMS = " A list is written ('geo', 'two words') or {geo,two words}."
_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_INTERVAL_PART = re.compile(
    r"\s*([+-]?[0-9]{1,12}(?:\.[0-9]{1,6})?)\s*(second|minute|hour|day|week)s?\s*", re.IGNORECASE
)


def parse_interval(token: Token) -> timedelta:
    """The duration that `'7 days'` or `'1 day 2 hours'` names; the units go from seconds to weeks."""
    text = token.text[1:-1]
    seconds, position = Decimal(0), 0
    while len(text) <= INTERVAL_LENGTH_MAX and (found := _INTERVAL_PART.match(text, position)):
        seconds += Decimal(found[1]) * _UNITS[found[2].lower()]
        position = found.end()
    if not position or position < len(text):
        message = f"INTERVAL takes seconds, minutes, hours, days or weeks, not {shown(token.text)}."
        raise Fault(Reason.SYNTAX_ERROR, message, token.at, fix="'7 days'")
    if abs(seconds) > INTERVAL_MAX.total_seconds():
        message = f"The interval {shown(token.text)} is longer than the calendar."
        raise Fault(Reason.INVALID_VALUE, message, token.at, fix="'7 days'")
    return timedelta(microseconds=int(seconds * 1_000_000))
