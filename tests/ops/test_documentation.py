"""The README and its neighbours: commands that work, links that lead somewhere, files that parse."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from flashcards.configuration import ROOT, Configuration, is_secret
from flashcards.management.agent_session import CODE_FORM
from tests.server import LiveServer

PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    missing = [link for link in links if not link.startswith("/") and not (page.parent / link).exists()]
    assert missing == []


def curl_commands() -> list[str]:
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("## A command-line agent")[1]
    block = section.split("```sh\n")[1].split("```")[0]
    return block.splitlines()


def run_shell(command: str) -> Any:
    ended = subprocess.run(["/bin/bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.server
def test_the_commands_of_the_readme_work_as_they_stand(server: LiveServer) -> None:
    known: dict[str, str] = {}
    commands = curl_commands()
    assert len(commands) == 8
    for command in commands:
        at = command.replace("http://localhost:8000", server.url).replace("you@example.com", "readme@example.com")
        for name, value in known.items():
            at = at.replace(f"<{name}>", value)
        answer = run_shell(at)
        assert answer["ok"], (command, answer)
        data = answer["data"]
        known |= {name: data[name] for name in ("otpSessionToken", "apiKey") if name in data}
        known |= {"cardId": data["card"]["cardId"]} if data.get("card") else {}
        if "otpSessionToken" in data:
            known["code"] = CODE_FORM.findall(server.printed())[-1]
    assert data["state"] == "learning"


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/self-hosting.md"])
def test_every_make_target_and_command_that_is_named_exists(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = set(re.findall(r"\bmake ([a-z]+)\b(?=`|\s{2,}| +#)", text))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {target for target in targets if f"\n{target}:" not in makefile} == set()
    commands = set(re.findall(r"manage\.py ([a-z_]+)", text)) - {"check", "sendtestemail"}
    folders = [ROOT / app / "management" / "commands" for app in ("flashcards", "accounts", "review")]
    assert {name for name in commands if not any((at / f"{name}.py").exists() for at in folders)} == set()


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/self-hosting.md", "compose.yaml"]
)
def test_every_setting_that_is_named_exists(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"\b([A-Z]+(?:_[A-Z]+)+)\b", text))
    known = {*Configuration.model_fields, *(f"{name}_FILE" for name in Configuration.model_fields if is_secret(name))}
    others = {"INTERNAL_ERROR", "POSTGRES_PASSWORD", "POSTGRES_USER", "POSTGRES_DB", "NAME_FILE"}
    assert named - known - others == set()


def test_compose_needs_no_env_file_and_keeps_its_data() -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    app, database = compose["services"]["app"], compose["services"]["postgresql"]
    assert app["env_file"] == [{"path": ".env", "required": False}]
    assert app["volumes"] == ["data:/data"]
    assert app["environment"]["DATA_DIR"] == "/data"
    assert database["profiles"] == ["postgresql"]
    assert set(compose["volumes"]) == {"data", "postgresql"}


def test_the_image_runs_as_nobody_in_particular_and_is_watched() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert "USER flashcards" in lines
    assert any(line.startswith("HEALTHCHECK") for line in lines)
    assert lines[-1] == 'CMD ["python", "manage.py", "serve", "--host", "0.0.0.0"]'


def test_requirements_are_pinned_exactly() -> None:
    lines = [
        line
        for name in ("requirements.txt", "requirements-dev.txt")
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines()
        if line and not line.startswith(("#", "-r "))
    ]
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+(\[[\w,]+\])?==[\w.]+", line)] == []
