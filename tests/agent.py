"""A command-line agent as the tests drive it: the REST API through Django's test client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.test import Client

from accounts.models import User
from flashcards.models import Workspace


@dataclass
class Answered:
    """An answer: its status, its body, its headers."""

    status: int
    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def data(self) -> dict[str, Any]:
        """The data of a success; fails the test for an error."""
        assert self.body["ok"], self.body
        return self.body["data"]

    @property
    def error(self) -> dict[str, Any]:
        """The error of a failure; fails the test for a success."""
        assert not self.body["ok"], self.body
        return self.body["error"]


@dataclass
class Agent:
    """A user's agent with its key."""

    client: Client
    user: User
    workspace: Workspace
    key: str

    def get(self, path: str, **query: Any) -> Answered:
        """GET with the agent's key."""
        return self._answered(self.client.get(path, query, headers=self._headers()))

    def post(self, path: str, body: Any = None) -> Answered:
        """POST of a JSON body with the agent's key."""
        answer = self.client.post(
            path, body if body is not None else {}, content_type="application/json", headers=self._headers()
        )
        return self._answered(answer)

    def sql(self, text: str, workspace_id: UUID | str | None = None) -> Answered:
        """One SQL text: reads go to query, everything else to execute."""
        first = text.lstrip("( \n").split(None, 1)[0].upper() if text.strip() else ""
        tool = "query" if first in ("SELECT", "SHOW", "DESCRIBE", "DESC") else "execute"
        target = {"workspaceId": str(workspace_id)} if workspace_id else {}
        return self.post(f"/v1/agent/sql/{tool}", {"sql": text, **target})

    def rows(self, text: str) -> list[dict[str, Any]]:
        """The rows of a SELECT that must succeed."""
        return self.sql(text).data["rows"]

    def _headers(self) -> dict[str, str]:
        return {"authorization": f"ApiKey {self.key}"} if self.key else {}

    @staticmethod
    def _answered(answer: Any) -> Answered:
        return Answered(answer.status_code, answer.json(), dict(answer.headers))
