"""Where parsing stopped, and statements that work, for messages about it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from sqlgate.errors import Fault, Reason, Span
from sqlgate.lexer import Token

FORMS = {
    "SELECT": "SELECT front_text, tags FROM cards WHERE reps > 2 ORDER BY created_at DESC LIMIT 20",
    "GROUP": "SELECT card_type, COUNT(*) AS n FROM cards GROUP BY card_type ORDER BY n DESC",
    "INSERT": "INSERT INTO cards (front_text, back_text, tags) VALUES ('Question?', 'Answer', ('geo'))",
    "UPDATE": "UPDATE cards SET back_text = 'Answer' WHERE front_text = 'Question?' RETURNING card_id",
    "DELETE": "DELETE FROM cards WHERE tags OVERLAP ('old') RETURNING front_text",
    "SHOW": "SHOW TABLES",
    "DESCRIBE": "DESCRIBE cards",
    "DESC": "DESCRIBE cards",
    "TAGS": "SELECT front_text FROM cards WHERE tags OVERLAP ('geo', 'space')",
    "UNNEST": "SELECT tag, COUNT(*) AS n FROM cards UNNEST tags AS tag GROUP BY tag ORDER BY n DESC",
    "DUE": "SELECT front_text FROM cards WHERE due_at <= NOW() + INTERVAL '7 days'",
    "DAY": "SELECT DATE(created_at) AS day, COUNT(*) AS n FROM cards GROUP BY day ORDER BY day",
    "IDS": "SELECT front_text FROM cards WHERE card_id IN ('0b7c1f3e-5d2a-4c8b-9e6f-1a2b3c4d5e6f')",
    "NULL": "SELECT front_text FROM cards WHERE due_at IS NULL",
    "BOOLEAN": "SELECT front_text FROM cards WHERE suspended = TRUE AND reps > 2",
    "CASE": "SELECT front_text FROM cards WHERE front_text ILIKE '%oslo%'",
    "PAGE": "SELECT front_text FROM cards ORDER BY created_at DESC LIMIT 20 OFFSET 40",
    "RANDOM": "SELECT front_text FROM cards ORDER BY RANDOM() LIMIT 3",
    "DECKS": "SELECT deck_id, name FROM decks",
}
CLAUSES = ("FROM", "SET", "VALUES", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "RETURNING")


@dataclass(frozen=True, slots=True)
class Place:
    """Where parsing stopped: the tokens of the statement, the offender's index, and what could have come instead."""

    tokens: list[Token]
    index: int
    expected: frozenset[str]

    @property
    def offender(self) -> Token | None:
        """The token that does not fit; None at the end of the statement."""
        return self.token(0)

    @property
    def before(self) -> Token | None:
        """The token before it."""
        return self.token(-1)

    def token(self, distance: int) -> Token | None:
        """The token that many places after the offender, or before it."""
        index = self.index + distance
        return self.tokens[index] if 0 <= index < len(self.tokens) else None

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
    def word(self) -> str:
        """The offender in upper case; empty at the end."""
        return self.offender.word if self.offender else ""

    def is_type(self, *types: str) -> bool:
        """Whether the offender is of one of these types."""
        return self.offender is not None and self.offender.type in types

    def follows(self, *types: str) -> bool:
        """Whether the token before the offender is of one of these types."""
        return self.before is not None and self.before.type in types

    def types(self, first: int, last: int) -> list[str]:
        """The types of the tokens at these distances, both ends included; empty for what is not there."""
        found = (self.token(distance) for distance in range(first, last + 1))
        return [token.type if token else "" for token in found]

    def clause(self) -> str:
        """The clause in which the offender stands."""
        words = [token.type for token in self.tokens[: self.index] if token.type in CLAUSES]
        return words[-1] if words else self.kind

    def fault(self, message: str, form: str = "", reason: Reason = Reason.SYNTAX_ERROR) -> Fault:
        """The fault to raise for this place; `form` names the example, by default one of the statement's kind."""
        return Fault(reason, message, self.at, example=FORMS[form or self.kind])

    def repair(self, message: str, first: int, last: int, fix: str, reason: Reason = Reason.SYNTAX_ERROR) -> Fault:
        """The fault whose `fix` replaces the tokens at these distances from the offender, both ends included."""
        start, end = self.token(first), self.token(last)
        at = start.at.to(end.at) if start and end else self.at
        return Fault(reason, message, at, fix=fix, example=None if fix else FORMS[self.kind])
