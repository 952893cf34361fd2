"""Pages of an account: home, signing in and out, and the list of what is connected."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from accounts.connections import (
    find_connection,
    list_connections,
    list_ended_connections,
    revoke_connection,
)
from accounts.errors import InvalidEmail, OtpCodeInvalid, OtpSendFailed, OtpSessionExpired, OtpTooManyAttempts
from accounts.login import SentCode, send_code, sign_in_with_code
from accounts.models import Connection, User
from accounts.pages import attempt, journey_page, page_locale, private_page, safe_next, send_to
from accounts.workspaces import owned_workspaces, select_workspace
from flashcards.api import client_address
from flashcards.errors import AppError, Forbidden, RateLimited

MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"
PENDING = "sign_in"
PENDING_PATH = "/login/"
PENDING_SECONDS = 3600
CONNECTIONS = "/settings/connections/"


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What this is, and the address to connect."""
    return render(request, "accounts/home.html")


# Signing in


@journey_page
@require_http_methods(["GET", "HEAD", "POST"])
def enter_email(request: HttpRequest) -> HttpResponse:
    """Ask for the e-mail address; a POST mails the code and goes on to asking for it."""
    if request.method != "POST":
        return send_to(safe_next(request)) if request.user.is_authenticated else _email_page(request)
    email, address = request.POST.get("email", ""), client_address(request)
    sent = attempt(lambda: send_code(email=email, client_address=address, locale=page_locale(), now=timezone.now()))
    if isinstance(sent, AppError):
        return _email_page(request, email=email, error=sent)
    return _remember(send_to(_with_next("/login/code/", request), status=303), sent)


@sensitive_variables()
@sensitive_post_parameters()
@journey_page
@require_http_methods(["GET", "HEAD", "POST"])
def enter_code(request: HttpRequest) -> HttpResponse:
    """Ask for the mailed code; the right one signs in and goes to where sign-in was asked for."""
    email, _, token = (request.get_signed_cookie(PENDING, "") or "").rpartition(" ")
    if not token:
        return send_to(_with_next("/login/", request))
    if request.method != "POST":
        return _code_page(request, email)
    code = request.POST.get("code", "")
    user = attempt(lambda: sign_in_with_code(code=code, token=token, locale=page_locale(), now=timezone.now()))
    if isinstance(user, AppError):
        return _code_page(request, email, error=user)
    login(request, user, backend=MODEL_BACKEND)
    signed_in = send_to(safe_next(request), status=303)
    signed_in.delete_cookie(PENDING, path=PENDING_PATH)
    return signed_in


def _remember(response: HttpResponse, sent: SentCode) -> HttpResponse:
    """Let the browser hold what goes with the code; the database is not to know the token."""
    response.set_signed_cookie(
        PENDING,
        f"{sent.email} {sent.token}",
        max_age=PENDING_SECONDS,
        path=PENDING_PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


@journey_page
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session; with `next`, on to sign-in as somebody else."""
    logout(request)
    return send_to(_with_next("/login/", request) if "next" in request.GET else "/", status=303)


def _email_page(request: HttpRequest, *, email: str = "", error: AppError | None = None) -> HttpResponse:
    context = {
        "email": email,
        "error": error and _sign_in_message(error),
        "query": _next_query(request),
        "anybody_may_start": settings.SIGNUP == "open",
    }
    return _page(request, "accounts/login.html", context, error)


def _code_page(request: HttpRequest, email: str, *, error: AppError | None = None) -> HttpResponse:
    over = isinstance(error, OtpSessionExpired | OtpTooManyAttempts)
    message = error and _sign_in_message(error)
    context = {"email": email, "error": message, "code_is_over": over, "query": _next_query(request)}
    return _page(request, "accounts/login_code.html", context, error)


def _page(request: HttpRequest, template: str, context: dict[str, Any], error: AppError | None) -> HttpResponse:
    response = render(request, template, context, status=error.status if error else 200)
    for name, value in (error.headers if error else {}).items():
        response[name] = value
    return response


def _with_next(path: str, request: HttpRequest) -> str:
    return path + _next_query(request)


def _next_query(request: HttpRequest) -> str:
    return f"?next={quote(safe_next(request), safe='')}" if "next" in request.GET else ""


def _sign_in_message(error: AppError) -> str:
    """What went wrong, in the reader's language."""
    if isinstance(error, OtpCodeInvalid):
        left = int(error.details.get("attemptsRemaining", 0))
        text = ngettext("That code is not right. %d try left.", "That code is not right. %d tries left.", left)
        return text % left if left else gettext("That code is not right, and it is locked now. Ask for a new one.")
    worded = {
        InvalidEmail: gettext("Enter an e-mail address such as alice@example.com."),
        RateLimited: gettext("Too many codes were asked for. Wait a while, then try again."),
        OtpSendFailed: gettext("The mail could not be sent. Try again in a minute."),
        OtpSessionExpired: gettext("This code is too old or was used already. Ask for a new one."),
        OtpTooManyAttempts: gettext("Too many wrong codes: this one is locked. Ask for a new one."),
        Forbidden: gettext("This account is switched off. Ask whoever runs this service."),
    }
    return worded.get(type(error), gettext("That did not work. Try again in a minute."))


# Connections


@require_GET
@private_page
def connections(request: HttpRequest, user: User) -> HttpResponse:
    """Every key and app that can act for the user."""
    workspaces, now = list(owned_workspaces(user)), timezone.now()
    context = {
        "connections": list_connections(user, now=now),
        "ended": list_ended_connections(user, now=now),
        "workspaces": workspaces if len(workspaces) > 1 else [],
    }
    return render(request, "accounts/connections.html", context)


@require_POST
@private_page
def revoke(request: HttpRequest, user: User, connection_id: UUID) -> HttpResponse:
    """End one connection."""
    revoke_connection(_owned(user, connection_id), now=timezone.now())
    messages.success(request, gettext("The connection is revoked."))
    return send_to(CONNECTIONS, status=303)


@require_POST
@private_page
def choose_workspace(request: HttpRequest, user: User, connection_id: UUID) -> HttpResponse:
    """Set the workspace that one connection works in; an empty choice asks every time."""
    connection, chosen = _owned(user, connection_id), request.POST.get("workspace", "")
    workspace = next((owned for owned in owned_workspaces(user) if str(owned.pk) == chosen), None)
    if chosen and workspace is None:
        raise Http404
    select_workspace(connection, workspace)
    messages.success(request, gettext("The workspace is set."))
    return send_to(CONNECTIONS, status=303)


def _owned(user: User, connection_id: UUID) -> Connection:
    connection = find_connection(user, connection_id)
    if connection is None:
        raise Http404
    return connection


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001  Django passes it
    """A form that was not ours, or is older than the session: say how to go on, and do nothing."""
    return journey_page(lambda request: render(request, "accounts/csrf_failure.html", status=403))(request)
