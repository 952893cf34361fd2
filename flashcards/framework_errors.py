"""Django's own refusals, and the server's: as the address answers its errors, the envelope or a page."""

from __future__ import annotations

import sys
from collections.abc import Callable
from http import HTTPStatus
from typing import cast

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from django.views import defaults

from flashcards.api import error_response, is_agent_path, not_found
from flashcards.errors import AppError, InternalError, InvalidRequest
from flashcards.outcome import as_app_error
from flashcards.request_log import RequestLog

Renderer = Callable[[AppError], HttpResponse]


def _renderer(request: HttpRequest) -> Renderer | None:
    """How programs are answered here: as the view says in `error_response`, else by the envelope; None for a page."""
    default = error_response if is_agent_path(request) else None
    try:
        view = resolve(request.path_info).func
    except Resolver404:
        return default
    renderer: Renderer | None = getattr(view, "error_response", default)
    return renderer


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400: a host that is not ours, or input that Django itself found hostile."""
    renderer = _renderer(request)
    if renderer is None:
        return defaults.bad_request(request, exception)
    return renderer(_as_invalid(exception))


def _as_invalid(exception: Exception) -> InvalidRequest:
    if isinstance(exception, DisallowedHost):
        return InvalidRequest("The Host header does not name this service; use the address that it is published under.")
    return InvalidRequest("The request is malformed.")


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403."""
    renderer = _renderer(request)
    if renderer is None:
        return defaults.permission_denied(request, exception)
    return renderer(as_app_error(exception))


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404."""
    return not_found(request) if is_agent_path(request) else defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """500, or what the exception that Django is handling means (503 when the database is away); it is logged."""
    raised = sys.exc_info()[1]
    error = as_app_error(raised) if isinstance(raised, Exception) else InternalError("Something went wrong.")
    renderer = _renderer(request)
    if renderer is not None:
        return renderer(error)
    page = defaults.server_error(request)
    page.status_code = error.status
    for name, value in error.headers.items():
        page[name] = value
    return page


def unreadable_request(fault: str) -> bytes:
    """The whole HTTP answer to a request that the server could not read, logged as any other; `fault` is said."""
    answered = RequestLog(lambda _: error_response(InvalidRequest(fault)))(HttpRequest())
    refusal = cast(HttpResponse, answered)
    refusal["Content-Length"] = str(len(refusal.content))
    refusal["Connection"] = "close"
    status = HTTPStatus(refusal.status_code)
    return b"HTTP/1.1 %d %s\r\n" % (status, status.phrase.encode()) + refusal.serialize()
