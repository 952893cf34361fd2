"""The frame of the addresses that programs call: methods, CORS (no credentials, so any origin), errors as JSON."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from accounts.oauth.errors import OAuthRefusal
from flashcards.errors import AppError
from flashcards.outcome import as_app_error

CORS_ALLOW_HEADERS = (
    "Authorization, Content-Type, Accept, Last-Event-ID, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, "
    "X-MCP-Toolsets"
)
CORS_EXPOSE_HEADERS = "WWW-Authenticate, Retry-After, Mcp-Session-Id"
PREFLIGHT_SECONDS = "600"

_ERROR_OF_STATUS = {500: "server_error", 503: "temporarily_unavailable", 429: "temporarily_unavailable"}

MachineView = Callable[[HttpRequest], HttpResponse]


def machine_address(*methods: str, cache_control: str = "no-store") -> Callable[[MachineView], MachineView]:
    """Serve the view to programs of any origin: preflight, 405 for other methods, and every error as JSON."""

    def decorate(view: MachineView) -> MachineView:
        @wraps(view)
        def answer(request: HttpRequest) -> HttpResponse:
            response = _preflight(methods) if request.method == "OPTIONS" else _outcome(view, request, methods)
            return _for_any_origin(response, cache_control if response.status_code < 400 else "no-store")

        answer.error_response = _error_response  # type: ignore[attr-defined]  # read by flashcards.framework_errors
        return csrf_exempt(answer)

    return decorate


def _for_any_origin(response: HttpResponse, cache_control: str) -> HttpResponse:
    response["Access-Control-Allow-Origin"] = "*"
    response["Access-Control-Expose-Headers"] = CORS_EXPOSE_HEADERS
    response["Cache-Control"] = cache_control
    return response


def _error_response(error: AppError) -> HttpResponse:
    """What Django refused before the view was called, as the view answers it."""
    return _for_any_origin(_refusal_response(_as_refusal(error)), "no-store")


def _preflight(methods: tuple[str, ...]) -> HttpResponse:
    headers = {
        "Access-Control-Allow-Methods": ", ".join((*methods, "OPTIONS")),
        "Access-Control-Allow-Headers": CORS_ALLOW_HEADERS,
        "Access-Control-Max-Age": PREFLIGHT_SECONDS,
    }
    return HttpResponse(status=204, headers=headers)


def _outcome(view: MachineView, request: HttpRequest, methods: tuple[str, ...]) -> HttpResponse:
    method = "GET" if request.method == "HEAD" else request.method
    try:
        if method not in methods:
            allow = ", ".join((*methods, "OPTIONS"))
            raise OAuthRefusal("invalid_request", f"This takes {allow}.", status=405, headers={"Allow": allow})
        return view(request)
    except OAuthRefusal as refusal:
        return _refusal_response(refusal)
    except Exception as error:  # noqa: BLE001  `as_app_error` logs what nobody foresaw
        return _refusal_response(_as_refusal(as_app_error(error)))


def _as_refusal(error: AppError) -> OAuthRefusal:
    code = _ERROR_OF_STATUS.get(error.status, "invalid_request")
    return OAuthRefusal(code, error.message, status=error.status, headers=error.headers)


def _refusal_response(refusal: OAuthRefusal) -> HttpResponse:
    body = {"error": refusal.error, "error_description": refusal.description}
    return JsonResponse(body, status=refusal.status, headers=refusal.headers)
