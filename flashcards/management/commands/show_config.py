"""`manage.py show_config`: the settings in effect, and the texts that document them."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from flashcards.addresses import without_password
from flashcards.configuration import ROOT, Configuration, is_secret

MASK = "********"


class Command(BaseCommand):
    """Print the effective settings."""

    help = "Print the effective settings, secrets masked; or, for the documentation, the table of all settings."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--table", action="store_true", help="the page docs/settings.md")
        form.add_argument("--env", action="store_true", help="the file .env.example")

    def handle(self, *, table: bool, env: bool, **_: Any) -> str:
        """The text, which Django prints."""
        if table:
            return settings_page()
        return env_example() if env else "\n".join(effective_lines())


def effective_lines() -> list[str]:
    """`NAME=value` for every setting."""
    return [f"{name}={effective(name)}" for name in Configuration.model_fields]


def effective(name: str) -> str:
    """The value in effect, as the environment would spell it; never a secret."""
    value = getattr(settings.CONFIGURATION, name)
    if name == "DATABASE_URL":
        return without_password(value) or f"sqlite:///{settings.DATABASES['default']['NAME']}"
    if name == "EMAIL_URL":
        return without_password(value)
    if name == "SECRET_KEY" and not value:
        return f"{MASK}  # made once, kept in {settings.DATA_DIR / 'secret_key'}"
    if is_secret(name):
        return MASK if value else ""
    return spelled(getattr(settings, name, value))


def spelled(value: object) -> str:
    """A setting's value as one writes it into the environment."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join("/".join(map(str, part)) if isinstance(part, tuple) else str(part) for part in value)
    if isinstance(value, Path):
        return str(value.relative_to(ROOT)) if value.is_relative_to(ROOT) else str(value)
    return str(value)


def default_of(name: str) -> str:
    """The default as one would write it."""
    return spelled(Configuration.model_fields[name].default)


def settings_page() -> str:
    """docs/settings.md."""
    return "\n".join([SETTINGS_HEAD, *map(_row, Configuration.model_fields)])


def _row(name: str) -> str:
    default = default_of(name)
    shown = f"`{default}`" if default else "unset"
    secret = " (secret)" if is_secret(name) else ""
    return f"| `{name}`{secret} | {shown} | {Configuration.model_fields[name].description} |"


def env_example() -> str:
    """.env.example: every setting, commented out, at its default."""
    parts = [
        f"# {(field.description or '').replace('`', '')}\n# {name}={default_of(name)}\n"
        for name, field in Configuration.model_fields.items()
    ]
    return "\n".join([ENV_HEAD, *parts]).rstrip("\n")


SETTINGS_HEAD = """\
# Settings

<!-- Written by `python manage.py show_config --table`; a test compares. -->

All settings are environment variables; a file `.env` beside `manage.py` is read too, and the environment wins over it.
An empty value counts as unset. A value that is not of its form stops the start with one line that names the variable;
so does a name in `.env` that is close to one of these (`EMAILURL`), others being somebody else's. For a secret
one can set `NAME_FILE`, a file that holds the value, instead of `NAME`. `.venv/bin/python manage.py show_config` prints
what is in effect, secrets masked.

| variable | default | what it is for |
| --- | --- | --- |"""

ENV_HEAD = """\
# Copy to .env and uncomment what you change. docs/settings.md has the same as a table.
"""
