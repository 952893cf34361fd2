"""Other people's clients on the running server: found, registered, allowed at a real Chromium, called, refreshed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Browser

from tests.mcp_bridge.test_node_clients import MODULES, packages
from tests.oauth.chromium import running_chromium, sign_in
from tests.server import LiveServer

__all__ = ["packages"]

pytestmark = [
    pytest.mark.server,
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which("npm") is None, reason="needs Node and npm for other people's clients"),
]

CLIENTS = Path(__file__).parent / "clients"
PROGRAMS = {
    "Python SDK, auto": (sys.executable, "python_sdk.py", "auto"),
    "Python SDK, legacy": (sys.executable, "python_sdk.py", "legacy"),
    "TypeScript SDK 1": ("node", "sdk_1.mjs", ""),
    "TypeScript client 2, auto": ("node", "client_2.mjs", "auto"),
    "TypeScript client 2, legacy": ("node", "client_2.mjs", "legacy"),
}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with running_chromium() as browser:
        yield browser


class Program:
    """A client as a process of its own that says one JSON object a line."""

    def __init__(self, name: str, url: str) -> None:
        command, file, mode = PROGRAMS[name]
        self.process = subprocess.Popen(
            [command, str(CLIENTS / file), url, mode],
            env={**os.environ, "NODE_MODULES": str(MODULES)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def says(self) -> dict[str, Any]:
        """What it says next; fails with its complaint when it says nothing."""
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        return json.loads(line)

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_client_authorizes_calls_a_tool_and_refreshes(server: LiveServer, chromium: Browser, name: str) -> None:
    program = Program(name, f"{server.url}/mcp")
    try:
        page = chromium.new_context().new_page()
        page.goto(program.says()["authorize"])
        sign_in(page, server, f"{uuid4().hex}@example.com")
        assert re.search(r"Connect “(TypeScript|Python)", page.get_by_role("heading", level=1).inner_text())
        page.get_by_role("button", name="Allow").click()
        page.get_by_text("You can close this window.").wait_for()
        assert program.says() == {
            "clientId": "fcc_",
            "scope": "flashcards",
            "first": ["Personal"],
            "second": ["Personal"],
            "authorizations": 1,
            "rotated": True,
        }
    finally:
        program.close()
