"""The security log: who was let in and thrown out, and what looked like an attack. Ids and reasons, never a secret."""

from __future__ import annotations

import logging

log = logging.getLogger("accounts.security")


def log_event(message: str, *, suspicious: bool = False, **fields: object) -> None:
    """One record, a warning when it is `suspicious`."""
    level = logging.WARNING if suspicious else logging.INFO
    log.log(level, message, extra={"fields": {name: str(value) for name, value in fields.items()}})
