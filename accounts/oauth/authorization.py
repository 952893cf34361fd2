"""The authorization request: read, judged, and answered with a code (RFC 6749 section 4.1, RFC 7636, RFC 9207)."""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qsl, urlencode

from django.utils.crypto import salted_hmac
from oauth2_provider import cimd
from oauth2_provider.models import AbstractGrant

from accounts.models import User
from accounts.oauth.audience import is_mcp_resource, known_scope, mcp_resource
from accounts.oauth.metadata import issuer
from accounts.oauth.models import OAuthClient, OAuthGrant
from accounts.oauth.tokens import CODE_LIFETIME, checksum
from flashcards.models import Workspace
from flashcards.operation import Scope
from flashcards.outcome import committed

FIELDS_MAX = 50
ONCE = ("response_type", "scope", "state", "code_challenge", "code_challenge_method")
RESPONSE_PARAMETERS = frozenset({"code", "state", "iss", "error", "error_description"})
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_CLIENT_ID = re.compile(r"[!-~]{1,255}")


class UnusableRequest(Exception):
    """A request that names no client of ours, or an address that is not the client's: nobody to send an answer to."""


class RefusedRequest(Exception):
    """A request whose fault goes back to the client (RFC 6749 section 4.1.2.1)."""

    def __init__(self, error: str, description: str, *, redirect_uri: str, state: str | None) -> None:
        super().__init__(description)
        self.redirect_uri = redirect_uri
        self.answer = {"error": error, "error_description": description, "state": state}

    @property
    def location(self) -> str:
        """Where the client awaits the answer, with it."""
        return answer_address(self.redirect_uri, self.answer)


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """A request that may be put to the user."""

    client: OAuthClient
    redirect_uri: str
    redirect_uri_given: bool
    scope: Scope
    state: str | None
    code_challenge: str

    def location(self, answer: Mapping[str, str]) -> str:
        """Where the client awaits the answer, with it and the request's state."""
        return answer_address(self.redirect_uri, {**answer, "state": self.state})


def judge_authorization_request(query_string: str) -> AuthorizationRequest | RefusedRequest | UnusableRequest:
    """The request in a URL's query, or what is wrong with it (see `read_authorization_request`)."""
    try:
        return read_authorization_request(query_string)
    except (RefusedRequest, UnusableRequest) as fault:
        return fault


def read_authorization_request(query_string: str) -> AuthorizationRequest:
    """The request in a URL's query. Empty parameters count as absent, unknown ones are ignored.

    Raises UnusableRequest when client or redirect URI are unknown, missing or given twice, RefusedRequest for every
    other fault.
    """
    try:
        # Bytes that are no UTF-8 survive as surrogates, so that `state` goes back as it came.
        pairs = parse_qsl(query_string, errors="surrogateescape", max_num_fields=FIELDS_MAX)
    except ValueError:
        raise UnusableRequest("too many parameters") from None
    given, times = dict(reversed(pairs)), Counter(name for name, _ in pairs)
    if times["client_id"] > 1 or times["redirect_uri"] > 1:
        raise UnusableRequest("client_id or redirect_uri is given twice")
    client = find_client(given.get("client_id", ""))
    redirect_uri = _redirect_uri(client, given.get("redirect_uri"))
    fault = _fault(given, times, [value for name, value in pairs if name == "resource"])
    if fault is not None:
        raise RefusedRequest(*fault, redirect_uri=redirect_uri, state=given.get("state"))
    return AuthorizationRequest(
        client=client,
        redirect_uri=redirect_uri,
        redirect_uri_given="redirect_uri" in given,
        scope=known_scope(given.get("scope", "").split(), otherwise=Scope.ALL),
        state=given.get("state"),
        code_challenge=given["code_challenge"],
    )


def find_client(client_id: str) -> OAuthClient:
    """The client of that id, its document fetched where it is known by one; UnusableRequest when there is none."""
    if not _CLIENT_ID.fullmatch(client_id):
        raise UnusableRequest("unknown client")
    client: OAuthClient | None = OAuthClient.objects.filter(client_id=client_id).first()
    if client is None:
        client = cimd.resolve_cimd_application(client_id, request=None)
    else:
        client = cimd.refresh_if_stale(client, request=None)
    if client is None or not client.is_usable(None):
        raise UnusableRequest("unknown client")
    return client


def _redirect_uri(client: OAuthClient, given: str | None) -> str:
    registered = client.redirect_uris.split()
    if given is None and len(registered) == 1:
        return str(registered[0])
    if given is None or not client.redirect_uri_allowed(given):
        raise UnusableRequest("the redirect_uri is not one of the client's")
    return given


def _fault(given: Mapping[str, str], times: Counter[str], resources: list[str]) -> tuple[str, str] | None:
    twice = next((name for name in ONCE if times[name] > 1), None)
    challenge = given.get("code_challenge", "")
    demands = (
        (twice is None, "invalid_request", f"{twice} is given twice."),
        ("response_type" in given, "invalid_request", "response_type is missing."),
        (given.get("response_type") == "code", "unsupported_response_type", "The only response_type here is code."),
        (given.get("code_challenge_method") == "S256", "invalid_request", "code_challenge_method must be S256."),
        (_CHALLENGE.fullmatch(challenge), "invalid_request", "code_challenge must be 43 characters of base64url."),
        (all(map(is_mcp_resource, resources)), "invalid_target", f"The only resource here is {mcp_resource()}"),
    )
    return next(((error, description) for met, error, description in demands if not met), None)


def issue_code(
    request: AuthorizationRequest, user: User, *, ticket: str, workspace: Workspace | None, now: datetime
) -> str | None:
    """The code for a consent, the same however often one consent page (its `ticket`) is sent; None once it is spent.

    The code is derived from the ticket, so that a second press finds the first one's code without its being stored.
    """
    said = "\n".join((ticket, str(user.pk), request.client.client_id, request.redirect_uri, request.code_challenge))
    digest = salted_hmac("accounts.oauth.code", said, algorithm="sha256").digest()
    code = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    stored = {
        "application": request.client,
        "user": user,
        "expires": now + CODE_LIFETIME,
        "redirect_uri": request.redirect_uri,
        "redirect_uri_given": request.redirect_uri_given,
        "scope": request.scope.value,
        "code_challenge": request.code_challenge,
        "code_challenge_method": AbstractGrant.CODE_CHALLENGE_S256,
        "resource": [mcp_resource()],
        "selected_workspace": workspace,
    }
    with committed():
        grant, _ = OAuthGrant.objects.get_or_create(code=checksum(code), defaults=stored)
        OAuthClient.objects.filter(pk=request.client.pk, used_at=None).update(used_at=now)
    return None if grant.redeemed_at is not None or grant.expires <= now else code


def answer_address(redirect_uri: str, answer: Mapping[str, str | None]) -> str:
    """`redirect_uri` with the answer and `iss` (RFC 9207) in its query.

    What the registered query holds stays as it is, but for parameters that the client would take for the answer's.
    """
    base, _, query = redirect_uri.partition("?")
    kept = [part for part in query.split("&") if part and part.partition("=")[0] not in RESPONSE_PARAMETERS]
    said = [(name, value) for name, value in (*answer.items(), ("iss", issuer())) if value is not None]
    return base + "?" + "&".join([*kept, urlencode(said, errors="surrogateescape")])
