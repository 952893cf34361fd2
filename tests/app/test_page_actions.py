"""What the page calls: ratings, skips, undo, and where its session stands."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from accounts.models import ApiKey, Membership
from flashcards.models import Card
from flashcards.operation import Scope
from review.app.models import CandidateSnapshot, ReviewSession
from review.models import ReviewEvent
from review.services import undo_review
from tests.agent import Agent
from tests.app.host import APP_TOOLS, Round, host_of, open_round
from tests.factories import make_api_key, make_card
from tests.mcp_bridge.door import Door
from tests.mcp_bridge.test_scopes import token_of
from tests.review.rows import drop_schedule_constraints, restore_schedule_constraints

ACTIONS = ("review_card", "skip", "undo", "state")
TOOL = "flashcard_review_app_action"


@pytest.fixture
def round_(alice: Agent, host: Door) -> Round:
    """A round of three new cards."""
    return open_round(host, *(make_card(alice.workspace) for _ in range(3)))


def on_card(action: str) -> int | None:
    """The card that an action is about, if it is about one."""
    return None if action == "state" else 0


def statuses(round_: Round) -> list[str]:
    """Where the cards stand."""
    return [card["status"] for card in round_.do("state")["cards"]]


# --- review_card


def test_a_rating_is_stored_as_submit_review_stores_it(alice: Agent, round_: Round) -> None:
    data = round_.do("review_card", 0, rating="Hard", reviewedTimeZone="Asia/Tokyo")
    twin = make_card(alice.workspace)
    review = {"cardId": str(twin.pk), "reviewId": str(uuid4()), "rating": "Hard", "reviewedTimeZone": "Asia/Tokyo"}
    theirs = round_.host.data("submit_review", **review)
    changing = {"cardId", "reviewId", "reviewEventId", "reviewedAt", "dueAt"}
    assert data.keys() == theirs.keys() | {"sessionId"}
    assert {name: data[name] for name in theirs.keys() - changing} == {
        name: theirs[name] for name in theirs.keys() - changing
    }
    event = ReviewEvent.objects.get(card_id=data["cardId"])
    assert event.client_event_id == round_.cards[0]["reviewId"]
    assert (event.reviewed_by, event.reviewed_time_zone) == (alice.user.id, "Asia/Tokyo")
    assert event.replica_id == ApiKey.objects.get(user=alice.user).id


def test_the_time_zone_is_the_accounts_unless_the_page_names_one(alice: Agent, round_: Round) -> None:
    alice.user.time_zone = "Asia/Tokyo"
    alice.user.save()
    round_.do("review_card", 0)
    assert ReviewEvent.objects.get().reviewed_time_zone == "Asia/Tokyo"


def test_a_lost_answer_or_a_double_click_never_rates_twice(round_: Round) -> None:
    first = round_.do("review_card", 0, rating="Good")
    for rating in ("Good", "Again"):
        error = round_.fail("review_card", 0, rating=rating)
        assert error["code"] == "REVIEW_EVENT_CONFLICT"
        assert error["details"]["reviewSchedule"]["dueAt"] == first["dueAt"]
    assert ReviewEvent.objects.count() == 1


def test_ratings_are_taken_after_the_ten_minutes_of_the_token(round_: Round) -> None:
    CandidateSnapshot.objects.all().delete()
    assert round_.do("review_card", 0)["reps"] == 1


def test_a_card_reviewed_in_the_chat_meanwhile_is_rated_on_top(alice: Agent, round_: Round) -> None:
    card_id = round_.cards[0]["cardId"]
    review = {"cardId": card_id, "reviewId": str(uuid4()), "rating": "Good", "reviewedTimeZone": "UTC"}
    round_.host.data("submit_review", **review)
    assert round_.do("review_card", 0)["reps"] == 2


def test_a_deleted_card_is_not_found(alice: Agent, round_: Round) -> None:
    alice.sql(f"DELETE FROM cards WHERE card_id = '{round_.cards[0]['cardId']}'")
    assert round_.fail("review_card", 0)["code"] == "CARD_NOT_FOUND"
    assert statuses(round_) == ["unavailable", "open", "open"]


@pytest.fixture
def broken_schedules(db: None) -> Iterator[None]:
    """A database that takes schedules that no review leaves behind."""
    drop_schedule_constraints()
    yield
    restore_schedule_constraints()


@pytest.mark.usefixtures("broken_schedules")
def test_a_card_with_a_broken_schedule_opens_without_intervals_and_can_only_be_skipped(
    alice: Agent, host: Door
) -> None:
    broken, sound = make_card(alice.workspace, fsrs_card_state="review"), make_card(alice.workspace)
    Card.objects.filter(pk=broken.pk).update(fsrs_stability=None)
    round_ = open_round(host, broken, sound)
    assert round_.cards[0]["intervals"] is None
    assert round_.cards[1]["intervals"] is not None
    assert round_.fail("review_card", 0)["code"] == "CARD_FSRS_STATE_INVALID"
    assert round_.do("skip", 0)["card"]["status"] == "skipped"
    assert not ReviewEvent.objects.exists()


# --- skip


def test_a_skip_stores_nothing_about_the_card(round_: Round) -> None:
    before = list(Card.objects.order_by("pk").values())
    data = round_.do("skip", 1)
    assert data["card"]["status"] == "skipped"
    assert data["card"]["intervals"] == round_.cards[1]["intervals"]
    assert list(Card.objects.order_by("pk").values()) == before
    assert not ReviewEvent.objects.exists()
    assert statuses(round_) == ["open", "skipped", "open"]


def test_a_skipped_card_can_still_be_rated_and_a_rated_one_stays_rated(round_: Round) -> None:
    round_.do("skip", 0)
    round_.do("review_card", 0)
    assert round_.do("skip", 0)["card"]["status"] == "rated"
    assert statuses(round_)[0] == "rated"


# --- undo


def test_an_undo_restores_the_schedule_and_gives_a_new_review_id(alice: Agent, round_: Round) -> None:
    before = Card.objects.values().get(pk=round_.cards[0]["cardId"])
    round_.do("review_card", 0, rating="Easy")
    card = round_.do("undo", 0)["card"]
    assert Card.objects.values().get(pk=round_.cards[0]["cardId"]) == before
    assert (card["status"], card["rating"], card["intervals"]) == ("open", None, round_.cards[0]["intervals"])
    assert card["reviewId"] not in {shown["reviewId"] for shown in round_.cards}
    assert round_.do("state")["cards"][0] == card
    (row,) = alice.rows("SELECT client_event_id, undone_at FROM review_events")
    assert row["client_event_id"] == round_.cards[0]["reviewId"]
    assert row["undone_at"] is not None


def test_after_an_undo_the_card_is_rated_under_the_new_id_alone(round_: Round) -> None:
    round_.do("review_card", 0)
    renewed = round_.do("undo", 0)["card"]["reviewId"]
    assert round_.fail("review_card", 0)["code"] == "REVIEW_EVENT_CONFLICT"
    assert round_.do("review_card", 0, reviewId=renewed, rating="Again")["reps"] == 1
    assert ReviewEvent.objects.filter(undone_at=None).get().rating == 0


def test_an_undo_whose_answer_was_lost_may_be_repeated(round_: Round) -> None:
    round_.do("review_card", 0)
    first = round_.do("undo", 0)
    assert round_.do("undo", 0) == first
    assert ReviewEvent.objects.filter(undone_at__isnull=False).count() == 1


def test_ratings_and_undos_can_follow_each_other(round_: Round) -> None:
    review_id = round_.cards[0]["reviewId"]
    for reps in range(3):
        assert round_.do("review_card", 0, reviewId=review_id)["reps"] == 1, reps
        review_id = round_.do("undo", 0, reviewId=review_id)["card"]["reviewId"]
    assert ReviewEvent.objects.filter(undone_at__isnull=False).count() == 3


def test_what_was_not_rated_cannot_be_undone(round_: Round) -> None:
    assert round_.fail("undo", 0)["code"] == "REVIEW_NOT_FOUND"


def test_a_rating_of_more_than_ten_minutes_ago_stands(round_: Round) -> None:
    round_.do("review_card", 0)
    ReviewEvent.objects.update(reviewed_at_server=timezone.now() - timedelta(minutes=10, seconds=1))
    assert round_.fail("undo", 0)["code"] == "REVIEW_NOT_UNDOABLE"
    assert statuses(round_)[0] == "rated"


def test_only_the_newest_review_of_a_card_is_undone(round_: Round) -> None:
    round_.do("review_card", 0)
    review = {"cardId": round_.cards[0]["cardId"], "reviewId": str(uuid4())}
    round_.host.data("submit_review", **review, rating="Good", reviewedTimeZone="UTC")
    assert round_.fail("undo", 0)["code"] == "REVIEW_NOT_UNDOABLE"


def test_an_undone_rating_counts_nowhere(alice: Agent, round_: Round) -> None:
    workspaces = round_.host.data("list_workspaces")
    round_.do("review_card", 0)
    assert round_.host.data("list_workspaces") != workspaces
    round_.do("undo", 0)
    assert round_.host.data("list_workspaces") == workspaces
    assert alice.rows("SELECT COUNT(*) AS n FROM review_events WHERE undone_at IS NULL") == [{"n": 0}]


# --- state


def test_state_tells_what_the_session_has_stored(round_: Round) -> None:
    rated = round_.do("review_card", 0, rating="Hard")
    round_.do("skip", 1)
    state = round_.do("state")
    same = ("sessionId", "workspaceId", "expiresAt", "ratingsAllowed", "ratingsReason", "settingsUrl")
    assert {name: state[name] for name in same} == {name: round_.data[name] for name in same}
    ids = [{name: card[name] for name in ("cardId", "reviewId")} for card in round_.cards]
    nothing = {"rating": None, "reviewedAt": None, "dueAt": None}
    assert state["cards"] == [
        {
            **ids[0],
            "status": "rated",
            "rating": "Hard",
            "reviewedAt": rated["reviewedAt"],
            "dueAt": rated["dueAt"],
            "intervals": None,
        },
        {**ids[1], "status": "skipped", **nothing, "intervals": round_.cards[1]["intervals"]},
        {**ids[2], "status": "open", **nothing, "intervals": round_.cards[2]["intervals"]},
    ]


def test_state_renews_a_review_id_that_was_undone_elsewhere(alice: Agent, round_: Round) -> None:
    round_.do("review_card", 0)
    event = ReviewEvent.objects.get()
    undo_review(
        workspace=alice.workspace,
        card_id=event.card_id,
        review_id=UUID(event.client_event_id),
        user_id=alice.user.id,
        now=timezone.now(),
    )
    card = round_.do("state")["cards"][0]
    assert (card["status"], card["reviewId"] == round_.cards[0]["reviewId"]) == ("open", False)
    assert round_.do("state")["cards"][0] == card
    assert round_.do("review_card", 0, reviewId=card["reviewId"])["reps"] == 1


def test_state_renews_a_review_id_that_was_used_for_another_card(round_: Round) -> None:
    first, second = round_.cards[:2]
    review = {"cardId": second["cardId"], "reviewId": first["reviewId"], "rating": "Good", "reviewedTimeZone": "UTC"}
    round_.host.data("submit_review", **review)
    card = round_.do("state")["cards"][0]
    assert (card["status"], card["reviewId"] == first["reviewId"]) == ("open", False)


@pytest.mark.parametrize("count", [1, 20])
def test_state_takes_as_many_queries_for_one_card_as_for_twenty(
    alice: Agent, modern_host: Door, count: int, django_assert_num_queries: Any
) -> None:
    round_ = open_round(modern_host, *(make_card(alice.workspace) for _ in range(count)))
    # The key, the choice, the session, its cards, their events, the cards themselves.
    with django_assert_num_queries(6):
        round_.do("state")


# --- Who may, and for how long


def test_a_session_lives_for_24_hours(round_: Round) -> None:
    session = ReviewSession.objects.get()
    assert session.expires_at - session.created_at == timedelta(hours=24)
    ReviewSession.objects.update(expires_at=timezone.now())
    unknown = {"sessionId": str(uuid4())}
    for action in ACTIONS:
        error = round_.fail(action, on_card(action))
        assert error["code"] == "REVIEW_SESSION_NOT_FOUND"
        assert error == round_.fail(action, on_card(action), **unknown)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_revoked_connection_is_refused(alice: Agent, round_: Round, action: str) -> None:
    ApiKey.objects.update(revoked_at=timezone.now())
    assert_shut_out(round_, action)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_user_who_was_switched_off_is_refused(alice: Agent, round_: Round, action: str) -> None:
    alice.user.is_active = False
    alice.user.save()
    assert_shut_out(round_, action)


def assert_shut_out(round_: Round, action: str) -> None:
    arguments = round_.arguments(action, on_card(action))
    response = round_.host.post("tools/call", {"name": TOOL, "arguments": arguments})
    assert response.status_code == 401
    assert not ReviewEvent.objects.exists()


@pytest.mark.parametrize("action", ACTIONS)
def test_whoever_left_the_workspace_is_refused_as_if_there_were_no_session(
    alice: Agent, round_: Round, action: str
) -> None:
    Membership.objects.filter(user=alice.user).delete()
    error = round_.fail(action, on_card(action))
    assert error == round_.fail(action, on_card(action), sessionId=str(uuid4()))
    assert error["code"] == "REVIEW_SESSION_NOT_FOUND"
    assert not ReviewEvent.objects.exists()


def test_a_session_goes_on_over_another_connection_of_its_user(alice: Agent, round_: Round) -> None:
    other = Round(host_of(alice, key=make_api_key(alice.user, label="another")), round_.data)
    assert other.do("review_card", 0)["reps"] == 1


def test_a_reading_connection_may_skip_and_resume_and_not_rate(alice: Agent) -> None:
    reader = host_of(alice, key=token_of(alice, Scope.READ))
    round_ = open_round(reader, make_card(alice.workspace))
    assert round_.do("skip", 0)["card"]["status"] == "skipped"
    assert round_.do("state")["cards"][0]["status"] == "skipped"
    for action in ("review_card", "undo"):
        response = reader.post("tools/call", {"name": TOOL, "arguments": round_.arguments(action, 0)})
        assert response.status_code == 403
        assert response.headers["WWW-Authenticate"] == 'Bearer error="insufficient_scope", scope="flashcards"'
    assert not ReviewEvent.objects.exists()


@pytest.mark.parametrize("action", ["review_card", "create_card", "remove_card"])
def test_a_reading_connection_may_only_read_with_flashcard(alice: Agent, action: str) -> None:
    card = make_card(alice.workspace)
    reader = host_of(alice, key=token_of(alice, Scope.READ))
    arguments: dict[str, dict[str, Any]] = {
        "review_card": {"cardId": str(card.pk), "reviewId": str(uuid4()), "rating": "Good"},
        "create_card": {"markdown": "- a\n  - b"},
        "remove_card": {"cardIds": [str(card.pk)], "confirm": True},
    }
    call = {"name": "flashcard", "arguments": {"action": action, **arguments[action]}}
    response = reader.post("tools/call", call)
    assert response.status_code == 403
    assert response.json()["error"]["code"] == -32600
    assert Card.objects.in_workspace(alice.workspace).live().get().reps == 0
    assert reader.data("flashcard", action="get_decks")["decks"] == []
    assert reader.error("flashcard", action="nonsense")["code"] == "REVIEW_INPUT_INVALID"


def test_a_reading_connection_is_told_of_the_tools_that_it_can_use(alice: Agent) -> None:
    reader = host_of(alice, key=token_of(alice, Scope.READ))
    listed = [tool["name"] for tool in reader.ask("tools/list")["tools"]]
    assert listed[-3:] == APP_TOOLS
    assert "sql_execute" not in listed


# --- Guessed and malformed arguments


@pytest.mark.parametrize("action", ["review_card", "skip", "undo"])
def test_guessed_ids_are_refused_like_unknown_ones(alice: Agent, round_: Round, action: str) -> None:
    others = open_round(round_.host, make_card(alice.workspace))
    guesses = [
        {"cardId": others.cards[0]["cardId"]},
        {"cardId": str(uuid4())},
        {"reviewId": round_.cards[1]["reviewId"]},
        {"reviewId": others.cards[0]["reviewId"]},
        {"reviewId": str(uuid4())},
    ]
    errors = [round_.fail(action, 0, **guess) for guess in guesses]
    assert {str(error) for error in errors} == {str(errors[0])}
    assert errors[0]["code"] == "REVIEW_SESSION_CARD_NOT_FOUND"
    assert not ReviewEvent.objects.exists()
    assert statuses(round_) == ["open", "open", "open"]


@pytest.mark.parametrize(
    ("action", "changes", "path"),
    [
        ("review_card", {"action": "rate"}, "action"),
        ("review_card", {"sessionId": None}, "sessionId"),
        ("review_card", {"sessionId": "x"}, "sessionId"),
        ("review_card", {"cardId": None}, "cardId"),
        ("review_card", {"reviewId": None}, "reviewId"),
        ("review_card", {"rating": None}, "rating"),
        ("review_card", {"rating": "good"}, "rating"),
        ("review_card", {"rating": 3}, "rating"),
        ("review_card", {"reviewedTimeZone": "Mars/Olympus"}, "reviewedTimeZone"),
        ("review_card", {"workspace": "x"}, "workspace"),
        ("skip", {"cardId": None}, "cardId"),
        ("skip", {"rating": "Good"}, "rating"),
        ("undo", {"reviewId": None}, "reviewId"),
        ("undo", {"rating": "Good"}, "rating"),
        ("state", {"cardId": str(uuid4())}, "cardId"),
        ("state", {"rating": "Good"}, "rating"),
    ],
)
def test_wrong_and_misplaced_arguments_are_refused_by_name(
    round_: Round, action: str, changes: dict[str, Any], path: str
) -> None:
    arguments = {
        name: value for name, value in round_.arguments(action, on_card(action)).items() if name not in changes
    }
    given = {name: value for name, value in changes.items() if value is not None}
    error = round_.host.error(TOOL, **arguments, **given)
    assert error["code"] == "REVIEW_INPUT_INVALID"
    assert error["details"]["validationIssues"][0]["path"] == path
    assert not ReviewEvent.objects.exists()
