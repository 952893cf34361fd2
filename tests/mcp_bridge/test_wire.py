"""What only a socket can send: chunks, half bodies, repeated and broken headers. Never a fault of the server."""

from __future__ import annotations

import socket
from uuid import uuid4

import pytest

from tests.server import LiveServer

pytestmark = pytest.mark.server

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


@pytest.fixture(scope="module")
def key(server: LiveServer) -> str:
    """The key of a user of this module's own."""
    return server.create_api_key(f"wire-{uuid4().hex}@example.com")


def exchange(server: LiveServer, head: list[str], body: bytes = b"", *, hang_up: bool = False) -> tuple[int, bytes]:
    """Status and content of the answer to exactly these bytes; status 0 when the server just closes."""
    wire = "\r\n".join(["POST /mcp HTTP/1.1", "Host: localhost", "Connection: close", *head, "", ""])
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as link:
        link.sendall(wire.encode("latin-1") + body)
        if hang_up:
            link.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: link.recv(65536), b""))
    head_bytes, _, content = answer.partition(b"\r\n\r\n")
    return int(head_bytes.split(b" ", 2)[1]) if head_bytes else 0, content


def chunked(*parts: bytes) -> bytes:
    """A body in chunks."""
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def head_of(key: str, *more: str) -> list[str]:
    """The usual headers, without a length."""
    return [f"Authorization: Bearer {key}", "Content-Type: application/json", *more]


def test_a_chunked_body_is_read_whole(server: LiveServer, key: str) -> None:
    status, content = exchange(server, head_of(key, "Transfer-Encoding: chunked"), chunked(PING[:9], PING[9:]))
    assert (status, content) == (200, b'{"jsonrpc":"2.0","id":1,"result":{}}')


def test_a_chunked_body_over_the_limit_is_refused(server: LiveServer, key: str) -> None:
    body = chunked(PING, *[b" " * 65536] * 17)
    assert exchange(server, head_of(key, "Transfer-Encoding: chunked"), body)[0] == 413


def test_a_declared_length_over_the_limit_is_refused_before_the_body_comes(server: LiveServer, key: str) -> None:
    assert exchange(server, head_of(key, f"Content-Length: {1 << 30}"))[0] == 413


def test_an_empty_body_is_a_parse_error(server: LiveServer, key: str) -> None:
    status, content = exchange(server, head_of(key, "Content-Length: 0"))
    assert (status, b"-32700" in content) == (400, True)


def test_a_body_that_ends_early_is_a_fault_of_the_client(server: LiveServer, key: str) -> None:
    status, _ = exchange(server, head_of(key, "Content-Length: 500"), PING, hang_up=True)
    assert status == 400


@pytest.mark.parametrize(
    "body",
    [b"zz\r\n", b"-5\r\nabc\r\n", b"5\r\nab", b"ffffffffffffffffffff\r\nabc\r\n", b"5\r\nabcdefghij\r\n0\r\n\r\n"],
)
def test_broken_chunks_are_a_fault_of_the_client(server: LiveServer, key: str, body: bytes) -> None:
    status, _ = exchange(server, head_of(key, "Transfer-Encoding: chunked"), body, hang_up=True)
    assert status == 400


@pytest.mark.parametrize("name", ["Mcp-Method: tools/list", "Mcp-Method: ping", "MCP-Protocol-Version: 2026-07-28"])
def test_a_routing_header_sent_twice_is_refused(server: LiveServer, key: str, name: str) -> None:
    meta = b'{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":' + meta + b"}}"
    usual = ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/list", f"Content-Length: {len(body)}"]
    assert exchange(server, head_of(key, *usual), body)[0] == 200
    status, content = exchange(server, head_of(key, *usual, name), body)
    assert (status, b"-320" in content) == (400, True)


@pytest.mark.parametrize(
    "header",
    [
        "MCP-Protocol-Version: \xff\xfe",
        "Mcp-Session-Id: \xff",
        "Accept: \xff, application/json",
        "Accept-Language: \xff;q=x",
        "Content-Length: -1",
        "Content-Length: abc",
        "Content-Length: 40, 41",
        "Content-Type: application/json; charset=nonsense",
        "Content-Type: application/json; charset*=x''%ff",
        "Content-Type: application/json; a*=zz''%41",
        "Content-Type: ;;;",
        "Authorization: Bearer \xff",
        "Origin: http://[::1",
        "Host: [::1",
        "Host: localhost:abc",
        "X-Forwarded-For: \xff",
        "Expect: nonsense",
        "Bad Header: x",
        "X-Long: " + "x" * 9000,
    ],
)
def test_a_broken_header_is_never_a_fault_of_the_server(server: LiveServer, key: str, header: str) -> None:
    usual = {"Content-Length": str(len(PING)), "Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    kept = [f"{name}: {value}" for name, value in usual.items() if not header.startswith(f"{name}:")]
    status, _ = exchange(server, [*kept, header], PING, hang_up=True)
    assert status == 0 or 200 <= status < 500


@pytest.mark.parametrize("method", ["FOO", "TRACE", "CONNECT", "PROPFIND", "post", "G" * 30])
def test_any_method_gets_the_challenge_or_a_refusal(server: LiveServer, key: str, method: str) -> None:
    status, _, _ = server.raw_request(method, "/mcp")
    assert 400 <= status < 500
    status, _, _ = server.raw_request(method, "/mcp", headers={"Authorization": f"Bearer {key}"})
    assert 400 <= status < 500
