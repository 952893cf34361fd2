"""Progress of long commands, for people who watch a terminal."""

from __future__ import annotations

from collections.abc import Callable

from django.core.management.base import OutputWrapper

WIDTH = 30


def progress_on(stream: OutputWrapper) -> Callable[[str, int, int], None]:
    """A function of a name, how many are done and of how many: draws a bar on a terminal, does nothing elsewhere."""
    return lambda name, done, total: _draw(stream, name, done, total) if stream.isatty() else None


def _draw(stream: OutputWrapper, name: str, done: int, total: int) -> None:
    filled = WIDTH * done // max(total, 1)
    bar = "#" * filled + "." * (WIDTH - filled)
    end = "\n" if done >= total else ""
    stream.write(f"\r{name.replace('_', ' '):<14} [{bar}] {done:,} of {total:,}", style_func=str, ending=end)
    stream.flush()
