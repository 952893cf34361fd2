"""Answers held against the published OpenAPI document."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from jsonschema import Draft202012Validator


class Documented:
    """The OpenAPI document as the judge of what the service answers."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], str]]:
        return [(re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path))), path) for path in self.document["paths"]]

    def operation(self, method: str, path: str) -> dict[str, Any]:
        """The documented operation at an address; fails the test for an address that is not documented."""
        template = next(template for pattern, template in self._patterns if pattern.fullmatch(path))
        return self.document["paths"][template][method.lower()]

    def response(self, method: str, path: str, status: int) -> dict[str, Any]:
        """The documented answer of that status, references followed."""
        responses = self.operation(method, path)["responses"]
        assert str(status) in responses, f"{method} {path} documents no {status}"
        return self.resolved(responses[str(status)])

    def resolved(self, part: dict[str, Any]) -> dict[str, Any]:
        """What a `$ref` leads to; anything else as it is."""
        while "$ref" in part:
            found: Any = self.document
            for step in part["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            part = found
        return part

    def check(self, method: str, path: str, status: int, body: Any) -> None:
        """Fails the test when such an answer is not what the document says."""
        schema = self.response(method, path, status)["content"]["application/json"]["schema"]
        whole = {"components": self.document["components"], "allOf": [schema]}
        errors = [error.message for error in Draft202012Validator(whole).iter_errors(body)]
        assert not errors, (method, path, status, errors, body)
