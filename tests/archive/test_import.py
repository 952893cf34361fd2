"""Importing a workspace archive through `manage.py import_workspace`."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command

from accounts.models import User
from flashcards.models import Card, CardTag, Deck, Workspace
from review.models import ReviewEvent
from tests.archive.samples import CARD, DECK, EVENT, WORKSPACE, archive

pytestmark = pytest.mark.django_db


@pytest.fixture
def load(tmp_path):
    """Imports an archive given as a dict for an address; returns what the command printed."""

    def run(document: dict, email: str = "alice@example.com", **options: str) -> str:
        file = tmp_path / "archive.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        out = io.StringIO()
        call_command("import_workspace", str(file), email=email, stdout=out, stderr=io.StringIO(), **options)
        return out.getvalue()

    return run


def test_an_archive_becomes_a_workspace_of_a_user_who_is_made(load):
    out = load(archive(cards=[CARD], decks=[DECK], review_events=[EVENT]), email=" Alice@Example.com ")
    assert "of alice@example.com: 1 cards, 1 decks, 1 review events." in out
    workspace = User.objects.get(email="alice@example.com").workspaces.get()
    assert str(workspace.workspace_id) == WORKSPACE["workspace_id"]
    assert str(Card.objects.in_workspace(workspace).get().card_id) == CARD["card_id"]
    assert str(Deck.objects.in_workspace(workspace).get().deck_id) == DECK["deck_id"]
    assert str(ReviewEvent.objects.in_workspace(workspace).get().card_id) == CARD["card_id"]
    assert list(CardTag.objects.in_workspace(workspace).values_list("tag", flat=True)) == CARD["tags"]


def test_importing_again_changes_nothing(load):
    document = archive(cards=[CARD], decks=[DECK], review_events=[EVENT])
    load(document)
    before = [list(model.objects.values()) for model in (Workspace, Card, Deck, ReviewEvent)]
    load(document)
    assert [list(model.objects.values()) for model in (Workspace, Card, Deck, ReviewEvent)] == before
