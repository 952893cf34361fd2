"""Operations served over REST: one DRF view for all, routes as data, and the envelope for whatever goes wrong."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import IO, Any, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, is_valid_path, path
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from flashcards.envelope import Answer, Reply, Surface, render
from flashcards.errors import AppError, InvalidRequest, MethodNotAllowed, NotFound, printable, validation_issue
from flashcards.operation import Call, Operation
from flashcards.outcome import BODY_BYTES_MAX, NAME_SHOWN_MAX, as_app_error, outcome_of, perform
from flashcards.request_body import read_body
from flashcards.request_log import request_id

AnyOperation = Operation[Any, Any]


@dataclass(frozen=True, slots=True)
class Route:
    """An operation at a method and path. `<…>` parts of the path and, for GET, the query are arguments too."""

    method: str
    path: str
    operation: AnyOperation
    status: int = HTTPStatus.OK
    either_slash: bool = False


def answer(outcome: Reply | AppError, *, status: int = HTTPStatus.OK) -> Answer:
    """The REST envelope of an outcome; no cache may keep it, as it is one caller's and may hold a new key."""
    rendered = render(
        outcome,
        surface=Surface.REST,
        discovery_url=f"{settings.PUBLIC_API_BASE_URL}/v1/",
        request_id=request_id(),
        status=status,
    )
    return replace(rendered, headers={**rendered.headers, "Cache-Control": "no-store"})


def error_response(error: AppError) -> HttpResponse:
    """The envelope of `error` as a plain Django response, for places outside of an operation's view."""
    rendered = answer(error)
    content = serialised(rendered.body)
    return HttpResponse(content, JsonEnvelope.media_type, status=rendered.status, headers=rendered.headers)


def serialised(body: Mapping[str, Any]) -> bytes:
    """An answer's body as compact UTF-8 JSON."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


class JsonBody(BaseParser):
    """Parses a JSON object; the service reads nothing else."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The object in the body; ParseError for anything else, RequestDataTooBig over the limit."""
        raw = read_body(cast(HttpRequest, stream), limit_bytes=BODY_BYTES_MAX)
        return parse_json_object(raw)


def parse_json_object(raw: bytes) -> dict[str, Any]:
    """`raw` as a JSON object; ParseError says what it is instead. A blank body is an empty object."""
    value = parse_json(raw) if raw.strip() else {}
    if not isinstance(value, dict):
        raise ParseError('The body must be a JSON object such as {"sql": "…"}.')
    return value


