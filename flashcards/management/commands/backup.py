"""`manage.py backup`: the whole database in one file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils import timezone

from flashcards.management.database_copy import backup_database, copy_suffix


class Command(BaseCommand):
    """Copy the database while the service runs."""

    help = "Copy the whole database into a file, consistent while the service runs, and print the file's name."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, nargs="?", help="default: DATA_DIR/backups/flashcards-<time>")

    def handle(self, *, file: Path | None, **_: Any) -> None:
        """Prints the file's name alone on standard output."""
        stamp = timezone.now().strftime("%Y%m%dT%H%M%SZ")
        target = file or settings.DATA_DIR / "backups" / f"flashcards-{stamp}{copy_suffix()}"
        backup_database(target)
        self.stdout.write(str(target))
