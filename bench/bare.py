"""The yardstick: for each operation the bare query, without login, checks or a dialect. Values as `values_of` gives."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Count
from django.utils import timezone

from bench.dataset import COMMON, PHRASE, RARE, TAG_OF_A_HUNDRED, TAGS_OF_TWO
from bench.workload import PAGE, TAG_OF_INSERTED
from flashcards.models import Card, CardTag, new_metadata
from review.models import ReviewEvent

Values = dict[str, Any]
TEXTS = ("card_id", "front_text", "back_text", "tags")
# The trigrams of the words lead to few cards, and the words are looked for in those.
SQLITE_SEARCH = (
    "card_id IN (SELECT card_id FROM flashcards_cardsearchkey WHERE search_id IN "
    "(SELECT rowid FROM flashcards_cardsearch WHERE flashcards_cardsearch MATCH %s)) AND instr(search_text, %s)"
)


def live(values: Values) -> Any:
    return Card.objects.in_workspace(values["workspace"]).live()


def nothing(_: Values) -> Any:
    return []


def one_card(values: Values) -> Any:
    return list(live(values).filter(pk=values["point_id"]).values())


def two_tags(values: Values) -> Any:
    tagged = CardTag.objects.in_workspace(values["workspace"]).filter(tag__in=TAGS_OF_TWO)
    newest = tagged.order_by("-created_at", "card_id").values_list("card_id", flat=True)[: PAGE * 2]
    found = live(values).filter(pk__in=list(dict.fromkeys(newest))[:PAGE])
    return list(found.order_by("-created_at").values(*TEXTS, "created_at"))


def common_word(values: Values) -> Any:
    like = f"%{COMMON}%"
    return _raw("front_text LIKE %s OR back_text LIKE %s", [like, like], values)


def rare_word(values: Values) -> Any:
    return _holding(RARE, values)


def phrase(values: Values) -> Any:
    return _holding(PHRASE, values)


def _holding(words: str, values: Values) -> Any:
    if connection.vendor == "postgresql":
        return _raw("search_text LIKE %s", [f"%{words}%"], values)
    trigrams = " AND ".join(f'"{words[start : start + 3]}"' for start in range(len(words) - 2))
    return _raw(SQLITE_SEARCH, [trigrams, words], values)


def _raw(condition: str, arguments: list[str], values: Values) -> Any:
    workspace = values["workspace"] if connection.vendor == "postgresql" else values["workspace"].replace("-", "")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT card_id, front_text, back_text, tags FROM flashcards_card "
            f"WHERE workspace_id = %s AND deleted_at IS NULL AND ({condition}) ORDER BY created_at DESC LIMIT {PAGE}",
            [workspace, *arguments],
        )
        return cursor.fetchall()


def by_tag(values: Values) -> Any:
    tags = CardTag.objects.in_workspace(values["workspace"]).values("tag")
    return list(tags.annotate(n=Count("pk")).order_by("-n")[:100])


def due_count(values: Values) -> Any:
    return live(values).filter(due_at__lte=timezone.now()).count()


def deep_page(values: Values) -> Any:
    cards = live(values).order_by("-created_at", "card_id")
    ids = list(cards.values_list("pk", flat=True)[values["offset"] : values["offset"] + PAGE])
    return list(cards.filter(pk__in=ids).values(*TEXTS, "due_at"))


def update_one(values: Values) -> Any:
    return _update(live(values).filter(pk=values["point_id"]), values)


def update_hundred(values: Values) -> Any:
    tagged = CardTag.objects.in_workspace(values["workspace"]).filter(tag=TAG_OF_A_HUNDRED)
    return _update(live(values).filter(pk__in=tagged.values("card_id")), values)


def _update(cards: Any, values: Values) -> int:
    with transaction.atomic():
        chosen = list(cards.select_for_update())
        for card in chosen:
            card.back_text, card.updated_at = f"plain {values['number']}", timezone.now()
            card.refresh_search_text()
        return int(Card.objects.bulk_update(chosen, ["back_text", "search_text", "updated_at"]))


def next_to_review(values: Values) -> Any:
    now, cards = timezone.now(), live(values).filter(suspended=False)
    just_reviewed = cards.filter(due_at__lte=now, fsrs_last_reviewed_at__gte=now - timedelta(hours=1))
    due = cards.filter(due_at__lte=now).order_by("due_at", "created_at", "card_id")
    card = just_reviewed.order_by("due_at", "created_at", "card_id").first() or due.first()
    return card and card.front_text


def review(values: Values) -> Any:
    with transaction.atomic():
        card = live(values).select_for_update().get(pk=values["due_id"])
        event = ReviewEvent(
            workspace_id=card.workspace_id, card_id=card.pk, client_event_id=f"plain {values['number']}"
        )
        event.rating = 2
        event.save(force_insert=True)
        card.reps += 1
        card.fsrs_last_reviewed_at = timezone.now()
        card.due_at = card.fsrs_last_reviewed_at + timedelta(days=3)
        card.save(update_fields=["reps", "fsrs_last_reviewed_at", "due_at"])
    return str(event.pk)


def insert_hundred(values: Values) -> Any:
    now = timezone.now()
    with transaction.atomic():
        cards = [
            Card(
                workspace_id=values["workspace"],
                front_text=f"Question {number:03d} about something that takes about seventy characters to ask?",
                back_text="An answer in some detail, as a good one is, with an example. " * 3,
                tags=[TAG_OF_INSERTED, "tag-001", f"tag-{number % 190:03d}"],
                metadata=new_metadata(now),
            )
            for number in range(100)
        ]
        for card in cards:
            card.refresh_search_text()
        Card.objects.bulk_create(cards)
        CardTag.objects.sync(cards)
    return len(cards)


QUERIES: dict[str, Callable[[Values], Any]] = {
    "q0": nothing,
    "q1": one_card,
    "q2": two_tags,
    "q3": common_word,
    "q3r": rare_word,
    "q4": phrase,
    "q5": by_tag,
    "q6": due_count,
    "q7": deep_page,
    "q8": insert_hundred,
    "q9": update_one,
    "q10": update_hundred,
    "q11": next_to_review,
    "q12": review,
}
