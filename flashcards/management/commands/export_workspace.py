"""`manage.py export_workspace`: a workspace as an archive."""

from __future__ import annotations

import os
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q

from flashcards.management.progress import progress_on
from flashcards.models import Workspace
from flashcards.operation import parse_uuid
from review.archive import export_archive


class Command(BaseCommand):
    """Writes the archive of one workspace to a file or to standard output."""

    help = "Export a workspace with its cards, decks and reviews, the trash included (see docs/archive.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--email", help="the owner's e-mail address; enough when the owner has one workspace")
        parser.add_argument("--workspace", metavar="ID|NAME", help="the workspace's id or exact name")
        parser.add_argument("--output", metavar="FILE", default="-", help="where to write; - is standard output")

    def handle(
        self, *_: Any, email: str | None = None, workspace: str | None = None, output: str = "-", **__: Any
    ) -> None:
        pieces = export_archive(_chosen(email, workspace), progress=progress_on(self.stderr))
        try:
            if output == "-":
                self._write_out(pieces)
            else:
                _write_file(pieces, Path(output))
                self.stdout.write(f"Wrote {output}.")
        except OSError as error:
            name = "standard output" if output == "-" else output
            raise CommandError(f"Cannot write {name}: {error.strerror}.") from None

    def _write_out(self, pieces: Iterable[str]) -> None:
        # Archives are UTF-8 whatever the terminal is set to; a text stream that is passed in takes text.
        raw = getattr(self.stdout, "buffer", None)
        for piece in pieces:
            if raw is None:
                self.stdout.write(piece, ending="")
            else:
                raw.write(piece.encode())
        self.stdout.flush()


def _write_file(pieces: Iterable[str], file: Path) -> None:
    """Write the whole file or leave what is there: a broken export must not pass for a backup."""
    if file.exists() and not file.is_file():
        with file.open("w", encoding="utf-8") as device:
            device.writelines(pieces)
        return
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=file.parent, prefix=f".{file.name}.", delete=False
    ) as draft:
        try:
            draft.writelines(pieces)
            draft.close()
            os.replace(draft.name, file)
        except BaseException:
            Path(draft.name).unlink(missing_ok=True)
            raise


def _chosen(email: str | None, named: str | None) -> Workspace:
    if email is None and named is None:
        raise CommandError("Say which workspace: --email, --workspace, or both.")
    found = Workspace.objects.order_by("created_at", "workspace_id")
    if email is not None:
        found = found.filter(users__email=email.strip().lower())
    if named is not None:
        id_ = _uuid_or_none(named)
        found = found.filter(Q(pk=id_) | Q(name=named) if id_ else Q(name=named))
    choice = list(found[:20])
    if not choice:
        raise CommandError("There is no such workspace.")
    if len(choice) > 1:
        listed = "\n".join(f"  {workspace.workspace_id}  {workspace.name!r}" for workspace in choice)
        raise CommandError(f"Several workspaces fit; pass the id of one as --workspace:\n{listed}")
    return choice[0]


def _uuid_or_none(text: str) -> UUID | None:
    try:
        return parse_uuid(text)
    except ValueError:
        return None
