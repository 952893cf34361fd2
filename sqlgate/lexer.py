"""SQL text to tokens, in one pass whose cost is linear in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from sqlgate.errors import Fault, Reason, Span, shown

TOKENS_MAX = 60_000

KEYWORDS = frozenset(
    """
    SELECT DISTINCT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET AS AND OR NOT IN BETWEEN LIKE ILIKE ESCAPE IS NULL
    TRUE FALSE ASC DESC INSERT INTO VALUES UPDATE SET DELETE RETURNING UNNEST CROSS JOIN OVERLAP ANY SHOW DESCRIBE
    CURRENT_TIMESTAMP
    """.split()
)
FUNCTIONS = frozenset(
    """
    COUNT SUM AVG MIN MAX DATE LOWER UPPER NOW RANDOM MATCH IN_DECK ARRAY_APPEND ARRAY_REMOVE
    """.split()
)
# Words of SQL that the dialect has no use for: never taken for a name, so that an error can speak of them.
FOREIGN_WORDS = frozenset(
    """
    LEFT RIGHT INNER OUTER FULL NATURAL LATERAL USING ON UNION INTERSECT EXCEPT FETCH FOR WINDOW OVER PARTITION CASE
    WHEN THEN ELSE END CAST SIMILAR COLLATE EXISTS WITH ISNULL NOTNULL GLOB REGEXP RLIKE DEFAULT CURRENT_DATE
    CURRENT_TIME ALL SOME QUALIFY TABLESAMPLE REGEXP_LIKE
    """.split()
)

_TOKEN = re.compile(
    r"""
    (?P<SPACE>(?:\s|--[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/)+)
  | (?P<UUID>[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}\b)
  | (?P<WORD>[^\W\d]\w*)
  | (?P<NUMBER>[0-9]+(?:\.[0-9]+)?(?![\w.]))
  | (?P<STRING>'[^']*+(?:''[^']*+)*+')
  | (?P<QUOTED>"(?:[^"\\]|\\.|"")*+")
  | (?P<BRACES>\{(?:[^{}"']|"(?:[^"\\]|\\.)*+")*+\})
  | (?P<OPERATOR>==+|<=>|<=|>=|<>|!=|=|<@|<|>|&&|@>|::|\|\||->>?|[!~]~?\*?|/(?!\*)|\.(?![0-9])|[-+*%^|&\#,;()\[\]])
    """,
    re.VERBOSE | re.DOTALL,
)
_PUNCTUATION = {
    "(": "LPAR", ")": "RPAR", "[": "LSQB", "]": "RSQB", ",": "COMMA", ";": "SEMICOLON", ".": "DOT", "*": "STAR",
    "+": "PLUS", "-": "MINUS", "&&": "OVERLAP", "@>": "CONTAINS", "=": "EQ",
    "!=": "CMP", "<>": "CMP", "<": "CMP", "<=": "CMP", ">": "CMP", ">=": "CMP",
}  # fmt: skip
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(slots=True)
class Token:
    """One token: `type` is a terminal of the grammar, or FOREIGN for what no rule takes; `text` is as written."""

    type: str
    text: str
    start: int

    @property
    def at(self) -> Span:
        """Where it stands."""
        return Span(self.start, self.start + len(self.text))

    @property
    def word(self) -> str:
        """The text in upper case, to compare with words of SQL."""
        return self.text.upper()


def tokenize(text: str) -> list[Token]:
    """The tokens of `text`; Fault for what is no token, for NUL and lone surrogates, and above TOKENS_MAX.

    An item of a list in braces counts as in any other list: as itself and its comma.
    """
    refuse_unstorable(text)
    tokens: list[Token] = []
    append = tokens.append
    inner = 0
    position = len(text) - len(text.removeprefix(_BYTE_ORDER_MARK))
    match, end = _TOKEN.match, len(text)
    while position < end:
        found = match(text, position)
        if found is None:
            raise _no_token(text, position)
        kind = found.lastgroup or ""
        if kind == "UUID":
            message = "An id stands in single quotes."
            raise Fault(Reason.SYNTAX_ERROR, message, Span(*found.span()), fix=f"'{found.group()}'")
        if kind != "SPACE":
            append(Token(kind, found.group(), position))
            if kind in _HOLDING_ITEMS:
                inner += _items_inside(tokens)
            if len(tokens) + inner > TOKENS_MAX:
                message = f"The text has more than {TOKENS_MAX:,} words and signs. Send it in several calls."
                raise Fault(Reason.TEXT_TOO_LONG, message, tokens[-1].at)
        position = found.end()
    _name_kinds(tokens)
    return tokens


_HOLDING_ITEMS = frozenset({"BRACES", "STRING"})
_BEFORE_LIST = frozenset({"OVERLAP", "&&", "@>"})


def _items_inside(tokens: list[Token]) -> int:
    """What the last token, when it is a list in braces, holds beyond one."""
    token = tokens[-1]
    is_list = token.type == "BRACES" or (
        token.text.startswith("'{") and len(tokens) > 1 and tokens[-2].word in _BEFORE_LIST
    )
    return 2 * token.text.count(",") if is_list else 0


def statement_at(text: str, offset: int) -> int:
    """The number, from 1, of the statement in which `offset` stands."""
    position = number = 0
    while position < offset and (found := _TOKEN.match(text, position)):
        number += found.group() == ";"
        position = found.end()
    return number + 1


def refuse_unstorable(text: str) -> None:
    """Fault for NUL and for half a surrogate pair, which no database stores."""
    unstorable = re.search("[\x00\ud800-\udfff]", text)
    if unstorable is None:
        return
    code = ord(unstorable.group())
    name = "a NUL character" if code == 0 else "half of a surrogate pair"
    message = f"The text holds {name} (U+{code:04X}), which cannot be stored. Leave it out."
    raise Fault(Reason.INVALID_CHARACTER, message, Span(*unstorable.span()))


def _name_kinds(tokens: list[Token]) -> None:
    following: Token | None = None
    for token in reversed(tokens):
        if token.type == "WORD":
            token.type = _kind_of_word(token, following)
        elif token.type == "OPERATOR":
            token.type = _PUNCTUATION.get(token.text, "FOREIGN")
        following = token
    for before, token in pairwise(tokens):
        if before.type == "SHOW" and token.word in ("TABLES", "COLUMNS"):
            token.type = token.word


def _kind_of_word(token: Token, following: Token | None) -> str:
    """The kind of a word. Most words of the dialect are words only where they can be, and names elsewhere."""
    word = token.word
    if word in KEYWORDS:
        return word
    if word in FOREIGN_WORDS:
        return "FOREIGN"
    after = following.type if following else ""
    if word in FUNCTIONS and after == "LPAR":
        return word
    if (word, after) in {("ARRAY", "LSQB"), ("INTERVAL", "STRING")}:
        return word
    if word == "NULLS" and following is not None and following.word in ("FIRST", "LAST"):
        following.type = following.word
        return word
    if not token.text.isascii():
        message = f"{shown(token.text)!r} is no name here: tables and columns have ASCII names. Text goes in '…'."
        raise Fault(Reason.SYNTAX_ERROR, message, token.at)
    return "NAME"


_ODD_CHARACTERS = {
    "'": "This quote is never closed. Text stands between two single quotes; a quote inside it is doubled: 'it''s'.",
    '"': "This double quote is never closed. Text goes in single quotes: 'text'.",
    "{": "This list in braces is not complete. Write it like {geo,two words} or, better, ('geo', 'two words').",
    "}": "There is no { to this }. A list is written ('geo', 'space').",
    "$": "Placeholders and $$ quotes are not supported. Write the value itself, text in single quotes.",
    "?": "Placeholders are not supported. Write the value itself, text in single quotes.",
    ":": "Placeholders are not supported. Write the value itself, text in single quotes.",
    "@": "Variables are not supported. Write the value itself, text in single quotes.",
    "`": "Names take no back quotes. Write the name alone, or in double quotes.",
    "/": "This comment is never closed. A comment ends with */.",
    "\\": "A backslash stands only inside text in single quotes.",
    **dict.fromkeys("‘’‚‛′＇", "This is a typographic quote. Text goes in straight single quotes: 'text'."),
    **dict.fromkeys("“”„″＂", "This is a typographic quote. Text goes in straight single quotes: 'text'."),
}
_NUMBER_LIKE = re.compile(r"\.?[0-9][\w.]*")


def _no_token(text: str, position: int) -> Fault:
    number = _NUMBER_LIKE.match(text, position)
    if number:
        message = f"{shown(number.group())!r} is neither a number nor a name. Numbers look like 12, -3 or 0.5."
        return Fault(Reason.SYNTAX_ERROR, message, Span(*number.span()))
    char = text[position]
    said = _ODD_CHARACTERS.get(char) or f"The character {shown(char)!r} (U+{ord(char):04X}) has no meaning here."
    return Fault(Reason.SYNTAX_ERROR, said, Span(position, position + 1))


def split_statements(tokens: list[Token]) -> Iterator[tuple[list[Token], Span | None]]:
    """The tokens of each statement, and the semicolon that ends it; a last semicolon ends the last statement."""
    start = 0
    for index, token in enumerate(tokens):
        if token.type == "SEMICOLON":
            yield tokens[start:index], token.at
            start = index + 1
    if start < len(tokens) or not tokens:
        yield tokens[start:], None
