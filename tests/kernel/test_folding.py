"""Folding: one code point to one, for every code point there is."""

from __future__ import annotations

import sys

from flashcards.folding import fold


def test_every_code_point_folds_to_its_lower_case_where_that_is_one_code_point():
    every = "".join(map(chr, range(0x80, sys.maxunicode + 1)))
    assert fold(every) == "".join(char.lower() if len(char.lower()) == 1 else char for char in every)


def test_lengths_survive():
    for text in ("İSTANBUL", "Straße", "ǅ", "ΣΊΣΥΦΟΣ", "👩\u200d🚀"):
        assert len(fold(text)) == len(text)
