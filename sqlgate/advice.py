"""Explains a token that the grammar does not take: what is wrong with it, and a form that works. Pure.

Each rule looks at the tokens around the offender and answers with a fault or None; the first answer counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlgate.errors import Fault, Reason, Span, shown
from sqlgate.lexer import FUNCTIONS, Token

FORMS = {
    "SELECT": "SELECT front_text, tags FROM cards WHERE reps > 2 ORDER BY created_at DESC LIMIT 20",
    "GROUP": "SELECT card_type, COUNT(*) AS n FROM cards GROUP BY card_type ORDER BY n DESC",
    "INSERT": "INSERT INTO cards (front_text, back_text, tags) VALUES ('Question?', 'Answer', ('geo'))",
    "UPDATE": "UPDATE cards SET back_text = 'Answer' WHERE front_text = 'Question?' RETURNING card_id",
    "DELETE": "DELETE FROM cards WHERE tags OVERLAP ('old') RETURNING front_text",
    "SHOW": "SHOW TABLES",
    "DESCRIBE": "DESCRIBE cards",
    "DESC": "DESCRIBE cards",
    "TAGS": "SELECT tag, COUNT(*) AS n FROM cards UNNEST tags AS tag GROUP BY tag ORDER BY n DESC",
    "DUE": "SELECT front_text FROM cards WHERE due_at <= NOW() + INTERVAL '7 days'",
    "IDS": "SELECT front_text FROM cards WHERE card_id IN ('0b7c1f3e-5d2a-4c8b-9e6f-1a2b3c4d5e6f')",
    "NULL": "SELECT front_text FROM cards WHERE due_at IS NULL",
    "CASE": "SELECT front_text FROM cards WHERE front_text ILIKE '%oslo%'",
    "PAGE": "SELECT front_text FROM cards ORDER BY created_at DESC LIMIT 20 OFFSET 40",
}
CLAUSES = ("FROM", "SET", "VALUES", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "RETURNING")
CLAUSE_ORDER = {
    "SELECT": "SELECT … FROM … WHERE … GROUP BY … HAVING … ORDER BY … LIMIT … OFFSET",
    "INSERT": "INSERT INTO … (columns) VALUES (row), (row) RETURNING",
    "UPDATE": "UPDATE … SET … WHERE … RETURNING",
    "DELETE": "DELETE FROM … WHERE … RETURNING",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where parsing stopped: the tokens of the statement, the offender's index, and what could have come instead."""

    tokens: list[Token]
    index: int
    expected: frozenset[str]

    @property
    def offender(self) -> Token | None:
        """The token that does not fit; None at the end of the statement."""
        return self.tokens[self.index] if self.index < len(self.tokens) else None

    @property
    def before(self) -> Token | None:
        """The token before it."""
        return self.tokens[self.index - 1] if self.index else None

    @property
    def after(self) -> Token | None:
        """The token after it."""
        return self.tokens[self.index + 1] if self.index + 1 < len(self.tokens) else None

    @property
    def at(self) -> Span:
        """The offender's place, or the end of the statement."""
        end = self.tokens[-1].at.end
        return self.offender.at if self.offender else Span(end, end)

    @property
    def kind(self) -> str:
        """The first word of the statement."""
        return self.tokens[0].word

    @property
    def form(self) -> str:
        """A statement of this kind that works."""
        return FORMS[self.kind]

    def is_type(self, *types: str) -> bool:
        """Whether the offender is of one of these types."""
        return self.offender is not None and self.offender.type in types

    def follows(self, *types: str) -> bool:
        """Whether the token before the offender is of one of these types."""
        return self.before is not None and self.before.type in types

    def clause(self) -> str:
        """The clause in which the offender stands."""
        words = [token.type for token in self.tokens[: self.index] if token.type in CLAUSES]
        return words[-1] if words else self.kind

    def fault(self, message: str, example: str | None = None, reason: Reason = Reason.SYNTAX_ERROR) -> Fault:
        """The fault to raise for this place."""
        return Fault(reason, message, self.at, example=example or self.form)


