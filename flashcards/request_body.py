"""Request bodies that reach Django whole, however the client sent them."""

from __future__ import annotations

import io
from collections.abc import Callable
from http import HTTPStatus
from typing import IO

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, UnreadablePostError
from django.http.response import HttpResponseBase
from gunicorn.http.errors import ParseException

# In the WSGI environment: makes the answer say `Connection: close`, see `flashcards.wsgi`.
CLOSE_CONNECTION = "flashcards.close_connection"
# As much of an unread body gunicorn reads away before it gives up and closes.
UNREAD_BYTES_MAX = 65_536


class ChunkedBody:
    """Middleware: lets views read a body that was sent in chunks, and announces that a connection ends with an answer.

    Django's WSGI request trusts Content-Length alone, so a chunked body looks empty to it. gunicorn marks its input as
    terminated; then the body can be read to its end, up to the limit. gunicorn closes a connection on which much of a
    body was left unread; a client that is not told sends its next request into it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The answer of the view, which sees the chunked body as an ordinary one."""
        source = request.META.get("wsgi.input")
        if "CONTENT_LENGTH" not in request.META and request.META.get("wsgi.input_terminated") and source:
            limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0
            length, stream = _read_chunks(source, limit + 1)
            request.META["CONTENT_LENGTH"] = str(length)
            request._stream = stream  # what HttpRequest.read() reads
        response = self.get_response(request)
        if _leaves_much_unread(request, response):
            request.META.get(CLOSE_CONNECTION, _keep)()
        return response


def _leaves_much_unread(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Whether more of the body may be left than the server reads away to make place for the next request."""
    was_read = request._read_started and response.status_code < HTTPStatus.BAD_REQUEST  # type: ignore[attr-defined]  # Django's own, in no stub
    return _declared_length(request) > UNREAD_BYTES_MAX and not was_read


def _keep() -> None:
    """What closing comes to under a server that cannot be told."""


class _BrokenBody(io.BytesIO):
    """A body that cannot be read: whoever tries learns it, and where nobody does it is no fault."""

    def read(self, size: int | None = -1, /) -> bytes:
        raise OSError("the chunks of the body are broken")


def _read_chunks(source: IO[bytes], bytes_max: int) -> tuple[int, io.BytesIO]:
    try:
        body = source.read(bytes_max)
    except (OSError, ParseException):
        return 1, _BrokenBody()
    return len(body), io.BytesIO(body)


def _declared_length(request: HttpRequest) -> int:
    declared = request.META.get("CONTENT_LENGTH") or "0"
    return int(declared) if declared.isascii() and declared.isdigit() else 0


def read_body(request: HttpRequest, *, limit_bytes: int) -> bytes:
    """The whole body; raises RequestDataTooBig before a byte of an over-long one is read.

    UnreadablePostError when it is shorter than was declared: half a request must not be carried out.
    """
    length = _declared_length(request)
    if length > limit_bytes:
        raise RequestDataTooBig
    body = request.body
    if len(body) < length:
        raise UnreadablePostError("the body is shorter than its Content-Length")
    return body
