"""`manage.py restore`: a backup back into the database."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from flashcards.management.commands.serve import migration_lock
from flashcards.management.database_copy import restore_database


class Command(BaseCommand):
    """Replace what is stored by a backup."""

    help = "Replace everything that is stored by what `backup` wrote, then migrate it. Asks first on a terminal."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the file that `backup` wrote")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *, file: Path, yes: bool, **_: Any) -> None:
        """CommandError, with everything as it was, for a file that is no backup."""
        if sys.stdin.isatty() and not yes and input("Replace everything that is stored now? [y/N] ").lower() != "y":
            raise CommandError("Nothing was changed.")
        restore_database(file)
        with migration_lock():
            call_command("migrate", interactive=False, verbosity=0)
        self.stderr.write(f"Restored {file}.")
