"""One id and one log line for each request.

`X-Request-Id` is minted here, never taken from the client. The line names the route, not the URL: a path or query can
carry what must not be logged.
"""

from __future__ import annotations

import json
import logging
import time
import traceback
import uuid
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

log = logging.getLogger("flashcards.request")

_request_id: ContextVar[str] = ContextVar("request_id", default="")


def request_id() -> str:
    """The id of the request that this thread is answering; empty outside of one."""
    return _request_id.get()


class RequestLog:
    """Middleware: gives the request its id, times it, and logs it once it is answered."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The answer, with `X-Request-Id`."""
        token = _request_id.set(uuid.uuid4().hex)
        started = time.perf_counter()
        try:
            response = self.get_response(request)
            response["X-Request-Id"] = request_id()
            log.info("request", extra={"fields": _fields(request, response, started)})
            return response
        finally:
            _request_id.reset(token)


def _fields(request: HttpRequest, response: HttpResponseBase, started: float) -> dict[str, Any]:
    match = request.resolver_match
    return {
        "method": request.method if request.method in _METHODS else "OTHER",
        "route": "/" + match.route if match else "unknown",
        "status": response.status_code,
        "milliseconds": round((time.perf_counter() - started) * 1000, 1),
    }


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


# Messages of these quote rows, statements or input.
_SECRETIVE = ("django.db", "psycopg", "sqlite3", "pydantic", "lark")


class _Formatter(logging.Formatter):
    def formatException(self, ei: Any) -> str:  # noqa: N802  the name is logging's
        """The frames and types of the whole chain; the message too, unless its library quotes data in it."""
        error: BaseException | None = ei[1]
        parts = []
        while error is not None:
            secretive = type(error).__module__.startswith(_SECRETIVE) or isinstance(error, UnicodeError)
            head = f"{type(error).__name__}: {'(message withheld)' if secretive else error}"
            parts.append("".join(traceback.format_tb(error.__traceback__)) + head)
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\ncaused by\n".join(parts)

    def fields_of(self, record: logging.LogRecord) -> dict[str, Any]:
        """The structured part of a record: its request id, then what the caller put under `fields`."""
        named: dict[str, Any] = getattr(record, "fields", {})
        return {"request_id": request_id(), **named} if request_id() else named


class TextFormatter(_Formatter):
    """`2026-01-31T12:00:00Z INFO flashcards.request request status=200 …`, for people."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, and the traceback below it when there is one."""
        pairs = "".join(f" {key}={value}" for key, value in self.fields_of(record).items())
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        line = f"{stamp} {record.levelname} {record.name} {record.getMessage()}{pairs}"
        return line.replace("\n", "\\n") + (f"\n{self.formatException(record.exc_info)}" if record.exc_info else "")


class JsonFormatter(_Formatter):
    """One JSON object a line, for log collectors."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as compact JSON."""
        entry = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **self.fields_of(record),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, default=str, ensure_ascii=False)
