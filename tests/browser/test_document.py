"""The page as a document: one file, small, and nothing in it that reaches out."""

from __future__ import annotations

import re

from review.app.page import _SCRIPTS, _SOURCES, PAGE_BYTES_MAX, review_page


def test_it_is_one_document_below_its_limit() -> None:
    page = review_page()
    assert page.startswith("<!doctype html>")
    assert len(page.encode()) < PAGE_BYTES_MAX
    assert page.count("<script>") == page.count("</script>") == page.count("<style>") == page.count("</style>") == 1


def test_it_refers_to_nothing_outside() -> None:
    page = re.sub(r"'sha256-[^']+'", "", review_page())
    assert re.findall(r"https?:|//\w|url\(|@import|\bsrc=|\bhref=", page) == []


def test_it_uses_no_network_no_storage_and_no_eval() -> None:
    forbidden = r"\b(?:fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|eval|Function|import|localStorage|"
    forbidden += r"sessionStorage|indexedDB|cookie|insertAdjacentHTML|outerHTML|document\.write)\b"
    assert re.findall(forbidden, review_page()) == []


def test_only_rendered_faces_are_inserted_as_html() -> None:
    assert re.findall(r".*innerHTML.*", review_page()) == ["if (html) node.innerHTML = html;"]


def test_no_text_of_its_sources_spans_lines_and_their_tags_do_not_close_the_script() -> None:
    for name in _SCRIPTS:
        source = (_SOURCES / name).read_text(encoding="utf-8")
        assert all(line.count("`") % 2 == 0 for line in source.splitlines()), name
        assert "</" not in source, name
