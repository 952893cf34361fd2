"""LIKE patterns, and what they become on each database. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flashcards.folding import fold

ANY, ONE = "%", "_"
BACKSLASH = "\\"


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
    def length(self) -> int:
        """How many characters and wildcards it has."""
        return sum(len(text) or 1 for text, _ in self.pieces)

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

    With one, that character also doubles to stand for itself.
    """
    sign = escape or BACKSLASH
    escapable = {ANY, ONE, escape} if escape else {ANY, ONE}
    pieces: list[tuple[str, str]] = []
    text: list[str] = []
    index = 0
    while index < len(pattern):
        char = pattern[index]
        if char == sign and pattern[index + 1 : index + 2] in escapable:
            index += 1
            text.append(pattern[index])
        elif char in (ANY, ONE):
            if text:
                pieces.append(("".join(text), ""))
                text = []
            pieces.append(("", char))
        else:
            text.append(char)
        index += 1
    if text:
        pieces.append(("".join(text), ""))
    return Pattern(tuple(_calmed(pieces)))


def _calmed(pieces: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The same pattern with each run of wildcards written as its `_`s and at most one `%`."""
    calm: list[tuple[str, str]] = []
    run: list[str] = []
    for text, wildcard in [*pieces, ("", "")]:
        if wildcard:
            run.append(wildcard)
            continue
        calm += [("", ONE)] * run.count(ONE) + [("", ANY)] * (ANY in run)
        run = []
        if text:
            calm.append((text, ""))
    return calm


def _like_escaped(text: str) -> str:
    return text.replace(BACKSLASH, BACKSLASH * 2).replace(ANY, BACKSLASH + ANY).replace(ONE, BACKSLASH + ONE)


def _glob_escaped(text: str) -> str:
    return text.replace("[", "[[]").replace("*", "[*]").replace("?", "[?]")