def parse_json(raw: bytes) -> Any:
    """`raw` as JSON in UTF-8, no name twice in an object; ParseError for anything else."""
    try:
        # Decoded here: json.loads would take UTF-16 too, and bytes that stand for lone surrogates.
        text = raw.decode("utf-8-sig")
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique_keys)
    except RecursionError:
        raise ParseError("The body is nested too deeply.") from None
    except UnicodeDecodeError:
        raise ParseError("The body is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise ParseError(f"The body is not JSON (line {error.lineno}, column {error.colno}).") from None
    except ValueError:
        raise ParseError("The body has a number of too many digits.") from None


def _refuse_constant(name: str) -> float:
    raise ParseError(f"{name} is not JSON.")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        (twice, _), *_rest = Counter(key for key, _ in pairs).most_common(1)
        raise ParseError(f"The body names {twice[:60]!r} twice.")
    return unique


class JsonEnvelope(BaseRenderer):
    """Writes the envelope; a client's Accept header does not change what it gets."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        """Compact UTF-8 JSON."""
        return serialised(data)


class OperationView(APIView):
    """Serves the operations of one path, by method."""

    routes: Mapping[str, Route] = {}
    parser_classes = [JsonBody]
    renderer_classes = [JsonEnvelope]

    @property
    def allowed_methods(self) -> list[str]:
        """What the Allow header names."""
        head = ["HEAD"] if "GET" in self.routes else []
        return [*self.routes, *head, "OPTIONS"]

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[BaseRenderer, str]:
        """Always the envelope: an agent that asks for text/html is still better served by the JSON."""
        return JsonEnvelope(), JsonEnvelope.media_type

    def perform_authentication(self, request: Request) -> None:
        """Left to `serve`: whether somebody must be known depends on the operation."""

    def serve(self, request: Request, **path_arguments: str) -> Response:
        """The operation's outcome in its envelope."""
        route = self.routes["GET" if request.method == "HEAD" else str(request.method)]
        outcome = outcome_of_route(route, request, path_arguments)
        rendered = answer(outcome, status=route.status)
        return Response(rendered.body, status=rendered.status, headers=rendered.headers)

    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        """The methods that this path takes, in the envelope and in the Allow header."""
        methods = self.allowed_methods
        reply = Reply({"methods": methods}, "Send one of these methods; /v1/openapi.json describes each.")
        return Response(answer(reply).body, headers={"Allow": ", ".join(methods)})

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        """405 with the methods that this path takes."""
        raise MethodNotAllowed(
            f"This path takes {', '.join(self.routes)}.", headers={"Allow": ", ".join(self.allowed_methods)}
        )


def outcome_of_route(route: Route, request: Request, path_arguments: Mapping[str, str]) -> Reply | AppError:
    """Who is calling, what with, and what comes of it."""

    def run() -> Reply:
        call = Call(
            caller=request.auth if route.operation.login else None,
            surface=Surface.REST,
            request_id=request_id(),
            client_address=client_address(request),
            accept_language=request.headers.get("accept-language", "")[:200],
        )
        outcome = perform(route.operation, call, _arguments(route, request) | dict(path_arguments))
        if isinstance(outcome, AppError):
            raise outcome
        return outcome

    outcome = outcome_of(run)
    if type(outcome) is InvalidRequest:
        # A body that could not be read is refused under the operation's own code, as its wrong arguments are.
        return route.operation.refusal(outcome.message, outcome.details["validationIssues"])
    return outcome


def _arguments(route: Route, request: Request) -> dict[str, Any]:
    """The arguments from where this method carries them; one in the other place must not be passed over in silence."""
    query, body = request.query_params, dict(request.data)
    expected, other = (query, body) if route.method == "GET" else (body, query)
    misplaced = next(iter(other), None)
    if misplaced is not None:
        place = "query" if route.method == "GET" else "body"
        raise _refused(misplaced, "misplaced", f"{route.method} takes its arguments in the {place}")
    twice = next((name for name in query if len(query.getlist(name)) > 1), None)
    if twice is not None:
        raise _refused(twice, "repeated", "the query names it twice")
    return dict(expected.items())


def _refused(name: str, code: str, reason: str) -> InvalidRequest:
    shown = printable(name[:NAME_SHOWN_MAX])
    message = f"{shown}: {reason}."
    return InvalidRequest(message, [validation_issue(shown, code, message)])


def client_address(request: HttpRequest | Request) -> str:
    """The address that limits count by: X-Forwarded-For as far as TRUSTED_PROXY_COUNT says, else the peer's.

    However a proxy spells an address, with a port or as IPv4 in IPv6, it is one and counts as one. One customer has a
    whole /64 of IPv6 (RFC 6177), so there the network counts: `2001:db8::/64`.
    """
    peer = str(request.META.get("REMOTE_ADDR") or "unknown")
    proxies: int = settings.TRUSTED_PROXY_COUNT
    hops = [hop.strip() for hop in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if hop.strip()]
    return (_counted_address(hops[-proxies]) if 0 < proxies <= len(hops) else None) or _counted_address(peer) or peer


_WITH_PORT = re.compile(r"\[([^\]]*)\](?::[0-9]+)?|([0-9.]+):[0-9]+")


def _counted_address(hop: str) -> str | None:
    """The IPv4 address or IPv6 network in `hop`, without the port that some proxies add; None when it has none."""
    with_port = _WITH_PORT.fullmatch(hop)
    try:
        address = ip_address((with_port[1] or with_port[2]) if with_port else hop)
    except ValueError:
        return None
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or IPv6Network((int(address), 64), strict=False))
    return str(address)


def exception_handler(error: Exception, _context: Mapping[str, Any]) -> Response:
    """DRF's hook: the framework's own refusals in the envelope."""
    rendered = answer(as_app_error(error))
    return Response(rendered.body, status=rendered.status, headers=rendered.headers)


def url_patterns(routes: Iterable[Route]) -> list[URLPattern]:
    """Django URL patterns that serve `routes`; the view of a path is named after its first operation."""
    by_path: dict[str, dict[str, Route]] = {}
    for route in routes:
        by_path.setdefault(route.path, {})[route.method] = route
        if route.either_slash:
            by_path.setdefault(route.path.rstrip("/"), {})[route.method] = route
    return [_pattern(at, methods) for at, methods in by_path.items()]


def _pattern(at: str, methods: Mapping[str, Route]) -> URLPattern:
    handlers = {method.lower(): OperationView.serve for method in methods}
    view: type[OperationView] = type("OperationView", (OperationView,), {"routes": methods, **handlers})
    return path(at, view.as_view(), name=next(iter(methods.values())).operation.name)


AGENT_PATHS: Sequence[str] = ("/v1/", "/api/", "/mcp/")


def is_agent_path(request: HttpRequest) -> bool:
    """Whether programs call this address, so that even the framework's errors are the envelope and not a page."""
    return f"{request.path}/".startswith(tuple(AGENT_PATHS))


def not_found(request: HttpRequest) -> HttpResponse:
    """The 404 of an unknown REST address; it names the one without a last slash where that exists."""
    bare = request.path.rstrip("/")
    meant = f" Did you mean {bare}?" if bare != request.path and is_valid_path(bare) else ""
    return error_response(NotFound(f"There is nothing at {printable(request.path[:120])}.{meant}"))
