"""Invented data to measure with: the same for the same size, always.

Three in ten cards are new, half are in review, the rest are being learned. A card has three of 200 tags, most of them
common ones; `tag-199` is on exactly 100 cards. Texts are words of a made-up language of 5,000, common ones often;
`lantern` is on 2.5 % of the cards, `zyxqvat` on five, `quorum kestrel` on one in a thousand, at least five. Only
cards that are not new have reviews, five for each card of the whole. Nothing falls due within two hours of `now`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from itertools import accumulate
from random import Random
from typing import Any, TextIO
from uuid import UUID

COMMON, RARE, PHRASE = "lantern", "zyxqvat", "quorum kestrel"
TAGS_OF_TWO = ("tag-017", "tag-042")
TAG_OF_A_HUNDRED = "tag-199"
REVIEWS_OF_A_CARD = 7
NOTHING_DUE_WITHIN = timedelta(hours=2)
KEPT_IDS = 400


@dataclass
class Facts:
    """What is true of a data set, to fill statements with and to check answers against."""

    size: int
    workspace_id: str
    point_ids: list[str] = field(default_factory=list)
    due_ids: list[str] = field(default_factory=list)
    due: int = 0
    two_tags: int = 0
    common: int = 0
    rare: int = 0
    phrase: int = 0
    events: int = 0

    def as_json(self) -> str:
        """These facts as JSON text."""
        return json.dumps(asdict(self))


def write_archive(file: TextIO, *, size: int, now: datetime) -> Facts:
    """Write a workspace archive of `size` cards (a multiple of 10, at least 200) and return what is true of it."""
    facts = Facts(size, f"b0000000-0000-4000-8000-{size:012d}")
    invention = _Invention(size, now, facts)
    workspace = {"workspace_id": facts.workspace_id, "name": f"Bench {size}"}
    file.write(f'{{"workspace":{json.dumps(workspace)},\n"cards":[')
    _write_rows(file, invention.cards())
    deck = {"deck_id": f"bd000000-0000-4000-8000-{size:012d}", "name": "Two tags", "tags": TAGS_OF_TWO}
    file.write(f'],\n"decks":[{json.dumps(deck)}],\n"review_events":[')
    _write_rows(file, invention.events())
    file.write("]}\n")
    return facts


def _write_rows(file: TextIO, rows: Iterator[dict[str, Any]]) -> None:
    for number, row in enumerate(rows):
        file.write((",\n" if number else "\n") + json.dumps(row))


class _Often:
    """Draws of which the first are the commonest: the weight of number n is 1 / n ** steepness."""

    def __init__(self, random: Random, things: Sequence[str], steepness: float) -> None:
        self._random, self._things = random, things
        self._weights = list(accumulate(1 / (number + 1) ** steepness for number in range(len(things))))

    def draw(self, count: int) -> list[str]:
        return self._random.choices(self._things, cum_weights=self._weights, k=count)


class _Invention:
    def __init__(self, size: int, now: datetime, facts: Facts) -> None:
        self._random = random = Random(f"cards {size}")
        self._size, self._now, self._facts = size, now, facts
        self._words = _Often(random, _language(random, 5000), 0.9)
        self._tags = _Often(random, [f"tag-{number:03d}" for number in range(199)], 0.7)
        self._with_common = self._some(size // 40)
        self._with_rare = self._some(5)
        self._with_phrase = self._some(max(5, size // 1000))
        self._with_tag = self._some(100)
        self._states = ["new"] * (size * 3 // 10) + ["review"] * (size // 2) + ["learning"] * (size // 5)
        random.shuffle(self._states)
        self._reviewed: list[tuple[str, int, datetime]] = []

    def _some(self, count: int) -> set[int]:
        return set(self._random.sample(range(self._size), count))

    def _id(self) -> str:
        return str(UUID(int=self._random.getrandbits(128), version=4))

    def cards(self) -> Iterator[dict[str, Any]]:
        """The cards, oldest first, made evenly over the year that ended an hour ago."""
        year = timedelta(days=365)
        for number in range(self._size):
            created_at = self._now - timedelta(hours=1) - year + year * number / self._size
            card: dict[str, Any] = {
                "card_id": self._id(),
                "created_at": _text(created_at),
                "tags": self._tags_of(number),
            }
            card |= self._texts_of(number) | self._schedule_of(number, card["card_id"])
            self._note(number, card)
            yield card

    def _tags_of(self, number: int) -> list[str]:
        tags = [TAG_OF_A_HUNDRED] if number in self._with_tag else []
        while len(tags) < 3:
            tags = list(dict.fromkeys([*tags, *self._tags.draw(1)]))
        return tags

    def _texts_of(self, number: int) -> dict[str, str]:
        front, back = (self._words.draw(max(3, round(self._random.gauss(words, words * 0.15)))) for words in (11, 29))
        for chosen, planted in ((self._with_common, COMMON), (self._with_rare, RARE), (self._with_phrase, PHRASE)):
            if number in chosen:
                side = front if self._random.random() < 0.3 else back
                side.insert(self._random.randrange(len(side)), planted)
        return {"front_text": " ".join(front) + "?", "back_text": " ".join(back) + "."}

    def _schedule_of(self, number: int, card_id: str) -> dict[str, Any]:
        state = self._states[number]
        if state == "new":
            return {}
        days = self._random.randint(1, 120) if state == "review" else 0
        due_at, last_reviewed_at = self._times_of_review(days) if days else self._times_of_step()
        # Seven reviews, one more for every seventh card: five for each card, the new ones counted in.
        reps = REVIEWS_OF_A_CARD + (len(self._reviewed) % 7 == 0)
        self._reviewed.append((card_id, reps, last_reviewed_at))
        return {
            "fsrs_card_state": state,
            "due_at": _text(due_at),
            "fsrs_last_reviewed_at": _text(last_reviewed_at),
            "fsrs_stability": round(days * self._random.uniform(0.9, 1.1) or self._random.uniform(0.1, 3), 4),
            "fsrs_difficulty": round(self._random.uniform(1, 10), 4),
            "fsrs_scheduled_days": days,
            "fsrs_step_index": None if days else self._random.choice((0, 1)),
            "reps": reps,
            "lapses": self._random.choice((0, 0, 0, 1, 1, 2)),
        }

    def _times_of_review(self, days: int) -> tuple[datetime, datetime]:
        # One in five is late, by up to ten days.
        if self._random.random() < 0.2:
            due_at = self._now - self._between(timedelta(minutes=1), timedelta(days=10))
        else:
            due_at = self._now + self._between(NOTHING_DUE_WITHIN, timedelta(days=days))
        return due_at, due_at - timedelta(days=days)

    def _times_of_step(self) -> tuple[datetime, datetime]:
        # Three in ten are late, and one of ten of those was reviewed within the hour.
        if self._random.random() >= 0.3:
            last_reviewed_at = self._now - self._between(NOTHING_DUE_WITHIN, timedelta(days=1))
            return self._now + self._between(NOTHING_DUE_WITHIN, timedelta(days=1)), last_reviewed_at
        longest = timedelta(minutes=30) if self._random.random() < 0.1 else timedelta(days=1)
        due_at = self._now - self._between(timedelta(minutes=1), longest)
        return due_at, due_at - timedelta(minutes=10)

    def _between(self, low: timedelta, high: timedelta) -> timedelta:
        return timedelta(milliseconds=self._random.randint(low // MILLISECOND, high // MILLISECOND))

    def _note(self, number: int, card: dict[str, Any]) -> None:
        facts = self._facts
        is_due = "due_at" in card and card["due_at"] < _text(self._now)
        facts.due += is_due
        facts.two_tags += not set(TAGS_OF_TWO).isdisjoint(card["tags"])
        facts.common += number in self._with_common
        facts.rare += number in self._with_rare
        facts.phrase += number in self._with_phrase
        if is_due and len(facts.due_ids) < KEPT_IDS:
            facts.due_ids.append(card["card_id"])
        if number % max(1, self._size // 100) == 0 and len(facts.point_ids) < KEPT_IDS:
            facts.point_ids.append(card["card_id"])

    def events(self) -> Iterator[dict[str, Any]]:
        """The reviews of the cards that `cards` has yielded, card by card, each ending at its last review."""
        for card_id, reps, last_reviewed_at in self._reviewed:
            pause = self._between(timedelta(hours=1), timedelta(days=6))
            for number in range(reps):
                reviewed_at = _text(last_reviewed_at - (reps - 1 - number) * pause)
                self._facts.events += 1
                yield {
                    "review_event_id": self._id(),
                    "card_id": card_id,
                    "client_event_id": f"{card_id}-{number}",
                    "rating": self._random.choice((0, 1, 2, 2, 2, 3)),
                    "reviewed_at_client": reviewed_at,
                    "reviewed_at_server": reviewed_at,
                }


MILLISECOND = timedelta(milliseconds=1)


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


def _language(random: Random, count: int) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < count:
        syllables = random.choice((2, 2, 3, 3, 4))
        word = "".join(random.choice("bcdfghjklmnprstvw") + random.choice("aeiou") for _ in range(syllables))
        words[word + (random.choice("bdfgklmnprst") if random.random() < 0.4 else "")] = None
    return list(words)
