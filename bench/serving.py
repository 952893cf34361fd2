"""The processes of a measurement: the service and the plain views, each under gunicorn on the same data."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from flashcards.configuration import ROOT, unset_environment

START_SECONDS_MAX = 60
EMAIL = "bench@example.com"


class Failed(Exception):
    """Something that the measurement needs did not work."""


@dataclass(frozen=True)
class Site:
    """Where the data of one size lives: a folder, and a database of a server unless SQLite is measured."""

    folder: Path
    database_url: str = ""

    @property
    def environment(self) -> Mapping[str, str]:
        """Nothing of the user's own settings, one worker process, and this site's data."""
        own = {"DATA_DIR": str(self.folder), "DATABASE_URL": self.database_url, "WEB_CONCURRENCY": "1"}
        return {**os.environ, **unset_environment(), **own, "LOG_LEVEL": "ERROR", "PYTHONPATH": str(ROOT)}

    def empty(self) -> None:
        """Make the database anew and without rows."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.manage("migrate", "--verbosity", "0")
        if self.database_url:
            self.manage("flush", "--no-input", "--verbosity", "0")

    def load(self, archive: Path) -> str:
        """Import the archive as the server's operator would; returns a key of its owner."""
        self.manage("import_workspace", str(archive), "--email", EMAIL)
        if self.database_url:
            # What autovacuum does within a minute.
            script = "from django.db import connection; connection.cursor().execute('VACUUM ANALYZE')"
            self.manage("shell", "--no-imports", "--verbosity", "0", "-c", script)
        return self.manage("create_api_key", "--email", EMAIL, "--label", "bench").strip()

    def manage(self, *words: str) -> str:
        """What a `manage.py` command prints; raises Failed with its words."""
        command = [sys.executable, str(ROOT / "manage.py"), *words]
        ended = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        if ended.returncode:
            raise Failed(f"manage.py {words[0]}: {ended.stderr.strip()}")
        return ended.stdout

    @contextmanager
    def served(self, application: str) -> Iterator[Client]:
        """A client of `application` under gunicorn with the service's own configuration."""
        port = free_port()
        words = ["-m", "gunicorn", "--config", "python:flashcards.gunicorn_config", "--bind", f"127.0.0.1:{port}"]
        with (self.folder / "server.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *words, application],
                env={**self.environment, "DJANGO_SETTINGS_MODULE": "flashcards.settings", "PORT": str(port)},
                cwd=ROOT,
                stdout=log,
                stderr=log,
            )
        try:
            yield _client(process, port)
        finally:
            process.terminate()
            process.wait(timeout=45)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _client(process: subprocess.Popen[bytes], port: int) -> Client:
    deadline = time.monotonic() + START_SECONDS_MAX
    while process.poll() is None and time.monotonic() < deadline:
        try:
            client = Client(HTTPConnection("127.0.0.1", port, timeout=60))
            client.post("/", {}, key="")
        except OSError:
            time.sleep(0.2)
        else:
            return client
    raise Failed("the server did not start; see server.log in its folder")


@dataclass
class Client:
    """One client on one connection that stays open."""

    connection: HTTPConnection

    def post(self, path: str, body: Any, *, key: str) -> tuple[float, int, bytes]:
        """Milliseconds until the answer was there, its status and its body."""
        text = json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"ApiKey {key}"}
        started = time.perf_counter()
        self.connection.request("POST", path, text, headers)
        answer = self.connection.getresponse()
        raw = answer.read()
        return (time.perf_counter() - started) * 1000, answer.status, raw
