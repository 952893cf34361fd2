"""Mail servers that hang, refuse, or are not there, spoken to over a real socket."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

from accounts.models import LoginChallenge


@contextmanager
def mail_server(*lines: bytes) -> Iterator[int]:
    """The port of a server that answers each command with the next line, and then nothing more."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        Thread(target=_speak, args=(listening, lines), daemon=True).start()
        yield listening.getsockname()[1]


def _speak(listening: socket.socket, lines: tuple[bytes, ...]) -> None:
    peer, _ = listening.accept()
    with peer:
        for line in lines:
            peer.sendall(line + b"\r\n")
            peer.recv(1000)
        while peer.recv(1000):
            pass


@pytest.fixture
def smtp(settings):
    """Mail by SMTP with little patience."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_TIMEOUT = "127.0.0.1", 0.2
    return settings


@pytest.mark.parametrize(
    "lines",
    [
        (),
        (b"220 hello",),
        (b"554 go away",),
        (b"220 hello", b"250 hello", b"550 no such sender"),
        (b"220 hello", b"250 hello", b"250 ok", b"550 no such recipient"),
        (b"nonsense",),
    ],
    ids=["silent", "hangs", "refuses", "refuses the sender", "refuses the recipient", "speaks no SMTP"],
)
def test_a_mail_server_that_does_not_take_the_mail_is_a_503(visitor, smtp, lines):
    with mail_server(*lines) as smtp.EMAIL_PORT:
        answer = visitor.send_code()
    assert answer.status == 503
    assert answer.error["code"] == "OTP_SEND_FAILED"
    assert not LoginChallenge.objects.exists()


def test_a_mail_server_that_is_not_there_is_a_503(visitor, smtp):
    with socket.create_server(("127.0.0.1", 0)) as gone:
        smtp.EMAIL_PORT = gone.getsockname()[1]
    assert visitor.send_code().error["code"] == "OTP_SEND_FAILED"
    smtp.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    assert visitor.send_code().status == 200
