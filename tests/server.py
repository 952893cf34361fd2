"""The real server for tests: `manage.py serve` as a process of its own, on a free port, with a database of its own."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from flashcards.configuration import ROOT, unset_environment
from flashcards.management.commands.demo import free_port
from tests.agent import Answered

START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 45


def manage(*words: str, environment: Mapping[str, str], timeout_seconds: int = 60) -> subprocess.CompletedProcess[str]:
    """`manage.py` with these words, to its end; `environment` comes on top of unset settings."""
    return subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *words],
        env={**os.environ, **unset_environment(), **environment},
        capture_output=True,
        text=True,
        timeout=timeout_seconds,
        check=False,
    )


@dataclass
class LiveServer:
    """A running server. `output` is the file with everything that it printed, console mail included."""

    port: int
    environment: dict[str, str]
    output: Path
    process: subprocess.Popen[bytes]
    _operator: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        """Its address, as its answers name it."""
        return f"http://localhost:{self.port}"

    def printed(self) -> str:
        """What the server printed until now."""
        return self.output.read_text(encoding="utf-8", errors="replace")

    def request(
        self, method: str, path: str, body: Any = None, *, key: str = "", headers: Mapping[str, str] | None = None
    ) -> Answered:
        """One request on a connection of its own; the answer must be JSON."""
        status, answer_headers, raw = self.raw_request(method, path, body, key=key, headers=headers)
        return Answered(status, json.loads(raw), answer_headers)

    def raw_request(
        self, method: str, path: str, body: Any = None, *, key: str = "", headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of the answer to one request."""
        sent = {"Authorization": f"ApiKey {key}"} if key else {}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, sent | dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def manage(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A `manage.py` command on this server's database."""
        return manage(*words, environment=self.environment)

    def create_api_key(self, email: str = "alice@example.com", label: str = "test") -> str:
        """A key of that user, made by the operator's command in a process that stays: it takes seconds to start."""
        with _ONE_AT_A_TIME:
            if self._operator is None:
                self._operator = _start_operator(self.environment)
            assert self._operator.stdin
            assert self._operator.stdout
            self._operator.stdin.write(json.dumps({"email": email, "label": label}) + "\n")
            self._operator.stdin.flush()
            key = self._operator.stdout.readline().strip()
        assert key.startswith("fca_"), f"no key for {email}"
        return key

    def stop(self) -> int:
        """SIGTERM, and the status that the server ends with."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_SECONDS_MAX)


_ONE_AT_A_TIME = threading.Lock()
_MAKE_KEYS = """\
import json, sys, django
django.setup()
from django.core.management import call_command
from django.db import connections
for line in sys.stdin:
    call_command("create_api_key", **json.loads(line))
    connections.close_all()
    sys.stdout.flush()
"""


def _start_operator(environment: Mapping[str, str]) -> subprocess.Popen[str]:
    settings = {"DJANGO_SETTINGS_MODULE": "flashcards.settings", "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", _MAKE_KEYS],
        cwd=ROOT,
        env={**os.environ, **unset_environment(), **settings, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def start_server(folder: Path, *, environment: Mapping[str, str], port: int | None = None) -> LiveServer:
    """A server that answers, or an AssertionError with what it printed. The caller stops it."""
    server = launch_server(folder, environment=environment, port=port)
    wait_until_alive(server)
    return server


def launch_server(folder: Path, *, environment: Mapping[str, str], port: int | None = None) -> LiveServer:
    """As `start_server`, without waiting."""
    port = port or free_port()
    folder.mkdir(parents=True, exist_ok=True)
    settings = {"DATA_DIR": str(folder), "WEB_CONCURRENCY": "1", **environment}
    output = folder / f"server-{port}.log"
    with output.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), "serve", "--port", str(port)],
            env={**os.environ, **unset_environment(), **settings},
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return LiveServer(port, settings, output, process)


def wait_until_alive(server: LiveServer) -> None:
    """Return once the server answers; fail with its output when it ends or stays silent."""
    deadline = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < deadline and server.process.poll() is None:
        try:
            server.raw_request("GET", "/healthz")
        except OSError:
            time.sleep(0.1)
        else:
            return
    kill(server)
    raise AssertionError(f"the server did not start:\n{server.printed()}")


def kill(server: LiveServer) -> None:
    """End the server and its workers at once, as a power cut would."""
    if server._operator is not None:
        server._operator.communicate()
        server._operator = None
    if server.process.poll() is None:
        os.killpg(server.process.pid, signal.SIGKILL)
        server.process.wait()


@contextmanager
def fresh_database(folder: Path) -> Iterator[str]:
    """The DATABASE_URL of an empty database of the engine that the suite is configured for; gone afterwards."""
    from django.conf import settings

    given = settings.CONFIGURATION.DATABASE_URL
    if not given.startswith("postgres"):
        yield f"sqlite:///{folder / 'server.sqlite3'}"
        return
    with _postgresql_database(given, template="template1") as url:
        yield url


@contextmanager
def _postgresql_database(given: str, *, template: str) -> Iterator[str]:
    name = f"test_server_{uuid4().hex[:12]}"
    base, _, _ = given.partition("?")[0].rpartition("/")
    with _administration(given) as cursor:
        cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    try:
        yield f"{base}/{name}"
    finally:
        with _administration(given) as cursor:
            cursor.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@cache
def _migrated_once() -> str:
    """The DATABASE_URL of a migrated database that is only copied; made once a process, gone with it."""
    stack = ExitStack()
    atexit.register(stack.close)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    url = stack.enter_context(fresh_database(folder))
    ended = manage("migrate", "--verbosity", "0", environment={"DATA_DIR": str(folder), "DATABASE_URL": url})
    assert ended.returncode == 0, ended.stderr
    return url


@contextmanager
def migrated_database(folder: Path) -> Iterator[str]:
    """As `fresh_database`, with the tables in it: the seconds that migrating takes are spent once."""
    template = _migrated_once()
    if template.startswith("sqlite"):
        copied = shutil.copy(template.removeprefix("sqlite:///"), folder / "server.sqlite3")
        yield f"sqlite:///{copied}"
        return
    with _postgresql_database(template, template=template.rpartition("/")[2]) as url:
        yield url


@contextmanager
def _administration(url: str) -> Iterator[Any]:
    # A connection of its own: Django's would be inside the test's transaction.
    import psycopg

    from flashcards.addresses import database_settings

    at = database_settings(url)
    address = {"host": at["HOST"], "port": at["PORT"], "user": at["USER"], "password": at["PASSWORD"]}
    with psycopg.connect(dbname="postgres", autocommit=True, **{key: v for key, v in address.items() if v}) as link:
        yield link.cursor()


@contextmanager
def running_server(folder: Path, **environment: str) -> Iterator[LiveServer]:
    """A server on a database of its own, of the configured engine, stopped and removed at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    with migrated_database(folder) as url:
        server = start_server(folder, environment={"DATABASE_URL": url, **environment})
        try:
            yield server
        finally:
            kill(server)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """One server for all tests that do not change how it runs; each test takes a user of its own."""
    many = {"LIMIT_IP_SENDS": "1000/60", "LIMIT_IP_ADDRESSES": "1000/60"}
    with running_server(tmp_path_factory.mktemp("server"), **many) as running:
        yield running
