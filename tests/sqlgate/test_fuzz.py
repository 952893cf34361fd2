"""Texts that are nearly statements are answered or refused, never a crash. The long run is tests/sqlgate/fuzz.py."""

from __future__ import annotations

import pytest

from tests.sqlgate.fuzz import fuzz

COUNT = 1500


@pytest.mark.django_db
def test_mutated_statements_are_answered_or_refused_in_the_dialects_own_words():
    report = fuzz(count=COUNT, seed=20261201)
    assert report.faults == []
    assert report.outcomes.total() == COUNT
    assert report.outcomes["answered"] > COUNT // 20
    assert len(report.outcomes) > 12