def explain_unexpected(tokens: list[Token], index: int, expected: frozenset[str]) -> Fault:
    """Why `tokens[index]` (the end, when it is past the last) cannot stand there. `expected` are types that could."""
    place = Place(tokens, index, expected)
    for rule in RULES:
        fault = rule(place)
        if fault is not None:
            return fault
    return _generic(place)


_JOIN = (
    Reason.UNSUPPORTED_CLAUSE,
    "Joins are not supported: a statement reads one table. Read one, then ask the other by id: card_id IN (…).",
    "IDS",
)
_SET = (Reason.UNSUPPORTED_CLAUSE, "{word} is not supported. Send two statements, separated by a semicolon.", "SELECT")
_CASE = (
    Reason.UNSUPPORTED_EXPRESSION,
    "CASE is not supported. Select the columns and decide on the answer yourself.",
    "SELECT",
)
_PATTERN = (
    Reason.UNSUPPORTED_EXPRESSION,
    "{word} is not supported. Patterns are LIKE and ILIKE, with % and _.",
    "CASE",
)
_WINDOW = (Reason.UNSUPPORTED_CLAUSE, "{word} is not supported. Count groups with GROUP BY.", "GROUP")
_DAY = (Reason.UNSUPPORTED_FUNCTION, "{word} is not supported. Compare with NOW() and an INTERVAL.", "DUE")
_ALL = (Reason.UNSUPPORTED_EXPRESSION, "{word} is not supported. Use ANY for tags, or IN for a list of values.", "TAGS")
_LIMIT = (Reason.UNSUPPORTED_CLAUSE, "{word} is not supported. LIMIT takes the number of rows.", "PAGE")
FOREIGN: dict[str, tuple[Reason, str, str]] = {
    **dict.fromkeys(
        ["LEFT", "RIGHT", "INNER", "OUTER", "FULL", "NATURAL", "LATERAL", "USING", "ON", "JOIN", "CROSS"], _JOIN
    ),
    **dict.fromkeys(["UNION", "INTERSECT", "EXCEPT"], _SET),
    **dict.fromkeys(["CASE", "WHEN", "THEN", "ELSE", "END"], _CASE),
    **dict.fromkeys(
        ["SIMILAR", "GLOB", "REGEXP", "RLIKE", "REGEXP_LIKE", "~", "~*", "!~", "!~*", "~~", "~~*", "!~~", "!~~*"],
        _PATTERN,
    ),
    **dict.fromkeys(["WINDOW", "OVER", "PARTITION", "QUALIFY"], _WINDOW),
    **dict.fromkeys(["CURRENT_DATE", "CURRENT_TIME"], _DAY),
    **dict.fromkeys(["ALL", "SOME"], _ALL),
    **dict.fromkeys(["FETCH", "TABLESAMPLE"], _LIMIT),
    "FOR": (Reason.UNSUPPORTED_CLAUSE, "Row locks are not supported, and not needed: leave FOR … out.", "SELECT"),
    "CAST": (Reason.UNSUPPORTED_EXPRESSION, "CAST is not supported. Write the value as its column holds it.", "SELECT"),
    "::": (Reason.UNSUPPORTED_EXPRESSION, "Casts with :: are not supported. Write the value alone.", "SELECT"),
    "COLLATE": (Reason.UNSUPPORTED_CLAUSE, "COLLATE is not supported. Text orders by code point.", "SELECT"),
    "EXISTS": (Reason.UNSUPPORTED_EXPRESSION, "EXISTS is not supported: there are no sub-queries.", "IDS"),
    "WITH": (Reason.UNSUPPORTED_CLAUSE, "WITH is not supported. Send the steps as statements of their own.", "SELECT"),
    "ISNULL": (Reason.SYNTAX_ERROR, "Write IS NULL, as two words.", "NULL"),
    "NOTNULL": (Reason.SYNTAX_ERROR, "Write IS NOT NULL, as three words.", "NULL"),
    "DEFAULT": (Reason.UNSUPPORTED_EXPRESSION, "DEFAULT is not supported. Leave the column out instead.", "INSERT"),
    "==": (Reason.SYNTAX_ERROR, "Equality is written with one sign: =.", "SELECT"),
    "||": (Reason.UNSUPPORTED_EXPRESSION, "|| is not supported. Write the whole text as one literal.", "INSERT"),
    "<@": (Reason.UNSUPPORTED_EXPRESSION, "<@ is not supported. Lists take =, OVERLAP and @>.", "TAGS"),
    "->": (Reason.UNSUPPORTED_EXPRESSION, "-> is not supported. Select metadata whole.", "SELECT"),
    "->>": (Reason.UNSUPPORTED_EXPRESSION, "->> is not supported. Select metadata whole.", "SELECT"),
    "<=>": (Reason.UNSUPPORTED_EXPRESSION, "<=> is not supported. Use = or IS NULL.", "NULL"),
    "!": (Reason.SYNTAX_ERROR, "Negation is written NOT.", "SELECT"),
}


