"""What SQL has and the dialect has not: words, signs and functions, each with what to write instead. Pure."""

from __future__ import annotations

from sqlgate.errors import Fault, Reason, shown
from sqlgate.lexer import FUNCTIONS
from sqlgate.place import Place

CLAUSE, EXPRESSION = Reason.UNSUPPORTED_CLAUSE, Reason.UNSUPPORTED_EXPRESSION
FUNCTION, SYNTAX = Reason.UNSUPPORTED_FUNCTION, Reason.SYNTAX_ERROR

_JOIN = (CLAUSE, "Joins are not supported: a statement reads one table. Read one, then the other by its ids.", "IDS")
_SET = (CLAUSE, "{word} is not supported. Send two statements, separated by a semicolon.", "SELECT")
_CASE = (EXPRESSION, "CASE is not supported. Select the columns and decide on the answer yourself.", "SELECT")
_PATTERN = (EXPRESSION, "{word} is not supported. Patterns are LIKE and ILIKE, with % and _.", "CASE")
_WINDOW = (CLAUSE, "{word} is not supported. Count groups with GROUP BY.", "GROUP")
_DAY = (FUNCTION, "{word} is not supported. Compare with NOW() and an INTERVAL.", "DUE")
_ANY = (EXPRESSION, "{word} is not supported. Use ANY for tags, or IN for a list of values.", "TAGS")
_LIMIT = (CLAUSE, "{word} is not supported. LIMIT takes the number of rows, at most 100.", "PAGE")
_JSON = (EXPRESSION, "{word} is not supported. Select metadata whole.", "SELECT")
_WORDS: dict[tuple[str, ...], tuple[Reason, str, str]] = {
    ("LEFT", "RIGHT", "INNER", "OUTER", "FULL", "NATURAL", "LATERAL", "USING", "ON", "JOIN", "CROSS"): _JOIN,
    ("UNION", "INTERSECT", "EXCEPT"): _SET,
    ("CASE", "WHEN", "THEN", "ELSE", "END"): _CASE,
    ("SIMILAR", "GLOB", "REGEXP", "RLIKE", "REGEXP_LIKE"): _PATTERN,
    ("~", "~*", "!~", "!~*", "~~", "~~*", "!~~", "!~~*"): _PATTERN,
    ("WINDOW", "OVER", "PARTITION", "QUALIFY"): _WINDOW,
    ("CURRENT_DATE", "CURRENT_TIME"): _DAY,
    ("ALL", "SOME"): _ANY,
    ("FETCH", "TABLESAMPLE"): _LIMIT,
    ("->", "->>"): _JSON,
    ("FOR",): (CLAUSE, "Row locks are not supported, and not needed: leave FOR … out.", "SELECT"),
    ("CAST",): (EXPRESSION, "CAST is not supported. Write the value as its column holds it.", "SELECT"),
    ("COLLATE",): (CLAUSE, "COLLATE is not supported. Text orders by code point.", "SELECT"),
    ("EXISTS",): (EXPRESSION, "EXISTS is not supported: there are no sub-queries.", "IDS"),
    ("WITH",): (CLAUSE, "WITH is not supported. Send the steps as statements of their own.", "SELECT"),
    ("ISNULL",): (SYNTAX, "Write IS NULL, as two words.", "NULL"),
    ("NOTNULL",): (SYNTAX, "Write IS NOT NULL, as three words.", "NULL"),
    ("DEFAULT",): (EXPRESSION, "DEFAULT is not supported. Leave the column out instead.", "INSERT"),
    ("||",): (EXPRESSION, "|| is not supported. Write the whole text as one literal.", "INSERT"),
    ("<@",): (EXPRESSION, "<@ is not supported. Lists take =, OVERLAP and @>.", "TAGS"),
    ("<=>",): (EXPRESSION, "<=> is not supported. Use = or IS NULL.", "NULL"),
    ("!",): (SYNTAX, "Negation is written NOT.", "SELECT"),
}
FOREIGN = {word: entry for words, entry in _WORDS.items() for word in words}

