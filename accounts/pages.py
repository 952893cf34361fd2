"""What every page for people shares: its headers, its host, its language, and where it may send the browser."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.encoding import iri_to_uri
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.models import User
from accounts.oauth.audience import mcp_resource
from flashcards.errors import AppError
from flashcards.outcome import as_app_error

T = TypeVar("T")
P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]

# No form-action here: Chromium applies it to every redirect that follows a form, and sign-in and consent end at an
# address of the client, which may forward further.
JOURNEY_CSP = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)
PAGE_CSP = f"{JOURNEY_CSP}; form-action 'self'"
LANGUAGES = {"en": "en", "zh": "zh-hans", "ru": "ru"}
HOME = "/"


class PageHeaders:
    """Middleware: every HTML answer has a content security policy, its own or the one for pages."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The answer of the view."""
        response = self.get_response(request)
        if response.get("Content-Type", "").startswith("text/html"):
            response.headers.setdefault("Content-Security-Policy", PAGE_CSP)
        return response


class UserLanguage:
    """Middleware: who is signed in reads pages in the language of their account, whatever the browser prefers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The answer of the view."""
        # Programs send no cookie, and are spared the look-up of session and user.
        if settings.SESSION_COOKIE_NAME not in request.COOKIES or not isinstance(request.user, User):
            return self.get_response(request)
        language = LANGUAGES.get(request.user.locale, settings.LANGUAGE_CODE)
        translation.activate(language)
        request.LANGUAGE_CODE = language
        response = self.get_response(request)
        patch_vary_headers(response, ["Cookie"])
        return response


def service(_request: HttpRequest) -> dict[str, str]:
    """Template context: what the service is called and where its parts are."""
    return {
        "service_name": settings.SERVICE_NAME,
        "mcp_url": mcp_resource(),
        "auth_base_url": settings.PUBLIC_AUTH_BASE_URL,
        "api_base_url": settings.PUBLIC_API_BASE_URL,
    }


def page_locale() -> str:
    """The language of this page as accounts name it: en, zh or ru."""
    language = (translation.get_language() or settings.LANGUAGE_CODE).split("-")[0]
    return language if language in LANGUAGES else "en"


def on_auth_host(view: View[P]) -> View[P]:
    """Serve the page on the host of sign-in alone: its cookie is good for no other. Other public hosts send there."""

    @wraps(view)
    def serve(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        host = request.get_host()
        others = {urlsplit(origin).netloc for origin in settings.PUBLIC_ORIGINS}
        if host in others and host != urlsplit(settings.PUBLIC_AUTH_BASE_URL).netloc:
            return send_to(settings.PUBLIC_AUTH_BASE_URL + exact_path(request))
        return view(request, *args, **kwargs)

    return serve


def journey_page(view: View[P]) -> View[P]:
    """A page between a client and its tokens: never cached or framed, free to end at the client's own address."""

    @wraps(view)
    def serve(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        response = view(request, *args, **kwargs)
        response["Cache-Control"] = "no-store"
        response["Content-Security-Policy"] = JOURNEY_CSP
        return response

    return on_auth_host(serve)


def private_page(view: Callable[Concatenate[HttpRequest, User, P], HttpResponse]) -> View[P]:
    """A page for who is signed in, handed to the view; anyone else is sent to sign-in, and back."""

    @wraps(view)
    def serve(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        user = request.user
        response = view(request, user, *args, **kwargs) if isinstance(user, User) else send_to_login(request)
        response["Cache-Control"] = "no-store"
        return response

    return on_auth_host(serve)


def exact_path(request: HttpRequest) -> str:
    """Path and query of this request, byte for byte as they were sent but for bytes that no URL may hold."""
    query = request.META.get("QUERY_STRING", "")
    return quote(request.path) + (f"?{iri_to_uri(query) if not query.isascii() else query}" if query else "")


def send_to(location: str, *, status: int = 302) -> HttpResponse:
    """A redirect to exactly `location`, whatever its scheme; the caller has judged it."""
    return HttpResponse(status=status, headers={"Location": location})


def send_to_login(request: HttpRequest) -> HttpResponse:
    """To sign-in and, after it, back to exactly this address."""
    return send_to(f"/login/?next={quote(exact_path(request), safe='')}")


def safe_next(request: HttpRequest) -> str:
    """Where the browser goes after sign-in: the `next` of the query when it is a path of ours, else home."""
    path = request.GET.get("next", "")
    ours = path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
    return path if ours and path.isascii() and path.isprintable() else HOME


def attempt(action: Callable[[], T]) -> T | AppError:
    """What `action` returns, or the error that its exception means; pages show it."""
    try:
        return action()
    except Exception as error:  # noqa: BLE001  `as_app_error` logs what nobody foresaw
        return as_app_error(error)
