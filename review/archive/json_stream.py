"""JSON of any size, read value by value in bounded memory.

The standard library's decoder works on a window of the text that moves on. Streaming libraries were measured against
it: ijson (3.6) takes a lone surrogate for broken UTF-8 and cannot say where, keeps the last of two equal keys without
a word, and builds a path per level, so that a megabyte of brackets exhausts the memory. Here numbers come out as exact
as Python reads them, text as it was written, and each of those is a fault with its place.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

CHUNK_BYTES = 1 << 18
VALUE_CHARACTERS_MAX = 1 << 23
# What may look wrong only because the window cuts it: a literal, or two \\u escapes that are one character.
TOKEN_CHARACTERS = 64
_SPACE = re.compile(r"[ \t\n\r]*")
# What is left of a number, a literal or an escape that the end of the file cuts.
_CUT = re.compile(r"\s*(-|[.eE][-+]?|t(ru?)?|f(a(ls?)?)?|n(ul?)?|\\?u?[0-9a-fA-F]{0,3})\s*")


class NotJson(Exception):
    """The text is no JSON, or none that is read here. The message is a predicate of the value that was being read."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A position in the text to come back to."""

    byte: int = 0
    line: int = 1
    column: int = 1


START = Mark()


class JsonStream:
    """A cursor over the JSON text of a seekable file, from `mark` on.

    `peek`, `skip` and `value` move it; each raises NotJson where the text is not what it must be.
    """

    def __init__(self, file: BinaryIO, mark: Mark = START) -> None:
        self._file = file
        self._file.seek(mark.byte)
        self._decode_utf8 = codecs.getincrementaldecoder("utf-8")().decode
        self._scan = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant).raw_decode
        self._window_at = mark
        self._text = ""
        self._position = 0
        self._characters_left_behind = 0
        self._exhausted = False
        if mark.byte == 0 and self.peek() == "\ufeff":
            self._position += 1

    def peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            self._position = _SPACE.match(self._text, self._position).end()  # type: ignore[union-attr]  # matches ""
            if self._position < len(self._text) or not self._read_more():
                return self._text[self._position : self._position + 1]

    def skip(self, sign: str) -> None:
        """Step over `sign`, which must be next."""
        if self.peek() != sign:
            self._refuse(self._position)
        self._position += 1

    def mark(self) -> Mark:
        """The position of what comes next."""
        self.peek()
        return self._mark_at(self._position)

    def value(self) -> Any:
        """The next value, whole. Raises NotJson for one of more than 8,388,608 characters, too."""
        self.peek()
        while True:
            try:
                value, end = self._scan(self._text, self._position)
            except json.JSONDecodeError as error:
                unfinished = error.msg.startswith("Unterminated")
                is_final = not unfinished and error.pos + TOKEN_CHARACTERS < len(self._text)
                characters = error.pos - self._position
                if is_final or not self._read_more():
                    self._refuse(self._position + characters, unfinished=unfinished)
            except RecursionError:
                raise NotJson("is nested too deeply") from None
            except ValueError:
                raise NotJson("holds a number of more than 4,300 digits") from None
            else:
                # A number at the edge of the window may go on behind it.
                characters = end - self._position
                if end < len(self._text) or not self._read_more():
                    self._position += characters
                    return value

    def items(self) -> Iterator[tuple[int, Any, int]]:
        """The entries of the list that is next: index, value, and how many characters it took."""
        self.skip("[")
        index = 0
        while self.peek() != "]":
            if index:
                self.skip(",")
            started = self._characters_read()
            value = self.value()
            yield index, value, self._characters_read() - started
            index += 1
        self.skip("]")

    def _characters_read(self) -> int:
        return self._characters_left_behind + self._position

    def _read_more(self) -> bool:
        if self._exhausted:
            return False
        rest = len(self._text) - self._position
        if rest >= VALUE_CHARACTERS_MAX:
            raise NotJson(f"is longer than {VALUE_CHARACTERS_MAX:,} characters")
        self._window_at = self._mark_at(self._position)
        raw = self._file.read(max(CHUNK_BYTES, rest))
        self._exhausted = not raw
        try:
            more = self._decode_utf8(raw, final=self._exhausted)
        except UnicodeDecodeError:
            raise NotJson("ends before it is complete" if self._exhausted else "is not UTF-8 text") from None
        self._characters_left_behind += self._position
        self._text = self._text[self._position :] + more
        self._position = 0
        return bool(more) or self._read_more()

    def _mark_at(self, position: int) -> Mark:
        start, text = self._window_at, self._text
        lines = text.count("\n", 0, position)
        column = position - text.rfind("\n", 0, position) if lines else start.column + position
        return Mark(start.byte + len(text[:position].encode()), start.line + lines, column)

    def _refuse(self, position: int, *, unfinished: bool = False) -> NoReturn:
        at = self._mark_at(position)
        ended = unfinished or _CUT.fullmatch(self._text, position)
        fault = "ends before it is complete" if ended else "is not JSON"
        raise NotJson(f"{fault} (line {at.line:,}, column {at.column:,})")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in unique if keys.count(key) > 1)
        raise NotJson(f"names {twice[:60]!r} twice")
    return unique


def _refuse_constant(name: str) -> NoReturn:
    raise NotJson(f"holds {name}, which is not JSON")