def _foreign_word(place: Place) -> Fault | None:
    if place.offender is None:
        return None
    word = place.offender.word
    if word in ("JOIN", "CROSS") and place.clause() != "FROM":
        return None
    if word == "ON" and place.kind == "INSERT":
        message = "ON CONFLICT is not supported: an id is never chosen by the caller, so nothing can conflict."
        return place.fault(message, reason=Reason.UNSUPPORTED_CLAUSE)
    if word == "USING" and place.kind == "DELETE":
        message = "USING is not supported: a DELETE looks at one table."
        return place.fault(message, reason=Reason.UNSUPPORTED_CLAUSE)
    known = FOREIGN.get(word)
    if known is None:
        return None
    reason, message, form = known
    return place.fault(message.format(word=word), FORMS[form], reason)


def _sub_query(place: Place) -> Fault | None:
    opens = place.is_type("LPAR") and place.after is not None and place.after.type == "SELECT"
    if not opens and not (place.is_type("SELECT") and place.follows("LPAR")):
        return None
    message = "Sub-queries are not supported. Read the inner rows first, then name their ids in a second statement."
    return place.fault(message, FORMS["IDS"], Reason.UNSUPPORTED_EXPRESSION)


def _second_statement(place: Place) -> Fault | None:
    if not place.is_type("SELECT", "INSERT", "UPDATE", "DELETE", "SHOW", "DESCRIBE"):
        return None
    if place.kind == "INSERT" and place.is_type("SELECT"):
        message = "INSERT … SELECT is not supported. Read the rows, then write them with VALUES."
        return place.fault(message, reason=Reason.UNSUPPORTED_EXPRESSION)
    return place.fault(f"{place.offender.word if place.offender else ''} cannot stand here. Separate statements by ;")


def _wrong_function(place: Place) -> Fault | None:
    if place.is_type("LPAR") and place.follows("NAME", "SET", "LEFT", "RIGHT", "FOREIGN") and place.before:
        name = place.before.word
        if place.clause() in ("FROM", "INSERT", "UPDATE", "DELETE"):
            return None
        listed = ", ".join(sorted(FUNCTIONS))
        message = f"The function {shown(name)} is not supported. There are: {listed}."
        return Fault(Reason.UNSUPPORTED_FUNCTION, message, place.before.at, example=place.form)
    return _misplaced_function(place) if place.is_type(*FUNCTIONS) and place.offender else None


def _misplaced_function(place: Place) -> Fault:
    name, clause = place.offender.word if place.offender else "", place.clause()
    if clause == "ORDER" and name != "RANDOM":
        message = f"ORDER BY takes columns and output names. Name {name}(…) in the SELECT list and order by that name."
        return place.fault(message, FORMS["GROUP"], Reason.UNSUPPORTED_EXPRESSION)
    if clause == "RETURNING":
        message = f"RETURNING takes columns, not {name}(…)."
    elif clause == "GROUP":
        message = f"GROUP BY takes columns and DATE(column), not {name}(…)."
    elif clause in ("SELECT", "FROM"):
        message = f"SELECT takes columns, DATE(column) and aggregates, not {name}(…)."
    else:
        message = f"{name}(…) cannot stand here."
    return place.fault(message, reason=Reason.UNSUPPORTED_EXPRESSION)


