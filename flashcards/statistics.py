"""What the query planner knows about the data."""

from __future__ import annotations

from django.db import connection

from flashcards.models import Card, CardTag

ROWS_WORTH_IT = 1000
SAMPLED_ROWS_MAX = 1000


def refresh_statistics() -> None:
    """Let the planner know how many rows there are and how they differ; takes a fraction of a second at any size.

    SQLite learns it from nobody else, and without it searches a large collection card by card. PostgreSQL's autovacuum
    gets there by itself, a minute later. Below a thousand cards nothing is done: what is known of a few rows misleads
    once there are many.
    """
    if not Card.objects.all()[ROWS_WORTH_IT - 1 : ROWS_WORTH_IT].exists():
        return
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(f"PRAGMA analysis_limit = {SAMPLED_ROWS_MAX}")
            cursor.execute("ANALYZE")
        else:
            cursor.execute(f"ANALYZE {Card._meta.db_table}, {CardTag._meta.db_table}")
