"""A command-line agent that has never been here: from one address to reviewed cards, only by what answers say."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest
from django.core import mail
from django.test import Client

from flashcards.models import Card
from review.models import ReviewEvent
from tests.documented import Documented

HOME = "http://localhost:8000"
CODE = re.compile(r"\b\d{8}\b")


@dataclass
class Traveller:
    """An agent that goes only where an earlier answer has sent it, and checks each answer against OpenAPI."""

    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))
    key: str = ""
    heard: str = f"{HOME}/v1/"
    documented: Documented | None = None

    def get(self, url: str) -> dict[str, Any]:
        """A GET that must succeed."""
        return self._answer("GET", url, None, (200,))

    def post(self, url: str, body: Any = None, *, status: int = 200) -> dict[str, Any]:
        """A POST that must end with that status."""
        return self._answer("POST", url, body, (status,))

    def _answer(self, method: str, url: str, body: Any, statuses: tuple[int, ...]) -> dict[str, Any]:
        path = url.removeprefix(HOME)
        assert path in self.heard, f"no answer has named {path}"
        headers = {"authorization": f"ApiKey {self.key}"} if self.key else {}
        sent = "" if body is None else json.dumps(body)
        answer = self.client.generic(method, path, sent, content_type="application/json", headers=headers)
        assert answer.status_code in statuses, (method, url, body, answer.content)
        told: dict[str, Any] = answer.json()
        self.heard += json.dumps(told, ensure_ascii=False)
        if self.documented and "openapi" not in told:
            self.documented.check(method, path, answer.status_code, told)
        return told


@pytest.fixture
def traveller(db) -> Traveller:
    """An agent that knows the address of discovery and nothing else."""
    made = Traveller()
    made.documented = Documented(made.client.get("/v1/openapi.json").json())
    return made


def sign_in(traveller: Traveller, start: dict[str, Any], email: str = "newcomer@example.com") -> dict[str, Any]:
    """What verify-code answered, reached by the action that send-code named."""
    asked = traveller.post(start["authentication"]["sendCodeUrl"], {"email": email})
    (action,) = asked["actions"]
    (code,) = CODE.findall(str(mail.outbox[-1].body))
    body = action["body"] | {"code": code, "label": "traveller"}
    traveller.key = ""
    answer = traveller.post(action["url"], body)
    traveller.key = answer["data"]["apiKey"]
    return answer


def test_from_discovery_to_three_reviews(traveller):
    start = traveller.get(f"{HOME}/v1/")
    home, surface = start["data"], start["data"]["surface"]
    assert traveller.get(start["links"]["openapi"])["paths"]

    signed_in = sign_in(traveller, home)
    assert signed_in["data"]["authorizationScheme"] == "ApiKey"
    me = traveller.get(surface["accountUrl"])["data"]
    assert me["profile"]["email"] == "newcomer@example.com"
    (workspace,) = traveller.get(surface["workspacesUrl"])["data"]["workspaces"]
    assert workspace["isSelected"] is True
    assert workspace["workspaceId"] == me["selectedWorkspaceId"]

    topics = re.findall(r"\b(sql_dialect|card_authoring|bulk_authoring|review_flow)\b", start["instructions"])
    guides = {}
    for topic in dict.fromkeys(topics):
        url = surface["guideUrlTemplate"].replace("{topic}", topic)
        traveller.heard += url
        guides[topic] = traveller.get(url)["data"]["guide"]
    assert {"card_authoring", "sql_dialect", "review_flow"} <= set(guides)

    example = next(sql for sql in re.findall(r"INSERT INTO cards [^`]+?\)\)", guides["card_authoring"]))
    first = traveller.post(surface["sqlExecuteUrl"], {"sql": example})["data"]
    assert first["affectedCount"] == 1
    questions = [("2 + 2?", "4"), ("3 × 3?", "9"), ("7 − 5?", "2"), ("Newton's first name?", "Isaac")]
    rows = ", ".join(f"('{q.replace(chr(39), chr(39) * 2)}', '{a}', ('maths'))" for q, a in questions)
    insert = f"INSERT INTO cards (front_text, back_text, tags) VALUES {rows} RETURNING card_id, front_text"
    written = traveller.post(surface["sqlExecuteUrl"], {"sql": insert})["data"]
    assert [row["front_text"] for row in written["rows"]] == [q for q, _ in questions]
    count = traveller.post(surface["sqlQueryUrl"], {"sql": "SELECT COUNT(*) AS n FROM cards"})["data"]["rows"]
    assert count == [{"n": 5}]

    reviewed = []
    for rating in ("Again", "Good", "Easy"):
        card = traveller.post(surface["reviewNextUrl"], {"tags": ["maths"]})["data"]["card"]
        assert set(card) == {"cardId", "frontText"}
        revealed = traveller.post(surface["reviewRevealUrl"], {"cardId": card["cardId"]})["data"]
        assert (card["frontText"], revealed["backText"]) in questions
        body = {
            "cardId": card["cardId"],
            "reviewId": str(uuid4()),
            "rating": rating,
            "reviewedTimeZone": "Europe/Berlin",
        }
        stored = traveller.post(surface["reviewSubmitUrl"], body)["data"]
        assert (stored["rating"], stored["reps"]) == (rating, 1)
        again = traveller.post(surface["reviewSubmitUrl"], body, status=409)
        assert again["error"]["code"] == "REVIEW_EVENT_CONFLICT"
        assert again["error"]["details"]["reviewSchedule"]["dueAt"] == stored["dueAt"]
        reviewed.append(card["cardId"])
    assert len(set(reviewed)) == 3, "a card that was just rated is not asked again at once"
    assert ReviewEvent.objects.count() == 3
    assert Card.objects.count() == 5


def test_every_stumble_on_the_way_names_the_way_on(traveller):
    home = traveller.get(f"{HOME}/v1/")["data"]
    surface = home["surface"]
    refused = traveller.post(surface["reviewNextUrl"], {}, status=401)
    assert "send-code" in refused["instructions"]
    assert traveller.post(home["authentication"]["sendCodeUrl"], {"mail": "x"}, status=400)["error"]["details"][
        "validationIssues"
    ][0]["message"] == ("Unknown field 'mail'. Known fields: email.")
    sign_in(traveller, home)

    empty = traveller.post(surface["reviewNextUrl"], {})
    assert empty["data"]["card"] is None
    assert surface["sqlExecuteUrl"].removeprefix(HOME) in empty["instructions"]

    wrong = traveller.post(surface["sqlQueryUrl"], {"sql": "SELECT question FROM cards"}, status=400)
    (issue,) = wrong["error"]["details"]["validationIssues"]
    assert issue["code"] == "unknown_column"
    assert "front_text" in issue["known"]
    assert "guide/sql_dialect" in wrong["instructions"]
    moved = traveller.post(surface["sqlQueryUrl"], {"sql": "DELETE FROM cards WHERE reps = 0"}, status=400)
    assert moved["error"]["details"]["validationIssues"][0]["code"] == "wrong_tool"
    assert "sql_execute" in moved["error"]["message"]

    topic = surface["guideUrlTemplate"].replace("{topic}", "cards")
    traveller.heard += topic
    assert "card_authoring" in traveller._answer("GET", topic, None, (400,))["error"]["message"]


def test_with_several_workspaces_the_way_on_leads_through_a_choice(traveller):
    home = traveller.get(f"{HOME}/v1/")["data"]
    surface = home["surface"]
    sign_in(traveller, home)
    spanish = traveller.post(surface["workspacesUrl"], {"name": "Spanish"}, status=201)["data"]["workspaceId"]
    insert = {"sql": "INSERT INTO cards (front_text, back_text) VALUES ('the cat, in Spanish?', 'el gato')"}
    assert traveller.post(surface["sqlExecuteUrl"], insert)["data"]["workspaceId"] == spanish

    sign_in(traveller, home)
    lost = traveller.post(surface["reviewNextUrl"], {}, status=409)
    assert lost["error"]["code"] == "WORKSPACE_SELECTION_REQUIRED"
    choice = {entry["name"]: entry["workspaceId"] for entry in lost["error"]["details"]["workspaces"]}
    assert set(choice) == {"Personal", "Spanish"}
    once = traveller.post(surface["reviewNextUrl"], {"workspaceId": choice["Spanish"]})["data"]
    assert once["card"]["frontText"] == "the cat, in Spanish?"
    traveller.post(surface["reviewNextUrl"], {}, status=409)

    assert "/select" in lost["instructions"]
    select = f"{surface['workspacesUrl']}/{choice['Spanish']}/select"
    traveller.heard += select
    traveller.post(select)
    assert traveller.post(surface["reviewNextUrl"], {})["data"] == once
