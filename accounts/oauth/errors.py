"""Refusals of the machine addresses, in the shape of RFC 6749 section 5.2 and RFC 7591 section 3.2.2."""

from __future__ import annotations

from collections.abc import Mapping


class OAuthRefusal(Exception):
    """`error` is the RFC's code, `description` a sentence for the client's developer."""

    def __init__(
        self, error: str, description: str, *, status: int = 400, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(description)
        self.error = error
        self.description = description
        self.status = status
        self.headers: dict[str, str] = dict(headers or {})
