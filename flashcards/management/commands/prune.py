"""`manage.py prune`: away with what no longer has any effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from accounts.login import prune_login

# Each takes `now` and returns how many rows it deleted.
PRUNERS: dict[str, Callable[..., int]] = {
    "sign-in codes and requests": prune_login,
}


class Command(BaseCommand):
    """Runs every prune service once."""

    help = "Delete what has expired and no longer has any effect. Safe at any time, beside a running server too."

    def handle(self, *_: Any, **__: Any) -> None:
        now = timezone.now()
        for name, prune in PRUNERS.items():
            self.stdout.write(f"{name}: {prune(now=now):,} deleted")
