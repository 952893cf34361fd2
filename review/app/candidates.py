"""The cards that a list offers for a review session, kept under a token for ten minutes."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from accounts.credentials import hash_secret
from accounts.models import User
from flashcards.models import Card, Workspace
from review.app.errors import CandidateTokenInvalid
from review.app.models import CandidateSnapshot

TOKEN_BYTES = 24
TOKEN_LIFETIME = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Offer:
    """A token and when its time is over."""

    token: str
    expires_at: datetime


def offer_candidates(cards: Sequence[Card], *, user: User, workspace: Workspace, now: datetime) -> Offer:
    """Keep exactly these cards for `user`; the token, 192 random bits, is stored as a hash alone."""
    offer = Offer(secrets.token_urlsafe(TOKEN_BYTES), now + TOKEN_LIFETIME)
    CandidateSnapshot.objects.create(
        token_hash=hash_secret(offer.token),
        user=user,
        workspace=workspace,
        card_ids=[str(card.card_id) for card in cards],
        created_at=now,
        expires_at=offer.expires_at,
    )
    return offer


def find_candidates(token: str, *, user: User, now: datetime) -> CandidateSnapshot:
    """What the token stands for; CandidateTokenInvalid where it is unknown, another user's, or over."""
    alive = CandidateSnapshot.objects.alive(user, now=now).select_related("workspace")
    # No token of ours has other signs, and a lone surrogate has no hash.
    snapshot = alive.filter(token_hash=hash_secret(token)).first() if token.isascii() else None
    if snapshot is None:
        raise CandidateTokenInvalid("The candidateToken is unknown or its ten minutes are over.")
    return snapshot
