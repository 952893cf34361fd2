"""Explains a token that the grammar does not take: what is wrong with it, and a form that works. Pure.

Each rule looks at the tokens around the offender and answers with a fault or None; the first answer counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlgate.errors import Fault, Reason, shown
from sqlgate.foreign import foreign_word, sub_query, wrong_function
from sqlgate.lexer import Token
from sqlgate.place import CLAUSES, FORMS, Place

CLAUSE_ORDER = {
    "SELECT": "SELECT … FROM … WHERE … GROUP BY … HAVING … ORDER BY … LIMIT … OFFSET",
    "INSERT": "INSERT INTO … (columns) VALUES (row), (row) RETURNING",
    "UPDATE": "UPDATE … SET … WHERE … RETURNING",
    "DELETE": "DELETE FROM … WHERE … RETURNING",
}
TWO_WORDS = {"GROUP": "GROUP BY", "ORDER": "ORDER BY"}


def explain_unexpected(tokens: list[Token], index: int, expected: frozenset[str]) -> Fault:
    """Why `tokens[index]` (the end, when it is past the last) cannot stand there. `expected` are types that could."""
    place = Place(tokens, index, expected)
    for rule in RULES:
        fault = rule(place)
        if fault is not None:
            return fault
    return _generic(place)


# Functions and their arguments


def _aggregate_argument(place: Place) -> Fault | None:
    function = _function_around(place)
    if function not in ("COUNT", "SUM", "AVG", "MIN", "MAX", "DATE", "LOWER", "UPPER"):
        return None
    if function == "COUNT" and place.is_type("NUMBER") and place.follows("LPAR"):
        return place.repair("COUNT takes * or the name of a column.", 0, 0, "*")
    form = "GROUP" if place.kind == "SELECT" else ""
    if place.is_type("STAR", "DISTINCT"):
        return place.fault(f"{function} takes the name of one column; only COUNT takes * or DISTINCT, not both.", form)
    return place.fault(f"{function} takes the name of one column.", form)


def _function_around(place: Place) -> str:
    """The function in whose parentheses the offender stands, when it stands right at their beginning."""
    back = 2 if place.follows("DISTINCT") else 1
    before = place.types(-back - 3, -back)
    if before[-1] == "LPAR":
        return before[-2]
    return before[-3] if before[-2:] in (["LPAR", "NAME"], ["DISTINCT", "NAME"]) and place.is_type("COMMA") else ""


def _special_function(place: Place) -> Fault | None:
    name = place.types(-2, -2)[0] if place.follows("LPAR") else ""
    if name not in ("MATCH", "IN_DECK"):
        return None
    said = (
        "MATCH takes one text: MATCH('oslo')." if name == "MATCH" else "IN_DECK takes one text: IN_DECK('Geography')."
    )
    is_name = place.is_type("QUOTED") or (name == "IN_DECK" and place.is_type("NAME"))
    if is_name and place.types(1, 1) == ["RPAR"] and place.offender:
        return place.repair(said, 0, 0, _quoted(place.offender))
    return place.fault(said, "CASE" if name == "MATCH" else "DECKS")


def _quoted(token: Token) -> str:
    return "'" + token.text.strip('"').replace("'", "''") + "'"


def _random(place: Place) -> Fault | None:
    if "RANDOM" not in place.types(-5, -1) or place.clause() != "ORDER":
        return None
    return place.fault("RANDOM() stands alone in ORDER BY.", "RANDOM")


def _unnest(place: Place) -> Fault | None:
    if place.is_type("UNNEST"):
        return place.fault("UNNEST stands after the table in FROM.", "UNNEST")
    if "UNNEST" not in place.types(-5, -1) or place.clause() != "FROM":
        return None
    if place.is_type("NAME") and place.follows("NAME", "RPAR") and place.offender:
        return place.repair("UNNEST names its element with AS.", 0, 0, f"AS {place.offender.text}")
    return place.fault("UNNEST names the list and its element: UNNEST tags AS tag.", "UNNEST")


_UNIT = re.compile(r"(SECOND|MINUTE|HOUR|DAY|WEEK)S?")


def _interval(place: Place) -> Fault | None:
    number = place.before.text.strip("'") if place.before else ""
    if place.types(-2, -1) == ["INTERVAL", "STRING"] and _UNIT.fullmatch(place.word) and number.isdecimal():
        message = "The unit of an INTERVAL stands inside the quotes."
        return place.repair(message, -1, 0, f"'{number} {place.word.lower()}'")
    if place.before is None or place.before.text not in ("+", "-") or not place.expected <= {"INTERVAL", "NUMBER"}:
        return None
    message = "A time is moved by INTERVAL and a quoted duration."
    if place.is_type("STRING") and place.offender:
        return place.repair(message, 0, 0, f"INTERVAL {place.offender.text}")
    amount, unit = place.token(1), place.token(2)
    if place.word == "INTERVAL" and amount and unit and amount.type == "NUMBER" and _UNIT.fullmatch(unit.word):
        return place.repair(message, 0, 2, f"INTERVAL '{amount.text} {unit.text.lower()}'")
    return place.fault(message, "DUE")


# Statements and clauses


def _second_statement(place: Place) -> Fault | None:
    if not place.is_type("SELECT", "INSERT", "UPDATE", "DELETE", "SHOW", "DESCRIBE"):
        return None
    if place.kind == "INSERT" and place.is_type("SELECT"):
        message = "INSERT … SELECT is not supported. Read the rows, then write them with VALUES."
        return place.fault(message, reason=Reason.UNSUPPORTED_EXPRESSION)
    message = f"{place.word} begins a statement of its own. Separate statements by a semicolon."
    if "$END" not in place.expected:
        return place.fault(message)
    return place.repair(message, 0, 0, f"; {place.word}")


def _missing_where(place: Place) -> Fault | None:
    if place.kind not in ("UPDATE", "DELETE") or "WHERE" not in place.expected:
        return None
    if place.offender is not None and not place.is_type("RETURNING"):
        return None
    message = f"{place.kind} needs a WHERE, before RETURNING. To touch every row: WHERE deleted_at IS NULL."
    return place.fault(message, reason=Reason.MISSING_WHERE)


def _limit(place: Place) -> Fault | None:
    if place.kind in ("UPDATE", "DELETE", "INSERT") and place.is_type("LIMIT", "OFFSET", "ORDER", "GROUP"):
        message = f"{place.kind} takes no {place.word}. Name the rows in WHERE, for example by card_id IN (…)."
        return place.fault(message, reason=Reason.UNSUPPORTED_CLAUSE)
    if place.clause() not in ("LIMIT", "OFFSET"):
        return None
    if place.is_type("COMMA") and place.types(-2, 1) == ["LIMIT", "NUMBER", "COMMA", "NUMBER"]:
        skipped, taken = place.token(-1), place.token(1)
        fix = f"{taken.text} OFFSET {skipped.text}" if taken and skipped else ""
        return place.repair("LIMIT takes one number.", -1, 1, fix)
    if not place.follows("LIMIT", "OFFSET", "MINUS"):
        return None
    got = shown(place.offender.text) if place.offender else "nothing"
    reason = Reason.INVALID_LIMIT if place.offender else Reason.SYNTAX_ERROR
    return place.fault(f"{place.clause()} takes a whole number, not {got}.", "PAGE", reason)


def _clause_order(place: Place) -> Fault | None:
    word = place.offender.type if place.offender else ""
    if word not in CLAUSES or place.kind not in CLAUSE_ORDER:
        return None
    seen = [token.type for token in place.tokens[: place.index]]
    name = TWO_WORDS.get(word, word)
    if place.kind == "UPDATE" and "SET" not in seen:
        said = f"SET comes before {name}."
    elif word in seen:
        said = f"{name} stands twice."
    elif any(later in seen for later in CLAUSES[CLAUSES.index(word) + 1 :]):
        said = f"{name} comes too late."
    else:
        said = f"{name} cannot follow {shown(place.before.text) if place.before else ''}."
    return place.fault(f"{said} The order is: {CLAUSE_ORDER[place.kind]}.")


def _empty(place: Place) -> Fault | None:
    if place.is_type("RPAR") and place.follows("LPAR") and place.clause() in ("WHERE", "HAVING"):
        return place.fault("These parentheses are empty. A condition goes between them.")
    if place.clause() == place.kind or not place.follows("RETURNING", "WHERE", "HAVING", "SET", "BY"):
        return None
    if place.offender is not None and place.offender.type not in CLAUSES:
        return None
    word = TWO_WORDS.get(place.clause(), place.clause())
    return place.fault(f"{word} is empty.", "GROUP" if word == "GROUP BY" else "")


def _table(place: Place) -> Fault | None:
    if place.kind in ("DESCRIBE", "DESC", "SHOW"):
        message = "There are SHOW TABLES, SHOW TABLES LIKE 'c%', DESCRIBE cards and SHOW COLUMNS FROM cards."
        return place.fault(message, "DESCRIBE")
    if place.is_type("DOT") and place.clause() in ("FROM", "INSERT", "UPDATE", "DELETE"):
        return place.fault("A table is named without a schema. SHOW TABLES lists the tables.")
    if place.kind == "UPDATE" and place.index == 2 and place.is_type("NAME", "AS"):
        return place.fault("UPDATE gives its table no second name.")
    if place.kind == "DELETE" and place.index == 1:
        return place.fault("DELETE is followed by FROM; it names no columns.")
    if place.kind == "INSERT" and place.index == 3 and not place.is_type("LPAR"):
        return place.fault("INSERT lists its columns in parentheses after the table.")
    return None


# Commas and literals


def _comma(place: Place) -> Fault | None:
    if place.clause() == "FROM" and place.follows("COMMA"):
        message = "A statement reads one table; after the comma only UNNEST(tags) AS tag can follow."
        return place.fault(message, "UNNEST", Reason.UNSUPPORTED_CLAUSE)
    if place.is_type("COMMA") and place.follows("STAR"):
        owner = "RETURNING" if place.clause() == "RETURNING" else "SELECT"
        return place.fault(f"{owner} takes either * or names, not both.")
    if place.is_type("LPAR") and place.follows("RPAR") and place.clause() == "VALUES":
        return place.repair("A comma is missing between two rows.", 0, 0, ", (")
    return _stray_comma(place)


def _misspelt(place: Place) -> Fault | None:
    if place.word == "VALUE" and "VALUES" in place.expected:
        return place.repair("The rows of an INSERT follow the word VALUES.", 0, 0, "VALUES")
    if place.is_type("STAR") and place.types(-2, -1) == ["NAME", "DOT"]:
        return place.repair("There is one table, and * alone names all its columns.", -2, 0, "*")
    if place.is_type("QUOTED") and "STRING" in place.expected and place.offender:
        last = 0
        while place.types(last + 1, last + 2) == ["COMMA", "QUOTED"]:
            last += 2
        texts = [_quoted(token) for token in place.tokens[place.index : place.index + last + 1 : 2]]
        return place.repair("Text goes in single quotes; double quotes make a name.", 0, last, ", ".join(texts))
    return None


def _stray_comma(place: Place) -> Fault | None:
    if place.is_type("COMMA") and not place.follows("NAME", "QUOTED", "RPAR", "RSQB", "STRING", "NUMBER", "BRACES"):
        return place.fault("There is a stray comma here.")
    if not place.follows("COMMA") or place.before is None:
        return None
    what = f"before {shown(place.offender.text)}" if place.offender else "at the end"
    return Fault(Reason.SYNTAX_ERROR, f"There is a stray comma {what}.", place.before.at, example=FORMS[place.kind])


PREFIXES = frozenset("DATE TIMESTAMP TIMESTAMPTZ TIME E N X B U".split())


def _text(place: Place) -> Fault | None:
    if not place.is_type("STRING") or place.before is None or place.offender is None:
        return None
    if place.follows("STRING"):
        message = "Two texts in a row. One text stands between two quotes; a quote inside it is doubled: 'it''s'."
        return place.fault(message)
    if place.follows("NAME") and place.before.word in PREFIXES:
        message = f"Text takes no {shown(place.before.text)} before it."
        return place.repair(message, -1, 0, place.offender.text, Reason.UNSUPPORTED_EXPRESSION)
    if place.follows("AS"):
        return place.fault("A name after AS takes no quotes: AS answer.")
    if "LPAR" in place.expected and place.clause() == "VALUES":
        return place.fault("Each row of VALUES stands in parentheses: ('Question?', 'Answer').")
    return _literal_as_name(place)


def _literal_as_name(place: Place) -> Fault | None:
    if not place.is_type("STRING", "NUMBER", "TRUE", "FALSE", "NULL"):
        return None
    if place.before and place.before.word == "TOP":
        return place.fault("TOP is not supported. LIMIT takes the number of rows.", "PAGE", Reason.UNSUPPORTED_CLAUSE)
    if place.clause() not in ("SELECT", "GROUP", "ORDER"):
        return None
    word = TWO_WORDS.get(place.clause(), "SELECT")
    form = "SELECT" if word == "SELECT" else "GROUP"
    return place.fault(f"{word} takes names, not values or positions.", form)


def _arithmetic(place: Place) -> Fault | None:
    signs = place.is_type("PLUS", "MINUS", "STAR") or (place.is_type("FOREIGN") and len(place.word) == 1)
    if not signs:
        return None
    if (
        place.is_type("PLUS")
        and place.types(1, 1) == ["NUMBER"]
        and not place.follows("NAME", "QUOTED", "RPAR", "NUMBER")
    ):
        return place.fault("A number takes no plus sign before it.")
    if place.kind == "DELETE" and place.follows("DELETE"):
        return place.fault("DELETE names no columns: DELETE FROM cards WHERE …")
    message = f"Calculation with {place.word} is not supported, except NOW() with + or - and an INTERVAL."
    return place.fault(message, "DUE", Reason.UNSUPPORTED_EXPRESSION)


# Conditions


def _predicate(place: Place) -> Fault | None:
    if place.clause() not in ("WHERE", "HAVING"):
        return None
    return _membership(place) or _is_test(place) or _list_test(place) or _needs_comparison(place) or _parenthesis(place)


def _membership(place: Place) -> Fault | None:
    if place.is_type("IN") and place.follows("STRING") and place.before:
        message = "A value is looked for in a list with ANY."
        in_parentheses = place.types(1, 3) == ["LPAR", "NAME", "RPAR"]
        name = place.token(2 if in_parentheses else 1)
        if name is None or name.type != "NAME":
            return place.fault(message, "TAGS")
        return place.repair(message, -1, 3 if in_parentheses else 1, f"{place.before.text} = ANY({name.text})")
    if place.follows("IN") and not place.is_type("LPAR"):
        return place.fault("IN takes a list in parentheses: reps IN (1, 2).")
    return None


def _is_test(place: Place) -> Fault | None:
    negated = place.types(-2, -1) == ["IS", "NOT"]
    if not negated and not place.follows("IS"):
        return None
    message = "IS takes NULL or NOT NULL."
    if place.is_type("TRUE", "FALSE") and place.offender:
        sign = "!=" if negated else "="
        return place.repair(message, -2 if negated else -1, 0, f"{sign} {place.word}", Reason.UNSUPPORTED_EXPRESSION)
    return place.fault(message, "NULL", Reason.UNSUPPORTED_EXPRESSION)


def _list_test(place: Place) -> Fault | None:
    owner, *before = place.types(-3, -1)
    if owner == "DOT" or before != ["NAME", "NOT"] or not place.is_type("OVERLAP", "CONTAINS"):
        return None
    name, sign = place.token(-2), place.offender
    fix = f"NOT {name.text} {sign.text}" if name and sign else ""
    return place.repair(f"NOT stands before the whole condition, not before {place.word}.", -2, 0, fix)


def _needs_comparison(place: Place) -> Fault | None:
    named = place.follows("NAME", "QUOTED", "RPAR") and place.before
    if not named or "CMP" not in place.expected or "AND" in place.expected:
        return None
    if place.word in ("CONTAINS", "INCLUDES", "HAS"):
        return place.fault(f"{place.word} is not supported. Lists take =, OVERLAP and @>.", "TAGS")
    name = shown(place.before.text) if place.before else ""
    got = f", not by {shown(place.offender.text)}" if place.offender else ""
    message = f"{name} must be followed by a comparison{got}: = != < <= > >= IN BETWEEN LIKE IS."
    return place.fault(message, "BOOLEAN")


def _parenthesis(place: Place) -> Fault | None:
    if place.offender is None and _open_parentheses(place.tokens) > 0:
        return place.fault("A parenthesis is never closed.")
    if place.is_type("RPAR") and not _open_parentheses(place.tokens[: place.index]):
        return place.fault("This parenthesis closes nothing.")
    return None


def _open_parentheses(tokens: list[Token]) -> int:
    return sum((token.type == "LPAR") - (token.type == "RPAR") for token in tokens)


Rule = Callable[[Place], Fault | None]
RULES: tuple[Rule, ...] = (
    sub_query,
    foreign_word,
    wrong_function,
    _aggregate_argument,
    _special_function,
    _random,
    _interval,
    _second_statement,
    _missing_where,
    _limit,
    _misspelt,
    _comma,
    _empty,
    _unnest,
    _clause_order,
    _text,
    _literal_as_name,
    _arithmetic,
    _predicate,
    _table,
)

_WORDS = {
    "NAME": "a name",
    "STRING": "a text in single quotes",
    "NUMBER": "a number",
    "LPAR": "(",
    "RPAR": ")",
    "COMMA": "a comma",
    "EQ": "=",
    "CMP": "a comparison",
    "$END": "the end",
    "STAR": "*",
    "BY": "BY",
    "RSQB": "]",
    "AND": "AND",
    "NULL": "NULL",
    "AS": "AS",
}


def _generic(place: Place) -> Fault:
    wanted = [word for name, word in _WORDS.items() if name in place.expected]
    wanted += sorted(place.expected & set(CLAUSES))
    expected = f" Expected {' or '.join(wanted)}." if 0 < len(wanted) <= 6 else ""
    after = f" after {shown(place.before.text)}" if place.before else ""
    if place.offender is not None:
        return place.fault(f"{shown(place.offender.text)} is not expected{after}.{expected}")
    if _open_parentheses(place.tokens) > 0:
        return place.fault("A parenthesis is never closed.")
    return place.fault(f"The statement ends too early{after}.{expected}")
