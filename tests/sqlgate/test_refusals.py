"""Refusals: each reason code has its documented example, and what a refusal offers instead works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flashcards.models import Card, CardTag
from sqlgate.errors import Reason
from tests.factories import make_card, make_deck

PAGE = Path(__file__).parent.parent.parent / "docs" / "reason-codes.md"
ROWS = re.findall(r"^\| `(\w+)` \| (.+?) \| `(.+)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
BUILT = {
    "invalid_character": "SELECT name FROM decks WHERE name = '\x00'",
    "text_too_long": "SELECT " + "x " * 60_001,
    "batch_limit": "SHOW TABLES;" * 51,
    "too_complex": "SELECT name FROM decks WHERE " + " AND ".join(["name > 'x'"] * 501),
}


def tool_of(statement: str) -> str:
    return "execute" if statement.startswith(("INSERT", "UPDATE", "DELETE")) else "query"


def refused(agent, statement: str) -> dict:
    """The one issue of a statement that must be refused."""
    answered = agent.post(f"/v1/agent/sql/{tool_of(statement)}", {"sql": statement})
    assert answered.status == 400, (statement, answered.body)
    (issue,) = answered.error["details"]["validationIssues"]
    assert issue["path"] == "sql"
    assert issue["message"] == answered.error["message"]
    expected = "QUERY_UNSUPPORTED_SYNTAX" if issue["code"].startswith("unsupported_") else "QUERY_INVALID_SQL"
    assert answered.error["code"] == expected
    return issue


@pytest.fixture
def learner(alice):
    for number in range(2):
        make_deck(alice.workspace, name="Twins", tags=[f"twin {number}"])
    make_deck(alice.workspace, name="Geography", tags=["geo"])
    make_card(alice.workspace, front_text="Capital of Peru?", back_text="Lima", tags=["geo"])
    return alice


@pytest.fixture
def crowded(learner):
    Card.objects.bulk_create(Card(workspace=learner.workspace, front_text=f"Card {n}") for n in range(100))
    return learner


def test_every_reason_code_is_documented():
    assert sorted(code for code, _, _ in ROWS) == sorted(Reason)


@pytest.mark.parametrize(
    ("code", "example"), [(code, example) for code, _, example in ROWS], ids=lambda text: text[:30]
)
def test_the_documented_example_is_refused_with_its_code(crowded, code, example):
    assert refused(crowded, BUILT.get(code, example))["code"] == code
    assert Card.objects.in_workspace(crowded.workspace).live().count() == 101


MENDED = [
    ("SELECT front_text FROM cards WHERE reps > '2'", "SELECT front_text FROM cards WHERE reps > 2"),
    ("SELECT fronttext FROM cards", "SELECT front_text FROM cards"),
    ("SELECT question FROM cards", "SELECT front_text FROM cards"),
    ("SELECT id FROM decks", "SELECT deck_id FROM decks"),
    ("SELECT * FROM card", "SELECT * FROM cards"),
    ("SELECT d.name FROM decks", "SELECT name FROM decks"),
    ("SELECT name FROM decks WHERE name = 5", "SELECT name FROM decks WHERE name = '5'"),
    ('SELECT name FROM decks WHERE name = "Twins"', "SELECT name FROM decks WHERE name = 'Twins'"),
    ('SELECT name FROM decks WHERE name IN ("A", "B")', "SELECT name FROM decks WHERE name IN ('A', 'B')"),
    ("SELECT name FROM decks WHERE name = Twins", "SELECT name FROM decks WHERE name = 'Twins'"),
    ("SELECT name FROM decks WHERE 'Twins' = name", "SELECT name FROM decks WHERE name = 'Twins'"),
    ("SELECT reps FROM cards WHERE 2 < reps", "SELECT reps FROM cards WHERE reps > 2"),
    ("SELECT reps FROM cards WHERE reps == 2", "SELECT reps FROM cards WHERE reps = 2"),
    ("SELECT reps FROM cards WHERE reps = (2)", "SELECT reps FROM cards WHERE reps = 2"),
    ("SELECT reps FROM cards WHERE due_at != NULL", "SELECT reps FROM cards WHERE due_at IS NOT NULL"),
    ("SELECT reps FROM cards WHERE suspended = 'no'", "SELECT reps FROM cards WHERE suspended = FALSE"),
    ("SELECT reps FROM cards WHERE suspended IS TRUE", "SELECT reps FROM cards WHERE suspended = TRUE"),
    ("SELECT reps FROM cards WHERE suspended IS NOT TRUE", "SELECT reps FROM cards WHERE suspended != TRUE"),
    ("SELECT reps FROM cards WHERE tags = 'geo'", "SELECT reps FROM cards WHERE tags = ('geo')"),
    ("SELECT reps FROM cards WHERE tags != ('geo')", "SELECT reps FROM cards WHERE NOT tags = ('geo')"),
    ("SELECT reps FROM cards WHERE tags OVERLAP 'geo'", "SELECT reps FROM cards WHERE tags OVERLAP ('geo')"),
    ("SELECT reps FROM cards WHERE tags IN ('geo')", "SELECT reps FROM cards WHERE tags OVERLAP ('geo')"),
    ("SELECT reps FROM cards WHERE 'geo' IN tags", "SELECT reps FROM cards WHERE 'geo' = ANY(tags)"),
    ("SELECT reps FROM cards WHERE 'geo' IN (tags)", "SELECT reps FROM cards WHERE 'geo' = ANY(tags)"),
    ("SELECT name FROM decks WHERE LOWER(name) != 'x'", "SELECT name FROM decks WHERE NOT LOWER(name) = 'text'"),
    ("SELECT reps FROM cards WHERE IN_DECK('geography')", "SELECT reps FROM cards WHERE IN_DECK('Geography')"),
    ("SELECT reps FROM cards WHERE MATCH(\"x\")", "SELECT reps FROM cards WHERE MATCH('x')"),
    ("SELECT reps FROM cards WHERE due_at > DATE '2025-01-31'", "SELECT reps FROM cards WHERE due_at > '2025-01-31'"),
    ("SELECT reps FROM cards WHERE due_at > '2025-01-31'::date", "SELECT reps FROM cards WHERE due_at > '2025-01-31'"),
    (
        "SELECT reps FROM cards WHERE due_at < NOW() - INTERVAL 7 DAYS",
        "SELECT reps FROM cards WHERE due_at < NOW() - INTERVAL '7 days'",
    ),
    (
        "SELECT reps FROM cards WHERE due_at < NOW() - '7 days'",
        "SELECT reps FROM cards WHERE due_at < NOW() - INTERVAL '7 days'",
    ),
    ("SELECT c.* FROM cards c", "SELECT * FROM cards c"),
    ("SELECT COUNT(1) FROM cards", "SELECT COUNT(*) FROM cards"),
    ("SELECT reps FROM cards LIMIT 10, 20", "SELECT reps FROM cards LIMIT 20 OFFSET 10"),
    (
        "SELECT reps, COUNT(*) AS n FROM cards GROUP BY reps ORDER BY COUNT(*) DESC",
        "SELECT reps, COUNT(*) AS n FROM cards GROUP BY reps ORDER BY n DESC",
    ),
    (
        "SELECT reps, COUNT(*) FROM cards GROUP BY reps ORDER BY COUNT(*)",
        "SELECT reps, COUNT(*) FROM cards GROUP BY reps ORDER BY count",
    ),
    ("SELECT tag FROM cards, UNNEST(tags) tag", "SELECT tag FROM cards, UNNEST(tags) AS tag"),
    ("SELECT reps FROM cards SELECT name FROM decks", "SELECT reps FROM cards ; SELECT name FROM decks"),
    (
        "INSERT INTO cards (front_text, back_text) VALUES ('a', NULL)",
        "INSERT INTO cards (front_text, back_text) VALUES ('a', '')",
    ),
    (
        "INSERT INTO cards (front_text, back_text, tags) VALUES ('a', 'b', 'geo')",
        "INSERT INTO cards (front_text, back_text, tags) VALUES ('a', 'b', ('geo'))",
    ),
    (
        "INSERT INTO decks (name) VALUES ('a') ('b')",
        "INSERT INTO decks (name) VALUES ('a') , ('b')",
    ),
    (
        "UPDATE cards SET tags = tags || 'x' WHERE reps = 0",
        "UPDATE cards SET tags = ARRAY_APPEND(tags, 'x') WHERE reps = 0",
    ),
    ("SELECT reps FROM cards WHERE tags NOT OVERLAP ('geo')", "SELECT reps FROM cards WHERE NOT tags OVERLAP ('geo')"),
    ("SELECT reps FROM cards WHERE tags NOT @> ('geo')", "SELECT reps FROM cards WHERE NOT tags @> ('geo')"),
    (
        "SELECT reps FROM cards WHERE due_at < NOW() - INTERVAL '7' DAY",
        "SELECT reps FROM cards WHERE due_at < NOW() - INTERVAL '7 day'",
    ),
    ("SELECT c.t FROM cards c UNNEST tags AS t", "SELECT t FROM cards c UNNEST tags AS t"),
    (
        "SELECT DATE(created_at) AS day FROM cards ORDER BY dya",
        "SELECT DATE(created_at) AS day FROM cards ORDER BY day",
    ),
    (
        "SELECT DISTINCT DATE(created_at) AS day FROM cards ORDER BY dya",
        "SELECT DISTINCT DATE(created_at) AS day FROM cards ORDER BY day",
    ),
    (
        "SELECT reps, COUNT(*) AS total FROM cards GROUP BY reps ORDER BY totla",
        "SELECT reps, COUNT(*) AS total FROM cards GROUP BY reps ORDER BY total",
    ),
    (
        'INSERT INTO cards (front_text, back_text, tags) VALUES (\'a\', \'b\', "geo")',
        "INSERT INTO cards (front_text, back_text, tags) VALUES ('a', 'b', ('geo'))",
    ),
    ('UPDATE cards SET suspended = "yes" WHERE reps = 0', "UPDATE cards SET suspended = TRUE WHERE reps = 0"),
    (
        "DELETE FROM cards WHERE card_id = 0B7C1F3E-5d2a-4c8b-9e6f-1a2b3c4d5e6f",
        "DELETE FROM cards WHERE card_id = '0B7C1F3E-5d2a-4c8b-9e6f-1a2b3c4d5e6f'",
    ),
    (
        "SELECT reps FROM cards WHERE card_id IN (cb7c1f3e-5d2a-4c8b-9e6f-1a2b3c4d5e6f)",
        "SELECT reps FROM cards WHERE card_id IN ('cb7c1f3e-5d2a-4c8b-9e6f-1a2b3c4d5e6f')",
    ),
    (
        "INSERT INTO cards (front_text, bck_text) VALUES ('a', 'b')",
        "INSERT INTO cards (front_text, back_text) VALUES ('a', 'b')",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "mended"), MENDED, ids=[wrong[:60] for wrong, _ in MENDED])
def test_a_refusal_mends_the_statement_and_the_mended_one_runs(learner, wrong, mended):
    assert refused(learner, wrong)["example"] == mended
    assert learner.post(f"/v1/agent/sql/{tool_of(mended)}", {"sql": mended}).status == 200


GENERAL = [
    "SELECT front_text FROM cards WHERE",
    "SELECT front_text FROM cards WHERE (reps = 1",
    "SELECT front_text FROM cards WHERE reps = 1)",
    "SELECT front_text FROM cards WHERE suspended",
    "SELECT front_text FROM cards WHERE reps IN 12",
    "SELECT front_text FROM cards WHERE reps = +3",
    "SELECT front_text FROM cards ORDER BY",
    "SELECT front_text FROM cards ORDER BY 1",
    "SELECT front_text FROM cards ORDER BY RANDOM() DESC",
    "SELECT front_text FROM cards ORDER BY reps WHERE reps = 1",
    "SELECT front_text FROM cards LIMIT '5'",
    "SELECT front_text FROM cards, decks",
    "SELECT front_text FROM (SELECT * FROM cards)",
    "SELECT front_text FROM cards WHERE DATE(created_at) = '2025-01-31'",
    "SELECT front_text FROM cards WHERE card_id IN (SELECT card_id FROM review_events)",
    "SELECT front_text FROM cards UNNEST tags",
    "SELECT UNNEST(tags) FROM cards",
    "SELECT *, front_text FROM cards",
    "SELECT COUNT(DISTINCT *) FROM cards",
    "SELECT ARRAY_LENGTH(tags, 1) FROM cards",
    "SELECT DATE_TRUNC('day', created_at) FROM cards",
    "SELECT CASE WHEN reps > 1 THEN 'a' END FROM cards",
    "SHOW DATABASES",
    "DESCRIBE TABLE cards",
    "UPDATE cards SET back_text = 'x'",
    "UPDATE cards SET back_text = 'x' WHERE reps = 0 LIMIT 1",
    "UPDATE cards c SET back_text = 'x' WHERE reps = 0",
    "DELETE cards WHERE reps = 0",
    "DELETE FROM cards USING decks WHERE reps = 0",
    "INSERT INTO cards VALUES ('a', 'b')",
    "INSERT INTO cards (front_text, back_text) VALUES 'a', 'b'",
    "INSERT INTO cards (front_text, back_text) VALUES ('a',, 'b')",
    "INSERT INTO cards (front_text, back_text) SELECT front_text, back_text FROM cards",
    "INSERT INTO cards (front_text, back_text) VALUES ('a', 'b') ON CONFLICT DO NOTHING",
    "INSERT INTO cards (front_text, back_text) VALUES ('a', 'b') RETURNING reps, reps",
    "UPDATE cards SET back_text = 'x' FROM decks WHERE reps = 0",
    "SELECT front_text || back_text FROM cards",
    "UPDATE cards SET back_text = 'x', back_text = 'y' WHERE reps = 0",
    "UPDATE cards SET front_text = back_text WHERE reps = 0",
    "UPDATE cards SET reps = reps + 1 WHERE reps = 0",
    "UPDATE cards SET back_text = 'x' WHERE 1 = 1",
    "UPDATE cards SET back_text = 'x' WHERE COUNT(*) > 1",
    "UPDATE cards SET back_text = 'x' WHERE DATE(created_at) = '2025-01-31'",
    "DELETE FROM cards WHERE reps BETWEEN 1 AND NULL",
    "DELETE FROM cards WHERE metadata = 'x'",
    "DELETE FROM card_tags WHERE tag = 'x'",
    "SELECT COUNT(*) AS select FROM cards",
    "SELECT COUNT(*) FROM cards WHERE due_at < '2025-01-31' + INTERVAL '1 day'",
    "SELECT MIN(DATE(created_at)) FROM cards",
    "SELECT COUNT(DISTINCT LOWER(front_text)) FROM cards",
    "SELECT minutes FROM workspace UNNEST learning_steps_minutes AS minutes",
    "SELECT name FROM decks WHERE IN_DECK('Twins')",
]


@pytest.mark.parametrize("wrong", GENERAL)
def test_a_refusal_shows_a_statement_of_its_kind_that_runs(learner, wrong):
    issue = refused(learner, wrong)
    assert issue["example"] in issue["message"]
    assert tool_of(issue["example"]) == tool_of(wrong)
    assert learner.sql(issue["example"]).status == 200


@pytest.mark.parametrize(
    ("statement", "line", "column"),
    [
        ("SELECT nope FROM cards", 1, 8),
        ("SELECT front_text\nFROM cards\n  WHERE nope = 1", 3, 9),
        ("SELECT front_text FROM cards WHERE front_text = '猫🙂' AND nope = 1", 1, 58),
        ("SELECT front_text FROM cards WHERE", 1, 35),
        ("SELECT front_text FROM cards WHERE front_text = 'x", 1, 49),
    ],
)
def test_a_refusal_says_where(learner, statement, line, column):
    issue = refused(learner, statement)
    assert (issue["line"], issue["column"], issue["statement"]) == (line, column, 1)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT front, bck_text FROM cards",
        "SELECT question, nope FROM cards",
        "INSERT INTO cards (question, answer) VALUES ('a', 'b')",
        "SELECT DISTINCT front_text FROM cards ORDER BY fornt_text, nope",
    ],
)
def test_a_statement_with_a_second_fault_is_not_shown_as_one_that_works(learner, statement):
    issue = refused(learner, statement)
    assert issue["didYouMean"] == "front_text"
    assert "example" not in issue or learner.sql(issue["example"]).status == 200


def test_text_is_never_made_of_the_name_of_a_column(learner):
    issue = refused(learner, "UPDATE cards SET front_text = back_text WHERE reps = 0")
    assert "not the column back_text" in issue["message"]
    assert "'back_text'" not in issue["example"]


@pytest.mark.parametrize(
    ("message", "statement"),
    [
        ("This comment is never closed", "SELECT name FROM decks /* all"),
        ("This comment is never closed", "/*"),
        ("is neither a number nor a name", "SELECT name FROM decks WHERE name = .5"),
        ("MIN takes the name of one column, not DATE(…)", "SELECT MIN(DATE(created_at)) FROM cards"),
        (
            "Calculation with + is not supported",
            "SELECT reps FROM cards WHERE due_at < '2025-01-31' + INTERVAL '1 day'",
        ),
        ("There is no deck ' Twins '", "SELECT reps FROM cards WHERE IN_DECK(' Twins ')"),
        ("FROM is not supported here", "UPDATE cards SET back_text = 'x' FROM decks WHERE reps = 0"),
        ("Select the columns and join them yourself", "SELECT front_text || back_text FROM cards"),
        ("There is no deck ''", "SELECT reps FROM cards WHERE IN_DECK('')"),
    ],
)
def test_a_refusal_says_what_is_wrong(learner, message, statement):
    assert message in refused(learner, statement)["message"]


@pytest.mark.parametrize(
    ("text", "line", "column", "statement"),
    [
        ("SELECT name FROM decks;\nSELECT 12abc FROM decks", 2, 8, 2),
        ("SELECT name FROM decks;\nSELECT né FROM decks", 2, 8, 2),
        ("SELECT name FROM decks;\nSELECT name FROM decks WHERE name = 'a\x00'", 2, 39, 2),
        ("SELECT name FROM decks; SELECT name FROM decks WHERE name = 'x; y", 1, 61, 2),
        ("SELECT name FROM decks; SELECT name /* ; */ FROM decks /* x", 1, 56, 2),
        (";SELECT name FROM decks", 1, 1, 1),
        ("SELECT name FROM decks;\n ; SELECT name FROM decks", 2, 2, 2),
    ],
)
def test_a_text_that_cannot_be_read_is_refused_at_its_statement(learner, text, line, column, statement):
    issue = refused(learner, text)
    assert (issue["line"], issue["column"], issue["statement"]) == (line, column, statement)
    assert issue["message"].startswith(f"statement {statement}: ")


def test_the_statement_too_many_is_named(learner):
    assert refused(learner, BUILT["batch_limit"])["statement"] == 51


def test_a_refusal_in_a_batch_names_the_statement(learner):
    issue = refused(learner, "SELECT name FROM decks;\nSELECT nope FROM decks; SELECT name FROM decks")
    assert (issue["line"], issue["column"], issue["statement"]) == (2, 8, 2)
    assert issue["message"].startswith("statement 2: ")


@pytest.mark.parametrize(
    "statement", ["INSERT INTO decks (nmae) VALUES ('x')", "UPDATE decks SET nmae = 'x' WHERE name = 'y'"]
)
def test_a_write_to_an_unknown_column_is_told_those_that_can_be_written(learner, statement):
    issue = refused(learner, statement)
    assert (issue["known"], issue["didYouMean"]) == (["name", "tags"], "name")


def test_an_unknown_column_is_told_the_valid_ones(learner):
    issue = refused(learner, "SELECT naem FROM decks")
    assert issue["known"] == ["deck_id", "name", "tags", "created_at", "updated_at", "deleted_at"]
    assert issue["didYouMean"] == "name"


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("SELECT deck_id FROM cards", ["saved tag filter", "IN_DECK("]),
        ("UPDATE cards SET deck_id = 'x' WHERE reps = 0", ["saved tag filter", "IN_DECK("]),
        ("SELECT description FROM decks", ["saved tag filter", "name and tags"]),
        ("SELECT tag FROM cards", ["UNNEST tags AS tag"]),
        ("SELECT card_count FROM decks", ["IN_DECK("]),
    ],
)
def test_what_agents_guess_most_is_explained(learner, statement, words):
    issue = refused(learner, statement)
    assert issue["code"] == "unknown_column"
    assert [word for word in words if word not in issue["message"]] == []


def test_a_deck_name_that_several_have_is_answered_with_their_ids(learner):
    issue = refused(learner, "SELECT front_text FROM cards WHERE IN_DECK('Twins')")
    ids = {row["deck_id"] for row in learner.rows("SELECT deck_id FROM decks WHERE name = 'Twins'")}
    assert set(issue["deckIds"]) == ids
    assert learner.sql(issue["example"]).status == 200


def test_long_fragments_are_cut(learner):
    issue = refused(learner, f"SELECT {'x' * 5000} FROM cards")
    assert len(issue["message"]) < 500
    assert "example" not in issue
    assert len(refused(learner, f"SELECT name FROM decks WHERE name > {'9' * 5000}")["message"]) < 300
    assert len(refused(learner, f"SELECT name FROM decks WHERE tags = '{'x' * 5000}'")["message"]) < 300
    assert len(refused(learner, f"UPDATE decks SET name = {'x' * 5000} WHERE name = 'x'")["message"]) < 300


@pytest.mark.parametrize(
    "statement",
    [wrong for wrong, _ in MENDED] + GENERAL + [BUILT.get(code, example) for code, _, example in ROWS],
    ids=lambda text: text[:40],
)
def test_messages_are_short_and_speak_of_sql_alone(crowded, statement):
    message = refused(crowded, statement)["message"]
    assert len(message) <= 420
    inside = ("lark", "django", "psycopg", "sqlite", "token", "traceback", "$end", "lpar", "queryset", "none of")
    assert [word for word in inside if word in message.lower()] == []


def test_a_refused_write_stores_nothing(learner):
    before = list(Card.objects.values_list()), list(CardTag.objects.values_list())
    refused(learner, "INSERT INTO cards (front_text, back_text) VALUES ('a', 'b'), ('c', 'd'), (' ', 'e')")
    refused(
        learner,
        "UPDATE cards SET back_text = 'x', tags = ('y') WHERE reps = 0; DELETE FROM cards WHERE nope = 1",
    )
    assert (list(Card.objects.values_list()), list(CardTag.objects.values_list())) == before
