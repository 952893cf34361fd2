"""Review sessions of the page: opening one from offered cards, rating, skipping, undoing, resuming."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID, uuid4

from accounts.models import User
from accounts.workspaces import owned_workspaces
from flashcards.models import Card, Workspace
from flashcards.outcome import committed
from review.app.candidates import find_candidates
from review.app.card_lists import Renderer
from review.app.errors import ReviewSessionCardNotFound, ReviewSessionEmpty, ReviewSessionNotFound
from review.app.models import ReviewSession, ReviewSessionCard
from review.errors import CardScheduleInvalid, ReviewStale
from review.models import ReviewEvent
from review.scheduler import Rating
from review.services import Reviewed, Reviewer, Submission, preview_ratings, submit_review, undo_review

SESSION_LIFETIME = timedelta(hours=24)


class Omitted(StrEnum):
    """Why a chosen card is not in the session."""

    NOT_IN_CANDIDATES = "not_in_candidates"
    UNAVAILABLE = "unavailable"
    CONTENT_UNAVAILABLE = "content_unavailable"


@dataclass(frozen=True, slots=True)
class OpenedCard:
    """A card of a session as it was opened; `back_html` is None where the text is shown as it stands."""

    card: Card
    review_id: UUID
    front_html: str
    back_html: str | None
    intervals: Mapping[str, int] | None


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """A session as it was opened; `omitted` are the chosen cards that are not in it."""

    session: ReviewSession
    cards: Sequence[OpenedCard]
    omitted: Mapping[UUID, Omitted]
    requested_count: int

    @property
    def duplicate_count(self) -> int:
        """How many of the chosen cards were chosen before."""
        return self.requested_count - len(self.cards) - len(self.omitted)


def open_session(token: str, card_ids: Sequence[UUID], *, user: User, now: datetime) -> OpenedSession:
    """A session of the chosen cards, in their order, as far as the token's list offered them and they still exist.

    Whether they are still due does not matter: the list decided. Raises CandidateTokenInvalid or ReviewSessionEmpty.
    """
    snapshot = find_candidates(token, user=user, now=now)
    wanted = list(dict.fromkeys(card_ids))
    offered = [card_id for card_id in wanted if str(card_id) in snapshot.card_ids]
    renderer = Renderer()
    cards, fronts, omitted = _readable(offered, user=user, workspace=snapshot.workspace, renderer=renderer)
    omitted |= {card_id: Omitted.NOT_IN_CANDIDATES for card_id in wanted if card_id not in set(offered)}
    omitted = {card_id: omitted[card_id] for card_id in wanted if card_id in omitted}
    if not cards:
        raise ReviewSessionEmpty(
            "None of these cards can be reviewed.", details={"omittedCards": omitted_data(omitted)}
        )
    session, entries = _store_session(cards, user=user, workspace=snapshot.workspace, now=now)
    opened = [
        OpenedCard(
            card=card,
            review_id=entry.review_id,
            front_html=fronts[card.card_id],
            back_html=renderer.html_of(card.back_text),
            intervals=_intervals(card, workspace=snapshot.workspace, now=now),
        )
        for card, entry in zip(cards, entries, strict=True)
    ]
    return OpenedSession(session, opened, omitted, requested_count=len(card_ids))


def _readable(
    card_ids: Sequence[UUID], *, user: User, workspace: Workspace, renderer: Renderer
) -> tuple[list[Card], dict[UUID, str], dict[UUID, Omitted]]:
    """The cards to open, the HTML of their prompts, and those of the ids that cannot be opened."""
    mine = owned_workspaces(user).filter(pk=workspace.pk)
    found = Card.objects.in_workspace(workspace).live().filter(workspace__in=mine).in_bulk(list(card_ids))
    fronts = {card_id: renderer.readable_prompt(found[card_id]) for card_id in card_ids if card_id in found}
    readable = {card_id: html for card_id, html in fronts.items() if html is not None}
    omitted = {
        card_id: Omitted.CONTENT_UNAVAILABLE if card_id in found else Omitted.UNAVAILABLE
        for card_id in card_ids
        if card_id not in readable
    }
    return [found[card_id] for card_id in card_ids if card_id in readable], readable, omitted


def omitted_data(omitted: Mapping[UUID, Omitted]) -> list[dict[str, str]]:
    """The omitted cards as answers show them."""
    return [{"cardId": str(card_id), "reason": reason.value} for card_id, reason in omitted.items()]


def _store_session(
    cards: Sequence[Card], *, user: User, workspace: Workspace, now: datetime
) -> tuple[ReviewSession, list[ReviewSessionCard]]:
    with committed():
        session = ReviewSession.objects.create(
            user=user, workspace=workspace, created_at=now, expires_at=now + SESSION_LIFETIME
        )
        entries = [
            ReviewSessionCard(session=session, card_id=card.card_id, position=position, review_ids=[str(uuid4())])
            for position, card in enumerate(cards)
        ]
        ReviewSessionCard.objects.bulk_create(entries)
    return session, entries


def _intervals(card: Card, *, workspace: Workspace, now: datetime) -> dict[str, int] | None:
    """Seconds until the card would come back, by rating; None where no rating could be stored now."""
    try:
        after = preview_ratings(card, workspace=workspace, now=now)
    except (CardScheduleInvalid, ReviewStale):
        return None
    return {
        rating.word: int((schedule.due_at - schedule.last_reviewed_at).total_seconds())
        for rating, schedule in after.items()
        if schedule.due_at is not None and schedule.last_reviewed_at is not None
    }


def find_session(session_id: UUID, *, user: User, now: datetime) -> ReviewSession:
    """The session of that id; ReviewSessionNotFound for one that is another's, over, or out of reach."""
    alive = ReviewSession.objects.alive(user, now=now).select_related("workspace")
    session = alive.filter(pk=session_id, workspace__in=owned_workspaces(user)).first()
    if session is None:
        raise ReviewSessionNotFound("There is no such review session, or it is over.")
    return session


