"""Random statements are answered alike by the database, by the oracle and, where there is one, by PostgreSQL."""

from __future__ import annotations

import io
import json
import os
import random

import pytest
from django.core.management import call_command
from django.db import transaction

from flashcards.folding import fold
from flashcards.models import Card, CardTag, Deck, search_text
from tests.sqlgate.differential import agree, answer, compare, make_statements, oracle_answers
from tests.sqlgate.generator import StatementMaker, make_archive

READS = 160
WRITES = 80
SEED = 20261201


@pytest.fixture
def archive(db, tmp_path):
    made = make_archive(SEED)
    file = tmp_path / "archive.json"
    file.write_text(json.dumps(made))
    call_command("import_workspace", str(file), email="a@example.com", stdout=io.StringIO(), stderr=io.StringIO())
    return made


def test_random_reads_are_answered_as_the_oracle_answers_them(archive):
    statements = [(side, text) for side, text in make_statements(archive, SEED, READS) if side == "read"]
    workspace_id = archive["workspace"]["workspace_id"]
    wanted = oracle_answers(archive, statements)
    with_rows = 0
    for (side, text), expected in zip(statements, wanted, strict=True):
        found = answer(side, text, workspace_id)
        assert agree(found, expected), (text, found, expected)
        with_rows += bool(found["rows"])
    assert with_rows > READS // 4


def test_random_writes_keep_search_texts_and_tag_rows_in_step(archive):
    maker = StatementMaker(archive, random.Random(SEED))
    workspace_id = archive["workspace"]["workspace_id"]
    changed = 0
    for _ in range(WRITES):
        changed += stored(maker.write(), workspace_id)
    assert changed > WRITES // 4
    for card in Card.objects.in_workspace(workspace_id):
        assert card.search_text == search_text([card.front_text, card.back_text, *card.tags])
    for deck in Deck.objects.in_workspace(workspace_id):
        assert deck.search_text == search_text([deck.name, *deck.tags])
    rows = {(row.card_id, row.position): (row.tag, row.folded, row.created_at) for row in CardTag.objects.all()}
    live = Card.objects.in_workspace(workspace_id).live()
    assert rows == {
        (card.card_id, position): (tag, fold(tag), card.created_at)
        for card in live
        for position, tag in enumerate(card.tags)
    }


def stored(text, workspace_id) -> bool:
    """Whether the write changed something; it stays."""
    from uuid import UUID

    from flashcards.errors import AppError
    from sqlgate import gateway
    from tests.sqlgate.generator import NOW

    try:
        with transaction.atomic():
            return gateway.execute(text, workspace_id=UUID(workspace_id), now=NOW)["affectedCount"] > 0
    except AppError as error:
        reason = error.details["validationIssues"][0]["code"]
    if reason not in ("row_limit", "unknown_deck"):  # a deck may have been deleted on the way
        pytest.fail(f"{text}: {reason}")
    return False


@pytest.mark.skipif("DIFFERENTIAL_POSTGRES_URL" not in os.environ, reason="DIFFERENTIAL_POSTGRES_URL names no server")
def test_sqlite_and_postgresql_answer_alike():
    assert compare(seed=SEED, count=200, postgres_url=os.environ["DIFFERENTIAL_POSTGRES_URL"]) == []
