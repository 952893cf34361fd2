"""A web site of a client, over HTTPS on this machine: the page that opens a pop-up, and the callbacks."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOST = "app.example"
CALLBACK = f"https://{HOST}/callback"
FORWARDING = f"https://{HOST}/forwarding"
OPENER = f"https://{HOST}/opener"
TELL_OPENER = "<p>Connected</p><script>if (opener) opener.postMessage(location.search, location.origin)</script>"
LISTEN = "<p>Waiting</p><script>onmessage = (event) => { document.body.dataset.heard = event.data }</script>"


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """The opener waits for a message, the callback sends one, and the forwarding one goes on to an app."""
        path, _, query = self.path.partition("?")
        if path == "/forwarding":
            self.send_response(302)
            self.send_header("Location", f"claude://oauth?{query}")
        else:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write((LISTEN if path == "/opener" else TELL_OPENER).encode())

    def log_message(self, *_: object) -> None:
        """Nothing."""


@dataclass
class WebApp:
    """The site; Chromium finds it by these arguments."""

    port: int

    @property
    def chromium_arguments(self) -> tuple[str, ...]:
        return (f"--host-resolver-rules=MAP {HOST}:443 127.0.0.1:{self.port}", "--ignore-certificate-errors")


@contextmanager
def running_web_app(folder: Path) -> Iterator[WebApp]:
    """The site, served for this block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_certificate(folder))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield WebApp(server.server_port)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _certificate(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    file = folder / "app.pem"
    file.write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(pem)
    )
    return file
