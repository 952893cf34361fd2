"""`manage.py serve` as an operator meets it."""

from __future__ import annotations

import json
import signal
import socket
import time
from pathlib import Path

import pytest

from flashcards.management.commands.demo import free_port
from tests.server import (
    LiveServer,
    fresh_database,
    kill,
    launch_server,
    manage,
    running_server,
    start_server,
    wait_until_alive,
)

pytestmark = pytest.mark.server

LOUD = "*** EMAIL_URL is not set: mail is printed here instead of sent, sign-in codes included."


def test_published_addresses_name_the_port_that_is_served(server: LiveServer) -> None:
    answer = server.request("GET", "/v1/agent/me")
    assert answer.body["docs"]["discoveryUrl"] == f"http://localhost:{server.port}/v1/"


def test_the_server_says_where_it_is_and_that_it_prints_codes(server: LiveServer) -> None:
    assert f"Serving http://localhost:{server.port} " in server.printed()
    assert LOUD in server.printed()


def test_a_code_that_is_printed_is_announced_as_printed(server: LiveServer) -> None:
    before = len(server.printed())
    assert server.request("POST", "/api/agent/send-code", {"email": "printed@example.com"}).status == 200
    printed = server.printed()[before:]
    assert printed.index(LOUD) < printed.index("To: printed@example.com")


def test_what_the_server_writes_is_for_its_own_user(tmp_path: Path) -> None:
    with fresh_database(tmp_path) as url:
        kill(start_server(tmp_path, environment={"DATABASE_URL": url}))
    written = [tmp_path / "secret_key", tmp_path / "static", *tmp_path.glob("*.sqlite3")]
    assert [path for path in written if path.stat().st_mode & 0o077] == []


def test_an_answer_to_head_has_no_body_and_one_line_in_the_log(server: LiveServer) -> None:
    before = len(server.printed())
    status, _, body = server.raw_request("HEAD", "/v1/")
    assert (status, body) == (200, b"")
    assert len(server.printed()[before:].splitlines()) == 1


def test_no_warning_about_codes_when_mail_is_sent(tmp_path: Path) -> None:
    with running_server(tmp_path, EMAIL_URL="smtp://localhost:2525") as running:
        assert "EMAIL_URL" not in running.printed()


def test_two_servers_start_at_once_on_one_empty_database(tmp_path: Path) -> None:
    with fresh_database(tmp_path) as url:
        ports = (free_port(), free_port())
        pair = [launch_server(tmp_path, environment={"DATABASE_URL": url}, port=port) for port in ports]
        try:
            for running in pair:
                wait_until_alive(running)
                assert running.request("GET", "/readyz").body == {"status": "ready"}
                assert "Traceback" not in running.printed()
        finally:
            for running in pair:
                kill(running)


def test_a_port_in_use_ends_the_start_with_one_line(server: LiveServer) -> None:
    ended = manage("serve", "--port", str(server.port), environment=server.environment)
    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [
        f"CommandError: --port: cannot listen on 127.0.0.1 port {server.port}: the port is in use."
    ]


@pytest.mark.parametrize("port", ["0", "70000"])
def test_a_port_that_cannot_be_is_refused(server: LiveServer, port: str) -> None:
    ended = manage("serve", "--port", port, environment=server.environment)
    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [f"CommandError: --port: must be 1 to 65535 (given: {port})."]


def test_a_database_that_is_away_ends_the_start_with_one_line(tmp_path: Path) -> None:
    url = f"postgres://me:hunter2@127.0.0.1:{free_port()}/cards"
    ended = manage("serve", "--port", str(free_port()), environment={"DATA_DIR": str(tmp_path), "DATABASE_URL": url})
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    assert ended.stderr.startswith("CommandError: DATABASE_URL: the database postgres://me:********@127.0.0.1:")
    assert "hunter2" not in ended.stderr


def test_a_file_that_is_no_database_ends_the_start_with_one_line(tmp_path: Path) -> None:
    (tmp_path / "cards.sqlite3").write_text("These are no cards. " * 100)
    environment = {"DATA_DIR": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path / 'cards.sqlite3'}"}
    ended = manage("serve", "--port", str(free_port()), environment=environment)
    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [
        f"CommandError: DATABASE_URL: the database sqlite:///{tmp_path}/cards.sqlite3 cannot be used "
        "(file is not a database)."
    ]


def test_sigterm_lets_a_request_end_and_then_the_server(tmp_path: Path) -> None:
    body = b'{"sql": "SHOW TABLES"}'
    with running_server(tmp_path) as running:
        head = (
            f"POST /v1/agent/sql/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Authorization: ApiKey {running.create_api_key()}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", running.port), timeout=20) as link:
            link.sendall(head.encode() + body[:5])
            # The server waits for the rest of the body when the signal comes.
            time.sleep(1)
            running.process.send_signal(signal.SIGTERM)
            time.sleep(1)
            link.sendall(body[5:])
            answer = link.recv(65536)
        assert answer.startswith(b"HTTP/1.1 200 "), answer
        assert running.process.wait(20) == 0


def test_a_chunked_body_arrives_whole(server: LiveServer) -> None:
    key = server.create_api_key("chunked@example.com")
    parts = [b'{"sql": ', b'"SHOW TABLES"}']
    body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as link:
        head = (
            f"POST /v1/agent/sql/query HTTP/1.1\r\nHost: localhost\r\nAuthorization: ApiKey {key}\r\n"
            "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        )
        link.sendall(head.encode() + body)
        answer = b"".join(iter(lambda: link.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200 "), answer
    assert b'"statementType":"show_tables"' in answer


def test_a_request_line_or_header_over_the_limit_is_refused_without_being_logged(server: LiveServer) -> None:
    for path, headers, fault in (
        ("/v1/?secret=" + "s3cret" * 2000, {}, "The request's first line, its address included, is too long."),
        ("/v1/", {"X-Long": "s3cret" * 4000}, "The request's headers are too many or too long."),
        ("/v1/s3cret", {"X Bad": "s3cret"}, "The request is not well-formed HTTP."),
    ):
        status, _, body = server.raw_request("GET", path, headers=headers)
        error = json.loads(body)["error"]
        assert (status, error["code"], error["message"]) == (400, "INVALID_REQUEST", fault)
    assert server.raw_request("GET", "/healthz")[0] == 200
    assert "s3cret" not in server.printed()


def test_one_line_is_logged_for_a_request_and_none_of_it_is_input(server: LiveServer) -> None:
    answer = server.request("POST", "/v1/agent/sql/query?s3cret=1", {"sql": "SELECT s3cret"}, key="s3cret")
    request_id = answer.headers["X-Request-Id"]
    lines = [line for line in server.printed().splitlines() if request_id in line]
    assert len(lines) == 1
    assert "status=401" in lines[0]
    assert "s3cret" not in server.printed()


@pytest.mark.parametrize("header", ["PATH_INFO", "SCRIPT_NAME", "Path-Info", "X-Script-Name"])
def test_no_header_changes_where_a_request_goes(server: LiveServer, header: str) -> None:
    answer = server.request("GET", "/v1/agent/me", headers={header: "/healthz"})
    assert answer.error["code"] == "AUTHENTICATION_REQUIRED"
    assert "Path-Info" not in str(answer.body)


def test_a_host_that_is_not_ours_is_refused(server: LiveServer) -> None:
    assert server.request("GET", "/v1/", headers={"Host": "evil.example"}).status == 400
    for host in ("localhost", "127.0.0.1", "[::1]"):
        assert server.request("GET", "/v1/agent/me", headers={"Host": f"{host}:{server.port}"}).status == 401
