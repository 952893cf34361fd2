"""What is wrong with an archive, and where."""

from __future__ import annotations

from dataclasses import dataclass

FAULTS_MAX = 10
PLACE_SHOWN_MAX = 120


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: its place in the file (`cards[17].due_at`; empty for the file as a whole) and a predicate."""

    place: str
    message: str

    def __post_init__(self) -> None:
        # A place may hold a name from the file, and that may be meant for the terminal or page that shows it.
        shown = "".join(sign if sign.isprintable() else "\ufffd" for sign in self.place[:PLACE_SHOWN_MAX])
        object.__setattr__(self, "place", shown)

    def __str__(self) -> str:
        return f"{self.place or 'the file'}: {self.message}"


class ArchiveRefused(Exception):
    """The archive was not imported, no part of it. `faults` holds the first ten reasons, at least one."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = faults


class Faults:
    """Collects faults and ends the reading once there are ten."""

    def __init__(self) -> None:
        self._found: list[Fault] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, place: str, message: str) -> None:
        """Note one fault; raises ArchiveRefused with the tenth."""
        self._found.append(Fault(place, message))
        if len(self._found) >= FAULTS_MAX:
            raise ArchiveRefused(self._found)

    def end(self, last: Fault | None = None) -> None:
        """Raise ArchiveRefused if there was any fault, with `last` as the fault that ended the reading."""
        found = [*self._found, *([last] if last else [])]
        if found:
            raise ArchiveRefused(found)
