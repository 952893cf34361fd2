"""`manage.py prune`: away with what no longer has any effect."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from flashcards.management.pruning import prune_all


class Command(BaseCommand):
    """Runs every prune service once."""

    help = "Delete what has expired and no longer has any effect. Safe at any time, beside a running server too."

    def handle(self, *_: Any, **__: Any) -> None:
        for name, count in prune_all(now=timezone.now()):
            self.stdout.write(f"{name}: {count:,} deleted")
