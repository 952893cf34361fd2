"""Statements with known answers, each sent over HTTP to the database that is configured.

The file names fixtures in the form of a workspace archive. An expectation holds only the keys that matter: rows are a
multiset unless `ordered`, `extra_columns` allows more columns than named, and `<uuid>` and the like stand for any value
of that form.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client

from accounts.models import User
from flashcards.models import Workspace
from tests.agent import Agent, Answered

FILE = Path(__file__).with_name("cases") / "dialect.json"
DOCUMENT = json.loads(FILE.read_text(encoding="utf-8"))
FORMS = {
    "<uuid>": re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    "<datetime>": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"),
    "<text>": re.compile(".*", re.DOTALL),
}
PLAIN_KEYS = [
    *("statementType", "resource", "rowCount", "limit", "offset", "hasMore", "affectedCount", "rowsOmitted"),
    *("rowsTruncated", "totalRowCount", "statementCount", "affectedCountTotal"),
]
REFUSALS = {"QUERY_INVALID_SQL", "QUERY_UNSUPPORTED_SYNTAX"}


class RolledBackError(Exception):
    """Ends a transaction whose work is not wanted."""


def text_of(case: dict[str, Any]) -> str:
    if "sql" in case:
        return case["sql"]
    build = case["sql_build"]
    items = (build["item"].replace("{i}", str(number)) for number in range(1, build["count"] + 1))
    return build["prefix"] + build["join"].join(items) + build["suffix"]


def alike(wanted: Any, got: Any) -> bool:
    if isinstance(wanted, str) and wanted in FORMS:
        return isinstance(got, str) and FORMS[wanted].fullmatch(got) is not None
    if isinstance(wanted, list):
        return isinstance(got, list) and len(wanted) == len(got) and all(map(alike, wanted, got))
    if isinstance(wanted, dict):
        return isinstance(got, dict) and wanted.keys() == got.keys() and all(alike(wanted[k], got[k]) for k in wanted)
    if isinstance(wanted, float) or isinstance(got, float):
        return not isinstance(got, bool) and math.isclose(wanted, got, abs_tol=1e-9)
    return type(wanted) is type(got) and wanted == got


def assert_rows(wanted: list[Any], got: list[Any], *, ordered: bool, extra: bool) -> None:
    if extra and wanted:
        got = [{key: value for key, value in row.items() if key in wanted[0]} for row in got]
    assert len(got) == len(wanted)
    if ordered:
        assert alike(wanted, got), got
        return
    rest = list(got)
    for row in wanted:
        hit = next((index for index, other in enumerate(rest) if alike(row, other)), None)
        assert hit is not None, (row, rest)
        rest.pop(hit)


def assert_statement(wanted: dict[str, Any], got: dict[str, Any]) -> None:
    plain = {key: wanted[key] for key in PLAIN_KEYS if key in wanted}
    assert {key: got.get(key) for key in plain} == plain
    rows = got.get("rows") or []
    extra = wanted.get("extra_columns", False)
    if "rows" in wanted:
        assert_rows(wanted["rows"], rows, ordered=wanted.get("ordered", False), extra=extra)
    if "columns" in wanted and rows:
        assert [name for name in rows[0] if not extra or name in wanted["columns"]] == wanted["columns"]
    if "returnedRows" in wanted:
        assert len(rows) == wanted["returnedRows"]
    for index, part in enumerate(wanted.get("statements", [])):
        if isinstance(part, dict):
            assert_statement(part, got["statements"][index])


def assert_expected(wanted: dict[str, Any], answered: Answered) -> None:
    assert answered.status == wanted.get("http_status", answered.status), answered.body
    assert answered.body["ok"] is wanted["ok"], answered.body
    if wanted["ok"]:
        assert_statement(wanted, answered.data)
        return
    allowed = REFUSALS if wanted["code"] == "QUERY_INVALID_SQL" else {wanted["code"]}
    assert answered.error["code"] in allowed
    message = answered.error["message"].lower()
    assert [word for word in wanted.get("message_contains", []) if word.lower() not in message] == [], message
    if answered.error["code"] in REFUSALS:
        (issue,) = answered.error["details"]["validationIssues"]
        assert issue["path"] == "sql"
        assert issue["code"]
        assert issue["message"]


def load(archive: dict[str, Any], email: str, folder: Path) -> None:
    file = folder / "archive.json"
    content = {key: archive[key] for key in ("workspace", "cards", "decks", "review_events")}
    file.write_text(json.dumps(content), encoding="utf-8")
    call_command("import_workspace", str(file), email=email, stdout=io.StringIO(), stderr=io.StringIO())


@pytest.fixture(scope="module")
def agents(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[dict[str, Agent]]:
    """An agent in the workspace of each fixture, all loaded once and rolled back at the end."""
    folder = tmp_path_factory.mktemp("archives")
    with django_db_blocker.unblock():
        try:
            with transaction.atomic():
                yield {name: make_owner(fixture, folder) for name, fixture in DOCUMENT["fixtures"].items()}
                raise RolledBackError
        except RolledBackError:
            pass


def make_owner(fixture: dict[str, Any], folder: Path) -> Agent:
    load(fixture, "owner@example.com", folder)
    for other in fixture["other_workspaces"]:
        load(other, "owner@example.com" if other["owner"] == "same_user" else "stranger@example.com", folder)
    out = io.StringIO()
    call_command("create_api_key", email="owner@example.com", label="cases", stdout=out)
    workspace = Workspace.objects.get(pk=fixture["workspace"]["workspace_id"])
    user = User.objects.get(email="owner@example.com")
    return Agent(Client(raise_request_exception=False), user, workspace, out.getvalue().strip())


def send(agent: Agent, tool: str, text: str) -> Answered:
    return agent.post(f"/v1/agent/sql/{tool}", {"sql": text, "workspaceId": str(agent.workspace.workspace_id)})


@pytest.mark.parametrize("case", DOCUMENT["cases"], ids=[case["id"] for case in DOCUMENT["cases"]])
def test_statement_gives_its_known_answer(agents, case):
    agent = agents[case["fixture"]]
    try:
        with transaction.atomic():
            assert_expected(case["expect"], send(agent, case["tool"], text_of(case)))
            for step in case.get("after", []):
                assert_expected(step["expect"], send(agent, step["tool"], step["sql"]))
            raise RolledBackError
    except RolledBackError:
        pass
