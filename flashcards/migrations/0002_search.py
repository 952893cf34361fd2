"""What substring search and the tags of decks need from the database.

PostgreSQL: a trigram index on the folded texts of live cards. It needs the extension pg_trgm, which is in
postgresql-contrib and trusted: the database's owner may create it. The workspace is not in the index: with it in front
(btree_gin), each look-up reads the workspace's whole posting list, 2 ms instead of 0.03 for 100,000 cards.

SQLite: an FTS5 table with the trigram tokenizer, which SQLite has from 3.34, kept in step by triggers on the card table.
It knows which cards hold a trigram but not where (`detail=none`): a third of the size, and the exact condition is asked
of what is found in any case.
Its rows are found by a key of their own, because VACUUM may renumber the rows of a table with a text key. A later
migration that makes Django rebuild the card or the deck table must run `drop_search` first and `create_search` after:
SQLite drops a table's triggers with the table and refuses to rename a table that a view waits for.
"""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

import flashcards.fields

POSTGRESQL_UP = [
    # The service's connections stop statements after 15 seconds; this index takes longer on a large collection.
    "SET LOCAL statement_timeout = 0",
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    "CREATE INDEX card_search ON flashcards_card USING gin (search_text gin_trgm_ops) WHERE deleted_at IS NULL",
    """
    CREATE VIEW flashcards_decktag AS
    SELECT deck.deck_id::text || ':' || element.ordinality AS deck_tag_id, deck.workspace_id, deck.deck_id,
        replace(replace(element.tag, U&'\\0002\\0002', U&'\\0001'), U&'\\0002\\0003', U&'\\0002') COLLATE "C" AS tag,
        (element.ordinality - 1)::integer AS position
    FROM flashcards_deck AS deck
    CROSS JOIN LATERAL unnest(string_to_array(left(deck.tags, -1), U&'\\0001'))
        WITH ORDINALITY AS element (tag, ordinality)
    WHERE deck.deleted_at IS NULL AND deck.tags <> ''
    """,
]
POSTGRESQL_DOWN = ["DROP VIEW flashcards_decktag", "DROP INDEX card_search"]

SQLITE_UP = [
    "CREATE TABLE flashcards_cardsearchkey (search_id INTEGER PRIMARY KEY, card_id CHAR(32) NOT NULL UNIQUE)",
    "CREATE VIRTUAL TABLE flashcards_cardsearch USING fts5("
    "search_text, content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1')",
    "INSERT INTO flashcards_cardsearchkey (card_id) SELECT card_id FROM flashcards_card",
    "INSERT INTO flashcards_cardsearch (rowid, search_text) SELECT search_id, search_text "
    "FROM flashcards_cardsearchkey JOIN flashcards_card USING (card_id)",
    """
    CREATE TRIGGER card_search_insert AFTER INSERT ON flashcards_card BEGIN
        INSERT INTO flashcards_cardsearchkey (card_id) VALUES (new.card_id);
        INSERT INTO flashcards_cardsearch (rowid, search_text)
            SELECT search_id, new.search_text FROM flashcards_cardsearchkey WHERE card_id = new.card_id;
    END
    """,
    """
    CREATE TRIGGER card_search_update AFTER UPDATE OF search_text ON flashcards_card
    WHEN old.search_text <> new.search_text BEGIN
        INSERT INTO flashcards_cardsearch (flashcards_cardsearch, rowid, search_text)
            SELECT 'delete', search_id, old.search_text FROM flashcards_cardsearchkey WHERE card_id = old.card_id;
        INSERT INTO flashcards_cardsearch (rowid, search_text)
            SELECT search_id, new.search_text FROM flashcards_cardsearchkey WHERE card_id = new.card_id;
    END
    """,
    """
    CREATE TRIGGER card_search_delete AFTER DELETE ON flashcards_card BEGIN
        INSERT INTO flashcards_cardsearch (flashcards_cardsearch, rowid, search_text)
            SELECT 'delete', search_id, old.search_text FROM flashcards_cardsearchkey WHERE card_id = old.card_id;
        DELETE FROM flashcards_cardsearchkey WHERE card_id = old.card_id;
    END
    """,
    """
    CREATE VIEW flashcards_decktag AS
    WITH RECURSIVE number (position) AS (
        SELECT 0 UNION ALL SELECT position + 1 FROM number WHERE position < 199
    )
    SELECT deck.deck_id || ':' || number.position AS deck_tag_id, deck.workspace_id, deck.deck_id,
        (
            WITH RECURSIVE element (position, tag, rest) AS (
                SELECT -1, '', deck.tags
                UNION ALL
                SELECT position + 1, substr(rest, 1, instr(rest, char(1)) - 1), substr(rest, instr(rest, char(1)) + 1)
                FROM element WHERE rest <> '' AND position < number.position
            )
            SELECT replace(replace(tag, char(2, 2), char(1)), char(2, 3), char(2))
            FROM element WHERE position = number.position
        ) AS tag,
        number.position
    FROM flashcards_deck AS deck
    JOIN number ON number.position < length(deck.tags) - length(replace(deck.tags, char(1), ''))
    WHERE deck.deleted_at IS NULL
    """,
]
SQLITE_DOWN = [
    "DROP VIEW flashcards_decktag",
    "DROP TRIGGER card_search_insert",
    "DROP TRIGGER card_search_update",
    "DROP TRIGGER card_search_delete",
    "DROP TABLE flashcards_cardsearch",
    "DROP TABLE flashcards_cardsearchkey",
]
UP = {"postgresql": POSTGRESQL_UP, "sqlite": SQLITE_UP}
DOWN = {"postgresql": POSTGRESQL_DOWN, "sqlite": SQLITE_DOWN}


def create_search(apps, schema_editor) -> None:
    """Make the search index and the view for the database at hand."""
    for statement in UP[schema_editor.connection.vendor]:
        schema_editor.execute(statement, params=None)


def drop_search(apps, schema_editor) -> None:
    """Undo `create_search`; the extension stays."""
    for statement in DOWN[schema_editor.connection.vendor]:
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("flashcards", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="DeckTag",
            fields=[
                ("deck_tag_id", models.TextField(primary_key=True, serialize=False)),
                (
                    "workspace",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="flashcards.workspace",
                    ),
                ),
                (
                    "deck",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="deck_tags",
                        to="flashcards.deck",
                    ),
                ),
                ("tag", flashcards.fields.CodePointTextField()),
                ("position", models.PositiveSmallIntegerField()),
            ],
            options={"managed": False},
        ),
        migrations.RunPython(create_search, drop_search),
    ]
