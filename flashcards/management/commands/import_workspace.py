"""`manage.py import_workspace`: a workspace archive into the database."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.errors import InvalidEmail
from accounts.services import clean_email
from flashcards.management.progress import progress_on
from review.archive import ArchiveRefused, Imported, import_archive


class Command(BaseCommand):
    """Reads an archive into a workspace of the user with that address; everything or nothing."""

    help = (
        "Import a workspace archive (see docs/archive.md). The owner is found by e-mail address, or made. Rows that "
        "the workspace has already are updated in place, so that running it again changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="the archive; - reads standard input")
        parser.add_argument("--email", required=True, help="the owner's e-mail address")
        parser.add_argument("--name", help="a name for the workspace, instead of the one in the archive")

    def handle(self, *_: Any, file: str, email: str, name: str | None = None, **__: Any) -> None:
        now = timezone.now()
        progress = progress_on(self.stderr)
        try:
            with _opened(file) as archive:
                imported = import_archive(archive, email=clean_email(email), name=name, now=now, progress=progress)
        except InvalidEmail as refusal:
            raise CommandError(refusal.message) from None
        except ArchiveRefused as refusal:
            raise CommandError("Nothing was imported.\n" + "\n".join(map(str, refusal.faults))) from None
        except OSError as error:
            raise CommandError(f"Cannot read {file}: {error.strerror}.") from None
        self.stdout.write(_summary(imported, email))


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    with open(file, "rb") as archive:
        yield archive


def _summary(imported: Imported, email: str) -> str:
    counts = ", ".join(f"{count:,} {_noun(name, count)}" for name, count in imported.counts.items())
    verb = "Made" if imported.is_new else "Updated"
    workspace = imported.workspace
    return f"{verb} workspace {workspace.name!r} ({workspace.workspace_id}) of {email.strip().lower()}: {counts}."


def _noun(name: str, count: int) -> str:
    words = name.replace("_", " ")
    return words.removesuffix("s") if count == 1 else words
