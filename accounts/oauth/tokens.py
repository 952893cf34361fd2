"""The credentials of a connected app: how they look, how long they live, and the hashes that are stored of them."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

ACCESS_TOKEN_PREFIX = "fco_"  # noqa: S105  a prefix that secret scanners can look for
REFRESH_TOKEN_PREFIX = "fcr_"  # noqa: S105
CODE_LIFETIME = timedelta(seconds=600)
ACCESS_TOKEN_LIFETIME = timedelta(seconds=3600)
REFRESH_TOKEN_IDLE_LIFETIME = timedelta(days=60)
RETRY_WINDOW = timedelta(seconds=120)
RETRIES_MAX = 5


def make_access_token(_request: object) -> str:
    """A new access token with 256 random bits; `_request` is oauthlib's and not needed."""
    return ACCESS_TOKEN_PREFIX + secrets.token_urlsafe(32)


def make_refresh_token(_request: object) -> str:
    """A new refresh token with 256 random bits."""
    return REFRESH_TOKEN_PREFIX + secrets.token_urlsafe(32)


def checksum(secret: str) -> str:
    """SHA-256 in hex: what the rows of codes and tokens hold instead of them."""
    return hashlib.sha256(secret.encode()).hexdigest()