def _aggregate_argument(place: Place) -> Fault | None:
    if not place.follows("LPAR") or place.index < 2:
        return None
    function = place.tokens[place.index - 2].type
    if function not in ("COUNT", "SUM", "AVG", "MIN", "MAX", "DATE", "LOWER", "UPPER"):
        return None
    example = FORMS["GROUP"] if function == "COUNT" else "SELECT SUM(reps), AVG(lapses), MAX(due_at) FROM cards"
    if place.is_type("STAR", "DISTINCT"):
        return place.fault(f"{function} takes the name of one column; only COUNT takes * and DISTINCT.", example)
    return place.fault(f"{function} takes the name of one column.", example)


def _comma(place: Place) -> Fault | None:
    if place.clause() == "FROM" and place.follows("COMMA"):
        message = "A statement reads one table; after the comma only UNNEST(tags) AS tag can follow."
        return place.fault(message, FORMS["TAGS"], Reason.UNSUPPORTED_CLAUSE)
    if place.is_type("COMMA") and place.follows("STAR"):
        return place.fault(f"{_star_owner(place)} takes either * or names, not both.")
    if place.is_type("COMMA") and not place.follows("NAME", "QUOTED", "RPAR", "STRING", "NUMBER"):
        return place.fault("There is a stray comma here.")
    if place.follows("COMMA"):
        what = f"before {shown(place.offender.text)}" if place.offender else "at the end"
        stray = place.tokens[place.index - 1].at
        return Fault(Reason.SYNTAX_ERROR, f"There is a stray comma {what}.", stray, example=place.form)
    if place.is_type("LPAR") and place.follows("RPAR") and place.clause() == "VALUES":
        return place.fault("A comma is missing between two rows.")
    return None


def _star_owner(place: Place) -> str:
    return "RETURNING" if place.clause() == "RETURNING" else "SELECT"


def _empty(place: Place) -> Fault | None:
    if place.is_type("RPAR") and place.follows("LPAR") and place.clause() in ("WHERE", "HAVING"):
        return place.fault("These parentheses are empty. A condition goes between them.")
    if place.clause() != place.kind and place.follows("RETURNING", "WHERE", "HAVING", "SET", "BY", "LIMIT", "OFFSET"):
        if place.offender is not None and place.offender.type not in CLAUSES:
            return None
        word = "ORDER BY" if place.follows("BY") and place.clause() == "ORDER" else place.clause()
        word = "GROUP BY" if word == "GROUP" else word
        return place.fault(f"{word} is empty.", FORMS["GROUP"] if word == "GROUP BY" else None)
    return None


def _missing_where(place: Place) -> Fault | None:
    if place.kind not in ("UPDATE", "DELETE") or "WHERE" not in place.expected:
        return None
    if place.offender is not None and not place.is_type("RETURNING"):
        return None
    message = f"{place.kind} needs a WHERE, before RETURNING. To touch every row: WHERE deleted_at IS NULL."
    return place.fault(message, reason=Reason.MISSING_WHERE)


def _limit(place: Place) -> Fault | None:
    if place.kind in ("UPDATE", "DELETE", "INSERT") and place.is_type("LIMIT", "OFFSET", "ORDER", "GROUP"):
        word = place.offender.word if place.offender else ""
        message = f"{place.kind} takes no {word}. Name the rows in WHERE, for example by card_id IN (…)."
        return place.fault(message, reason=Reason.UNSUPPORTED_CLAUSE)
    if not place.follows("LIMIT", "OFFSET", "MINUS") or place.clause() not in ("LIMIT", "OFFSET"):
        return None
    got = shown(place.offender.text) if place.offender else "nothing"
    reason = Reason.INVALID_LIMIT if place.offender else Reason.SYNTAX_ERROR
    return place.fault(f"{place.clause()} takes a whole number, not {got}.", FORMS["PAGE"], reason)


