"""Sessions in the database under the hash of their key: a copy of the database signs nobody in.

The service is synchronous; the asynchronous variants of Django's store are not adapted.
"""

from __future__ import annotations

import hashlib
from typing import Any

from django.contrib.sessions.backends.db import SessionStore as DatabaseSessions
from django.contrib.sessions.base_session import AbstractBaseSession
from django.contrib.sessions.models import Session
from django.utils import timezone

STORED_LENGTH = 40


def stored_key(session_key: str) -> str:
    """What stands in the table for the key that the cookie holds: as much of its SHA-256 as the column takes."""
    return hashlib.sha256(session_key.encode()).hexdigest()[:STORED_LENGTH]


class SessionStore(DatabaseSessions):
    """Django's sessions, but for what their rows are found by."""

    def _get_session_from_db(self) -> Session | None:
        live = Session.objects.filter(expire_date__gt=timezone.now())
        row = live.filter(session_key=stored_key(self.session_key or "")).first()
        if row is None:
            self._session_key = None
        return row

    def exists(self, session_key: str) -> bool:
        """Whether a session has that key."""
        return super().exists(stored_key(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> AbstractBaseSession:
        """The row that keeps `data`."""
        row = super().create_model_instance(data)
        row.session_key = stored_key(row.session_key)
        return row

    def delete(self, session_key: str | None = None) -> None:
        """Forget the session of that key, or this one."""
        key = session_key or self.session_key
        if key is not None:
            super().delete(stored_key(key))
