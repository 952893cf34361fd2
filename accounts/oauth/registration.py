"""Dynamic client registration (RFC 7591): open, for public clients, one row for however many equal registrations."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, islice
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from rest_framework.exceptions import ParseError

from accounts.oauth.audience import known_scope
from accounts.oauth.errors import OAuthRefusal
from accounts.oauth.machine import machine_address
from accounts.oauth.models import OAuthClient, RegistrationLog
from accounts.oauth.redirects import RedirectUriRefused, any_port, check_redirect_uris, is_web_address
from accounts.security_log import log_event
from accounts.send_limits import hold_names, rate_limited
from flashcards.api import client_address, parse_json_object
from flashcards.operation import Scope
from flashcards.outcome import committed
from flashcards.request_body import read_body

BODY_BYTES_MAX = 16 * 1024
NAME_LENGTH_MAX = 80
TEXT_LENGTH_MAX = 200
GRANT_TYPES = ["authorization_code", "refresh_token"]
RESPONSE_TYPES = ["code"]
# Letters and marks that no font draws (Unicode's Default_Ignorable_Code_Point) and the braille pattern without dots:
# a name of them alone would look like none, or like another client's. Category C goes anyway.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
MARKS_MAX = 3
TEXTS_KEPT = ("software_id", "software_version")
ADDRESSES_KEPT = ("client_uri", "logo_uri", "tos_uri", "policy_uri")


@dataclass(frozen=True, slots=True)
class Registration:
    """What is kept of a registration request. `metadata` holds what was said beside name and redirect URIs."""

    name: str
    redirect_uris: list[str]
    metadata: dict[str, str]
    scope: Scope

    @property
    def client_id(self) -> str:
        """The same for the same registration; the ports of loopback redirect URIs and their order do not count."""
        said = [self.name, sorted({any_port(uri) for uri in self.redirect_uris}), self.metadata]
        return "fcc_" + hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]


@machine_address("POST")
def register(request: HttpRequest) -> HttpResponse:
    """201 with the client as it was registered."""
    now = timezone.now()
    count_registration(client_address(request), now=now)
    registration = read_registration(_read_object(request))
    client = store_registration(registration, now=now)
    return JsonResponse(_client_information(client, registration), status=201)


def count_registration(address: str, *, now: datetime) -> None:
    """Count one attempt from the IP address; raises RateLimited, with Retry-After, over LIMIT_REGISTRATIONS."""
    with committed():
        hold_names(f"registration:{address}")
        wait_seconds = _seconds_until_free(address, now=now)
        if not wait_seconds:
            RegistrationLog.objects.create(client_address=address, created_at=now)
            return
    log_event("registrations refused", suspicious=True, address=address)
    raise rate_limited("Too many registrations from this network address.", wait_seconds)


def _seconds_until_free(address: str, *, now: datetime) -> int:
    moments = RegistrationLog.objects.filter(client_address=address).order_by("-created_at")
    waits = [0]
    for limit, seconds in settings.LIMIT_REGISTRATIONS:
        oldest = moments.values_list("created_at", flat=True)[limit - 1 : limit].first()
        if oldest is not None:
            waits.append(-((now - oldest - timedelta(seconds=seconds)) // timedelta(seconds=1)))
    return max(waits)


def _read_object(request: HttpRequest) -> dict[str, Any]:
    try:
        return parse_json_object(read_body(request, limit_bytes=BODY_BYTES_MAX))
    except ParseError as error:
        raise OAuthRefusal("invalid_client_metadata", str(error)) from None


def read_registration(said: Mapping[str, Any]) -> Registration:
    """`said` narrowed to what this server offers; raises OAuthRefusal for what cannot be narrowed."""
    uris = said.get("redirect_uris")
    try:
        redirect_uris = check_redirect_uris(uris if isinstance(uris, list) else [])
    except RedirectUriRefused as refusal:
        raise OAuthRefusal("invalid_redirect_uri", str(refusal)) from None
    _require("grant_types", "authorization_code", said)
    _require("response_types", "code", said)
    texts = {name: clean_text(said.get(name), TEXT_LENGTH_MAX) for name in TEXTS_KEPT}
    addresses = {name: said[name] for name in ADDRESSES_KEPT if is_web_address(said.get(name))}
    scope = said.get("scope")
    return Registration(
        name=clean_text(said.get("client_name"), NAME_LENGTH_MAX),
        redirect_uris=redirect_uris,
        metadata={name: text for name, text in texts.items() if text} | addresses,
        scope=known_scope(scope.split() if isinstance(scope, str) else [], otherwise=Scope.ALL),
    )


def _require(field: str, value: str, said: Mapping[str, Any]) -> None:
    listed = said.get(field)
    if isinstance(listed, list) and listed and value not in listed:
        raise OAuthRefusal("invalid_client_metadata", f"{field} must include {value}.")


def clean_text(value: object, length_max: int) -> str:
    """A client's text as it may be stored and shown: NFKC, on one line, cut.

    What nobody sees, control and direction characters go, and accents that would pile up over what stands beside it.
    """
    if not isinstance(value, str):
        return ""
    normal = _UNSEEN.sub("", unicodedata.normalize("NFKC", value))
    visible = "".join(sign for sign in normal if sign.isspace() or unicodedata.category(sign)[0] != "C")
    return " ".join("".join(_low_accents(visible)).split())[:length_max].rstrip()


def _low_accents(text: str) -> Iterator[str]:
    for are_marks, signs in groupby(text, key=lambda sign: unicodedata.category(sign) in ("Mn", "Me")):
        yield from islice(signs, MARKS_MAX if are_marks else None)


def store_registration(registration: Registration, *, now: datetime) -> OAuthClient:
    """The client of this registration, made unless an equal one was registered before."""
    made = {
        "name": registration.name,
        "redirect_uris": " ".join(registration.redirect_uris),
        "client_type": OAuthClient.CLIENT_PUBLIC,
        "authorization_grant_type": OAuthClient.GRANT_AUTHORIZATION_CODE,
        "client_secret": "",
        "hash_client_secret": False,
        "registration_source": OAuthClient.RegistrationSource.DCR,
        "metadata": registration.metadata,
    }
    client: OAuthClient = OAuthClient.objects.get_or_create(client_id=registration.client_id, defaults=made)[0]
    OAuthClient.objects.filter(pk=client.pk).update(registered_at=now)
    return client


def _client_information(client: OAuthClient, registration: Registration) -> dict[str, Any]:
    return {
        "client_id": client.client_id,
        "client_id_issued_at": int(client.created.timestamp()),
        "redirect_uris": registration.redirect_uris,
        "grant_types": GRANT_TYPES,
        "response_types": RESPONSE_TYPES,
        "token_endpoint_auth_method": "none",
        "scope": registration.scope.value,
        **({"client_name": registration.name} if registration.name else {}),
        **registration.metadata,
    }
