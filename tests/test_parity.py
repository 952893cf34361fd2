"""The same call through both doors: over REST and over MCP the envelopes say the same, but for what to do next."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.db import transaction

from tests.agent import Agent
from tests.factories import make_card, make_deck
from tests.mcp_bridge.door import VERSIONS, door_of
from tests.mcp_bridge.test_tools import TOOLS

CARD_ID, REVIEW_ID = "5f0c8f4e-3f6d-4a53-9c55-1f2e3d4c5b6a", "7d1a2b3c-4d5e-4f60-8a9b-0c1d2e3f4a5b"
OTHERS_CARD, OTHERS_WORKSPACE = "a-card-of-bob", "a-workspace-of-bob"
UNKNOWN = "00000000-0000-4000-8000-000000000000"
REVIEW = {"cardId": CARD_ID, "reviewId": REVIEW_ID, "rating": "Good", "reviewedTimeZone": "Europe/Oslo"}
PATHS = {
    "sql_query": "/v1/agent/sql/query",
    "sql_execute": "/v1/agent/sql/execute",
    "next_review_card": "/v1/agent/reviews/next",
    "reveal_answer": "/v1/agent/reviews/reveal",
    "submit_review": "/v1/agent/reviews/submit",
}
CALLS: dict[str, list[dict[str, Any]]] = {
    "sql_query": [
        {"sql": "SELECT front_text, tags, due_at FROM cards ORDER BY front_text LIMIT 1"},
        {"sql": "SELECT COUNT(*) AS n FROM cards; SHOW TABLES; DESCRIBE decks"},
        {"sql": "SELECT nope FROM cards"},
        {"sql": "SELECT front_text FROM cards WHERE deck_id = 'x'"},
        {"sql": "DELETE FROM cards WHERE reps = 0"},
        {"sql": "DROP TABLE cards"},
        {"sql": "  "},
        {"sql": "SELECT 'unended"},
        {"sql": "SELECT name FROM decks", "workspaceId": OTHERS_WORKSPACE},
        {"sql": "SELECT name FROM decks", "workspaceId": UNKNOWN},
        {"sql": "SELECT name FROM decks", "workspaceId": "mine"},
        {"sql": f"SELECT front_text FROM cards WHERE card_id = '{OTHERS_CARD}'"},
        {"sql": 7},
        {"query": "SELECT name FROM decks"},
    ],
    "sql_execute": [
        {"sql": "INSERT INTO cards (front_text, back_text, tags) VALUES ('a', 'b', ('x')) RETURNING *"},
        {"sql": "UPDATE cards SET back_text = 'new' WHERE front_text = 'Ключ?'; SELECT back_text FROM cards"},
        {"sql": "DELETE FROM cards WHERE front_text = 'Ключ?' RETURNING card_id"},
        {"sql": f"DELETE FROM cards WHERE card_id = '{OTHERS_CARD}'"},
        {"sql": "UPDATE cards SET reps = 7 WHERE reps = 0"},
        {"sql": "UPDATE cards SET back_text = 'x'"},
        {"sql": "INSERT INTO cards (front_text) VALUES ('')"},
        {"sql": "INSERT INTO decks (name) VALUES ('ok'); SELECT nope FROM decks"},
        {"sql": None},
        {},
    ],
    "get_guide": [{"topic": "review_flow"}, {"topic": "sql_dialect"}, {"topic": "nonsense"}],
    "next_review_card": [
        {},
        {"workspaceId": OTHERS_WORKSPACE},
        {"workspaceId": UNKNOWN},
        {"workspaceId": 7},
        {"deck": "x"},
    ],
    "reveal_answer": [
        {"cardId": CARD_ID},
        {"cardId": OTHERS_CARD},
        {"cardId": UNKNOWN},
        {"cardId": "x"},
        {"cardId": None},
        {},
        {"cardId": CARD_ID, "side": "back"},
        {"cardId": CARD_ID, "workspaceId": OTHERS_WORKSPACE},
    ],
    "submit_review": [
        REVIEW,
        REVIEW | {"rating": "Easy", "reviewedTimeZone": "UTC"},
        REVIEW | {"cardId": OTHERS_CARD},
        REVIEW | {"cardId": UNKNOWN},
        REVIEW | {"rating": "Great"},
        REVIEW | {"rating": 3},
        REVIEW | {"reviewId": "x"},
        REVIEW | {"reviewedTimeZone": "Europe/Atlantis"},
        REVIEW | {"workspaceId": UNKNOWN},
        REVIEW | {"note": "x"},
        {"cardId": CARD_ID},
    ],
}
GIVEN = [(tool, arguments) for tool, calls in CALLS.items() for arguments in calls]
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
NEW_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.fixture
def ids(alice: Agent, bob: Agent) -> dict[str, str]:
    """What stands for rows of Bob's; Alice has a card and a deck."""
    make_card(alice.workspace, card_id=CARD_ID, front_text="Ключ?", back_text="✓", tags=["geo", "Ü"])
    make_deck(alice.workspace, name="Geo", tags=["geo"])
    card = make_card(bob.workspace, front_text="Bob's")
    return {OTHERS_CARD: str(card.card_id), OTHERS_WORKSPACE: str(bob.workspace.workspace_id)}