def _find_entry(session: ReviewSession, card_id: UUID, review_id: UUID | None) -> ReviewSessionCard:
    entry = ReviewSessionCard.objects.filter(session=session, card_id=card_id).first()
    if entry is None or not (review_id is None or entry.knows(review_id)):
        raise ReviewSessionCardNotFound("This session has no such cardId and reviewId.")
    return entry


def rate_card(session: ReviewSession, submission: Submission, *, reviewer: Reviewer, now: datetime) -> Reviewed:
    """Store a rating of a card of the session, as `submit_review` does and with its refusals."""
    _find_entry(session, submission.card_id, submission.review_id)
    return submit_review(submission, workspace=session.workspace, reviewer=reviewer, now=now)


def skip_card(session: ReviewSession, card_id: UUID, *, review_id: UUID | None, now: datetime) -> SessionCard:
    """Go on behind a card; nothing is stored about the card itself."""
    entry = _find_entry(session, card_id, review_id)
    ReviewSessionCard.objects.filter(pk=entry.pk).update(skipped=True)
    return _state_of_card(session, card_id, now=now)


def undo_rating(session: ReviewSession, card_id: UUID, *, review_id: UUID, user: User, now: datetime) -> SessionCard:
    """Take back the rating that was stored under `review_id`, and open the card again under another one.

    Repeating it changes nothing. Raises as `undo_review` does.
    """
    entry = _find_entry(session, card_id, review_id)
    with committed():
        undo_review(workspace=session.workspace, card_id=card_id, review_id=review_id, user_id=user.id, now=now)
        _renew(entry, review_id)
    return _state_of_card(session, card_id, now=now)


def _renew(entry: ReviewSessionCard, spent: UUID) -> ReviewSessionCard:
    """The entry with a new reviewId in place of a spent one; in a transaction, and once even in parallel."""
    held = ReviewSessionCard.objects.select_for_update().get(pk=entry.pk)
    if held.review_id == spent:
        held.review_ids.append(str(uuid4()))
        held.skipped = False
        held.save(update_fields=["review_ids", "skipped"])
    return held


class CardStatus(StrEnum):
    """Where a card of a session stands."""

    OPEN = "open"
    RATED = "rated"
    SKIPPED = "skipped"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class SessionCard:
    """A card of a session now. `rating` and `reviewed_at` are those of the review that this session stored."""

    card_id: UUID
    review_id: UUID
    status: CardStatus
    rating: Rating | None = None
    reviewed_at: datetime | None = None
    due_at: datetime | None = None
    intervals: Mapping[str, int] | None = None


def session_cards(session: ReviewSession, *, now: datetime) -> list[SessionCard]:
    """Where every card of the session stands, in their order; a reviewId that is spent is renewed."""
    return _states(session, list(session.cards.order_by("position")), now=now)


def _state_of_card(session: ReviewSession, card_id: UUID, *, now: datetime) -> SessionCard:
    (state,) = _states(session, list(session.cards.filter(card_id=card_id)), now=now)
    return state


def _states(session: ReviewSession, entries: Sequence[ReviewSessionCard], *, now: datetime) -> list[SessionCard]:
    workspace = session.workspace
    events = _events_of(workspace, entries)
    cards = Card.objects.in_workspace(workspace).live().in_bulk([entry.card_id for entry in entries])
    states = []
    for entry in entries:
        event = events.get(str(entry.review_id))
        if event is not None and (event.undone_at is not None or event.card_id != entry.card_id):
            # It was undone elsewhere, or used for another card: no rating can be stored under it any more.
            with committed():
                entry = _renew(entry, entry.review_id)  # noqa: PLW2901
            event = None
        states.append(_state(entry, cards.get(entry.card_id), event, workspace=workspace, now=now))
    return states


def _events_of(workspace: Workspace, entries: Iterable[ReviewSessionCard]) -> dict[str, ReviewEvent]:
    review_ids = [str(entry.review_id) for entry in entries]
    events = ReviewEvent.objects.in_workspace(workspace).filter(client_event_id__in=review_ids)
    return {event.client_event_id: event for event in events}


def _state(
    entry: ReviewSessionCard, card: Card | None, event: ReviewEvent | None, *, workspace: Workspace, now: datetime
) -> SessionCard:
    status = CardStatus.SKIPPED if entry.skipped else CardStatus.OPEN
    state = SessionCard(entry.card_id, entry.review_id, status, due_at=card.due_at if card else None)
    if event is not None:
        rating = Rating(event.rating + 1)
        return replace(state, status=CardStatus.RATED, rating=rating, reviewed_at=event.reviewed_at_server)
    if card is None:
        return replace(state, status=CardStatus.UNAVAILABLE)
    return replace(state, intervals=_intervals(card, workspace=workspace, now=now))
