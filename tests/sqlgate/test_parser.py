"""The parser by itself: what it reads, and that its work stays small."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from sqlgate import ast, parser
from sqlgate.errors import Fault, Reason
from sqlgate.lexer import TOKENS_MAX, tokenize
from sqlgate.parser import parse_reads, parse_writes
from sqlgate.patterns import parse_like


def one(text: str) -> ast.Select:
    (statement,) = parse_reads(text)
    assert isinstance(statement, ast.Select)
    return statement


def where(condition: str) -> ast.Condition:
    found = one(f"SELECT name FROM decks WHERE {condition}").where
    assert found is not None
    return found


def test_and_binds_tighter_than_or():
    found = where("name = 'a' OR name = 'b' AND name = 'c'")
    assert isinstance(found, ast.Chain)
    assert not found.every
    inner = found.conditions[1]
    assert isinstance(inner, ast.Chain)
    assert inner.every


def test_parentheses_change_the_binding():
    found = where("(name = 'a' OR name = 'b') AND name = 'c'")
    assert isinstance(found, ast.Chain)
    assert found.every


def test_a_run_of_nots_is_one_or_none():
    assert isinstance(where("NOT NOT name = 'a'"), ast.Comparison)
    assert isinstance(where("NOT " * 4001 + "name = 'a'"), ast.Not)


def test_words_ignore_case_and_names_become_lower_case():
    found = one('sElEcT Name, c."Deck_ID" AS Chosen fRoM Decks As C')
    assert [item.term.name for item in found.items] == ["name", "deck_id"]
    assert found.items[1].alias.text == "chosen"
    assert (found.table.text, found.alias.text) == ("decks", "c")


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("'it''s'", "it's"),
        ("''", ""),
        ("'a\\nb'", "a\\nb"),
        ("'-- no comment /* nor this */; nor an end'", "-- no comment /* nor this */; nor an end"),
        ("12", 12),
        ("-3", -3),
        ("007", 7),
        ("0.5", Decimal("0.5")),
        ("TRUE", True),
    ],
)
def test_literals(literal, value):
    found = where(f"name = {literal}")
    assert found.operand.value == value


@pytest.mark.parametrize(
    "text",
    [
        "('a','b c')",
        "['a', 'b c']",
        '["a", "b c"]',
        "ARRAY['a','b c']",
        "array [ 'a' , 'b c' ]",
        "{a,b c}",
        '{ a , "b c" }',
    ],
)
def test_every_spelling_of_a_list(text):
    found = where(f"tags = {text}")
    assert [item.value for item in found.operand.items] == ["a", "b c"]


def test_escapes_in_double_quoted_elements():
    assert [item.value for item in where(r'tags = {"say \"hi\"","a\\b","c,d"}').operand.items] == [
        'say "hi"',
        "a\\b",
        "c,d",
    ]


@pytest.mark.parametrize("text", ["{a,}", "{,a}", "{a,,b}", '{"a"b}', "{a,NULL}"])
def test_malformed_braces_are_refused(text):
    with pytest.raises(Fault) as refused:
        where(f"tags = {text}")
    assert refused.value.reason is Reason.SYNTAX_ERROR


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("NOW()", timedelta(0)),
        ("CURRENT_TIMESTAMP - INTERVAL '7 days'", timedelta(days=-7)),
        ("now( ) + interval '1 Week 2 hours'", timedelta(days=7, hours=2)),
        ("NOW() + INTERVAL '1.5 minutes'", timedelta(seconds=90)),
        ("NOW() - INTERVAL '-3 seconds'", timedelta(seconds=3)),
    ],
)
def test_points_in_time(text, offset):
    assert where(f"created_at < {text}").operand.offset == offset


def test_limit_and_offset_come_in_either_order():
    for text in ("LIMIT 5 OFFSET 7", "OFFSET 7 LIMIT 5"):
        found = one(f"SELECT name FROM decks {text}")
        assert (found.limit.value, found.offset.value) == (5, 7)


def test_aggregate_words_are_names_where_no_parenthesis_follows():
    found = one(
        "SELECT DATE(created_at) AS date, COUNT(*) count FROM decks GROUP BY date HAVING count > 1 ORDER BY count"
    )
    assert [item.alias.text for item in found.items] == ["date", "count"]
    assert found.order_by[0].key.name == "count"


@pytest.mark.parametrize("text", ["UNNEST tags AS tag", "CROSS JOIN UNNEST(tags) AS tag", ", UNNEST(tags) AS tag"])
def test_every_spelling_of_unnest(text):
    found = one(f"SELECT tag FROM decks {text}").unnest
    assert (found.column.name, found.element.text) == ("tags", "tag")


def test_comments_byte_order_mark_and_a_last_semicolon_are_skipped():
    text = "\ufeff-- first\nSELECT /* the name */ name FROM decks /**/ ; -- last"
    assert one(text).table.text == "decks"


def test_writes_are_read_whole():
    insert, update, delete = parse_writes(
        "INSERT INTO decks (name, tags) VALUES ('a', ('x')), ('b', ()) RETURNING deck_id AS id; "
        "UPDATE decks SET name = 'c', tags = ARRAY_REMOVE(tags, 'x') WHERE name = 'a'; "
        "DELETE FROM decks WHERE name = 'b' RETURNING *"
    )
    assert isinstance(insert, ast.Insert)
    assert [len(row.values) for row in insert.rows] == [2, 2]
    assert insert.returning.items[0].alias.text == "id"
    assert isinstance(update, ast.Update)
    assert update.assignments[1].value.function == "array_remove"
    assert isinstance(delete, ast.Delete)
    assert delete.returning.items == ()


def test_sixteen_parentheses_are_read_and_the_seventeenth_refused():
    for depth in (1, 16):
        assert isinstance(where("(" * depth + "name = 'x'" + ")" * depth), ast.Comparison)
    with pytest.raises(Fault) as refused:
        where("(" * 17 + "name = 'x'" + ")" * 17)
    assert refused.value.reason is Reason.TOO_DEEP
    assert refused.value.at.start == len("SELECT name FROM decks WHERE ") + 16


def test_the_pass_before_parsing_stops_at_the_limit():
    assert len(tokenize("x " * TOKENS_MAX)) == TOKENS_MAX
    with pytest.raises(Fault) as refused:
        tokenize("(" * 1_000_000)
    assert refused.value.reason is Reason.TEXT_TOO_LONG
    assert refused.value.at.start == TOKENS_MAX


@pytest.mark.parametrize("opening", ["'", '"', "/*", "{", '{"', "'''", "-", "'\\"])
def test_a_megabyte_that_never_ends_is_refused_in_one_pass(opening):
    with pytest.raises(Fault):
        parse_reads("SELECT name FROM decks WHERE name = " + opening + "x" * 1_000_000)


def test_wildcards_in_a_row_are_one_wildcard():
    assert parse_like("%" * 100_000).as_like() == "%"
    assert parse_like("a%_%_%b").as_like() == "a__%b"
    assert parse_like("%%a%%").as_glob() == "*a*"


@pytest.mark.parametrize(
    ("pattern", "escape", "like", "glob"),
    [
        (r"50\%", None, r"50\%", "50%"),
        (r"a\_b_", None, r"a\_b_", "a_b?"),
        (r"c:\temp", None, r"c:\\temp", "c:\\temp"),
        ("\\", None, r"\\", "\\"),
        ("50!%!", "!", r"50\%!", "50%!"),
        ("a!!%", "!", "a!%", "a!*"),
        ("_b__%", "_", r"\_b\_%", "_b_*"),
        ("%%%_%b", "%", r"\%\_\%b", "%_%b"),
        (r"a\%", "!", r"a\\%", "a\\*"),
        ("[a]*?", None, "[a]*?", "[[]a][*][?]"),
    ],
)
def test_patterns_become_those_of_each_database(pattern, escape, like, glob):
    found = parse_like(pattern, escape)
    assert (found.as_like(), found.as_glob()) == (like, glob)


def test_the_parser_is_built_once_however_many_texts_are_parsed():
    parse_reads("SELECT name FROM decks")
    built = parser._lark.cache_info().misses
    for _ in range(3):
        parse_reads("SELECT name FROM decks WHERE name = 'x'; SHOW TABLES")
    assert parser._lark.cache_info().misses == built
