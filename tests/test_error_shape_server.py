"""What only a real server can show: chunked and broken bodies, HEAD on a kept connection, hosts, the log."""

from __future__ import annotations

import json
import re
import socket
from http.client import HTTPConnection, HTTPResponse, RemoteDisconnected

import pytest

from tests.server import LiveServer

pytestmark = pytest.mark.server

QUERY = "/v1/agent/sql/query"
BODY = json.dumps({"sql": "SHOW TABLES"}).encode()
MEBIBYTE = 1 << 20


@pytest.fixture(scope="module")
def key(server: LiveServer) -> str:
    """A key of a user of this module's own."""
    return server.create_api_key("shape@example.com")


def chunked(*parts: bytes) -> bytes:
    """`parts` in the chunked transfer coding."""
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts if part) + b"0\r\n\r\n"


def exchange(server: LiveServer, head: str, payload: bytes, *, hang_up: bool = False) -> tuple[int, bytes]:
    """Status and body of the answer to bytes as they stand; (0, b"") when the server says nothing."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as link:
        link.sendall(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n")
        try:
            link.sendall(payload)
            if hang_up:
                link.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass  # The answer may come before the whole body went out.
        return _answer(link)


def _answer(link: socket.socket) -> tuple[int, bytes]:
    answer = HTTPResponse(link)
    try:
        answer.begin()
        return answer.status, answer.read()
    except (RemoteDisconnected, ConnectionResetError):
        return 0, b""


def head_of(key: str, *headers: str, method: str = "POST", path: str = QUERY, host: str = "localhost") -> str:
    """A request's head; each header on its line."""
    lines = [
        f"{method} {path} HTTP/1.1",
        f"Host: {host}",
        f"Authorization: ApiKey {key}",
        "Connection: close",
        *headers,
    ]
    return "\n".join([*lines, ""])


JSON_TYPE = "Content-Type: application/json"
CHUNKED = "Transfer-Encoding: chunked"


def test_a_chunked_body_is_read_like_any_other(server, key):
    status, body = exchange(server, head_of(key, JSON_TYPE, CHUNKED), chunked(BODY[:5], BODY[5:]))
    assert status == 200
    assert json.loads(body)["data"]["statementType"] == "show_tables"