def _clause_order(place: Place) -> Fault | None:
    word = place.offender.type if place.offender else ""
    if word not in CLAUSES or place.kind not in CLAUSE_ORDER:
        return None
    seen = [token.type for token in place.tokens[: place.index]]
    order = f"The order is: {CLAUSE_ORDER[place.kind]}."
    if place.kind == "UPDATE" and "SET" not in seen:
        return place.fault(f"SET comes before {word}. {order}")
    if word in seen:
        return place.fault(f"{word} stands twice. {order}")
    name = f"{word} BY" if word in ("GROUP", "ORDER") else word
    if any(later in seen for later in CLAUSES[CLAUSES.index(word) + 1 :]):
        return place.fault(f"{name} comes too late. {order}")
    last = shown(place.before.text) if place.before else ""
    return place.fault(f"{name} cannot follow {last}. {order}")


def _text(place: Place) -> Fault | None:
    if not place.is_type("STRING") or place.before is None:
        return None
    if place.follows("STRING"):
        message = "Two texts in a row. One text stands between two quotes; a quote inside it is doubled: 'it''s'."
        return place.fault(message)
    if place.follows("NAME") and place.before.word in PREFIXES:
        message = f"Text takes no {shown(place.before.text)} before it. Write the quoted value alone."
        fix = place.offender.text if place.offender else ""
        return Fault(Reason.UNSUPPORTED_EXPRESSION, message, place.before.at.to(place.at), fix=fix)
    if place.follows("AS"):
        return place.fault("A name after AS takes no quotes: AS answer.")
    return _text_in_clause(place)


PREFIXES = frozenset("DATE TIMESTAMP TIMESTAMPTZ TIME E N X B U".split())


def _text_in_clause(place: Place) -> Fault | None:
    if "LPAR" in place.expected and place.clause() == "VALUES":
        return place.fault("Each row of VALUES stands in parentheses: ('Question?', 'Answer').")
    if place.clause() in ("SELECT", "GROUP", "ORDER"):
        return place.fault(f"{place.clause()} takes names, not values.")
    return None


def _predicate(place: Place) -> Fault | None:
    if place.clause() not in ("WHERE", "HAVING") or place.is_type("PLUS", "MINUS", "STAR", "FOREIGN"):
        return None
    if place.follows("IN") and not place.is_type("LPAR"):
        return place.fault("IN takes a list in parentheses: reps IN (1, 2).")
    if "CMP" in place.expected and place.follows("NAME", "QUOTED", "RPAR") and "AND" not in place.expected:
        return _needs_operator(place)
    return _null_test(place) or _special_function(place) or _parenthesis(place)


def _null_test(place: Place) -> Fault | None:
    recent = [token.type for token in place.tokens[max(0, place.index - 2) : place.index]]
    if recent[-1:] != ["IS"] and recent != ["IS", "NOT"]:
        return None
    return place.fault("IS takes NULL or NOT NULL.", FORMS["NULL"], Reason.UNSUPPORTED_EXPRESSION)


def _special_function(place: Place) -> Fault | None:
    name = place.tokens[place.index - 2].type if place.index > 1 and place.follows("LPAR") else ""
    if name not in ("MATCH", "IN_DECK"):
        return None
    return place.fault(f"{name} takes one text: {name}('geo').", f"SELECT front_text FROM cards WHERE {name}('geo')")


def _parenthesis(place: Place) -> Fault | None:
    if place.offender is None and _open_parentheses(place.tokens):
        return place.fault("A parenthesis is never closed.")
    if place.is_type("RPAR") and not _open_parentheses(place.tokens[: place.index]):
        return place.fault("This parenthesis closes nothing.")
    return None


def _needs_operator(place: Place) -> Fault:
    name = shown(place.before.text) if place.before else ""
    got = f", not by {shown(place.offender.text)}" if place.offender else ""
    message = f"{name} must be followed by a comparison{got}: = != < <= > >= IN BETWEEN LIKE IS."
    return place.fault(message, "SELECT front_text FROM cards WHERE suspended = TRUE AND reps > 2")


