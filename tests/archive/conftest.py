"""Importing and exporting as an operator does: by the commands."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command

Load = Callable[..., str]


def exported(**options: Any) -> str:
    """What `export_workspace` writes to standard output."""
    out = io.StringIO()
    call_command("export_workspace", stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


@pytest.fixture
def load(tmp_path, db) -> Load:
    """Imports an archive, given as an object or as the file's text or bytes; returns what the command printed."""

    def run(document: Any, email: str = "alice@example.com", **options: str) -> str:
        file = tmp_path / "archive.json"
        text = document if isinstance(document, str | bytes) else json.dumps(document)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        out = io.StringIO()
        call_command("import_workspace", str(file), email=email, stdout=out, stderr=io.StringIO(), **options)
        return out.getvalue()

    return run


@pytest.fixture
def refused(load) -> Callable[..., list[str]]:
    """The faults of an archive that must be refused, one a line."""

    def run(document: Any, **options: str) -> list[str]:
        with pytest.raises(CommandError) as refusal:
            load(document, **options)
        first, *faults = str(refusal.value).split("\n")
        assert first == "Nothing was imported."
        return faults

    return run
