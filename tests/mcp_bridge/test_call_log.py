"""The log of calls: who, what, how long, how it ended; and nothing that is the user's."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.core import signing

from flashcards.request_log import JsonFormatter, TextFormatter
from tests.agent import Agent
from tests.factories import make_card
from tests.mcp_bridge.door import APP_CAPABILITIES, CLIENT_INFO, MODERN_VERSION, Door, door_of

FIELDS = {
    "user",
    "connection",
    "workspace",
    "method",
    "tool",
    "client",
    "client_version",
    "protocol_version",
    "milliseconds",
    "result_bytes",
    "error_code",
}
MARK = "xyzzy-secret"


@pytest.fixture(params=[TextFormatter, JsonFormatter])
def records(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """The log, from the least severe record on; its `text` as each of the service's formatters writes it."""
    caplog.set_level(logging.DEBUG)
    before = caplog.handler.formatter
    caplog.handler.setFormatter(request.param())
    yield caplog
    caplog.handler.setFormatter(before)


def calls(records: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """The fields of the records of calls."""
    return [vars(record)["fields"] for record in records.records if record.name == "mcp_bridge.call_log"]


def test_a_call_leaves_one_record_with_every_field(alice: Agent, door: Door, records: pytest.LogCaptureFixture) -> None:
    response = door.post("tools/call", {"name": "next_review_card", "arguments": {}})
    (fields,) = calls(records)
    assert fields.keys() == FIELDS
    assert fields["user"] == str(alice.user.id)
    assert fields["connection"] == str(alice.user.api_keys.get().id)
    assert fields["workspace"] == str(alice.workspace.workspace_id)
    assert (fields["method"], fields["tool"]) == ("tools/call", "next_review_card")
    assert fields["protocol_version"] == door.version
    assert fields["milliseconds"] > 0
    assert fields["result_bytes"] == len(response.content)
    assert fields["error_code"] is None


def test_the_record_carries_the_request_id_of_the_answer(legacy: Door, records: pytest.LogCaptureFixture) -> None:
    response = legacy.post("tools/call", {"name": "list_workspaces"})
    (line,) = [line for line in records.text.splitlines() if "mcp_bridge.call_log" in line]
    assert response.headers["X-Request-Id"] in line


def test_a_modern_client_is_named_in_every_record(modern: Door, records: pytest.LogCaptureFixture) -> None:
    modern.call("list_workspaces")
    (fields,) = calls(records)
    assert (fields["client"], fields["client_version"]) == (CLIENT_INFO["name"], CLIENT_INFO["version"])


def test_a_handshake_client_is_named_where_it_says_so_and_where_its_session_remembers(
    legacy: Door, records: pytest.LogCaptureFixture
) -> None:
    legacy.capabilities = APP_CAPABILITIES
    session_id = legacy.initialize().headers["Mcp-Session-Id"]
    legacy.ask("tools/list", mcp_session_id=session_id)
    legacy.ask("tools/list")
    assert [fields["client"] for fields in calls(records)] == [CLIENT_INFO["name"], CLIENT_INFO["name"], ""]


def test_a_session_id_is_forgotten_after_a_month_and_never_a_reason_to_refuse(
    legacy: Door, records: pytest.LogCaptureFixture
) -> None:
    class Older(signing.TimestampSigner):
        age_days = 0

        def timestamp(self) -> str:
            return signing.b62_encode(int(time.time()) - self.age_days * 86_400)

    for age_days in (29, 31):
        signer = Older(salt="mcp_bridge.session")
        signer.age_days = age_days
        session_id = signer.sign_object({"apps": True, "name": CLIENT_INFO["name"], "version": "1"})
        assert legacy.ask("tools/list", mcp_session_id=session_id)["tools"]
    assert [fields["client"] for fields in calls(records)] == [CLIENT_INFO["name"], ""]


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("reveal_answer", {"cardId": "3f2b8c1e-9a4d-4c7b-8f10-2d6e5a90b1c4"}, "CARD_NOT_FOUND"),
        ("sql_query", {"sql": "SELECT nonsense FROM cards"}, "QUERY_INVALID_SQL"),
        ("get_guide", {}, "INVALID_REQUEST"),
    ],
)
def test_a_failure_is_recorded_by_its_code(
    door: Door, records: pytest.LogCaptureFixture, tool: str, arguments: dict[str, Any], code: str
) -> None:
    door.call(tool, **arguments)
    assert [fields["error_code"] for fields in calls(records)] == [code]


def test_a_protocol_error_is_recorded_by_its_number_and_an_unknown_name_not_at_all(
    door: Door, records: pytest.LogCaptureFixture
) -> None:
    door.post(MARK)
    door.post("tools/call", {"name": MARK})
    first, second = calls(records)
    assert (first["method"], first["error_code"]) == ("unknown", -32601)
    assert (second["tool"], second["error_code"]) == ("unknown", -32602)
    assert MARK not in records.text


@pytest.mark.parametrize("workspace_id", [MARK, 7, ["x"], None])
def test_a_workspace_that_is_no_id_is_not_recorded(
    legacy: Door, records: pytest.LogCaptureFixture, workspace_id: Any
) -> None:
    legacy.post("tools/call", {"name": "reveal_answer", "arguments": {"workspaceId": workspace_id}})
    assert calls(records)[0]["workspace"] is None


@pytest.mark.parametrize("version", ["2025-06-18", MODERN_VERSION])
def test_no_text_sql_key_or_argument_reaches_the_log(
    alice: Agent, version: str, records: pytest.LogCaptureFixture
) -> None:
    door = door_of(alice, version)
    card = make_card(alice.workspace, front_text=MARK, back_text=MARK, tags=[MARK])
    door.call("sql_query", sql="SELECT * FROM cards WHERE front_text = 'xyzzy-secret'")
    door.call("sql_query", sql=f"SELECT {MARK}")
    door.call("sql_execute", sql="UPDATE cards SET back_text = 'xyzzy-secret' WHERE front_text = 'xyzzy-secret'")
    door.call("next_review_card", tags=[MARK])
    door.call("reveal_answer", cardId=str(card.card_id), **{MARK: MARK})
    door.post("tools/list", {MARK: MARK}, x_mcp_toolsets=MARK, user_agent=MARK)
    door.send(f'{{"{MARK}": ')
    assert len(calls(records)) == 6
    assert "/mcp" in records.text
    assert MARK not in records.text
    assert alice.key not in records.text
    assert alice.key.rpartition("_")[2] not in records.text


@pytest.mark.parametrize("name", ["a\nINFO forged", "x error_code=None", "\u202e", "n" * 5000, "\ud800", "\x1b[31m"])
def test_a_hostile_client_name_forges_nothing(modern: Door, records: pytest.LogCaptureFixture, name: str) -> None:
    info = {"name": name, "version": name}
    modern.post("tools/list", {"_meta": {"io.modelcontextprotocol/clientInfo": info}})
    (fields,) = calls(records)
    for shown in (fields["client"], fields["client_version"]):
        assert len(shown) <= 60
        assert shown.isprintable()
        assert "=" not in shown
        shown.encode()
