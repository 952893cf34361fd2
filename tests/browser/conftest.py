"""A chat app in real Chromium around the review page, against the real server."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Browser

from tests.browser.chat import Chat, Learner, Sites
from tests.browser.console import Console, running_console
from tests.node_packages import installed_packages
from tests.oauth.chromium import running_chromium
from tests.server import LiveServer

HOST_FOLDER = Path(__file__).parent / "host"
# The policy that the specification has a host apply to a page that asks for nothing.
DEFAULT_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; media-src 'self' data:; connect-src 'none'"
)


@pytest.fixture(scope="session")
def packages() -> Path:
    """The node_modules of the chat app."""
    if shutil.which("npm") is None:
        pytest.skip("needs Node and npm for the official host bridge")
    return installed_packages(HOST_FOLDER)


class _Files(SimpleHTTPRequestHandler):
    """Files of one folder, each with the headers of its site."""

    site_headers: dict[str, str] = {}

    def end_headers(self) -> None:
        for name, value in self.site_headers.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Nothing: the test tells what went wrong."""


class _SandboxFiles(_Files):
    site_headers = {"Content-Security-Policy": DEFAULT_POLICY}


def _serve(handler: type[_Files], folder: Path) -> ThreadingHTTPServer:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.fixture(scope="session")
def sites(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    """The chat app and its sandbox, each on an origin of its own."""
    folder = tmp_path_factory.mktemp("host")
    for name in ("host.html", "sandbox.html"):
        shutil.copy(HOST_FOLDER / name, folder)
    words = [str(packages / ".bin/esbuild"), "host.js", "--bundle", "--log-level=error"]
    subprocess.run([*words, f"--outfile={folder / 'host.js'}"], cwd=HOST_FOLDER, check=True, timeout=120)
    servers = [_serve(_Files, folder), _serve(_SandboxFiles, folder)]
    chat, sandbox = (server.server_port for server in servers)
    yield Sites(f"http://localhost:{chat}/host.html", f"http://127.0.0.1:{sandbox}/sandbox.html")
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser, closed before tests of other packages run: beside its event loop Django's ORM refuses to work."""
    with running_chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def console(server: LiveServer) -> Iterator[Console]:
    """The operator's hand on the server's database."""
    with running_console(server) as console:
        yield console


@pytest.fixture
def learner(server: LiveServer, console: Console) -> Learner:
    """A user of this test's own, with three new cards."""
    email = f"learner-{uuid4().hex}@example.com"
    learner = Learner(server, console, email, console.evaluate(f"make_learner({email!r})"))
    for front, back in (("Peru", "Lima"), ("Chile", "Santiago"), ("Bolivia", "Sucre")):
        learner.add_card(front, back)
    return learner


OpenChat = Callable[..., Chat]


@pytest.fixture
def open_chat(chromium: Browser, sites: Sites, learner: Learner) -> Iterator[OpenChat]:
    """Opens a chat of the learner's; the options are those of `Chat.opened`. No page may raise an error in it."""
    chats: list[Chat] = []

    def opened(**options: Any) -> Chat:
        chats.append(Chat.opened(chromium, sites, learner, **options))
        return chats[-1]

    yield opened
    for chat in chats:
        chat.page.context.close()
        assert chat.errors == []


@pytest.fixture
def chat(open_chat: OpenChat) -> Chat:
    """A chat in which the model has just opened a review of all three cards."""
    chat = open_chat()
    chat.launch()
    return chat
