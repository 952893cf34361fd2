"""What stands beside the endpoint: the page about clients, the skills, the registry's description."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from flashcards.configuration import ROOT
from flashcards.content import CARD_CONTRACT
from mcp_bridge.operations import TOPICS
from mcp_bridge.protocol import SERVER_NAME, SERVER_VERSION
from tests.agent import Agent
from tests.factories import make_card
from tests.mcp_bridge.door import Door
from tests.mcp_bridge.test_tools import TABLE, TOOLS

SKILLS = sorted((ROOT / "skills").glob("*/SKILL.md"))
CONNECTOR = ROOT / "docs/mcp-connector.md"


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of that language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def prose(page: Path) -> str:
    """The page on one line, without the signs of Markdown."""
    return re.sub(r"\s+", " ", page.read_text(encoding="utf-8").replace("`", ""))


# --- The page about clients


def test_every_configuration_on_the_page_is_json_that_names_the_endpoint() -> None:
    configurations = [json.loads(block) for block in blocks(CONNECTOR, "json")]
    assert len(configurations) == 4
    assert all("/mcp" in json.dumps(one) for one in configurations)


def test_the_page_lists_exactly_the_tools_and_which_of_them_write() -> None:
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\| (yes)? ?\|$", CONNECTOR.read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name, _ in rows] == list(TOOLS)
    assert {name for name, writes in rows if writes} == {
        name for name, (h, _, _) in TABLE.items() if not h["readOnlyHint"]
    }


def test_the_page_names_every_client_and_the_key() -> None:
    text = CONNECTOR.read_text(encoding="utf-8")
    for word in ("Claude Code", "Claude on the web", "ChatGPT", "Cursor", "VS Code", "mcp-remote", "Bearer fca_"):
        assert word in text


def test_the_links_of_the_page_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([\w./-]+)\)", CONNECTOR.read_text(encoding="utf-8")):
        assert (CONNECTOR.parent / target).exists()


# --- Skills


def test_there_are_three_skills() -> None:
    assert [page.parent.name for page in SKILLS] == ["create-flashcards", "improve-flashcards", "study-due-cards"]


@pytest.mark.parametrize("page", SKILLS, ids=lambda page: page.parent.name)
def test_a_skill_says_what_it_is_for(page: Path) -> None:
    _, front, body = page.read_text(encoding="utf-8").split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in front.splitlines())
    assert fields["name"] == page.parent.name
    assert fields.keys() == {"name", "description"}
    assert "Use when" in fields["description"]
    assert len(fields["description"]) <= 1024
    assert len(body) < 5000


@pytest.mark.parametrize("page", [*SKILLS, CONNECTOR], ids=lambda page: page.parent.name)
def test_every_tool_and_guide_that_a_page_names_exists(page: Path) -> None:
    named = set(re.findall(r"`([a-z]+_[a-z_]+)`", page.read_text(encoding="utf-8")))
    columns = {"front_text", "back_text"}
    assert named - columns <= {*TOOLS, *TOPICS}
    assert named & set(TOOLS)


@pytest.mark.parametrize("page", SKILLS, ids=lambda page: page.parent.name)
def test_the_sql_of_a_skill_runs_as_it_stands(alice: Agent, legacy: Door, page: Path) -> None:
    make_card(alice.workspace, card_id="3f2b8c1e-9a4d-4c7b-8f10-2d6e5a90b1c4", tags=["Spanish"])
    statements = blocks(page, "sql")
    assert statements
    for sql in statements:
        tool = "sql_query" if sql.startswith("SELECT") else "sql_execute"
        assert legacy.data(tool, sql=sql)


@pytest.mark.parametrize(
    "page", [CONNECTOR, *(page for page in SKILLS if page.parent.name != "study-due-cards")], ids=str
)
def test_whoever_writes_cards_is_told_what_front_and_back_hold(page: Path) -> None:
    for rule in CARD_CONTRACT.rstrip(".").split("; "):
        assert rule in prose(page).replace("A card's ", "")


# --- The registry


def test_the_registrys_description_agrees_with_the_server() -> None:
    described: dict[str, Any] = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert described["version"] == SERVER_VERSION == project["version"]
    assert described["name"].endswith(f"/{SERVER_NAME}")
    assert len(described["description"]) <= 100
    (remote,) = described["remotes"]
    assert remote["type"] == "streamable-http"
    assert remote["url"] == "https://{host}/mcp"
    assert remote["variables"].keys() == {"host"}