_OF_TIME = "Compare a timestamp with NOW() and an INTERVAL, or with a text such as '2025-01-31'."
_OF_DAYS = "The day of a timestamp is DATE(column), in SELECT and GROUP BY."
_OF_TAGS = "Ask lists with OVERLAP, @> and 'x' = ANY(tags)."
_OF_TEXT = "Select the column and work on the text yourself; LOWER and UPPER stand in conditions only."
_OF_GROUPS = "Aggregates are COUNT, SUM, AVG, MIN and MAX."
_ADVICE: dict[tuple[str, ...], tuple[str, str]] = {
    ("DATETIME", "DATE_SUB", "DATE_ADD", "DATEADD", "DATEDIFF", "AGE", "CURDATE", "GETDATE", "TIMESTAMP"): (
        _OF_TIME,
        "DUE",
    ),
    ("DATE_TRUNC", "STRFTIME", "TO_CHAR", "EXTRACT", "DATE_PART", "YEAR", "MONTH", "DAY", "TO_DATE"): (_OF_DAYS, "DAY"),
    ("ARRAY_CONTAINS", "ARRAY_LENGTH", "CARDINALITY", "HAS", "CONTAINS", "JSON_EACH", "ARRAY_POSITION"): (
        _OF_TAGS,
        "TAGS",
    ),
    ("LENGTH", "CHAR_LENGTH", "SUBSTR", "SUBSTRING", "TRIM", "REPLACE", "CONCAT", "LEFT", "RIGHT", "INITCAP"): (
        _OF_TEXT,
        "CASE",
    ),
    ("MEDIAN", "STDDEV", "VARIANCE", "STRING_AGG", "ARRAY_AGG", "GROUP_CONCAT", "TOTAL", "BOOL_OR"): (
        _OF_GROUPS,
        "GROUP",
    ),
}
_FUNCTION_ADVICE = {name: entry for names, entry in _ADVICE.items() for name in names}


def foreign_word(place: Place) -> Fault | None:
    """A word or sign of SQL that the dialect has not."""
    if place.offender is None or (place.word in ("JOIN", "CROSS") and place.clause() != "FROM"):
        return None
    special = _repaired(place) or _of_writes(place)
    if special is not None:
        return special
    known = FOREIGN.get(place.word)
    if known is None:
        return None
    reason, message, form = known
    return place.fault(message.format(word=place.word), form, reason)


def _repaired(place: Place) -> Fault | None:
    if place.word == "::":
        last = 3 if place.types(2, 3) == ["LSQB", "RSQB"] else 1
        value = place.before.text if place.before else ""
        return place.repair("Casts with :: are not supported.", -1, last, value, EXPRESSION)
    if place.word.startswith("=="):
        return place.repair("Equality is written with one sign.", 0, 0, "=")
    if place.word == "||":
        return _joined(place)
    if place.word == "ALL" and place.follows("LIMIT"):
        return place.fault("LIMIT takes a number, at most 100; without LIMIT it is 100.", "PAGE", CLAUSE)
    if place.word == "LATERAL" and "UNNEST" in place.types(1, 1):
        return place.fault("LATERAL is not needed with UNNEST.", "UNNEST", CLAUSE)
    return None


def _joined(place: Place) -> Fault | None:
    if place.kind == "UPDATE" and place.types(-1, 1) == ["NAME", "FOREIGN", "STRING"]:
        column, tag = place.token(-1), place.token(1)
        fix = f"ARRAY_APPEND({column.text}, {tag.text})" if column and tag else ""
        return place.repair("|| is not supported. A tag is added with ARRAY_APPEND.", -1, 1, fix, EXPRESSION)
    if place.kind == "SELECT":
        return place.fault("|| is not supported. Select the columns and join them yourself.", reason=EXPRESSION)
    return None