def over_rest(agent: Agent, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The envelope of the call as a request."""
    if tool == "get_guide":
        body: dict[str, Any] = agent.get(f"/v1/agent/guide/{quote(arguments['topic'])}").body
    else:
        body = agent.post(PATHS[tool], arguments).body
    return body


def undone(send: Any) -> dict[str, Any]:
    """What `send` gets, with all that it stored taken back."""
    with transaction.atomic():
        envelope: dict[str, Any] = send()
        transaction.set_rollback(True)
    return envelope


def comparable(envelope: dict[str, Any], known: set[str]) -> dict[str, Any]:
    """The envelope without what differs from call to call, and without the words that depend on the door."""
    kept = {name: value for name, value in envelope.items() if name not in ("instructions", "requestId", "links")}
    text = TIME.sub("<time>", json.dumps(kept, ensure_ascii=False))
    return json.loads(NEW_ID.sub(lambda found: found[0] if found[0] in known else "<id>", text))


@pytest.mark.parametrize("version", [VERSIONS[2], VERSIONS[-1]])
@pytest.mark.parametrize(("tool", "arguments"), GIVEN, ids=[f"{tool} {arguments}"[:90] for tool, arguments in GIVEN])
def test_both_doors_give_the_same_envelope(
    alice: Agent, ids: dict[str, str], *, tool: str, arguments: dict[str, Any], version: str
) -> None:
    text = json.dumps(arguments)
    for name, real in ids.items():
        text = text.replace(name, real)
    given = json.loads(text)
    door = door_of(alice, version)
    rest = undone(lambda: over_rest(alice, tool, given))
    mcp = undone(lambda: door.call(tool, **given)["structuredContent"])
    known = {CARD_ID, REVIEW_ID, UNKNOWN, str(alice.workspace.workspace_id), *ids.values()}
    assert comparable(mcp, known) == comparable(rest, known)
    assert rest["instructions"]
    assert mcp["instructions"]
    assert not re.search(r"/v1/agent/(sql|reviews|guide|workspaces)", mcp["instructions"]), mcp["instructions"]


def test_a_repeated_review_is_the_same_conflict_through_either_door(alice: Agent, ids: dict[str, str]) -> None:
    door = door_of(alice)
    given = REVIEW | {"reviewId": str(uuid4())}
    assert over_rest(alice, "submit_review", given)["ok"]
    again = [over_rest(alice, "submit_review", given), door.call("submit_review", **given)["structuredContent"]]
    errors = [envelope["error"] for envelope in again]
    assert errors[0] == errors[1]
    assert errors[0]["code"] == "REVIEW_EVENT_CONFLICT"


def test_the_workspaces_are_the_same_which_over_mcp_come_without_pages(alice: Agent, ids: dict[str, str]) -> None:
    rest = alice.get("/v1/agent/workspaces").data
    assert rest.pop("nextCursor") is None
    assert door_of(alice).data("list_workspaces") == rest


def test_every_tool_of_the_seven_is_compared() -> None:
    assert {*CALLS, "list_workspaces"} == set(TOOLS)
