"""Who am I, and the workspaces of the caller."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import ApiKey, Membership
from accounts.workspaces import page_of_workspaces
from flashcards.envelope import instant
from flashcards.models import CardState, Workspace
from tests.agent import Agent
from tests.factories import make_api_key, make_card, make_workspace

LIST = "/v1/agent/workspaces"
YEAR_AHEAD = datetime(2027, 6, 1, tzinfo=UTC)


def add_workspaces(agent: Agent, count: int) -> list[Workspace]:
    """More workspaces of the agent, each a minute younger than the one before."""
    start = timezone.now()
    return [
        make_workspace(agent.user, name=f"W{number}", created_at=start + timedelta(minutes=number))
        for number in range(count)
    ]


def listed(agent: Agent, **query) -> list[dict]:
    return agent.get(LIST, **query).data["workspaces"]


def test_me_tells_the_account_and_the_selection(alice):
    answer = alice.get("/v1/agent/me")
    assert answer.data == {
        "userId": str(alice.user.id),
        "selectedWorkspaceId": str(alice.workspace.workspace_id),
        "authTransport": "api_key",
        "profile": {"email": "alice@example.com", "locale": "en", "createdAt": instant(alice.user.created_at)},
    }


def test_instructions_name_the_step_that_fits_the_state(alice):
    assert "reviews/next" in alice.get("/v1/agent/me").body["instructions"]
    add_workspaces(alice, 1)
    for path in ("/v1/agent/me", LIST):
        assert "/select" in alice.get(path).body["instructions"]
    assert alice.get("/v1/agent/me").data["selectedWorkspaceId"] is None
    Workspace.objects.all().delete()
    for path in ("/v1/agent/me", LIST):
        assert "POST /v1/agent/workspaces" in alice.get(path).body["instructions"]


def test_the_list_shows_the_caller_s_workspaces_oldest_first(alice, bob):
    second, third = add_workspaces(alice, 2)
    assert [row["workspaceId"] for row in listed(alice)] == [
        str(workspace.workspace_id) for workspace in (alice.workspace, second, third)
    ]
    assert listed(alice)[0] == {
        "workspaceId": str(alice.workspace.workspace_id),
        "name": "Personal",
        "createdAt": instant(alice.workspace.created_at),
        "isSelected": False,
        "cardCount": 0,
        "lastActivityAt": instant(alice.workspace.created_at),
    }
    assert [row["workspaceId"] for row in listed(bob)] == [str(bob.workspace.workspace_id)]


def test_the_only_workspace_is_selected_by_itself(alice):
    assert [row["isSelected"] for row in listed(alice)] == [True]


def test_card_count_counts_live_cards_suspended_ones_included(alice, bob):
    make_card(alice.workspace)
    make_card(alice.workspace, suspended=True)
    make_card(alice.workspace, deleted_at=timezone.now())
    make_card(bob.workspace)
    assert [row["cardCount"] for row in listed(alice)] == [2]


REVIEWED = {
    "fsrs_card_state": CardState.REVIEW,
    "fsrs_last_reviewed_at": YEAR_AHEAD,
    "due_at": YEAR_AHEAD + timedelta(days=3),
}


@pytest.mark.parametrize("fields", [{"updated_at": YEAR_AHEAD}, REVIEWED], ids=["changed", "reviewed"])
def test_last_activity_is_the_latest_change_or_review_of_a_card(alice, fields):
    make_card(alice.workspace)
    make_card(alice.workspace, **fields)
    assert [row["lastActivityAt"] for row in listed(alice)] == [instant(YEAR_AHEAD)]


def test_the_list_takes_one_query_however_much_there_is(alice, django_assert_num_queries):
    for workspace in add_workspaces(alice, 4):
        make_card(workspace)
        make_card(workspace)
    alice.get(LIST)
    with django_assert_num_queries(3):
        assert len(listed(alice)) == 5
    with django_assert_num_queries(1):
        page_of_workspaces(alice.user)


def test_figures_come_from_indexes_that_begin_with_the_workspace(alice, is_postgresql):
    with connection.cursor() as cursor:
        if is_postgresql:
            cursor.execute("SET LOCAL enable_seqscan = off")
        plan = _plan_of_the_list(cursor, alice)
    for index in ("card_updated", "card_last_reviewed"):
        assert index in plan
    assert "SCAN flashcards_card" not in plan
    assert "Seq Scan on flashcards_card" not in plan
    assert "SCAN U0" not in plan


def _plan_of_the_list(cursor, agent) -> str:
    with CaptureQueriesContext(connection) as queries:
        page_of_workspaces(agent.user)
    explain = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    cursor.execute(f"{explain} {queries[0]['sql']}")
    return "\n".join(str(row) for row in cursor.fetchall())


def test_pages_follow_one_another_without_gap_or_repeat(alice):
    add_workspaces(alice, 4)
    seen: list[str] = []
    cursor: dict[str, str] = {}
    for size in (2, 2, 1):
        answer = alice.get(LIST, limit=2, **cursor).data
        assert len(answer["workspaces"]) == size
        seen += [row["workspaceId"] for row in answer["workspaces"]]
        cursor = {"cursor": answer["nextCursor"]}
    assert answer["nextCursor"] is None
    assert seen == [row["workspaceId"] for row in listed(alice)]


def test_workspaces_of_one_instant_are_paged_whole(alice):
    Workspace.objects.update(created_at=YEAR_AHEAD)
    for _ in range(3):
        make_workspace(alice.user, created_at=YEAR_AHEAD)
    first = alice.get(LIST, limit=2).data
    second = alice.get(LIST, limit=2, cursor=first["nextCursor"]).data
    assert len({row["workspaceId"] for row in first["workspaces"] + second["workspaces"]}) == 4


def test_a_full_last_page_has_no_next(alice):
    add_workspaces(alice, 1)
    assert alice.get(LIST, limit=2).data["nextCursor"] is None
    assert alice.get(LIST).data["nextCursor"] is None


@pytest.mark.parametrize("limit", ["0", "101", "-1", "1.5", "", "x", "٣", "1000", " 5"])
def test_a_limit_is_a_whole_number_from_1_to_100(alice, limit):
    answer = alice.get(LIST, limit=limit)
    assert answer.status == 400
    assert answer.error["code"] == "INVALID_REQUEST"
    assert answer.error["details"]["validationIssues"][0]["path"] == "limit"
    assert "from 1 to 100" in answer.error["message"]


@pytest.mark.parametrize("cursor", ["", "x", "WzEsMl0:x:y", "ключ", "\x00", "a" * 3000])
def test_a_broken_cursor_is_refused(alice, cursor):
    answer = alice.get(LIST, cursor=cursor)
    assert answer.status == 400
    assert answer.error["code"] == "INVALID_REQUEST"
    assert answer.error["details"]["validationIssues"][0]["path"] == "cursor"


def test_bob_is_refused_alices_cursor(alice, bob):
    add_workspaces(alice, 1)
    cursor = alice.get(LIST, limit=1).data["nextCursor"]
    assert bob.get(LIST, cursor=cursor).status == 400


def test_unknown_query_names_are_refused(alice):
    assert "'page'" in alice.get(LIST, page=2).error["message"]


def test_create_answers_201_and_selects_for_this_connection_alone(alice):
    other = Agent(alice.client, alice.user, alice.workspace, make_api_key(alice.user))
    answer = alice.post(LIST, {"name": "  Spanish "})
    assert answer.status == 201
    made = answer.data["workspace"]
    assert made["name"] == "Spanish"
    assert made["isSelected"] is True
    assert made["cardCount"] == 0
    assert answer.data["workspaceId"] == made["workspaceId"]
    assert alice.get("/v1/agent/me").data["selectedWorkspaceId"] == made["workspaceId"]
    assert [row["isSelected"] for row in listed(alice)] == [False, True]
    assert other.get("/v1/agent/me").data["selectedWorkspaceId"] is None


@pytest.mark.parametrize("name", ["", " ", "\u200b", "x" * 201, "a\x00", "\ud800", 7, None])
def test_a_workspace_name_has_1_to_200_characters(alice, name):
    answer = alice.post(LIST, {"name": name})
    assert answer.status == 400
    assert answer.error["code"] == "INVALID_REQUEST"
    assert answer.error["details"]["validationIssues"][0]["path"] == "name"
    assert alice.post(LIST, {"name": "x" * 200}).status == 201


def test_select_belongs_to_the_connection(alice):
    (second,) = add_workspaces(alice, 1)
    other = Agent(alice.client, alice.user, alice.workspace, make_api_key(alice.user))
    answer = alice.post(f"{LIST}/{second.workspace_id}/select")
    assert answer.status == 200
    assert answer.data["workspaceId"] == str(second.workspace_id)
    assert answer.data["workspace"]["isSelected"] is True
    assert alice.get("/v1/agent/me").data["selectedWorkspaceId"] == str(second.workspace_id)
    assert other.get("/v1/agent/me").data["selectedWorkspaceId"] is None
    upper = str(alice.workspace.workspace_id).upper()
    assert alice.post(f"{LIST}/{upper}/select").data["workspaceId"] == upper.lower()


def test_bob_is_refused_alices_workspace_as_one_that_does_not_exist(alice, bob):
    foreign = bob.post(f"{LIST}/{alice.workspace.workspace_id}/select")
    unknown = bob.post(f"{LIST}/{uuid.uuid4()}/select")
    assert foreign.status == unknown.status == 404
    assert foreign.error == unknown.error
    assert foreign.error["code"] == "WORKSPACE_NOT_FOUND"
    assert ApiKey.objects.get(user=bob.user).selected_workspace is None


@pytest.mark.parametrize("workspace_id", ["x", "123", "3f2b8c1e9a4d4c7b8f102d6e5a90b1c4", "%20", "\u0417"])
def test_a_malformed_workspace_id_is_named_as_such(alice, workspace_id):
    answer = alice.post(f"{LIST}/{workspace_id}/select")
    assert answer.status == 400
    assert answer.error["code"] == "WORKSPACE_ID_INVALID"


def test_a_selection_whose_workspace_went_away_is_none(alice):
    second, _third = add_workspaces(alice, 2)
    alice.post(f"{LIST}/{second.workspace_id}/select")
    Membership.objects.filter(workspace=second).delete()
    assert alice.get("/v1/agent/me").data["selectedWorkspaceId"] is None
    second.delete()
    assert alice.get("/v1/agent/me").data["selectedWorkspaceId"] is None


def test_select_takes_no_other_field(alice):
    answer = alice.post(f"{LIST}/{alice.workspace.workspace_id}/select", {"force": True})
    assert answer.error["code"] == "INVALID_REQUEST"


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [("GET", "/api/agent/send-code", "POST"), ("DELETE", LIST, "GET, POST"), ("POST", "/v1/agent/me", "GET")],
)
def test_another_method_is_405_with_the_ones_allowed(alice, method, path, allow):
    answer = alice.client.generic(method, path, headers={"authorization": f"ApiKey {alice.key}"})
    assert answer.status_code == 405
    assert answer.json()["error"]["code"] == "METHOD_NOT_ALLOWED"
    assert answer["Allow"].startswith(allow)


def test_several_workspaces_and_no_choice_is_409_with_the_list(alice):
    (second,) = add_workspaces(alice, 1)
    answer = alice.post("/v1/agent/reviews/next")
    assert answer.status == 409
    assert answer.error["code"] == "WORKSPACE_SELECTION_REQUIRED"
    assert answer.error["details"]["workspaces"] == [
        {
            "workspaceId": str(workspace.workspace_id),
            "name": workspace.name,
            "createdAt": instant(workspace.created_at),
        }
        for workspace in (alice.workspace, second)
    ]
    assert "/select" in answer.body["instructions"]
    named = alice.post("/v1/agent/reviews/next", {"workspaceId": str(second.workspace_id)})
    assert named.data["workspaceId"] == str(second.workspace_id)
    assert alice.get("/v1/agent/me").data["selectedWorkspaceId"] is None


def test_without_any_workspace_it_is_409_with_an_empty_list(alice):
    alice.workspace.delete()
    answer = alice.post("/v1/agent/reviews/next")
    assert answer.error["code"] == "WORKSPACE_SELECTION_REQUIRED"
    assert answer.error["details"]["workspaces"] == []
    assert "POST /v1/agent/workspaces" in answer.body["instructions"]


def test_bob_is_refused_alices_workspace_by_name_as_one_that_does_not_exist(alice, bob):
    answers = [
        bob.post("/v1/agent/reviews/next", {"workspaceId": str(target)})
        for target in (alice.workspace.workspace_id, uuid.uuid4())
    ]
    assert [answer.error["code"] for answer in answers] == ["WORKSPACE_NOT_FOUND"] * 2
    assert answers[0].error == answers[1].error
