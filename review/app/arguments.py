"""The arguments of the tool `flashcard`: one flat object, because clients take no alternatives at the top."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from flashcards.content import clean_tags
from flashcards.errors import validation_issue
from flashcards.operation import UuidText, WorkspaceParams, parse_uuid
from review.app.actions import Action
from review.errors import ReviewInputInvalid
from review.operations import RatingWord, TimeZoneName

ActionName = Literal["list_cards", "get_decks", "get_cards", "review_card", "create_card", "remove_card"]

CARDS_MAX = 100
REVIEWED_CARDS_MAX = 1000
OFFSET_MAX = 1_000_000


def parse_optional_uuid(value: object) -> UUID | None:
    """As `parse_uuid`; null and the empty text, which some clients send for what they leave out, mean nothing."""
    return None if value is None or value == "" else parse_uuid(value)


OptionalDeckId = Annotated[UUID | None, BeforeValidator(parse_optional_uuid), WithJsonSchema({"type": "string"})]


class FlashcardParams(WorkspaceParams):
    """The arguments of all actions; `check_arguments` tells which belong together."""

    action: ActionName = Field(description="What to do; every other argument says which actions take it.")
    scope: Literal["all", "deck"] | None = Field(
        None, description="list_cards: all (the default), or deck together with deckId."
    )
    filter: Literal["due", "new", "any"] | None = Field(
        None,
        description="list_cards: due (the default) is the review queue: due cards, then new ones. new is its new cards "
        "alone. any is every card.",
    )
    deck_id: OptionalDeckId = Field(
        None,
        description="list_cards with scope deck, get_cards, create_card: a deckId of get_decks. create_card gives the "
        "cards the deck's tags, so that the deck selects them. Empty means left out.",
    )
    reviewed_cards: list[UuidText] | None = Field(
        None,
        max_length=REVIEWED_CARDS_MAX,
        description="list_cards: ids that were handled in this round, rated or skipped; they are left out.",
    )
    limit: int | None = Field(
        None, ge=1, le=CARDS_MAX, description="list_cards, get_cards: how many cards at most, 1 to 100; 50 by default."
    )
    offset: int | None = Field(None, ge=0, le=OFFSET_MAX, description="get_cards: how many cards to pass over.")
    card_ids: list[UuidText] | None = Field(
        None,
        min_length=1,
        max_length=CARDS_MAX,
        description="get_cards (instead of deckId), remove_card: 1 to 100 ids of cards.",
    )
    card_id: UuidText | None = Field(None, description="review_card: the card that the learner attempted.")
    review_id: UuidText | None = Field(
        None,
        description="review_card: a random UUID that you make for this one review and keep; repeat the identical call "
        "with it after an uncertain outcome.",
    )
    rating: RatingWord | None = Field(
        None, description="review_card: Again, Hard, Good or Easy; with reviewId, and not together with skip."
    )
    skip: bool | None = Field(
        None, description="review_card: true to leave the card unrated; nothing is stored. Not together with rating."
    )
    reviewed_time_zone: TimeZoneName | None = Field(
        None, description="review_card: the learner's IANA time zone; by default the one of their account."
    )
    markdown: str | None = Field(
        None,
        description="create_card: Markdown. Each top-level list item with nested items, or each heading with the "
        "blocks under it, becomes one card: item or heading the front, what is under it the back. At most 100 cards "
        "and 400,000 characters.",
    )
    tags: Annotated[list[str], AfterValidator(clean_tags)] | None = Field(
        None, description="create_card: tags for all the cards."
    )
    dry_run: bool | None = Field(None, description="create_card: true to see the cards without making them.")
    confirm: bool | None = Field(
        None, description="remove_card: true once the user agreed; without it the answer lists what would go."
    )


def _list_fault(params: FlashcardParams) -> tuple[str, str] | None:
    if params.scope == "deck" and params.deck_id is None:
        return "deckId", "scope deck needs the deckId of a deck of get_decks."
    if params.scope != "deck" and params.deck_id is not None:
        return "deckId", "deckId goes with scope deck; leave it out for all cards."
    return None


def _cards_fault(params: FlashcardParams) -> tuple[str, str] | None:
    if (params.deck_id is None) == (params.card_ids is None):
        return "cardIds", "get_cards takes deckId or cardIds, one of them."
    return None


def _review_fault(params: FlashcardParams) -> tuple[str, str] | None:
    if params.skip and params.rating is not None:
        return "skip", "rating and skip exclude each other: send one of them."
    if not params.skip and params.rating is None:
        return "rating", "review_card takes rating with reviewId, or skip: true."
    if not params.skip and params.review_id is None:
        return "reviewId", "rating needs a reviewId: a random UUID that you make for this review and keep."
    return None


_ACTIONS = {
    action.name: action
    for action in (
        Action("list_cards", takes=("scope", "filter", "deck_id", "reviewed_cards", "limit")),
        Action("get_decks"),
        Action("get_cards", takes=("deck_id", "card_ids", "limit", "offset")),
        Action(
            "review_card", takes=("card_id", "review_id", "rating", "skip", "reviewed_time_zone"), needs=("card_id",)
        ),
        Action("create_card", takes=("markdown", "deck_id", "tags", "dry_run"), needs=("markdown",)),
        Action("remove_card", takes=("card_ids", "confirm"), needs=("card_ids",)),
    )
}
_FAULTS = {"list_cards": _list_fault, "get_cards": _cards_fault, "review_card": _review_fault}


def check_arguments(params: FlashcardParams) -> None:
    """Refuse arguments that belong to another action, that are missing, or that exclude each other, by name."""
    _ACTIONS[params.action].check(params)
    find_fault = _FAULTS.get(params.action)
    fault = find_fault(params) if find_fault else None
    if fault is not None:
        path, message = fault
        raise ReviewInputInvalid(message, [validation_issue(path, "invalid_value", message)])
