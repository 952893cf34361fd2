"""A TCP proxy in front of PostgreSQL that can be cut and mended, as a network or a database restart would."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class DatabaseProxy:
    """Listens on `port` and passes bytes both ways, until `cut`."""

    def __init__(self, target: tuple[str, int]) -> None:
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.listener.getsockname()[1])
        self.open: list[socket.socket] = []
        self.is_cut = False
        self.acceptor = threading.Thread(target=self._accept)
        self.acceptor.start()

    def cut(self) -> None:
        """Break every connection; refuse new ones."""
        self.is_cut = True
        for link in self.open:
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        """Take connections again."""
        self.is_cut = False

    def close(self) -> None:
        """Stop for good."""
        self.cut()
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.acceptor.join()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                if self.is_cut:
                    near.close()
                    continue
                far = socket.create_connection(self.target)
                self.open += [near, far]
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=_pass_on, args=(source, sink), daemon=True).start()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    for link in (source, sink):
        with contextlib.suppress(OSError):
            link.shutdown(socket.SHUT_RDWR)
    sink.close()


@contextmanager
def database_proxy(host: str, port: int) -> Iterator[DatabaseProxy]:
    """A proxy before the database at that address."""
    proxy = DatabaseProxy((host, port))
    try:
        yield proxy
    finally:
        proxy.close()
