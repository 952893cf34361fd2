"""What tokens are good for: the one resource of this service (RFC 8707) and the scopes a grant may have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from django.conf import settings

from flashcards.operation import Scope

# urlsplit drops tabs, line breaks and leading spaces without a word.
_PRINTABLE = re.compile(r"[!-~]+")


def mcp_resource() -> str:
    """The identifier of the only resource: the public address of the MCP endpoint."""
    return f"{settings.PUBLIC_MCP_BASE_URL}/mcp"


def is_mcp_resource(indicator: str) -> bool:
    """Whether a client that says `indicator` means it; case of scheme and host and one last slash aside."""
    if not _PRINTABLE.fullmatch(indicator):
        return False
    try:
        parts = urlsplit(indicator)
    except ValueError:
        return False
    plain = parts._replace(scheme=parts.scheme.lower(), netloc=parts.netloc.lower(), path=parts.path.removesuffix("/"))
    return "#" not in indicator and "?" not in indicator and plain.geturl() == mcp_resource()


def known_scope(names: Iterable[str], *, otherwise: Scope) -> Scope:
    """The scope that `names` ask for; the greater one includes the other, unknown names do not count."""
    asked = set(names)
    if Scope.ALL in asked:
        return Scope.ALL
    return Scope.READ if Scope.READ in asked else otherwise
