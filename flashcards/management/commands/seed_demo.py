"""`manage.py seed_demo`: a real deck to try the service with."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid5

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.errors import InvalidEmail
from accounts.services import clean_email, ensure_user
from accounts.workspaces import ensure_named_workspace
from flashcards.content import ContentRefused, clean_workspace_name
from flashcards.management.http_deck import SAVED_DECKS, http_cards
from flashcards.models import Card, CardTag, Deck, Workspace, new_metadata
from flashcards.outcome import committed

DEMO_EMAIL = "demo@example.com"


class Command(BaseCommand):
    """Store the sample deck in a user's workspace."""

    help = (
        "Store a sample deck, the HTTP status codes, for a user who is made if need be. Running it again adds nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--email", default=DEMO_EMAIL, help="whose workspace; default: %(default)s")
        parser.add_argument("--workspace", metavar="NAME", default="Personal", help="default: %(default)s")

    def handle(self, *, email: str, workspace: str, **_: Any) -> None:
        """CommandError for an address or a name that is none."""
        try:
            address, name = clean_email(email), clean_workspace_name(workspace)
        except (InvalidEmail, ContentRefused) as refusal:
            raise CommandError(refusal.message) from None
        now = timezone.now()
        with committed():
            target = ensure_named_workspace(ensure_user(address, now=now), name=name, now=now)
            cards, decks = seed_cards(workspace=target, now=now), seed_decks(workspace=target, now=now)
        self.stdout.write(f"Stored {cards} cards and {decks} decks for {address} in workspace {target.name}.")


def seed_cards(*, workspace: Workspace, now: datetime) -> int:
    """Store the cards that the workspace does not have yet; returns how many. Call it in a transaction."""
    wanted = {uuid5(workspace.workspace_id, card.key): card for card in http_cards()}
    known = set(Card.objects.in_workspace(workspace).filter(card_id__in=wanted).values_list("card_id", flat=True))
    cards = [
        Card(
            card_id=card_id,
            workspace=workspace,
            front_text=card.front_text,
            back_text=card.back_text,
            tags=card.tags,
            metadata=new_metadata(now),
            created_at=now + timedelta(microseconds=number),
            updated_at=now,
        )
        for number, (card_id, card) in enumerate(wanted.items())
        if card_id not in known
    ]
    for card in cards:
        card.refresh_search_text()
    Card.objects.bulk_create(cards)
    CardTag.objects.sync(cards)
    return len(cards)


def seed_decks(*, workspace: Workspace, now: datetime) -> int:
    """Store the saved decks that the workspace does not have yet; returns how many."""
    made = 0
    for name, tags in SAVED_DECKS.items():
        deck = Deck(workspace=workspace, name=name, tags=tags, created_at=now, updated_at=now)
        deck.deck_id = uuid5(workspace.workspace_id, f"deck/{name}")
        if not Deck.objects.in_workspace(workspace).filter(deck_id=deck.deck_id).exists():
            deck.refresh_search_text()
            deck.save(force_insert=True)
            made += 1
    return made
