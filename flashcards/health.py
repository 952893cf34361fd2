"""Whether the process lives and whether it can work: what balancers and containers ask.

Both addresses answer on any Host, because a probe calls an instance by its own address.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from http import HTTPStatus

from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import path, resolve

log = logging.getLogger(__name__)

RETRY_AFTER_SECONDS = "5"


def healthz(_request: HttpRequest) -> HttpResponse:
    """200 while the process answers at all; the database is not asked."""
    return _answer({"status": "alive"}, HTTPStatus.OK)


def readyz(_request: HttpRequest) -> HttpResponse:
    """200 when the database answers and has every migration; else 503 naming the `failing` part."""
    failing = failing_part()
    if failing is None:
        return _answer({"status": "ready"}, HTTPStatus.OK)
    answer = _answer({"status": "unavailable", "failing": failing}, HTTPStatus.SERVICE_UNAVAILABLE)
    answer["Retry-After"] = RETRY_AFTER_SECONDS
    return answer


def _answer(body: dict[str, str], status: HTTPStatus) -> HttpResponse:
    answer = JsonResponse(body, status=status, headers={"Cache-Control": "no-store"})
    # The middleware that would add it comes after this one.
    answer["Content-Length"] = str(len(answer.content))
    return answer


def failing_part() -> str | None:
    """`database` when it does not answer, `migrations` when some are not applied, else None."""
    try:
        applied = MigrationRecorder(connection).applied_migrations()
    except (DatabaseError, InterfaceError) as error:
        log.warning("not ready: the database does not answer (%s)", type(error).__name__)
        return "database"
    return None if known_migrations() <= applied.keys() else "migrations"


def database_fault(error: Exception) -> str | None:
    """What an operator is told of a command's database error; None for one that is a defect of the command.

    InterfaceError and OperationalError come of the database's state. So does whatever a missing table raises, which
    PostgreSQL counts among the programmer's errors.
    """
    part = failing_part()
    if part == "migrations":
        return "The database is not migrated; `manage.py migrate` does it, and so does `manage.py serve`."
    if part is not None:
        return "The database does not answer; `manage.py show_config` tells which one DATABASE_URL names."
    if isinstance(error, OperationalError | InterfaceError):
        return "The database was busy or went away; what the command stored last may be missing. Run it again."
    return None


@cache
def known_migrations() -> frozenset[tuple[str, str]]:
    """Every migration of this release, as (app, name)."""
    return frozenset(MigrationLoader(None).graph.nodes)


HEALTH_PATHS = {"/healthz": "healthz", "/readyz": "readyz"}
urlpatterns = [path("healthz", healthz, name="healthz"), path("readyz", readyz, name="readyz")]


class HealthChecks:
    """Middleware: answers the health checks before anything looks at the Host header."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The health check's answer, or that of the rest of the service."""
        if request.path_info not in HEALTH_PATHS:
            return self.get_response(request)
        request.resolver_match = resolve(request.path_info)
        answer: HttpResponse = request.resolver_match.func(request)
        return answer
