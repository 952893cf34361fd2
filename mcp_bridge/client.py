"""What the client on the other side is: its protocol revision, its name, and whether it can show MCP Apps.

A client of 2026-07-28 says all of it with every request. A client of the handshake revisions says it once, in
`initialize`; when it can show Apps, the answer hands it a signed session id, so that any worker knows later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core import signing
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER, InboundLadderRejection, classify_inbound_request
from mcp_types import CLIENT_CAPABILITIES_META_KEY, UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    KNOWN_PROTOCOL_VERSIONS,
    LATEST_HANDSHAKE_VERSION,
    MODERN_PROTOCOL_VERSIONS,
)

from flashcards.errors import printable
from flashcards.operation import Toolset
from mcp_bridge.jsonrpc import Message, ProtocolError

UI_EXTENSION = "io.modelcontextprotocol/ui"
APP_MIME_TYPE = "text/html;profile=mcp-app"
SESSION_HEADER = "mcp-session-id"
TOOLSETS_HEADER = "x-mcp-toolsets"
SESSION_SECONDS_MAX = 30 * 86_400
# The revision that a client without the header means, as 2025-06-18 lays down.
UNSTATED_VERSION = "2025-03-26"
NAME_LENGTH_MAX = 60
VERSION_LENGTH_MAX = 30
_SESSION_SALT = "mcp_bridge.session"


@dataclass(frozen=True, slots=True)
class Client:
    """The client of one request, as it describes itself; nothing here is proof of anything."""

    protocol_version: str
    name: str = ""
    version: str = ""
    shows_apps: bool = False

    @property
    def is_modern(self) -> bool:
        """Whether it speaks 2026-07-28 or newer, without a handshake."""
        return self.protocol_version in MODERN_PROTOCOL_VERSIONS

    def session_id(self) -> str:
        """What tells a later request of the same client, on any worker, what it declared."""
        declared = {"apps": self.shows_apps, "name": self.name, "version": self.version}
        return signing.dumps(declared, salt=_SESSION_SALT)


def client_of(message: Message, headers: Mapping[str, str]) -> Client:
    """The client that sent `message` with `headers` (names in lower case).

    Raises ProtocolError when the envelope of 2026-07-28 is incomplete or disagrees with the headers, or the revision
    is unknown.
    """
    stated = headers.get(MCP_PROTOCOL_VERSION_HEADER) or None
    if stated in HANDSHAKE_PROTOCOL_VERSIONS or (stated is None and not message.is_enveloped):
        return _handshake_client(message, headers, version=stated or UNSTATED_VERSION)
    if stated in MODERN_PROTOCOL_VERSIONS or message.is_enveloped:
        return _modern_client(message, headers)
    raise ProtocolError(
        UNSUPPORTED_PROTOCOL_VERSION,
        "Unsupported protocol version",
        data={"supported": list(KNOWN_PROTOCOL_VERSIONS), "requested": str(stated)[:NAME_LENGTH_MAX]},
        http_status=400,
    )


def toolsets_of(client: Client, headers: Mapping[str, str]) -> frozenset[Toolset]:
    """What goes beyond the standard tools with this request: Apps are declared, `flashcard` is asked for by header."""
    asked = {name.strip().lower() for name in headers.get(TOOLSETS_HEADER, "").split(",")}
    return frozenset(
        toolset
        for toolset, taken in ((Toolset.APPS, client.shows_apps), (Toolset.FLASHCARD, Toolset.FLASHCARD in asked))
        if taken
    )


def _modern_client(message: Message, headers: Mapping[str, str]) -> Client:
    if message.id is None:
        # Which headers a notification needs is left open by 2026-07-28; nothing is done with one either.
        return Client(MODERN_PROTOCOL_VERSIONS[-1])
    route = classify_inbound_request({"method": message.method, "params": message.params}, headers=headers)
    if isinstance(route, InboundLadderRejection):
        raise ProtocolError(route.code, route.message, data=route.data, http_status=400)
    return _described(route.protocol_version, route.client_info, route.client_capabilities)


def _handshake_client(message: Message, headers: Mapping[str, str], *, version: str) -> Client:
    if message.method == "initialize" and message.params is not None:
        asked = message.params.get("protocolVersion")
        agreed = asked if asked in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION
        return _described(agreed, message.params.get("clientInfo"), message.params.get("capabilities"))
    return _remembered(version, headers.get(SESSION_HEADER, ""))


def _remembered(version: str, session_id: str) -> Client:
    """The client that a session id of ours describes; one that is absent, old or not ours tells nothing."""
    try:
        declared = signing.loads(session_id, salt=_SESSION_SALT, max_age=SESSION_SECONDS_MAX)
    except signing.BadSignature:
        return Client(version)
    return Client(version, declared.get("name", ""), declared.get("version", ""), bool(declared.get("apps")))


def _described(protocol_version: str, info: object, capabilities: object) -> Client:
    named = info if isinstance(info, Mapping) else {}
    return Client(
        protocol_version,
        name=_shown(named.get("name"), NAME_LENGTH_MAX),
        version=_shown(named.get("version"), VERSION_LENGTH_MAX),
        shows_apps=declares_apps(capabilities),
    )


def _shown(text: object, length_max: int) -> str:
    """A client's own word as a log line may carry it: short, printable, and without the sign that parts fields."""
    cut = printable(text[:length_max]) if isinstance(text, str) else ""
    return "".join(sign if sign.isprintable() and sign != "=" else "?" for sign in cut)


def declares_apps(capabilities: object) -> bool:
    """Whether capabilities name the MCP Apps extension with the page's MIME type; a malformed declaration is none."""
    extensions = capabilities.get("extensions") if isinstance(capabilities, Mapping) else None
    settings = extensions.get(UI_EXTENSION) if isinstance(extensions, Mapping) else None
    mime_types = settings.get("mimeTypes") if isinstance(settings, Mapping) else None
    return isinstance(mime_types, list) and APP_MIME_TYPE in mime_types


def without_declarations(params: Mapping[str, Any]) -> dict[str, Any]:
    """`params` with the client's capabilities emptied, to check the rest: malformed ones are none, not a fault."""
    plain = dict(params)
    if isinstance(plain.get("capabilities"), Mapping):
        plain["capabilities"] = {}
    meta = plain.get("_meta")
    if isinstance(meta, Mapping) and isinstance(meta.get(CLIENT_CAPABILITIES_META_KEY), Mapping):
        plain["_meta"] = {**meta, CLIENT_CAPABILITIES_META_KEY: {}}
    return plain
