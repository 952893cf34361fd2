"""docs/errors.md lists every error the service can answer, with the recovery that the answers themselves give."""

from __future__ import annotations

from collections import Counter

import flashcards.urls
from flashcards.configuration import ROOT
from flashcards.errors import AppError, error_classes
from flashcards.outcome import as_app_error

PAGE = ROOT / "docs" / "errors.md"


def _row(error: type[AppError]) -> str:
    when = " ".join((error.__doc__ or "").split())
    return f"| `{error.code}` | {int(error.status)} | {when} | {error.advice.rest} | {error.advice.mcp} |"


def _known() -> list[type[AppError]]:
    assert flashcards.urls.PUBLISHED.routes, "every app's errors are imported with its addresses"
    ours = [error for error in error_classes() if not error.__module__.startswith("tests")]
    return sorted(ours, key=lambda error: (error.status, error.code))


def test_the_page_lists_every_error_as_it_is_answered():
    _, table = PAGE.read_text(encoding="utf-8").split("\n## Codes\n")
    listed = [line for line in table.splitlines() if line.startswith("| `")]
    expected = [_row(error) for error in _known()]
    assert listed == expected, "the table of docs/errors.md must be:\n" + "\n".join(expected)


def test_a_code_means_one_thing():
    assert [code for code, count in Counter(error.code for error in _known()).items() if count > 1] == []


def test_every_error_says_how_to_recover_on_both_doors():
    for error in _known():
        for advice in (error.advice.rest, error.advice.mcp):
            assert advice.endswith("."), error
            assert len(advice) < 400, error
        assert "POST /" not in error.advice.mcp, error
        assert "GET /" not in error.advice.mcp, error


def test_an_exception_that_nobody_foresaw_says_nothing_of_itself():
    answered = as_app_error(ZeroDivisionError("the inside"))
    assert (answered.code, answered.status) == ("INTERNAL_ERROR", 500)
    assert "inside" not in answered.message