def _open_parentheses(tokens: list[Token]) -> int:
    return sum((token.type == "LPAR") - (token.type == "RPAR") for token in tokens)


def _arithmetic(place: Place) -> Fault | None:
    signs = place.is_type("PLUS", "MINUS", "STAR") or (place.is_type("FOREIGN") and place.at.end - place.at.start == 1)
    if not signs or place.offender is None:
        return None
    if place.is_type("PLUS") and not place.follows("NAME", "QUOTED", "RPAR", "NUMBER"):
        return place.fault("A number takes no plus sign before it.", reason=Reason.SYNTAX_ERROR)
    if place.kind == "DELETE" and place.follows("DELETE"):
        return place.fault("DELETE names no columns: DELETE FROM cards WHERE …")
    message = f"Calculation with {place.offender.text} is not supported, except NOW() with + or - and an INTERVAL."
    return place.fault(message, FORMS["DUE"], Reason.UNSUPPORTED_EXPRESSION)


def _random(place: Place) -> Fault | None:
    words = [token.type for token in place.tokens[max(0, place.index - 5) : place.index]]
    if "RANDOM" not in words or place.clause() != "ORDER":
        return None
    message = "RANDOM() stands alone in ORDER BY."
    return place.fault(message, "SELECT front_text FROM cards ORDER BY RANDOM() LIMIT 3")


def _unnest(place: Place) -> Fault | None:
    recent = [token.type for token in place.tokens[max(0, place.index - 5) : place.index]]
    if "UNNEST" not in recent or place.clause() != "FROM":
        return None
    return place.fault("UNNEST names the list and its element: UNNEST tags AS tag.", FORMS["TAGS"])


def _table(place: Place) -> Fault | None:
    if place.kind == "UPDATE" and place.index == 2 and place.is_type("NAME", "AS"):
        return place.fault("UPDATE gives its table no second name.")
    if place.kind in ("DESCRIBE", "DESC", "SHOW"):
        return place.fault(
            "There are SHOW TABLES, SHOW TABLES LIKE 'c%', DESCRIBE cards and SHOW COLUMNS FROM cards.",
            FORMS["DESCRIBE"],
        )
    if place.kind == "DELETE" and place.index == 1:
        return place.fault("DELETE is followed by FROM.")
    if place.kind == "INSERT" and place.index == 3 and not place.is_type("LPAR"):
        return place.fault("INSERT lists its columns in parentheses after the table.")
    return None


def _literal_in_projection(place: Place) -> Fault | None:
    if place.clause() not in ("SELECT", "GROUP", "ORDER") or not place.is_type("NUMBER", "TRUE", "FALSE", "NULL"):
        return None
    word = {"GROUP": "GROUP BY", "ORDER": "ORDER BY"}.get(place.clause(), "SELECT")
    return place.fault(f"{word} takes names, not values or positions.")


Rule = Callable[[Place], Fault | None]
RULES: tuple[Rule, ...] = (
    _sub_query,
    _foreign_word,
    _wrong_function,
    _aggregate_argument,
    _random,
    _second_statement,
    _missing_where,
    _limit,
    _comma,
    _empty,
    _unnest,
    _clause_order,
    _text,
    _arithmetic,
    _predicate,
    _table,
    _literal_in_projection,
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
    "INTERVAL": "INTERVAL '7 days'",
    "RSQB": "]",
    "AND": "AND",
    "NULL": "NULL",
    "AS": "AS",
}


def _generic(place: Place) -> Fault:
    wanted = [word for name, word in _WORDS.items() if name in place.expected]
    wanted += sorted(place.expected & set(CLAUSES))
    expected = f" Expected {' or '.join(wanted[:6])}." if 0 < len(wanted) <= 6 else ""
    after = f" after {shown(place.before.text)}" if place.before else ""
    if place.offender is None:
        if _open_parentheses(place.tokens) > 0:
            return place.fault("A parenthesis is never closed.")
        return place.fault(f"The statement ends too early{after}.{expected}")
    return place.fault(f"{shown(place.offender.text)} is not expected{after}.{expected}")
