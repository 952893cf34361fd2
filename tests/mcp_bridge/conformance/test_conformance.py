"""The published suite finds nothing but what `baseline.json` lists, each with its reason.

The suite comes from npm, by the lock file in `../node/`, and brings its own Node with it.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_bridge.test_node_clients import MODULES, NEWER_NODE, packages, run
from tests.server import LiveServer, running_server

__all__ = ["packages"]

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(shutil.which("npm") is None, reason="needs Node and npm for the published suite"),
]

BASELINE: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "baseline.json").read_text())
SCENARIO = re.compile(r"^[✓✗] ([\w-]+): \d+ passed, (\d+) failed$", re.MULTILINE)


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server that adds the token which the suite cannot send."""
    folder = tmp_path_factory.mktemp("conformance")
    with running_server(folder, DJANGO_SETTINGS_MODULE="tests.mcp_bridge.conformance.settings") as running:
        (folder / "conformance_key").write_text(running.create_api_key())
        yield running


@pytest.mark.parametrize("release", BASELINE)
def test_the_suite_finds_what_the_baseline_lists_and_nothing_else(
    open_server: LiveServer, tmp_path: Path, release: str
) -> None:
    expected = BASELINE[release]
    suite = str(MODULES / expected["program"])
    ran = run(NEWER_NODE, suite, "server", "--url", f"{open_server.url}/mcp", "-o", str(tmp_path), *expected["options"])
    scenarios = {name: int(failed) for name, failed in SCENARIO.findall(ran.stdout)}
    assert len(scenarios) == expected["scenarios"], ran.stdout + ran.stderr
    failed = {name: checks for name, checks in scenarios.items() if checks}
    assert failed == {name: failure["checks"] for name, failure in expected["failures"].items()}, ran.stdout


@pytest.mark.parametrize("release", BASELINE)
def test_every_expected_failure_has_its_reason(release: str) -> None:
    for failure in BASELINE[release]["failures"].values():
        assert len(failure["why"]) > 20
