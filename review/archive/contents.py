"""An archive file as a whole: looked through once before anything is stored, then read list by list."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from review.archive.faults import Fault, Faults
from review.archive.json_stream import JsonStream, Mark, NotJson

FORMAT = "flashcards-workspace"
VERSION = 1
LISTS = ("cards", "decks", "review_events")

Progress = Callable[[str, int, int], None]


def no_progress(_name: str, _done: int, _total: int) -> None:
    """Watches nothing."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a list: its place (`cards[17]`), its index, the decoded value, and its length in the file."""

    place: str
    index: int
    value: Any
    characters: int


@dataclass
class Contents:
    """What a file holds. The lists may stand in any order, before the workspace or after it."""

    file: BinaryIO
    workspace: Any = None
    lists: dict[str, Mark] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(LISTS, 0))

    def entries(self, name: str) -> Iterator[Entry]:
        """The entries of one list, none when it is absent."""
        if name not in self.lists:
            return
        for index, value, characters in JsonStream(self.file, self.lists[name]).items():
            yield Entry(f"{name}[{index}]", index, value, characters)


@contextmanager
def seekable(file: BinaryIO) -> Iterator[BinaryIO]:
    """The file itself, or a copy on disk of one that can be read only once, such as a pipe."""
    if file.seekable():
        yield file
        return
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(file, copy)
        yield copy


def look_through(file: BinaryIO, faults: Faults) -> Contents:
    """Read the whole file once. Faults of its top level are noted; one that ends the reading raises ArchiveRefused."""
    survey = _Survey(file, faults)
    try:
        survey.read_object()
    except NotJson as refusal:
        faults.end(Fault(survey.place, str(refusal)))
    if survey.contents.workspace is None:
        faults.add("workspace", "is missing")
    return survey.contents


class _Survey:
    def __init__(self, file: BinaryIO, faults: Faults) -> None:
        self.contents = Contents(file)
        self.place = ""
        self._faults = faults
        self._seen: set[str] = set()

    def read_object(self) -> None:
        stream = self._stream = JsonStream(self.contents.file)
        if stream.peek() not in ("{", ""):
            raise NotJson("must be one JSON object")
        stream.skip("{")
        while stream.peek() != "}":
            if self._seen:
                stream.skip(",")
            self._read_member()
        stream.skip("}")
        if stream.peek():
            raise NotJson("goes on after its object has ended")

    def _read_member(self) -> None:
        self.place = ""
        if self._stream.peek() not in ('"', ""):
            self._stream.skip('"')
        name = self._stream.value()
        self._stream.skip(":")
        if name in self._seen:
            raise NotJson(f"names {name[:60]!r} twice")
        self._seen.add(name)
        self.place = name
        if name in LISTS:
            self._count_entries(name)
        else:
            self._check_value(name, self._stream.value())
        self.place = ""

    def _count_entries(self, name: str) -> None:
        if self._stream.peek() != "[":
            self._stream.value()
            self._faults.add(name, "must be a list")
            return
        self.contents.lists[name] = self._stream.mark()
        self.place = f"{name}[0]"
        for index, _, _ in self._stream.items():
            self.contents.counts[name] = index + 1
            self.place = f"{name}[{index + 1}]"

    def _check_value(self, name: str, value: Any) -> None:
        if name == "workspace":
            self.contents.workspace = value
        elif name == "format":
            if value != FORMAT:
                self._faults.add(name, f'must be "{FORMAT}"')
        elif name == "version":
            if value != VERSION or isinstance(value, bool):
                self._faults.add(name, f"must be {VERSION}, the only one there is")
        else:
            known = ", ".join(("format", "version", "workspace", *LISTS))
            self._faults.add(name, f"is not a known field; known are {known}")