def _of_writes(place: Place) -> Fault | None:
    if place.word == "ON" and place.kind == "INSERT":
        message = "ON CONFLICT is not supported: an id is never chosen by the caller, so nothing can conflict."
        return place.fault(message, reason=CLAUSE)
    if place.is_type("FROM") and place.clause() == "SET":
        return place.fault("FROM is not supported here: an UPDATE looks at one table.", reason=CLAUSE)
    if place.word == "USING" and place.kind == "DELETE":
        return place.fault("USING is not supported: a DELETE looks at one table.", reason=CLAUSE)
    return None


def sub_query(place: Place) -> Fault | None:
    """A SELECT inside of another statement."""
    opens = place.is_type("LPAR") and place.types(1, 1) == ["SELECT"]
    if not opens and not (place.is_type("SELECT") and place.follows("LPAR")):
        return None
    message = "Sub-queries are not supported. Read the inner rows first, then name their ids in a second statement."
    return place.fault(message, "IDS", EXPRESSION)


def wrong_function(place: Place) -> Fault | None:
    """A function that does not exist, or one of ours where it cannot stand."""
    if place.is_type("LPAR") and place.follows("NAME", "FOREIGN") and place.before:
        if place.clause() in ("FROM", "INSERT", "UPDATE", "DELETE"):
            return None
        name = place.before.word
        advice, form = _FUNCTION_ADVICE.get(name, (f"There are: {', '.join(sorted(FUNCTIONS))}.", ""))
        fault = place.fault(f"The function {shown(name)} is not supported. {advice}", form, FUNCTION)
        fault.at = place.before.at
        return fault
    return _misplaced_function(place) if place.is_type(*FUNCTIONS) else None


def _misplaced_function(place: Place) -> Fault:
    name, clause = place.word, place.clause()
    around = place.types(-3, -3) if place.follows("DISTINCT") else place.types(-2, -2)
    if place.follows("LPAR", "DISTINCT") and around[0] in FUNCTIONS:
        message = f"{around[0]} takes the name of one column, not {name}(…)."
        return place.fault(message, "GROUP" if place.kind == "SELECT" else "", EXPRESSION)
    if clause == "ORDER" and name != "RANDOM":
        return _ordered_by_call(place)
    messages = {
        "RETURNING": f"RETURNING takes columns, not {name}(…).",
        "GROUP": f"GROUP BY takes columns and DATE(column), not {name}(…).",
        "SELECT": f"SELECT takes columns, DATE(column) and aggregates, not {name}(…).",
    }
    return place.fault(messages.get(clause, f"{name}(…) cannot stand here."), reason=EXPRESSION)


def _ordered_by_call(place: Place) -> Fault:
    """ORDER BY of a call: when the SELECT list has the same call, its name is what to order by."""
    end = next((i for i in range(place.index, len(place.tokens)) if place.tokens[i].type == "RPAR"), None)
    message = f"ORDER BY takes columns and output names, not {place.word}(…)."
    if end is None:
        return place.fault(message, "GROUP", EXPRESSION)
    call = [token.word for token in place.tokens[place.index : end + 1]]
    name = _name_in_select(place, call)
    if name:
        return place.repair(message, 0, end - place.index, name, EXPRESSION)
    return place.fault(f"{message} Name it in the SELECT list with AS.", "GROUP", EXPRESSION)


def _name_in_select(place: Place, call: list[str]) -> str | None:
    words = [token.word for token in place.tokens]
    for start in range(words.index("FROM") if "FROM" in words else 0):
        after = start + len(call)
        if words[start:after] != call:
            continue
        follower = place.tokens[after]
        named = place.tokens[after + 1] if follower.type == "AS" else follower
        return named.text if named.type in ("NAME", "QUOTED") else _default_name(call)
    return None


def _default_name(call: list[str]) -> str:
    function, argument = call[0].lower(), call[-2].lower()
    return function if function == "count" else f"{function}_{argument}"
