"""What version 2.3.0 of the Python SDK gets wrong and this endpoint must not, one test each."""

from __future__ import annotations

import pytest
from mcp_types import Implementation as Info
from mcp_types import InitializeResult, ServerCapabilities

from mcp_bridge.protocol import wire_result
from tests.mcp_bridge.door import HANDSHAKE_VERSIONS, Door

EXTENSIONS = {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_the_handshake_result_keeps_the_extensions_that_the_sdk_drops(version: str) -> None:
    result = InitializeResult(
        protocol_version=version,
        capabilities=ServerCapabilities(extensions=EXTENSIONS),
        server_info=Info(name="x", version="1"),
    )
    assert wire_result("initialize", version, result)["capabilities"]["extensions"] == EXTENSIONS


def test_an_error_never_has_code_0_or_the_text_of_an_exception(door: Door) -> None:
    for method, params in (("nonsense", {}), ("tools/call", {"name": 7}), ("tools/call", {"name": "nonsense"})):
        error = door.refusal(method, params, mcp_name="nonsense")
        assert error["code"] < -32000
        assert not any(word in error["message"] for word in ("Error", "validation", "Traceback", "input_value"))


def test_a_request_with_a_null_id_is_refused_rather_than_taken_for_a_notification(legacy: Door) -> None:
    response = legacy.send({"jsonrpc": "2.0", "id": None, "method": "tools/list"})
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32600)


def test_an_invalid_envelope_is_an_invalid_request_without_a_validation_dump(legacy: Door) -> None:
    response = legacy.send({"jsonrpc": "2.0", "id": 1, "method": 7})
    error = response.json()["error"]
    assert error["code"] == -32600
    assert "data" not in error
    assert len(error["message"]) < 120


def test_a_get_is_refused_rather_than_answered_with_a_stream_that_never_ends(legacy: Door) -> None:
    headers = {"authorization": f"Bearer {legacy.key}", "accept": "text/event-stream"}
    response = legacy.client.get("/mcp", headers=headers)
    assert response.status_code == 405
    assert not response.streaming


def test_host_and_origin_are_checked_without_being_asked_to(legacy: Door) -> None:
    assert legacy.post("ping", origin="https://evil.example").status_code == 403
    assert legacy.post("ping", host="evil.example").status_code == 400


@pytest.mark.parametrize("arguments", [{"topic": "review_flow", "extra": 1}, {"topic": ["review_flow"]}, {}])
def test_arguments_are_validated_where_the_sdk_validates_nothing(door: Door, arguments: dict[str, object]) -> None:
    assert door.error("get_guide", **arguments)["code"] == "INVALID_REQUEST"
