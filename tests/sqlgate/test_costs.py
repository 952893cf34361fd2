"""How many statements the database gets for one call. The key, its touch and the workspace are not counted."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from sqlgate import gateway
from tests.factories import make_card, make_deck

READS = {
    "SHOW TABLES; DESCRIBE cards": 0,
    "SELECT * FROM cards WHERE card_id = '00000000-0000-4000-8000-000000000000'": 1,
    "SELECT front_text FROM cards WHERE tags OVERLAP ('a', 'b') ORDER BY created_at DESC LIMIT 50": 1,
    "SELECT front_text FROM cards WHERE tags OVERLAP ('a', 'b') ORDER BY created_at DESC LIMIT 2": 2,
    "SELECT front_text FROM cards WHERE front_text LIKE '%front%' OR back_text LIKE '%front%'": 1,
    "SELECT front_text FROM cards WHERE MATCH('front')": 1,
    "SELECT tag, COUNT(*) AS n FROM cards UNNEST tags AS tag GROUP BY tag ORDER BY n DESC LIMIT 1": 1,
    "SELECT COUNT(*) AS n FROM cards WHERE due_at <= NOW()": 1,
    "SELECT front_text FROM cards ORDER BY created_at DESC LIMIT 2 OFFSET 3": 2,
    "SELECT COUNT(*) AS n FROM cards WHERE IN_DECK('Some')": 2,
    "SELECT COUNT(*) AS n FROM cards HAVING n > 1": 2,
    "SELECT name FROM decks; SELECT COUNT(*) FROM review_events; SELECT name FROM workspace": 3,
}
WRITES = {
    "INSERT INTO cards (front_text, back_text, tags) VALUES ('a', 'b', ('x')), ('c', 'd', ('y'))": 3,
    "UPDATE cards SET back_text = 'x' WHERE reps = 0": 2,
    "UPDATE cards SET back_text = 'x' WHERE reps = 0 RETURNING *": 3,
    "UPDATE cards SET tags = ('x') WHERE reps = 0": 4,
    "DELETE FROM cards WHERE reps = 0 RETURNING front_text": 3,
    "UPDATE cards SET back_text = 'x' WHERE reps = 99": 1,
    "INSERT INTO decks (name) VALUES ('a'), ('b')": 1,
    "DELETE FROM decks WHERE name = 'Some'": 2,
}


@pytest.fixture
def workspace(alice):
    for number in range(6):
        make_card(alice.workspace, front_text=f"front {number}", tags=["a", f"t{number}"])
    make_deck(alice.workspace, name="Some", tags=["a"])
    return alice.workspace


def statements(action) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        action()
    return [query["sql"] for query in captured.captured_queries if "SAVEPOINT" not in query["sql"]]


@pytest.mark.parametrize(("text", "number"), READS.items(), ids=[text[:50] for text in READS])
def test_a_read_costs_so_many_statements(workspace, text, number):
    sent = statements(lambda: gateway.query(text, workspace_id=workspace.workspace_id, now=timezone.now()))
    assert len(sent) == number, sent


@pytest.mark.parametrize(("text", "number"), WRITES.items(), ids=[text[:50] for text in WRITES])
def test_a_write_costs_so_many_statements(workspace, text, number):
    sent = statements(lambda: gateway.execute(text, workspace_id=workspace.workspace_id, now=timezone.now()))
    assert len(sent) == number, sent


def test_a_call_costs_two_statements_more_whatever_the_data(alice):
    alice.sql("SHOW TABLES")
    make_card(alice.workspace)
    assert len(statements(lambda: alice.sql("SHOW TABLES"))) == 2


def test_every_statement_names_the_workspace(workspace):
    key = workspace.workspace_id
    for text in READS:
        for sent in statements(lambda text=text: gateway.query(text, workspace_id=key, now=timezone.now())):
            assert str(key) in sent or key.hex in sent, sent
    for text in WRITES:
        for sent in statements(lambda text=text: gateway.execute(text, workspace_id=key, now=timezone.now())):
            if not sent.startswith("DELETE"):  # of tag rows, by the ids of cards just found in the workspace
                assert str(key) in sent or key.hex in sent, sent
