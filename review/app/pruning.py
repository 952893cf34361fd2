"""What the review app remembers and nobody can use any more."""

from __future__ import annotations

from datetime import datetime

from review.app.models import CandidateSnapshot, ReviewSession


def prune_review_app(*, now: datetime) -> int:
    """Delete offers and sessions whose time is over; returns how many. Reviews stay: they are events of their own."""
    over = (CandidateSnapshot.objects.filter(expires_at__lte=now), ReviewSession.objects.filter(expires_at__lte=now))
    return sum(rows.delete()[1].get(rows.model._meta.label, 0) for rows in over)
