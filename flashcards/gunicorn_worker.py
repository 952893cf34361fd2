"""gunicorn's worker with threads, which answers requests that never reach Django as the rest of the service does."""

from __future__ import annotations

import socket
from typing import Any

from gunicorn.http.errors import LimitRequestHeaders, LimitRequestLine, ParseException
from gunicorn.util import write_nonblock
from gunicorn.workers.gthread import ThreadWorker


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn writes a page of HTML, without a request id, for what is no HTTP; here it is the envelope."""

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: Exception) -> None:
        """Answer 400 to a request that could not be read; what is no fault of the client is left to gunicorn."""
        if not isinstance(exc, ParseException):
            super().handle_error(req, client, addr, exc)
            return

        from flashcards.framework_errors import unreadable_request  # noqa: PLC0415  Django is not set up before

        try:
            write_nonblock(client, unreadable_request(_fault(exc)))
        except OSError:
            self.log.debug("the client did not wait for its answer")


def _fault(error: ParseException) -> str:
    if isinstance(error, LimitRequestLine):
        return "The request's first line, its address included, is too long."
    if isinstance(error, LimitRequestHeaders):
        return "The request's headers are too many or too long."
    return "The request is not well-formed HTTP."
