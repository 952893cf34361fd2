"""What a client is told when the fault is the server's: the documented code, and nothing of the inside."""

from __future__ import annotations

import pytest
from django.db import OperationalError

from tests.mcp_bridge.door import Door
from tests.ops.test_outage import Cuttable, cuttable

__all__ = ["cuttable"]

INSIDE = "psycopg said: relation card_secret at 10.0.0.7"


def broken(error: Exception) -> object:
    """A function that fails with `error`, whatever it is called with."""

    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def test_a_defect_inside_a_tool_shows_nothing_of_itself_and_everything_in_the_log(
    door: Door, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("mcp_bridge.operations.guide_text", broken(RuntimeError(INSIDE)))
    response = door.post("tools/call", {"name": "get_guide", "arguments": {"topic": "review_flow"}})
    result = response.json()["result"]
    assert (response.status_code, result["isError"]) == (200, True)
    assert result["structuredContent"]["error"]["code"] == "INTERNAL_ERROR"
    assert result["structuredContent"]["requestId"] == response.headers["X-Request-Id"]
    assert INSIDE not in response.content.decode()
    assert INSIDE in caplog.text


def test_a_defect_of_the_endpoint_itself_is_an_internal_error(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_bridge.protocol.listed_tools", broken(KeyError(INSIDE)))
    response = door.post("tools/list")
    assert response.status_code == 500
    assert response.json()["id"] == 1
    error = response.json()["error"]
    assert (error["code"], error["data"]["code"]) == (-32603, "INTERNAL_ERROR")
    assert error["data"]["requestId"] == response.headers["X-Request-Id"]
    assert INSIDE not in response.content.decode()


def test_a_database_that_fails_inside_a_tool_is_a_result_that_says_try_again(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_bridge.operations.guide_text", broken(OperationalError(INSIDE)))
    error = door.error("get_guide", topic="review_flow")
    assert error["code"] == "SERVICE_UNAVAILABLE"
    assert INSIDE not in str(error)


def test_a_database_that_fails_before_the_caller_is_known_is_503_with_a_time_to_wait(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_bridge.endpoint.authenticate_bearer", broken(OperationalError(INSIDE)))
    response = door.post("tools/list")
    assert response.status_code == 503
    assert response.headers["Retry-After"].isdigit()
    assert response.json()["error"]["data"]["code"] == "SERVICE_UNAVAILABLE"
    assert INSIDE not in response.content.decode()


@pytest.mark.server
def test_a_database_that_goes_away_is_503_and_comes_back_unaided(cuttable: Cuttable) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_workspaces"}}
    headers = {"Authorization": f"Bearer {cuttable.key}"}

    def call() -> int:
        return cuttable.server.request("POST", "/mcp", body, headers=headers).status

    assert call() == 200
    cuttable.proxy.cut()
    assert [call(), call()] == [503, 503]
    cuttable.proxy.mend()
    assert call() == 200
