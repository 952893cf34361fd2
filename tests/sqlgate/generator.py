"""Random data and random valid statements, the same for the same seed."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from flashcards.content import is_blank

START = datetime(2025, 1, 1, 8, tzinfo=UTC)
NOW = datetime(2025, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
WORDS = [
    *("Oslo", "oslo", "capital", "Capital", "of", "Norway", "naïve", "Éclair", "éclair", "straße", "STRASSE", "İzmir"),
    *(
        "ΣΊΣΥΦΟΣ",
        "猫",
        "犬と猫",
        "שלום",
        "👩‍🚀",
        "🙂",
        "50%",
        "snake_case",
        "C:\\temp",
        "it's",
        '"quoted"',
        "a*b?",
        "[x]",
    ),
    *("line\nbreak", "tab\there", "{brace}", "x", "", "Ǆungla", "\u1e9e", "\u0130", "ß", "e\u0301", "\x1f", "\x01\x02"),
]
TAGS = [
    *(
        "geo",
        "Geo",
        "GEO",
        "two words",
        "a,b",
        "it's",
        '"q"',
        "日本",
        "Éa",
        "éa",
        "{x}",
        "back\\slash",
        "x",
        "xy",
        "tag%",
    ),
    *("\x01", "\x02\x03", "z_z", "straße", "İ"),
]
ZONES = ["UTC", "Europe/Oslo", "Asia/Tokyo"]


def make_archive(seed: int, cards: int = 90) -> dict[str, Any]:
    """A workspace archive with awkward texts, shared tags, NULLs and times that differ by microseconds."""
    rng = random.Random(seed)
    made = [_card(rng, number) for number in range(cards)]
    return {
        "workspace": {
            "workspace_id": _id(rng),
            "name": "Mixed Ünits",
            "created_at": _written(START),
            "desired_retention": 0.85,
        },
        "cards": made,
        "decks": [_deck(rng, number) for number in range(12)],
        "review_events": [_event(rng, rng.choice(made)["card_id"], number) for number in range(140)],
    }


def _id(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _text(rng: random.Random, least: int = 1) -> str:
    text = " ".join(rng.choices(WORDS, k=rng.randint(least, 5))).strip()
    return text or rng.choice(["x", "Oslo"])


def _tags(rng: random.Random) -> list[str]:
    return rng.sample(TAGS, k=rng.choice([0, 1, 1, 2, 2, 3, 5]))


def _card(rng: random.Random, number: int) -> dict[str, Any]:
    created = START + timedelta(hours=number // 3, microseconds=rng.choice([0, 1, 999, 1000, 456789]))
    state = rng.choice(["new", "new", "learning", "review", "review", "relearning"])
    card: dict[str, Any] = {
        "card_id": _id(rng),
        "front_text": _text(rng),
        "back_text": _text(rng) if rng.random() < 0.9 else "",
        "card_type": rng.choice(["basic", "basic", "cloze"]),
        "tags": _tags(rng),
        "created_at": _written(created),
        "updated_at": _written(created + timedelta(minutes=rng.randint(0, 3))),
        "suspended": rng.random() < 0.2,
        "fsrs_card_state": state,
        "deleted_at": _written(NOW) if rng.random() < 0.1 else None,
    }
    if state == "new":
        return card
    reviewed = START + timedelta(days=rng.randint(1, 40), milliseconds=rng.choice([0, 500, 123]))
    reps = rng.randint(2, 9)
    return card | {
        "due_at": _written(reviewed + timedelta(hours=rng.randint(1, 900))),
        "reps": reps,
        "lapses": rng.randint(1, 2),
        "fsrs_step_index": None if state == "review" else rng.randint(0, 1),
        "fsrs_stability": rng.choice([0.5, 2.25, 10.0, 33.125]),
        "fsrs_difficulty": rng.choice([1.0, 4.5, 9.75]),
        "fsrs_last_reviewed_at": _written(reviewed),
        "fsrs_scheduled_days": rng.randint(1, 40) if state == "review" else 0,
    }


def _deck(rng: random.Random, number: int) -> dict[str, Any]:
    created = START + timedelta(days=number % 4)
    return {
        "deck_id": _id(rng),
        "name": rng.choice(["Geo", "geo", "Éa deck", "Everything", f"Deck {number}"]),
        "tags": _tags(rng),
        "created_at": _written(created),
        "updated_at": _written(created),
        "deleted_at": _written(NOW) if number == 0 else None,
    }


def _event(rng: random.Random, card_id: str, number: int) -> dict[str, Any]:
    reviewed = START + timedelta(hours=number // 4, microseconds=rng.choice([0, 1000, 1500]))
    return {
        "review_event_id": _id(rng),
        "card_id": card_id,
        "replica_id": rng.choice(["f0000000-0000-4000-8000-000000000001", "f0000000-0000-4000-8000-000000000002"]),
        "client_event_id": rng.choice([f"évent-{number}", f"ÉVENT-{number}", f"event-{number}"]),
        "rating": rng.randint(0, 3),
        "reviewed_at_client": _written(reviewed),
        "reviewed_at_server": _written(reviewed),
        "reviewed_time_zone": rng.choice(ZONES),
        "scheduled_days": rng.choice([None, 0, 3, 12]),
        "state_before": rng.choice([None, "new", "review"]),
        "undone_at": rng.choice([None, None, _written(NOW)]),
    }


KINDS: dict[str, dict[str, str]] = {
    "cards": {
        "card_id": "id", "front_text": "text", "back_text": "text", "card_type": "text", "tags": "tags",
        "due_at": "time", "created_at": "time", "updated_at": "time", "fsrs_last_reviewed_at": "time", "reps": "whole",
        "lapses": "whole", "fsrs_card_state": "text", "fsrs_step_index": "whole", "fsrs_stability": "real",
        "fsrs_difficulty": "real", "fsrs_scheduled_days": "whole", "suspended": "truth",
    },
    "decks": {"deck_id": "id", "name": "text", "tags": "tags", "created_at": "time", "updated_at": "time"},
    "review_events": {
        "review_event_id": "id", "card_id": "id", "replica_id": "id", "client_event_id": "text", "rating": "whole",
        "reviewed_at_client": "time", "reviewed_at_server": "time", "reviewed_time_zone": "text",
        "scheduled_days": "whole", "state_before": "text", "undone_at": "time",
    },
    "workspace": {
        "workspace_id": "id", "name": "text", "created_at": "time", "algorithm": "text", "desired_retention": "real",
        "maximum_interval_days": "whole", "enable_fuzz": "truth",
    },
}  # fmt: skip
UNSORTABLE = {("decks", "tags")}


class StatementMaker:
    """Makes random valid statements about the data of an archive."""

    def __init__(self, archive: dict[str, Any], rng: random.Random) -> None:
        self.archive = archive
        self.rng = rng
        self.columns: dict[str, str] = {}
        self.table = "cards"
        self.element = ""

    def read(self) -> str:
        """A SELECT."""
        self._begin(self.rng.choice(["cards", "cards", "cards", "decks", "review_events", "workspace"]))
        return self._grouped() if self.rng.random() < 0.35 else self._plain()

    def write(self) -> str:
        """An UPDATE, DELETE or INSERT."""
        self._begin(self.rng.choice(["cards", "cards", "decks"]), unnest=False)
        key = "card_id" if self.table == "cards" else "deck_id"
        shown = [name for name in self.columns if name != "updated_at"]
        returning = f" RETURNING {', '.join(self._some(shown, 4))}" if self.rng.random() < 0.6 else ""
        kind = self.rng.random()
        if kind < 0.2:
            return self._insert()
        if kind < 0.45:
            return f"DELETE FROM {self.table} WHERE {self._condition()}{returning or f' RETURNING {key}'}"
        return f"UPDATE {self.table} SET {self._assignments()} WHERE {self._condition()}{returning}"

    def _begin(self, table: str, *, unnest: bool = True) -> None:
        self.table = table
        self.columns = dict(KINDS[table])
        self.element = ""
        if unnest and "tags" in self.columns and self.rng.random() < 0.3:
            self.element = "element"
            self.columns[self.element] = "text"

    def _some(self, names: list[str], most: int) -> list[str]:
        return self.rng.sample(names, k=self.rng.randint(1, min(most, len(names))))

    # SELECT

    def _from(self) -> str:
        unnest = self.rng.choice([" UNNEST tags AS {}", " CROSS JOIN UNNEST(tags) AS {}", ", UNNEST(tags) AS {}"])
        return f"FROM {self.table}" + (unnest.format(self.element) if self.element else "")

    def _where(self) -> str:
        return f" WHERE {self._condition()}" if self.rng.random() < 0.85 else ""

    def _page(self) -> str:
        limit = f" LIMIT {self.rng.randint(1, 30)}" if self.rng.random() < 0.5 else ""
        offset = f" OFFSET {self.rng.choice([0, 1, 7, 40, 210])}" if self.rng.random() < 0.4 else ""
        return offset + limit if self.rng.random() < 0.3 else limit + offset

    def _direction(self) -> str:
        return self.rng.choice(["", " ASC", " DESC"]) + self.rng.choice(["", "", " NULLS FIRST", " NULLS LAST"])

    def _plain(self) -> str:
        distinct = "DISTINCT " if self.rng.random() < 0.25 else ""
        names = self._some(list(self.columns), 5)
        items = [f"{name} AS {name}_2" if self.rng.random() < 0.1 else name for name in names]
        days = [name for name, kind in self.columns.items() if kind == "time"]
        if self.rng.random() < 0.15:
            items.append(f"DATE({self.rng.choice(days)}) AS day")
        selected = "*" if self.rng.random() < 0.1 and not distinct else ", ".join(items)
        sortable = [name for name in (names if distinct else self.columns) if (self.table, name) not in UNSORTABLE]
        order = ""
        if sortable and self.rng.random() < 0.6:
            order = " ORDER BY " + ", ".join(name + self._direction() for name in self._some(sortable, 3))
        return f"SELECT {distinct}{selected} {self._from()}{self._where()}{order}{self._page()}"

    def _aggregate(self) -> str:
        of = {kind: [name for name, is_kind in self.columns.items() if is_kind == kind] for kind in KINDS_OF_VALUES}
        choices = ["COUNT(*)", f"COUNT({self._any(list(self.columns))})", f"COUNT(DISTINCT {self._any(of['text'])})"]
        numbers = of["whole"] + of["real"]
        if numbers:
            choices += [f"{function}({self._any(numbers)})" for function in ("SUM", "AVG", "MIN", "MAX")]
        choices += [f"{function}({self._any(of['time'] + of['text'])})" for function in ("MIN", "MAX")]
        return self._any(choices)

    def _any(self, choices: list[str]) -> str:
        return self.rng.choice(choices)

    def _grouped(self) -> str:
        days = [name for name, kind in self.columns.items() if kind == "time"]
        keys = self._some(list(self.columns), 2) if self.rng.random() < 0.8 else []
        items = [key for key in keys if self.rng.random() < 0.8]
        items += [f"{self._aggregate()} AS n{number}" for number in range(self.rng.randint(1, 3))]
        if keys and self.rng.random() < 0.25:
            keys.append("day")
            items.append(f"DATE({self._any(days)}) AS day")
        group = f" GROUP BY {', '.join(keys)}" if keys else ""
        having = f" HAVING {self._having(keys)}" if self.rng.random() < 0.35 else ""
        sortable = [name for name in [*keys, "n0"] if (self.table, name) not in UNSORTABLE]
        order = f" ORDER BY {self._any(sortable)}{self._direction()}" if self.rng.random() < 0.6 else ""
        return f"SELECT {', '.join(items)} {self._from()}{self._where()}{group}{having}{order}{self._page()}"

    def _having(self, keys: list[str]) -> str:
        texts = [key for key in keys if self.columns.get(key) == "text"]
        if texts and self.rng.random() < 0.4:
            return f"{self.text(self._any(texts))} {self._any(['AND', 'OR'])} COUNT(*) > 1"
        first = f"COUNT(*) {self._operator()} {self.rng.choice([0, 1, 2, 5])}"
        if self.rng.random() < 0.5:
            return first
        second = f"COUNT({self._any(list(self.columns))}) BETWEEN 0 AND {self.rng.randint(0, 9)}"
        return f"{'NOT ' if self.rng.random() < 0.3 else ''}({first} {self._any(['AND', 'OR'])} {second})"

    # Conditions

    def _operator(self) -> str:
        return self._any(["=", "!=", "<>", "<", "<=", ">", ">="])

    def _condition(self, depth: int = 0) -> str:
        if depth < 3 and self.rng.random() < 0.45:
            word = self._any([" AND ", " OR "])
            inner = word.join(self._condition(depth + 1) for _ in range(self.rng.randint(2, 3)))
            return f"{'NOT ' if self.rng.random() < 0.3 else ''}({inner})"
        return ("NOT " if self.rng.random() < 0.15 else "") + self._predicate()

    def _predicate(self) -> str:
        if self.table in ("cards", "decks") and self.rng.random() < 0.12:
            phrase = self._fragment()
            return f"MATCH({quote('x' if is_blank(phrase) else phrase)})"
        if self.table == "cards" and self.rng.random() < 0.06:
            return f"IN_DECK({quote(self.rng.choice(self._live_decks())['deck_id'])})"
        name = self.element if self.element and self.rng.random() < 0.3 else self._any(list(self.columns))
        kind = self.columns[name]
        if kind != "tags" and self.rng.random() < 0.1:
            return f"{name} IS {self._any(['', 'NOT '])}NULL"
        return PREDICATES[kind](self, name)

    def _live_decks(self) -> list[dict[str, Any]]:
        return [deck for deck in self.archive["decks"] if not deck["deleted_at"]]

    def _fragment(self) -> str:
        text = self._sample("front_text", "cards") if self.rng.random() < 0.6 else self.rng.choice(TAGS + WORDS)
        start = self.rng.randint(0, max(0, len(text) - 2))
        part = text[start : start + self.rng.randint(1, 9)].strip()
        return part.swapcase() if self.rng.random() < 0.3 else part

    def _sample(self, name: str, table: str) -> str:
        rows = self.archive[table] if table != "workspace" else [self.archive["workspace"]]
        return str(self.rng.choice(rows).get(name) or "")

    def text(self, name: str) -> str:
        """A predicate on a text column."""
        sample = self.rng.choice(TAGS) if name == self.element else self._sample(name, self.table)
        kind = self.rng.randint(0, 5)
        if kind == 0:
            return f"{name} {self._operator()} {quote(sample)}"
        if kind == 1:
            return f"{name} {self._negation()}IN ({', '.join(quote(t) for t in [sample, *self.rng.sample(WORDS, 2)])})"
        if kind == 2:
            return f"{self._any(['LOWER', 'UPPER'])}({name}) = {quote(sample.swapcase())}"
        if kind == 3:
            return f"{name} {self._negation()}BETWEEN {quote(self._fragment())} AND {quote(sample)}"
        return f"{self._folded(name)} {self._negation()}{self._any(['LIKE', 'ILIKE'])} {self._pattern(sample)}"

    def _folded(self, name: str) -> str:
        return f"{self._any(['LOWER', 'UPPER'])}({name})" if self.rng.random() < 0.3 else name

    def _negation(self) -> str:
        return "NOT " if self.rng.random() < 0.3 else ""

    def _pattern(self, sample: str) -> str:
        start = self.rng.randint(0, len(sample))
        part = list(sample[start : start + self.rng.randint(0, 8)])
        for index in range(len(part)):
            if self.rng.random() < 0.15:
                part[index] = self._any(["_", "%", "\\%", "\\_", "\\"])
        pattern = self._any(["", "%", "_"]) + "".join(part) + self._any(["", "%"])
        if self.rng.random() < 0.15:
            return f"{quote(pattern.replace('%', '!%'))} ESCAPE '!'"
        return quote(pattern)

    def identifier(self, name: str) -> str:
        """A predicate on a column of ids."""
        sample = self._sample(name, self.table)
        spelled = self._any([sample, sample.upper(), sample.replace("-", ""), "nonsense"])
        kind = self.rng.randint(0, 3)
        if kind == 0:
            return f"{name} {self._any(['=', '!='])} {quote(spelled)}"
        if kind == 1:
            return f"{name} {self._any(['<', '>=', '>'])} {quote(sample)}"
        if kind == 2:
            return f"{name} {self._negation()}IN ({quote(spelled)}, {quote(self._sample(name, self.table))})"
        return f"{self._folded(name)} {self._negation()}{self._any(['LIKE', 'ILIKE'])} {quote('%' + sample[5:9] + '%')}"

    def time(self, name: str) -> str:
        """A predicate on a column of timestamps."""
        kind = self.rng.randint(0, 4)
        if kind == 0:
            return f"{name} {self._negation()}BETWEEN {self._instant(name)} AND {self._instant(name)}"
        if kind == 1:
            many = self.rng.choice([2, 2, 25])
            return f"{name} {self._negation()}IN ({', '.join(self._instant(name) for _ in range(many))})"
        if kind == 2:
            return f"{name} {self._negation()}LIKE {quote(self._sample(name, self.table)[:13] + '%')}"
        return f"{name} {self._operator()} {self._instant(name)}"

    def _instant(self, name: str) -> str:
        written = self._sample(name, self.table) or "2025-02-01T00:00:00.000000Z"
        choices = [
            quote(written), quote(written[:23] + "Z"), quote(written[:19]), quote(written[:10]),
            quote(written[:19].replace("T", " ") + "+05:30"), f"NOW() - INTERVAL '{self.rng.randint(1, 60)} days'",
        ]  # fmt: skip
        return self._any(choices)

    def number(self, name: str) -> str:
        """A predicate on a column of numbers."""
        value = self._any(["0", "1", "2", "3.0", "2.5", "-1", "9", "33.125", "99999999999", "-99999999999", "36500"])
        kind = self.rng.randint(0, 3)
        if kind == 0:
            return f"{name} {self._negation()}IN ({value}, 2, 4.5)"
        if kind == 1:
            return f"{name} {self._negation()}BETWEEN {value} AND 5"
        return f"{name} {self._operator()} {value}"

    def truth(self, name: str) -> str:
        """A predicate on a boolean column."""
        return f"{name} {self._any(['=', '!='])} {self._any(['TRUE', 'FALSE'])}"

    def tags(self, name: str) -> str:
        """A predicate on a list of tags."""
        chosen = [quote(tag) for tag in self.rng.sample(TAGS, k=self.rng.choice([0, 1, 1, 2, 3]))]
        if self.rng.random() < 0.3:
            exact = self.rng.choice(self.archive[self.table])["tags"]
            chosen = [quote(tag) for tag in self.rng.sample(exact, k=len(exact))]
        listed = self._any([f"({', '.join(chosen)})", f"[{', '.join(chosen)}]", f"ARRAY[{', '.join(chosen)}]"])
        kind = self.rng.randint(0, 3)
        if kind == 0 and chosen:
            return f"{chosen[0]} = ANY({name})"
        return f"{name} {self._any(['=', 'OVERLAP', '&&', '@>'])} {listed}"

    # Writes

    def _assignments(self) -> str:
        if self.table == "decks":
            choices = {"name": quote(_text(self.rng)), "tags": self._new_tags()}
        else:
            choices = {
                "front_text": quote(_text(self.rng)), "back_text": quote(_text(self.rng)), "tags": self._new_tags(),
                "suspended": self._any(["TRUE", "FALSE"]), "card_type": self._any(["'basic'", "'cloze'"]),
            }  # fmt: skip
        return ", ".join(f"{name} = {choices[name]}" for name in self._some(list(choices), 3))

    def _new_tags(self) -> str:
        tag = quote(self.rng.choice(TAGS[:10]))
        return self._any([f"({tag})", "()", f"ARRAY_APPEND(tags, {tag})", f"ARRAY_REMOVE(tags, {tag})"])

    def _insert(self) -> str:
        names = ["front_text", "back_text", "tags"] if self.table == "cards" else ["name", "tags"]
        rows = []
        for _ in range(self.rng.randint(1, 3)):
            values = [quote(_text(self.rng)) for _ in names[:-1]]
            rows.append(f"({', '.join([*values, self._any(['()', f'({quote(self.rng.choice(TAGS))})'])])})")
        return f"INSERT INTO {self.table} ({', '.join(names)}) VALUES {', '.join(rows)} RETURNING {', '.join(names)}"


def quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


KINDS_OF_VALUES = ("id", "text", "time", "whole", "real", "truth", "tags")
PREDICATES: dict[str, Callable[[StatementMaker, str], str]] = {
    "id": StatementMaker.identifier,
    "text": StatementMaker.text,
    "time": StatementMaker.time,
    "whole": StatementMaker.number,
    "real": StatementMaker.number,
    "truth": StatementMaker.truth,
    "tags": StatementMaker.tags,
}
