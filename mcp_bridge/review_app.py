"""What a client that shows MCP Apps gets beyond the standard tools: three tools, the page, the declared extension.

A client without the extension may ask for `flashcard` alone. Who is offered what is judged anew with every request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_types import ReadResourceResult, Resource, TextResourceContents

from accounts.auth import Principal
from flashcards.api import AnyOperation
from flashcards.operation import Call, Toolset
from mcp_bridge.client import APP_MIME_TYPE, UI_EXTENSION
from review.app.choice import choice_of
from review.app.flashcard_operations import app_flashcard, flashcard
from review.app.operations import flashcard_review_session
from review.app.page import PAGE_URI, review_page
from review.app.page_operations import flashcard_review_app_action

APP_TOOLS: Mapping[str, AnyOperation] = {
    operation.name: operation for operation in (app_flashcard, flashcard_review_session, flashcard_review_app_action)
}
TOOL_META: Mapping[str, dict[str, Any]] = {
    flashcard_review_session.name: {"ui": {"resourceUri": PAGE_URI, "visibility": ["model"]}},
    flashcard_review_app_action.name: {"ui": {"visibility": ["app"]}},
}
# The cards are for the page; the model reads the text.
LEFT_OUT_OF_TEXT: Mapping[str, frozenset[str]] = {flashcard_review_session.name: frozenset({"cards"})}
EXTENSIONS: Mapping[str, dict[str, Any]] = {UI_EXTENSION: {"mimeTypes": [APP_MIME_TYPE]}}
INSTRUCTIONS = (
    " This client can also show the review as a page inside the conversation, which is the better way: flashcard with "
    "action list_cards, then flashcard_review_session."
)
# No domain may be reached. Copying the hand-off by a button is all that the page asks of the browser.
_PAGE_META = {
    "ui": {
        "csp": {"connectDomains": [], "resourceDomains": [], "frameDomains": [], "baseUriDomains": []},
        "permissions": {"clipboardWrite": {}},
        "prefersBorder": True,
    }
}


def serves_app(call: Call[Principal]) -> bool:
    """Whether this client gets the app: it shows Apps, and its user did not switch the app off."""
    return Toolset.APPS in call.toolsets and choice_of(call.principal.user).enabled


def offered_operations(call: Call[Principal]) -> tuple[AnyOperation, ...]:
    """What is listed beyond the standard tools."""
    if serves_app(call):
        return tuple(APP_TOOLS.values())
    return (flashcard,) if Toolset.FLASHCARD in call.toolsets else ()


def find_operation(name: str, call: Call[Principal]) -> AnyOperation | None:
    """The tool of that name beyond the standard ones; None where this client is not to know of it.

    One that its user switched off is found: a client that has it from an old list is told so by the call.
    """
    if Toolset.APPS in call.toolsets:
        return APP_TOOLS.get(name)
    return flashcard if Toolset.FLASHCARD in call.toolsets and name == flashcard.name else None


def offered_resources(call: Call[Principal]) -> list[Resource]:
    """The page, for a client that gets the app."""
    if not serves_app(call):
        return []
    return [
        Resource(
            uri=PAGE_URI,
            name="flashcard_review",
            title="Flashcard review",
            description="The page of a review session that flashcard_review_session opens.",
            mime_type=APP_MIME_TYPE,
            meta=_PAGE_META,
        )
    ]


def read_page(uri: str, call: Call[Principal], *, cache_milliseconds: int) -> ReadResourceResult | None:
    """The page; None for any other address and for a client that does not get the app."""
    if uri != PAGE_URI or not serves_app(call):
        return None
    page = TextResourceContents(uri=PAGE_URI, mime_type=APP_MIME_TYPE, text=review_page(), meta=_PAGE_META)
    return ReadResourceResult(contents=[page], ttl_ms=cache_milliseconds, cache_scope="private")