def test_a_chunked_body_of_the_wrong_type_is_refused(server, key):
    status, body = exchange(server, head_of(key, "Content-Type: text/plain", CHUNKED), chunked(BODY))
    assert (status, json.loads(body)["error"]["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_an_empty_chunked_body_counts_as_empty(server, key):
    status, body = exchange(server, head_of(key, CHUNKED, path="/v1/agent/reviews/next"), chunked())
    assert status == 200, body


@pytest.mark.parametrize("mebibytes", [1, 4, 32])
def test_an_overlong_chunked_body_is_refused(server, key, mebibytes):
    payload = chunked(*[b" " * 65_536] * (16 * mebibytes), b"{}")
    status, body = exchange(server, head_of(key, JSON_TYPE, CHUNKED), payload)
    assert (status, json.loads(body)["error"]["code"]) == (413, "REQUEST_TOO_LARGE")


@pytest.mark.parametrize("mebibytes", [1, 4, 32])
def test_an_overlong_body_is_refused(server, key, mebibytes):
    payload = b" " * (mebibytes * MEBIBYTE) + b"{}"
    status, body = exchange(server, head_of(key, JSON_TYPE, f"Content-Length: {len(payload)}"), payload)
    assert (status, json.loads(body)["error"]["code"]) == (413, "REQUEST_TOO_LARGE")


def test_a_declared_length_over_the_limit_is_refused_before_a_byte_of_it_came(server, key):
    status, body = exchange(server, head_of(key, JSON_TYPE, "Content-Length: 5000000000"), b"")
    assert (status, json.loads(body)["error"]["code"]) == (413, "REQUEST_TOO_LARGE")


def kept_open(server: LiveServer, path: str, payload: bytes, *headers: str) -> tuple[bool, bool]:
    """Whether an answer says that its connection stays open, and whether the next request on it is answered."""
    head = "\r\n".join([f"POST {path} HTTP/1.1", "Host: localhost", JSON_TYPE, *headers, "", ""])
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as link:
        link.sendall(head.encode() + payload)
        first = HTTPResponse(link)
        first.begin()
        first.read()
        try:
            link.sendall(b"GET /v1/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
            status, _ = _answer(link)
        except (BrokenPipeError, ConnectionResetError):
            status = 0
        return first.headers["Connection"] == "keep-alive", status == 200


@pytest.mark.parametrize("path", [QUERY, "/v1/nowhere", "/v1/agent/me"])
@pytest.mark.parametrize("size", [10, 300_000, MEBIBYTE + 1])
def test_an_answer_keeps_its_word_about_the_connection(server, path, size):
    declared = kept_open(server, path, b" " * size, f"Content-Length: {size}")
    in_chunks = kept_open(server, path, chunked(*[b" " * 10_000] * (size // 10_000 + 1)), CHUNKED)
    assert declared == ((True, True) if size == 10 else (False, False))
    assert in_chunks[0] == in_chunks[1]


def test_half_a_body_is_refused_even_where_it_could_be_read(server, key):
    status, body = exchange(server, head_of(key, JSON_TYPE, "Content-Length: 500"), BODY, hang_up=True)
    assert (status, json.loads(body)["error"]["code"]) == (400, "INVALID_REQUEST")
    assert "unexpected" not in server.printed()


@pytest.mark.parametrize("payload", [b"zz\r\n{}\r\n0\r\n\r\n", b"5\r\n{}", b"2\r\n{}", b"-1\r\n\r\n"])
def test_broken_chunks_are_no_defect(server, key, payload):
    status, body = exchange(server, head_of(key, JSON_TYPE, CHUNKED), payload, hang_up=True)
    assert (status, json.loads(body)["error"]["code"]) == (400, "INVALID_REQUEST")
    assert "unexpected" not in server.printed()


@pytest.mark.parametrize("host", ["evil.example", "localhost:80@evil.example", "a b"])
def test_a_host_that_is_not_ours_is_refused_in_the_envelope(server, key, host):
    status, body = exchange(server, head_of(key, method="GET", path="/v1/", host=host), b"")
    assert status == 400
    answer = json.loads(body)
    assert answer["error"]["code"] == "INVALID_REQUEST"
    assert answer["docs"]["discoveryUrl"] == f"{server.url}/v1/"


def test_head_leaves_the_connection_fit_for_the_next_request(server):
    connection = HTTPConnection("127.0.0.1", server.port, timeout=30)
    for _ in range(3):
        connection.request("HEAD", "/v1/")
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, b"")
        connection.request("GET", "/v1/")
        assert json.loads(connection.getresponse().read())["ok"] is True
    connection.close()


def test_the_request_id_of_a_refusal_stands_in_the_log_and_its_input_does_not(server, key):
    secret = "words-that-nobody-should-read"
    answer = server.request("POST", QUERY, {"sql": secret, secret: secret}, key=key)
    assert answer.status == 400
    server.request("GET", f"/v1/{secret}?{secret}={secret}", key=f"fca_{secret}")
    lines = [line for line in server.printed().splitlines() if answer.body["requestId"] in line]
    assert len(lines) == 1
    assert re.search(r"\b400\b", lines[0])
    assert QUERY in lines[0]
    assert secret not in server.printed()
    assert key not in server.printed()


@pytest.mark.parametrize(
    ("head", "named"),
    [
        (f"GET /v1/?{'a' * 9000} HTTP/1.1\nHost: localhost\n", "first line"),
        (f"GET /v1/ HTTP/1.1\nHost: localhost\nX-Long: {'a' * 20_000}\n", "headers"),
        ("GET /v1/ HTTP/1.1\nHost: localhost\n" + "X-Many: 1\n" * 200, "headers"),
        ("POST /v1/ HTTP/1.1\nHost: localhost\nContent-Length: some\n", "well-formed"),
        ("POST /v1/ HTTP/1.1\nHost: localhost\nContent-Length: 5\nTransfer-Encoding: chunked\n", "well-formed"),
        ("POST /v1/ HTTP/1.1\nHost: localhost\nTransfer-Encoding: gzip\n", "well-formed"),
        ("<script>words-of-an-attacker</script>\n", "well-formed"),
    ],
)
def test_what_is_no_request_is_refused_in_the_envelope(server, head, named):
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as link:
        link.sendall(head.replace("\n", "\r\n").encode() + b"\r\n")
        answer = HTTPResponse(link)
        answer.begin()
        body = json.loads(answer.read())
    assert (answer.status, answer.headers["Connection"]) == (400, "close")
    assert (body["ok"], body["error"]["code"]) == (False, "INVALID_REQUEST")
    assert named in body["error"]["message"]
    assert body["requestId"] == answer.headers["X-Request-Id"]
    assert f"request_id={body['requestId']}" in server.printed()
    assert "words-of-an-attacker" not in server.printed()
