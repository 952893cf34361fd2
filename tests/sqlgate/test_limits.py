"""Limits of size and time: what is within them works, what is beyond them is refused before it costs."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection

from flashcards.models import Card, CardTag
from flashcards.snapshot import snapshot
from tests.factories import make_card


def reason(answered) -> str:
    return answered.error["details"]["validationIssues"][0]["code"]


def count(agent, condition: str):
    return agent.sql(f"SELECT COUNT(*) AS n FROM cards WHERE {condition}")


@pytest.fixture
def learner(alice):
    for number in range(5):
        make_card(alice.workspace, front_text=f"front {number}", back_text="a" * 3000, tags=[f"t{number}"])
    return alice


CONDITIONS = [
    "front_text != 'x'",
    "due_at IS NULL",
    "created_at != '2025-03-01'",
    "front_text LIKE '%fro%'",
    "NOT MATCH('nothing')",
    "NOT tags OVERLAP ('z')",
    "reps < 1.5",
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_chain_of_five_hundred_is_answered_and_of_one_more_refused(learner, condition):
    for word in (" AND ", " OR "):
        assert count(learner, word.join([condition] * 500)).data["rows"] == [{"n": 5}]
        assert reason(count(learner, word.join([condition] * 501))) == "too_complex"


def test_equalities_of_one_column_make_no_chain(learner):
    condition = " OR ".join(f"front_text = 'front {number}'" for number in range(3, 8000))
    assert count(learner, condition).data["rows"] == [{"n": 2}]
    mixed = " OR ".join(f"LOWER(front_text) = 'FRONT {n}' OR reps IN ({n + 1}, {n + 2})" for n in range(2, 3000))
    assert count(learner, mixed).data["rows"] == [{"n": 3}]


def test_conditions_as_deep_and_as_long_as_allowed(learner):
    condition = "reps = 1"
    for level in range(16):
        word = (" OR ", " AND ")[level % 2]
        condition = f"({word.join(['due_at IS NULL'] * 24 + [condition])})"
    assert count(learner, condition).data["rows"] == [{"n": 5}]


def test_conditions_too_large_for_a_database_are_refused(learner):
    condition = "reps = 1"
    for level in range(16):
        word = (" OR ", " AND ")[level % 2]
        condition = f"({word.join(['reps < 2'] * 490 + [condition])})"
    assert reason(count(learner, condition)) == "too_complex"


def test_long_lists_are_answered(learner):
    numbers = ", ".join(str(number) for number in range(29_000))
    assert count(learner, f"reps IN ({numbers})").data["rows"] == [{"n": 5}]
    assert count(learner, f"reps NOT IN ({numbers})").data["rows"] == [{"n": 0}]
    texts = ", ".join(f"'t{number}'" for number in range(3, 29_000))
    assert count(learner, f"tags OVERLAP ({texts})").data["rows"] == [{"n": 2}]
    times = ", ".join(f"'2025-01-01T08:{n // 60 % 60:02}:{n % 60:02}.{n % 1000:03}Z'" for n in range(9_000))
    assert count(learner, f"created_at IN ({times})").data["rows"] == [{"n": 5}]
    assert count(learner, f"created_at NOT IN ({times})").data["rows"] == [{"n": 0}]


@pytest.mark.parametrize(
    "pattern", ["%" * 100_000, "%a" * 4000, "%a%_" * 2000 + "b", "_" * 3000, "%_" * 1500, "%" + "a" * 2500 + "%b%"]
)
def test_patterns_of_wildcards_are_answered(learner, pattern):
    for word in ("LIKE", "ILIKE"):
        answered = count(learner, f"back_text {word} '{pattern}'")
        assert answered.data["rows"][0]["n"] in (0, 5)
    assert reason(count(learner, f"back_text LIKE '{'_a' * 6000}'")) == "too_complex"


def test_a_pattern_for_the_names_of_tables_is_no_longer_than_others(alice):
    assert reason(alice.sql(f"SHOW TABLES LIKE '{'%a' * 6000}'")) == "too_complex"
    assert alice.rows(f"SHOW TABLES LIKE '{'%' * 100_000}'") == alice.rows("SHOW TABLES")


@pytest.mark.parametrize("spelling", ["{{{}}}", "'{{{}}}'"])
def test_items_in_braces_count_as_in_parentheses(learner, spelling):
    for number, status in [(29_000, 200), (31_000, 400)]:
        answered = count(learner, f"tags OVERLAP {spelling.format(','.join(['x'] * number))}")
        assert answered.status == status
    assert reason(answered) == "text_too_long"


def test_a_text_with_many_commas_is_one_text(alice):
    text = "{" + "1," * 40_000 + "}"
    stored = alice.sql(f"INSERT INTO cards (front_text, back_text) VALUES ('Numbers?', '{text}')")
    assert stored.status == 200


def test_a_name_as_long_as_the_text_is_refused_without_looking_for_the_like(learner):
    for condition in (f"IN_DECK('{'ab' * 400_000}')", f"{'ab' * 400_000} = 1"):
        issue = count(learner, condition).error["details"]["validationIssues"][0]
        assert "didYouMean" not in issue
        assert len(issue["message"]) < 600


def test_a_pattern_without_wildcards_may_be_as_long_as_a_text(alice):
    make_card(alice.workspace, back_text="Ab\\" + "x" * 99_000)
    assert count(alice, f"back_text ILIKE 'aB\\{'X' * 99_000}'").data["rows"] == [{"n": 1}]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT name FROM decks WHERE " + "(" * 5000,
        "SELECT name FROM decks WHERE name = 'x'" + ")" * 5000,
        "SELECT " + ", ".join(["name"] * 5000) + " FROM decks",
        "SELECT name FROM decks ORDER BY " + ", ".join(["name"] * 5000) + ", nope",
        "SELECT name FROM decks WHERE name " + "NOT " * 5000 + "= 'x'",
        "SELECT name FROM decks WHERE name = 'x' " + "AND " * 50_000,
        "SELECT name FROM decks WHERE name IN (" + "'x'," * 29_000,
        "; " * 59_000,
        "x" * 900_000,
        "/*" * 450_000,
        '"' * 400_001,
        "{" * 900_000,
        "SELECT name FROM decks WHERE name = " + "9" * 900_000,
        "SELECT name FROM decks WHERE name = '" + "''" * 400_000,
    ],
    ids=lambda text: text[-20:],
)
def test_texts_made_to_hurt_are_refused(alice, text):
    answered = alice.post("/v1/agent/sql/query", {"sql": text})
    assert answered.status == 400
    assert answered.error["code"] in ("QUERY_INVALID_SQL", "QUERY_UNSUPPORTED_SYNTAX")
    assert len(answered.error["message"]) < 600


def test_a_body_over_a_megabyte_is_too_large(alice):
    answered = alice.post(
        "/v1/agent/sql/query", {"sql": "SELECT name FROM decks WHERE name = '" + "x" * (1 << 20) + "'"}
    )
    assert answered.status == 413


def heavy() -> str:
    return " AND ".join(f"NOT back_text ILIKE '%a%{number}%'" for number in range(400))


@pytest.fixture
def impatient(learner, settings, is_postgresql):
    """The learner in front of a database whose time is used up after a moment."""
    if is_postgresql:
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 1")
        yield learner
        with connection.cursor() as cursor:
            cursor.execute("RESET statement_timeout")
    else:
        settings.STATEMENT_SECONDS_MAX = 0.001
        yield learner


@pytest.mark.parametrize("tool", ["query", "execute"])
def test_a_statement_that_takes_too_long_is_stopped_and_nothing_stored(impatient, tool):
    statement = f"SELECT COUNT(*) FROM cards WHERE {heavy()}"
    if tool == "execute":
        statement = f"INSERT INTO decks (name) VALUES ('new'); UPDATE cards SET back_text = 'x' WHERE {heavy()}"
    answered = impatient.post(f"/v1/agent/sql/{tool}", {"sql": statement})
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")
    assert (answered.status, answered.error["code"]) == (400, "QUERY_TIME_LIMIT_EXCEEDED")
    assert "15" in answered.error["message"] or connection.vendor == "sqlite"
    assert Card.objects.filter(back_text="a" * 3000).count() == 5


def test_the_time_of_all_statements_of_a_call_counts_together(learner, settings):
    settings.STATEMENT_SECONDS_MAX = 0
    for tool, statement in (("query", "SELECT name FROM decks"), ("execute", "DELETE FROM decks WHERE name = 'x'")):
        answered = learner.post(f"/v1/agent/sql/{tool}", {"sql": statement})
        assert answered.error["code"] == "QUERY_TIME_LIMIT_EXCEEDED"
    assert learner.post("/v1/agent/sql/query", {"sql": "SHOW TABLES"}).status == 200


@pytest.mark.django_db(transaction=True)
def test_the_reading_side_cannot_write_and_leaves_the_connection_as_it_was():
    with pytest.raises(DatabaseError, match="read"), snapshot():
        CardTag.objects.all().delete()
    CardTag.objects.all().delete()
    with snapshot():
        assert Card.objects.count() == 0
    CardTag.objects.all().delete()


@pytest.mark.django_db(transaction=True)
def test_a_read_outside_of_any_transaction_is_answered_and_a_write_follows(alice):
    assert alice.sql("SELECT COUNT(*) AS n FROM cards; SELECT COUNT(*) AS n FROM decks").status == 200
    assert alice.sql("INSERT INTO decks (name) VALUES ('a')").data["affectedCount"] == 1
    assert alice.rows("SELECT name FROM decks") == [{"name": "a"}]
