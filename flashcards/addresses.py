"""DATABASE_URL and EMAIL_URL as Django's settings want them. What is not understood is refused, never guessed at.

Pure functions; every fault is a ValueError whose text completes "DATABASE_URL …".
"""

from __future__ import annotations

from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

STATEMENT_SECONDS_MAX = 15
SQLITE_WAIT_SECONDS = 10

DATABASE_FORM = "must be postgres://user:password@host:5432/name or sqlite:///path/to/file"
EMAIL_FORM = "must be consolemail:// or smtp+tls://user:password@host:587"
_SPECIAL = "(write special characters of a user name or password as %XX)"

POSTGRESQL_OPTIONS = frozenset({
    "application_name", "channel_binding", "connect_timeout", "gssencmode", "host", "sslcert", "sslkey", "sslmode",
    "sslrootcert", "target_session_attrs",
})  # fmt: skip

# Without a database a request waits no longer than without a pool, and a later one tries anew instead of waiting for
# the pool's next attempt.
POOL = {"min_size": 1, "max_size": 8, "timeout": 4, "reconnect_timeout": 4}

# scheme: (port, STARTTLS, TLS from the first byte)
SMTP_SCHEMES = {
    "smtp": (25, False, False),
    "smtp+tls": (587, True, False),
    "smtp+ssl": (465, False, True),
    "smtps": (465, False, True),
}


def database_settings(url: str, *, pool: bool = False) -> dict[str, Any]:
    """Django's DATABASES["default"] for `url`; ValueError for one that is not of the form."""
    parts, options = _split(url, DATABASE_FORM)
    if parts.scheme == "sqlite":
        return _sqlite(parts, options)
    if parts.scheme in ("postgres", "postgresql"):
        return _postgresql(parts, options, pool=pool)
    raise ValueError(DATABASE_FORM)


def email_settings(url: str) -> dict[str, Any]:
    """Django's EMAIL_* settings for `url`; ValueError for one that is not of the form."""
    parts, options = _split(url, EMAIL_FORM)
    if options or parts.path not in ("", "/"):
        raise ValueError(f"{EMAIL_FORM}, with nothing after the port")
    if parts.scheme == "consolemail" and not parts.netloc:
        return {"EMAIL_BACKEND": "flashcards.console_mail.ConsoleMail"}
    if parts.scheme not in SMTP_SCHEMES or not parts.hostname:
        raise ValueError(EMAIL_FORM)
    port, starttls, tls = SMTP_SCHEMES[parts.scheme]
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or port,
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": starttls,
        "EMAIL_USE_SSL": tls,
    }


def without_password(url: str) -> str:
    """`url` with its password masked, for the eyes of an operator."""
    parts = urlsplit(url)
    if not parts.password:
        return url
    login, _, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{login.partition(':')[0]}:********@{host}").geturl()


def _split(url: str, form: str) -> tuple[SplitResult, dict[str, str]]:
    try:
        parts = urlsplit(url)
        _ = parts.port
        pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise ValueError(f"{form} {_SPECIAL}") from None
    if parts.fragment or len(dict(pairs)) < len(pairs) or any(sign.isspace() for sign in url):
        raise ValueError(f"{form} {_SPECIAL}")
    return parts, dict(pairs)


def _sqlite(parts: SplitResult, options: dict[str, str]) -> dict[str, Any]:
    name = unquote(parts.path.removeprefix("/"))
    if parts.netloc or not name or name.endswith(("/", ":memory:")):
        raise ValueError("must name a file after three slashes: sqlite:///path/to/file")
    _refuse_others(options, {"timeout"})
    wait_seconds = options.get("timeout", str(SQLITE_WAIT_SECONDS))
    if not (wait_seconds.isascii() and wait_seconds.isdigit() and 1 <= int(wait_seconds) <= 60):
        raise ValueError("takes ?timeout= in whole seconds, 1 to 60")
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": name,
        "OPTIONS": {
            # Writers queue at BEGIN instead of failing when a read transaction wants to write.
            "transaction_mode": "IMMEDIATE",
            "timeout": int(wait_seconds),
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-65536;",
        },
    }


def _postgresql(parts: SplitResult, options: dict[str, str], *, pool: bool) -> dict[str, Any]:
    name = unquote(parts.path.removeprefix("/"))
    if not name or "/" in name:
        raise ValueError("must name a database: postgres://user:password@host:5432/name")
    _refuse_others(options, POSTGRESQL_OPTIONS)
    session = f"-c statement_timeout={STATEMENT_SECONDS_MAX}s -c timezone=UTC"
    host = options.pop("host", "") or unquote(parts.hostname or "")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(parts.port or ""),
        "OPTIONS": {"connect_timeout": 3, **options, "options": session} | ({"pool": POOL} if pool else {}),
        # Django refuses the pool together with persistent connections.
        "CONN_MAX_AGE": 0 if pool else 60,
        "CONN_HEALTH_CHECKS": True,
    }


def _refuse_others(options: dict[str, str], known: frozenset[str] | set[str]) -> None:
    other = next((name for name in options if name not in known), None)
    if other is not None:
        raise ValueError(f"has an unknown option {other[:40]!r}; known are {', '.join(sorted(known))}")
