"""`manage.py demo`: a server of its own with a sample deck, and one agent session against it, step by step."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from django.core.management.base import BaseCommand, CommandError

from flashcards.configuration import ROOT, unset_environment
from flashcards.management.agent_session import AgentSession, Narrator, StepFailed
from flashcards.management.commands.seed_demo import DEMO_EMAIL
from flashcards.management.mcp_session import run_mcp_session

START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 45


class Command(BaseCommand):
    """Show the service at work."""

    help = "Start a server with a sample deck and walk one agent through it. KEEP=1 leaves the server up."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data-dir", type=Path, default=ROOT / "var" / "demo", help="default: %(default)s")
        parser.add_argument("--email", default=DEMO_EMAIL, help="who signs in; default: %(default)s")
        keep = os.environ.get("KEEP", "") not in ("", "0")
        parser.add_argument("--keep", action="store_true", default=keep, help="leave the server up (also KEEP=1)")

    def handle(self, *, data_dir: Path, email: str, keep: bool, **_: Any) -> None:
        """CommandError naming the step when one fails; the server is stopped either way, unless it is kept."""
        narrator = Narrator(self._say)
        demo = DemoServer(data_dir.resolve(), free_port())
        demo.clear()
        with demo.running(keep=keep):
            self._say(f"A server for this demo is at {demo.url}; it writes to {demo.output}.")
            self._say(demo.manage("seed_demo"))
            session = AgentSession(f"{demo.url}/v1/", email, demo.printed, narrator)
            try:
                service = session.run()
                run_mcp_session(service["mcp"]["url"], key=session.key, narrator=narrator)
            except StepFailed as failure:
                raise CommandError(f"The demo failed at {failure}.") from None
        self._say(f"\nAll {narrator.steps} steps worked.\n{kept(demo, session.key) if keep else STOPPED}")

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


STOPPED = """
The server is stopped. How to go on:
  KEEP=1 make demo    the same, and the server stays up with a key to try it with
  make run            your own server on http://localhost:8000, with your data in var/
  README.md           how to connect Claude, ChatGPT, Cursor or a command-line agent"""


def kept(demo: DemoServer, key: str) -> str:
    """What the user can do with the server that stays up."""
    return f"""
The server stays up at {demo.url} (process {demo.process_id()}). How to go on:
  curl -H 'Authorization: ApiKey {key}' {demo.url}/v1/agent/me
  an MCP client: the address {demo.url}/mcp, with the header `Authorization: Bearer {key}`
  a browser: {demo.url}/ (sign-in codes are printed to {demo.output})
  kill {demo.process_id()}    stops it"""


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class DemoServer:
    """A server on `port` whose data and output live in `folder`. Nothing of the user's own settings reaches it."""

    folder: Path
    port: int

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://localhost:{self.port}"

    @property
    def output(self) -> Path:
        """The file that it writes its log and its mail to."""
        return self.folder / "server.log"

    def printed(self) -> str:
        """What it wrote until now."""
        return self.output.read_text(encoding="utf-8", errors="replace")

    def clear(self) -> None:
        """Make room for a fresh run; CommandError while an earlier server is still up."""
        if self.process_id() is not None:
            raise CommandError(f"The server of an earlier demo is still up. Stop it first: kill {self.process_id()}")
        self.folder.mkdir(parents=True, exist_ok=True)
        for file in [*self.folder.glob("flashcards.sqlite3*"), self.output, self._process_file]:
            file.unlink(missing_ok=True)

    @property
    def _process_file(self) -> Path:
        return self.folder / "server.pid"

    def process_id(self) -> int | None:
        """The server's process; None when it is not running."""
        try:
            process_id = int(self._process_file.read_text(encoding="ascii"))
            os.kill(process_id, 0)
        except (OSError, ValueError):
            return None
        return process_id

    @contextmanager
    def running(self, *, keep: bool) -> Iterator[None]:
        """The server answers inside; afterwards it is stopped, unless it is to be kept and nothing went wrong."""
        process = self._launch()
        stay = False
        try:
            self._wait_until_alive(process)
            yield
            stay = keep
        finally:
            if not stay:
                stop(process)
                self._process_file.unlink(missing_ok=True)

    def _launch(self) -> subprocess.Popen[bytes]:
        with self.output.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603  the words are our own
                self._words("serve", "--port", str(self.port)),
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._process_file.write_text(str(process.pid), encoding="ascii")
        return process

    def _wait_until_alive(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_SECONDS_MAX
        while process.poll() is None and time.monotonic() < deadline:
            try:
                urlopen(f"{self.url}/healthz", timeout=5).close()  # noqa: S310  our own address
            except URLError:
                time.sleep(0.2)
            else:
                return
        raise CommandError(f"The demo's server did not start:\n{self.printed()}")

    def manage(self, *words: str) -> str:
        """What a `manage.py` command on the demo's data prints; CommandError with its words when it fails."""
        ended = subprocess.run(  # noqa: S603  the words are our own
            self._words(*words), env=self._environment(), capture_output=True, text=True, check=False
        )
        if ended.returncode:
            raise CommandError(f"manage.py {words[0]} failed: {ended.stderr.strip()}")
        return ended.stdout.strip()

    @staticmethod
    def _words(*words: str) -> list[str]:
        return [sys.executable, str(ROOT / "manage.py"), *words]

    def _environment(self) -> Mapping[str, str]:
        return {**os.environ, **unset_environment(), "DATA_DIR": str(self.folder), "PORT": str(self.port)}


def stop(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM, and the end of the server."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        process.wait(STOP_SECONDS_MAX)
