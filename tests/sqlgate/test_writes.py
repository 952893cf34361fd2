"""INSERT, UPDATE and DELETE over REST: values, limits, batches, and that all or nothing is stored."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from flashcards.models import Card, CardTag, Deck
from tests.factories import LONG_AGO, make_card, make_deck

INSERT = "INSERT INTO cards (front_text, back_text, tags) VALUES "


def reason(answered) -> str:
    return answered.error["details"]["validationIssues"][0]["code"]


def test_a_new_card_is_new_and_says_where_it_came_from(alice):
    (row,) = alice.sql(f"{INSERT}(' Q ', ' A ', (' geo ', 'geo', 'Geo')) RETURNING *").data["rows"]
    assert (row["front_text"], row["back_text"], row["tags"]) == ("Q", "A", ["geo", "Geo"])
    assert (row["card_type"], row["suspended"], row["fsrs_card_state"], row["reps"]) == ("basic", False, "new", 0)
    assert [row[name] for name in ("due_at", "fsrs_stability", "fsrs_last_reviewed_at", "deleted_at")] == [None] * 4
    nothing = dict.fromkeys(("label", "author", "comment", "importedAt", "importId"))
    assert row["metadata"] == {"version": 1, "source": {**nothing, "createdAt": row["created_at"]}}
    assert alice.rows("SELECT front_text FROM cards WHERE MATCH('geo') AND 'Geo' = ANY(tags)") == [{"front_text": "Q"}]


def test_the_rows_of_an_insert_are_a_microsecond_apart_in_the_order_written(alice):
    data = alice.sql(f"{INSERT}('1', '', ()), ('2', '', ()), ('3', '', ()); {INSERT}('4', '', ())").data
    ids = [row["card_id"] for part in data["statements"] for row in part["rows"]]
    cards = {str(card.card_id): card for card in Card.objects.all()}
    assert [cards[card_id].front_text for card_id in ids] == ["1", "2", "3", "4"]
    times = [cards[card_id].created_at for card_id in ids]
    assert [later - earlier for earlier, later in pairwise(times)] == [timedelta(microseconds=1)] * 3
    assert [row["front_text"] for row in alice.rows("SELECT front_text FROM cards")] == ["4", "3", "2", "1"]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("('', 'A', ())", ["front_text", "blank"]),
        ("('\u200b \u00a0', 'A', ())", ["front_text", "blank"]),
        (f"('{'x' * 20_001}', 'A', ())", ["front_text", "20,000", "20,001"]),
        (f"('Q', '{'x' * 100_001}', ())", ["back_text", "100,000"]),
        ("('Q', 'A', ('a', ' '))", ["tags", "blank"]),
        (f"('Q', 'A', ('{'x' * 101}'))", ["tags", "100"]),
        (f"('Q', 'A', ({', '.join(repr(str(n)) for n in range(51))}))", ["tags", "50"]),
        ("(NULL, 'A', ())", ["front_text", "NULL"]),
        ("('Q', 'A', NULL)", ["tags", "NULL"]),
    ],
)
def test_values_that_are_not_stored_are_refused_by_column(alice, row, words):
    answered = alice.sql(f"{INSERT}('Fine', 'A', ()), {row}")
    assert reason(answered) == "invalid_value"
    assert [word for word in words if word not in answered.error["message"]] == []
    assert answered.error["message"].startswith("Row 2: ")
    assert not Card.objects.exists()


def test_values_at_their_limits_are_stored_as_sent(alice):
    tags = ", ".join(f"'{n:0100}'" for n in range(50))
    text = "é\u0301🌍" + "x" * 19_997
    assert alice.sql(f"{INSERT}('{text}', '{'y' * 100_000}', ({tags}))").data["affectedCount"] == 1
    card = Card.objects.get()
    assert (card.front_text, len(card.back_text), len(card.tags)) == (text, 100_000, 50)


def test_a_hundred_rows_are_written_and_a_hundred_and_one_are_not(alice):
    row = "('Q', 'A', ('t'))"
    assert alice.sql(INSERT + ", ".join([row] * 100)).data["affectedCount"] == 100
    assert reason(alice.sql(INSERT + ", ".join([row] * 101))) == "row_limit"
    for write in ("UPDATE cards SET suspended = TRUE WHERE reps = 0", "DELETE FROM cards WHERE 't' = ANY(tags)"):
        assert alice.sql(write).data["affectedCount"] == 100
        Card.objects.update(deleted_at=None)
        CardTag.objects.sync(list(Card.objects.all()))
    make_card(alice.workspace, tags=["t"])
    for write in ("UPDATE cards SET suspended = FALSE WHERE reps = 0", "DELETE FROM cards WHERE 't' = ANY(tags)"):
        assert reason(alice.sql(write)) == "row_limit"
    assert Card.objects.filter(suspended=True, deleted_at=None).count() == 100


def test_an_update_changes_texts_tags_search_and_the_time_of_change(alice):
    card = make_card(alice.workspace, front_text="Old", back_text="Answer", tags=["a", "b"])
    data = alice.sql("UPDATE cards SET front_text = ' Neu Ü ', tags = ('b', 'c') WHERE MATCH('old') RETURNING *").data
    assert data["rows"][0]["front_text"] == "Neu Ü"
    card.refresh_from_db()
    assert card.updated_at > LONG_AGO
    assert (card.created_at, card.tags) == (LONG_AGO, ["b", "c"])
    for condition in ("MATCH('neu ü')", "MATCH('answer')", "'c' = ANY(tags)", "LOWER(back_text) = 'ANSWER'"):
        assert len(alice.rows(f"SELECT card_id FROM cards WHERE {condition}")) == 1
    for condition in ("MATCH('old')", "'a' = ANY(tags)"):
        assert alice.rows(f"SELECT card_id FROM cards WHERE {condition}") == []


def test_one_field_at_a_time_keeps_the_others_searchable(alice):
    make_card(alice.workspace, front_text="Front", back_text="Back", tags=["Tag"])
    steps = {
        "back_text = 'Other'": ("front", "other", "tag"),
        "front_text = 'Frente larga'": ("frente larga", "other", "tag"),
        "tags = ARRAY_APPEND(tags, 'Two')": ("frente larga", "other", "tag", "two"),
        "tags = ARRAY_REMOVE(tags, 'Tag')": ("frente larga", "other", "two"),
        "back_text = '', tags = ()": ("frente larga",),
        "suspended = TRUE, card_type = 'cloze'": ("frente larga",),
    }
    for assignment, found in steps.items():
        assert alice.sql(f"UPDATE cards SET {assignment} WHERE reps = 0").data["affectedCount"] == 1
        words = {w for w in ("front", "frente larga", "back", "other", "tag", "two") if search(alice, w)}
        assert words == set(found), assignment


def search(agent, word: str) -> bool:
    return bool(agent.rows(f"SELECT card_id FROM cards WHERE MATCH('{word}') AND LOWER(front_text) LIKE '%'"))


def test_array_edits_keep_each_row_its_own_tags(alice):
    for tags in (["a"], ["a", "b"], []):
        make_card(alice.workspace, tags=tags)
    data = alice.sql("UPDATE cards SET tags = ARRAY_APPEND(tags, ' b ') WHERE reps = 0 RETURNING tags").data
    assert sorted(row["tags"] for row in data["rows"]) == [["a", "b"], ["a", "b"], ["b"]]
    data = alice.sql("UPDATE cards SET tags = ARRAY_REMOVE(tags, 'a') WHERE 'a' = ANY(tags) RETURNING tags").data
    assert [row["tags"] for row in data["rows"]] == [["b"], ["b"]]
    full = make_card(alice.workspace, tags=[f"t{n}" for n in range(50)])
    answered = alice.sql(f"UPDATE cards SET tags = ARRAY_APPEND(tags, 'z') WHERE card_id = '{full.card_id}'")
    assert reason(answered) == "invalid_value"


def test_decks_are_written_renamed_and_deleted(alice):
    (row,) = alice.sql("INSERT INTO decks (name, tags) VALUES (' Geo ', ('geo')) RETURNING *").data["rows"]
    assert (row["name"], row["tags"]) == ("Geo", ["geo"])
    alice.sql("UPDATE decks SET name = 'Erdkunde Ü' WHERE MATCH('GEO')")
    assert alice.rows("SELECT name FROM decks WHERE MATCH('erdkunde ü') AND LOWER(name) = 'ERDKUNDE Ü'")
    (shown,) = alice.sql("DELETE FROM decks WHERE name = 'Erdkunde Ü' RETURNING name, deleted_at").data["rows"]
    assert shown == {"name": "Erdkunde Ü", "deleted_at": None}
    assert Deck.objects.get().deleted_at is not None
    assert alice.rows("SELECT name FROM decks") == []


def test_a_delete_moves_to_the_trash_and_touches_what_it_should(alice):
    kept, gone = make_card(alice.workspace, tags=["a"]), make_card(alice.workspace, tags=["b"])
    data = alice.sql(f"DELETE FROM cards WHERE card_id = '{gone.card_id}'").data
    assert (data["affectedCount"], data["rows"]) == (1, [])
    gone.refresh_from_db()
    assert gone.deleted_at is not None
    assert gone.updated_at == gone.deleted_at
    assert [row.card_id for row in CardTag.objects.all()] == [kept.card_id]
    assert alice.sql(f"DELETE FROM cards WHERE card_id = '{gone.card_id}'").data["affectedCount"] == 0


def test_a_write_that_matches_nothing_succeeds(alice):
    for write in ("UPDATE cards SET back_text = 'x' WHERE reps = 99", "DELETE FROM decks WHERE name = 'none'"):
        data = alice.sql(write).data
        assert (data["affectedCount"], data["rows"], data["rowsOmitted"]) == (0, [], False)


def test_the_same_value_again_still_counts(alice):
    make_card(alice.workspace, back_text="same")
    assert alice.sql("UPDATE cards SET back_text = 'same' WHERE back_text = 'same'").data["affectedCount"] == 1


NEVER = [
    "INSERT INTO cards (front_text) VALUES ('a')",
    "INSERT INTO cards (front_text, back_text) VALUES (' ', 'b')",
    "INSERT INTO cards (front_text, back_text) VALUES ('a', 'b') RETURNING nope",
    "UPDATE cards SET reps = 1 WHERE reps = 0",
    "UPDATE cards SET back_text = 'b' WHERE nope = 0",
    "UPDATE cards SET tags = ARRAY_APPEND(tags, ' ') WHERE front_text = 'nowhere'",
    "DELETE FROM cards WHERE reps > '0'",
    "DELETE FROM decks WHERE name = 'x'; DELETE FROM workspace WHERE name = 'x'",
]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("text", NEVER)
def test_what_can_never_be_written_is_refused_before_a_transaction_begins(alice, text):
    with CaptureQueriesContext(connection) as queries:
        assert alice.post("/v1/agent/sql/execute", {"sql": text}).status == 400
    assert [query["sql"] for query in queries if "BEGIN" in query["sql"]] == []
    with CaptureQueriesContext(connection) as queries:
        assert alice.sql("DELETE FROM cards WHERE reps = 0").status == 200
    assert len([query["sql"] for query in queries if "BEGIN" in query["sql"]]) == 1


def test_a_deck_is_looked_up_when_its_statement_is_done(alice):
    made = alice.sql(
        "INSERT INTO decks (name, tags) VALUES ('New', ('new')); "
        "INSERT INTO cards (front_text, back_text, tags) VALUES ('a', 'b', ('NEW')); "
        "UPDATE cards SET back_text = 'c' WHERE IN_DECK('New') RETURNING back_text"
    )
    assert made.data["statements"][2]["rows"] == [{"back_text": "c"}]
    gone = alice.sql("DELETE FROM decks WHERE name = 'New'; DELETE FROM cards WHERE IN_DECK('New')")
    assert gone.error["details"]["validationIssues"][0]["code"] == "unknown_deck"
    assert alice.rows("SELECT name FROM decks") == [{"name": "New"}]


def test_later_statements_see_earlier_ones(alice):
    data = alice.sql(
        f"{INSERT}('a', '1', ('x')); UPDATE cards SET tags = ('y') WHERE 'x' = ANY(tags); "
        "DELETE FROM cards WHERE 'y' = ANY(tags) RETURNING front_text"
    ).data
    assert [part["affectedCount"] for part in data["statements"]] == [1, 1, 1]
    assert (data["statementCount"], data["affectedCountTotal"], data["resource"]) == (3, 3, None)
    assert data["statements"][2]["rows"] == [{"front_text": "a"}]


def test_an_error_undoes_the_whole_batch(alice):
    make_card(alice.workspace, front_text="here")
    answered = alice.sql(
        f"{INSERT}('a', '1', ()); DELETE FROM cards WHERE reps = 0; UPDATE cards SET tags = 'x' WHERE reps = 0"
    )
    assert answered.error["message"].startswith("statement 3: ")
    assert [card.front_text for card in Card.objects.filter(deleted_at=None)] == ["here"]


def test_a_review_does_not_change_updated_at_but_suspension_does(alice):
    card = make_card(alice.workspace, fsrs_card_state="review")
    alice.sql("UPDATE cards SET suspended = TRUE WHERE reps > 0")
    card.refresh_from_db()
    assert card.updated_at > datetime(2026, 1, 1, tzinfo=UTC)
    assert (card.suspended, card.reps) == (True, 1)


def test_values_that_look_like_sql_stay_text(alice):
    hostile = "'); DELETE FROM cards WHERE reps = 0; -- %s {0} \\' $1 :x"
    literal = "'" + hostile.replace("'", "''") + "'"
    alice.sql(f"{INSERT}({literal}, {literal}, ({literal}))")
    (row,) = alice.rows(f"SELECT front_text, back_text, tags FROM cards WHERE front_text = {literal}")
    assert row == {"front_text": hostile, "back_text": hostile, "tags": [hostile]}
    assert len(alice.rows(f"SELECT card_id FROM cards WHERE {literal} = ANY(tags) AND MATCH({literal})")) == 1


# Sizes


def test_a_select_over_the_budget_returns_the_rows_that_fit(alice):
    for number in range(40):
        make_card(
            alice.workspace,
            front_text=f"{number:02}",
            back_text="w" * 2000,
            created_at=LONG_AGO + timedelta(days=number),
        )
    seen, offset = [], 0
    while True:
        answered = alice.sql(f"SELECT front_text, back_text FROM cards ORDER BY front_text OFFSET {offset}")
        data = answered.data
        seen += [row["front_text"] for row in data["rows"]]
        assert len(json_text(answered)) <= 48_000
        assert data["rowCount"] == len(data["rows"])
        assert data["totalRowCount"] == 40
        if not data["hasMore"]:
            break
        assert data["rowsTruncated"]
        assert f"OFFSET {offset + data['rowCount']}" in answered.body["instructions"]
        offset += data["rowCount"]
    assert seen == [f"{number:02}" for number in range(40)]


def json_text(answered) -> str:
    import json

    return json.dumps(answered.body, ensure_ascii=False, separators=(",", ":"))


def test_the_budget_counts_characters_as_they_are_written(alice):
    for sign in ("é", "🌍", '"', "\x01"):
        Card.objects.all().delete()
        for _ in range(12):
            make_card(alice.workspace, back_text=sign * 4000)
        answered = alice.sql("SELECT back_text FROM cards")
        assert 0 < answered.data["rowCount"] <= 12
        assert len(json_text(answered)) <= 48_000


def test_a_row_that_does_not_fit_alone_is_refused(alice):
    make_card(alice.workspace, back_text="w" * 60_000)
    answered = alice.sql("SELECT back_text FROM cards")
    assert (answered.status, answered.error["code"]) == (400, "QUERY_RESULT_TOO_LARGE")
    assert "48000" in answered.error["message"]
    assert alice.sql("SELECT front_text FROM cards").status == 200


def test_a_batch_of_reads_over_the_budget_is_refused(alice):
    make_card(alice.workspace, back_text="w" * 30_000)
    answered = alice.sql("SELECT back_text FROM cards; SELECT back_text FROM cards")
    assert answered.error["code"] == "QUERY_RESULT_TOO_LARGE"


def test_a_write_is_never_refused_for_size(alice):
    for _ in range(20):
        make_card(alice.workspace, back_text="w" * 5000)
    data = alice.sql("DELETE FROM cards WHERE reps = 0 RETURNING back_text").data
    assert (data["affectedCount"], data["rowsOmitted"], len(data["rows"])) == (20, True, 20)
    assert all(list(row) == ["card_id"] for row in data["rows"])
    assert not Card.objects.filter(deleted_at=None).exists()


def test_fifty_full_inserts_still_fit_into_one_answer(alice):
    statement = INSERT + ", ".join(["('Q', 'A', ())"] * 100)
    answered = alice.sql(";".join([statement] * 50))
    assert (answered.data["affectedCountTotal"], answered.data["rowsOmitted"]) == (5000, True)
    assert len(json_text(answered)) <= 48_000
    shown = [row for part in answered.data["statements"] for row in part["rows"]]
    assert shown
    assert all(re.fullmatch(r"[0-9a-f-]{36}", row["card_id"]) for row in shown)


# Tenancy


def test_bob_is_refused_alices_rows_with_the_answer_of_rows_that_do_not_exist(alice, bob):
    card = make_card(alice.workspace, front_text="secret", tags=["private"])
    deck = make_deck(alice.workspace, name="Secret deck", tags=["private"])
    nobody = "00000000-0000-4000-8000-000000000000"
    for statement in (
        "SELECT * FROM cards WHERE card_id = '{card}'",
        "SELECT * FROM decks WHERE deck_id = '{deck}'",
        "SELECT COUNT(*) FROM cards WHERE IN_DECK('{deck}')",
        "UPDATE cards SET back_text = 'taken' WHERE card_id = '{card}' RETURNING *",
        "DELETE FROM cards WHERE card_id = '{card}' RETURNING *",
        "UPDATE decks SET name = 'taken' WHERE deck_id = '{deck}' RETURNING *",
    ):
        his = bob.sql(statement.format(card=card.card_id, deck=deck.deck_id))
        none = bob.sql(statement.format(card=nobody, deck=nobody))
        assert without_ids(his, card.card_id, deck.deck_id) == without_ids(none, nobody, nobody)
    card.refresh_from_db()
    assert (card.back_text, card.deleted_at) == ("Back", None)


def without_ids(answered, *ids) -> str:
    text = json_text(answered)
    for found in ids:
        text = text.replace(str(found), "ID")
    return re.sub('"requestId":"[^"]*"', "", text)


def test_bob_is_refused_alices_workspace(alice, bob):
    for tool, statement in (("query", "SHOW TABLES"), ("execute", f"{INSERT}('Q', 'A', ())")):
        for workspace_id in (alice.workspace.workspace_id, "00000000-0000-4000-8000-000000000000"):
            answered = bob.post(f"/v1/agent/sql/{tool}", {"sql": statement, "workspaceId": str(workspace_id)})
            assert (answered.status, answered.error["code"]) == (404, "WORKSPACE_NOT_FOUND")
    assert not Card.objects.exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("UPDATE cards SET back_text = 'x' WHERE reps = 99", "No row matched, so nothing changed."),
        ("DELETE FROM decks WHERE name = 'none'; DELETE FROM cards WHERE reps = 99", "No row matched"),
        ("INSERT INTO decks (name) VALUES ('Geo')", "The change is stored."),
        ("DELETE FROM decks WHERE name = 'none'; INSERT INTO decks (name) VALUES ('Geo')", "The change is stored."),
    ],
)
def test_the_next_step_tells_whether_anything_changed(alice, text, said):
    assert alice.sql(text).body["instructions"].startswith(said)
