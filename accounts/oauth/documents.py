"""Clients whose `client_id` is the https address of a document about them; only while OAUTH_CIMD is on."""

from __future__ import annotations

from typing import Any

from oauth2_provider.cimd import CIMDError, SafeMetadataFetcher

from accounts.oauth.errors import OAuthRefusal
from accounts.oauth.registration import read_registration


class NarrowedDocuments(SafeMetadataFetcher):
    """Fetches a document (the toolkit's fetcher keeps it from reaching into the network) and narrows it.

    The big clients publish grants and authentication methods beside the ones offered here; a registration that lists
    them is narrowed, so a document is too. Raises CIMDError for one that cannot be used.
    """

    def fetch(self, client_id: str) -> tuple[dict[str, Any], int]:
        """The document as the toolkit is to store it, and for how many seconds it is good."""
        document, max_age_seconds = super().fetch(client_id)  # type: ignore[no-untyped-call]  # untyped toolkit
        try:
            registration = read_registration(document)
        except OAuthRefusal as refusal:
            raise CIMDError(refusal.description) from None
        narrowed = {
            "client_id": document.get("client_id"),
            "client_name": registration.name,
            "redirect_uris": registration.redirect_uris,
            "grant_types": ["authorization_code"],
            "token_endpoint_auth_method": "none",
        }
        return narrowed, max_age_seconds
