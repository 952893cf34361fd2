"""Request bodies that reach Django whole, however the client sent them."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import IO

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, UnreadablePostError
from django.http.response import HttpResponseBase
from gunicorn.http.errors import ParseException


class ChunkedBody:
    """Middleware: lets views read a body that was sent in chunks.

    Django's WSGI request trusts Content-Length alone, so a chunked body looks empty to it. gunicorn marks its input as
    terminated; then the body can be read to its end, up to the limit.
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
        return self.get_response(request)


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


def read_body(request: HttpRequest, *, limit_bytes: int) -> bytes:
    """The whole body; raises RequestDataTooBig before a byte of an over-long one is read.

    UnreadablePostError when it is shorter than was declared: half a request must not be carried out.
    """
    declared = request.META.get("CONTENT_LENGTH") or "0"
    length = int(declared) if declared.isascii() and declared.isdigit() else 0
    if length > limit_bytes:
        raise RequestDataTooBig
    body = request.body
    if len(body) < length:
        raise UnreadablePostError("the body is shorter than its Content-Length")
    return body
