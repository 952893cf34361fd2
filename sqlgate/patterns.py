"""LIKE patterns, and what they become on each database. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from flashcards.folding import fold

ANY, ONE = "%", "_"
BACKSLASH = "\\"
PATTERN_LENGTH_MAX = 10_000


class PatternTooLong(ValueError):
    """A pattern with wildcards has more than PATTERN_LENGTH_MAX characters."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Literal texts and wildcards by turns; each piece is (text, "") or ("", "%" or "_"), no two texts in a row."""

    pieces: tuple[tuple[str, str], ...]

    @property
    def literal(self) -> str | None:
        """The one text that matches, when there is no wildcard."""
        if any(wildcard for _, wildcard in self.pieces):
            return None
        return "".join(text for text, _ in self.pieces)

    @property
    def texts(self) -> list[str]:
        """The literal texts, each of which a match contains."""
        return [text for text, _ in self.pieces if text]

    def folded(self) -> Pattern:
        """The pattern for texts that are folded."""
        return Pattern(tuple((fold(text), wildcard) for text, wildcard in self.pieces))

    def matches(self, text: str) -> bool:
        """Whether `text` as a whole matches; for names of a few letters only."""
        if sum(len(literal) + (wildcard == ONE) for literal, wildcard in self.pieces) > len(text):
            return False
        wildcards = {ANY: ".*", ONE: "."}
        expression = "".join(wildcards.get(wildcard) or re.escape(literal) for literal, wildcard in self.pieces)
        return re.fullmatch(expression, text, re.DOTALL) is not None

    def as_like(self) -> str:
        """For PostgreSQL's LIKE with its default escape."""
        return "".join(wildcard or _like_escaped(text) for text, wildcard in self.pieces)

    def as_glob(self) -> str:
        """For SQLite's GLOB, which minds case where SQLite's LIKE does not."""
        wildcards = {ANY: "*", ONE: "?"}
        return "".join(wildcards.get(wildcard) or _glob_escaped(text) for text, wildcard in self.pieces)


def containing(text: str) -> Pattern:
    """The pattern of texts that contain `text`."""
    return Pattern((("", ANY), (text, ""), ("", ANY)))


def parse_like(pattern: str, escape: str | None = None) -> Pattern:
    r"""The pattern that LIKE means. Without an ESCAPE, `\%` and `\_` are the signs and any other backslash is itself.

    With one, that character also doubles to stand for itself. A run of wildcards becomes its `_`s and at most one `%`.
    Raises PatternTooLong for one with wildcards above PATTERN_LENGTH_MAX, without reading it to its end.
    """
    pieces: list[tuple[str, str]] = []
    text: list[str] = []
    length, with_wildcard = 0, False
    for found in _pieces_of(escape).finditer(pattern):
        run = found["wildcards"]
        if run is None:
            text.append(found["sign"] or found["text"])
            length += len(text[-1])
        else:
            with_wildcard = True
            length += run.count(ONE) + (ANY in run)
        if with_wildcard and length > PATTERN_LENGTH_MAX:
            raise PatternTooLong
        if run is not None:
            pieces += [("".join(text), "")] if text else []
            pieces += [("", ONE)] * run.count(ONE) + [("", ANY)] * (ANY in run)
            text = []
    pieces += [("".join(text), "")] if text else []
    return Pattern(tuple(pieces))


@cache
def _pieces_of(escape: str | None) -> re.Pattern[str]:
    """The expression for the next piece of a LIKE pattern: an escaped sign, a run of wildcards, or text."""
    sign = re.escape(escape or BACKSLASH)
    escapable = f"[{ANY}{ONE}{sign}]" if escape else f"[{ANY}{ONE}]"
    wildcards = "".join(wildcard for wildcard in (ANY, ONE) if wildcard != escape)
    return re.compile(
        rf"{sign}(?P<sign>{escapable})|(?P<wildcards>[{wildcards}]++)"
        rf"|(?P<text>(?:[^{ANY}{ONE}{sign}]++|{sign}(?!{escapable}))++)"
    )


def _like_escaped(text: str) -> str:
    return text.replace(BACKSLASH, BACKSLASH * 2).replace(ANY, BACKSLASH + ANY).replace(ONE, BACKSLASH + ONE)


def _glob_escaped(text: str) -> str:
    return text.replace("[", "[[]").replace("*", "[*]").replace("?", "[?]")
