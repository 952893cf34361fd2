"""Which redirect URIs a client may register, and which one of a request is a registered one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

REDIRECT_URIS_MAX = 10
LENGTH_MAX = 2000
LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})
NEVER_SCHEMES = frozenset({"javascript", "data", "file", "blob", "vbscript"})
_PRINTABLE = re.compile(r"[!-~]+")
_FORBIDDEN = re.compile(r'[*\\#<>"`{}|^]')
_HOST = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]")


class RedirectUriRefused(ValueError):
    """A redirect URI that no client may have; the text says why."""


def check_redirect_uris(uris: Sequence[object]) -> list[str]:
    """`uris` unchanged when each may be registered; RedirectUriRefused names the first that may not."""
    if not 1 <= len(uris) <= REDIRECT_URIS_MAX:
        raise RedirectUriRefused(f"redirect_uris must list 1 to {REDIRECT_URIS_MAX} URIs.")
    return [check_redirect_uri(uri) for uri in uris]


def check_redirect_uri(uri: object) -> str:
    """`uri` when a client may register it: https, http to this device, or an app's own scheme (RFC 8252)."""
    if not isinstance(uri, str) or not uri:
        raise RedirectUriRefused("Each redirect URI must be a text.")
    if len(uri) > LENGTH_MAX:
        raise RedirectUriRefused(f"A redirect URI may have at most {LENGTH_MAX:,} characters.")
    if not _PRINTABLE.fullmatch(uri) or _FORBIDDEN.search(uri):
        raise RedirectUriRefused("A redirect URI may have no fragment, wildcard, backslash, white space or non-ASCII.")
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        raise RedirectUriRefused("A redirect URI is no valid URI.") from None
    if "@" in parts.netloc:
        raise RedirectUriRefused("A redirect URI may carry no user name or password.")
    _check_scheme(parts)
    return uri


def _check_scheme(parts: SplitResult) -> None:
    host = host_of(parts)
    if parts.scheme == "https":
        if not _HOST.fullmatch(host):
            raise RedirectUriRefused("An https redirect URI needs a host.")
    elif parts.scheme == "http":
        if host not in LOOPBACK_HOSTS:
            raise RedirectUriRefused("An http redirect URI is for localhost, 127.0.0.1 and [::1] only; use https.")
    elif parts.scheme in NEVER_SCHEMES or not ("." in parts.scheme or parts.scheme in settings.OAUTH_PRIVATE_SCHEMES):
        raise RedirectUriRefused(f"Redirect URIs of the scheme {parts.scheme[:40]!r} are not accepted here.")


def host_of(parts: SplitResult) -> str:
    """The host as it is written, brackets included, without the port; empty when there is none."""
    return re.sub(r":\d*$", "", parts.netloc)


def is_on_this_device(uri: str) -> bool:
    """Whether the redirect leads to an app on the user's own device rather than to a web site."""
    return urlsplit(uri).scheme != "https"


def is_redirect_allowed(uri: str, registered: Iterable[str]) -> bool:
    """Whether `uri` is, character for character, one of `registered`; the port of a loopback one aside."""
    try:
        check_redirect_uri(uri)
    except RedirectUriRefused:
        return False
    return any(uri == other or any_port(uri) == any_port(other) for other in registered)


def any_port(uri: str) -> str:
    """`uri` without its port when it is a loopback one (RFC 8252 section 7.3); any other unchanged."""
    parts = urlsplit(uri)
    return uri.replace(parts.netloc, host_of(parts), 1) if parts.scheme == "http" else uri


def is_web_address(text: object) -> bool:
    """Whether `text` is an https address that may stand in a client's metadata."""
    try:
        return urlsplit(check_redirect_uri(text)).scheme == "https"
    except RedirectUriRefused:
        return False
