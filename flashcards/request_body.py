"""Request bodies that reach Django whole, however the client sent them."""

from __future__ import annotations

import io
from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest
from django.http.response import HttpResponseBase


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
            body = source.read(limit + 1)
            request.META["CONTENT_LENGTH"] = str(len(body))
            request._stream = io.BytesIO(body)  # what HttpRequest.read() reads
        return self.get_response(request)


def read_body(request: HttpRequest, *, limit_bytes: int) -> bytes:
    """The whole body; raises RequestDataTooBig before a byte of an over-long one is read."""
    declared = request.META.get("CONTENT_LENGTH") or "0"
    if declared.isdigit() and int(declared) > limit_bytes:
        raise RequestDataTooBig
    return request.body
