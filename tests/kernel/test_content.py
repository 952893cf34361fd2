"""The rules of content, each once and exactly at its limits."""

from __future__ import annotations

import pytest

from flashcards.content import (
    ContentRefused,
    clean_back_text,
    clean_card_type,
    clean_deck_name,
    clean_front_text,
    clean_tags,
    clean_workspace_name,
    is_blank,
)

NAMES = [clean_deck_name, clean_workspace_name]
TEXTS = [clean_front_text, clean_back_text, *NAMES]


@pytest.mark.parametrize("clean", TEXTS)
def test_text_is_trimmed_and_otherwise_kept_as_sent(clean):
    assert clean("\t\u00a0 Cafe\u0301  é\u200b\n x \r\n") == "Cafe\u0301  é\u200b\n x"


@pytest.mark.parametrize("clean", [clean_front_text, *NAMES])
@pytest.mark.parametrize("blank", ["", "  ", "\u200b", " \u200d\ufeff\t", "\u2060\u00ad", "\u3164", "\U000e0020"])
def test_what_shows_nothing_is_blank(clean, blank):
    with pytest.raises(ContentRefused, match="must not be blank") as refused:
        clean(blank)
    assert refused.value.reason == "blank"


def test_visible_text_with_zero_width_characters_is_not_blank():
    assert not is_blank("\u200ba")
    assert not is_blank("👩\u200d🚀")


def test_back_text_may_be_empty():
    assert clean_back_text("  ") == ""


@pytest.mark.parametrize(
    ("clean", "longest"),
    [(clean_front_text, 20_000), (clean_back_text, 100_000), (clean_deck_name, 200), (clean_workspace_name, 200)],
)
def test_lengths_count_code_points_after_trimming(clean, longest):
    assert len(clean(" " + "🌍" * longest + " ")) == longest
    with pytest.raises(ContentRefused, match=f"longer than {longest:,} characters, has {longest + 1:,}"):
        clean("x" * (longest + 1))


@pytest.mark.parametrize("clean", TEXTS)
def test_nul_and_lone_surrogates_are_refused_by_name(clean):
    with pytest.raises(ContentRefused, match=r"NUL character \(U\+0000\)"):
        clean("a\x00b")
    with pytest.raises(ContentRefused, match=r"lone surrogate \(U\+DFFF\)"):
        clean("a\udfff")


@pytest.mark.parametrize("clean", TEXTS)
@pytest.mark.parametrize("value", [None, 1, ["a"], b"a"])
def test_only_text_is_text(clean, value):
    with pytest.raises(ContentRefused, match="must be text"):
        clean(value)


def test_tags_are_trimmed_and_exact_duplicates_dropped_in_order():
    assert clean_tags([" geo ", "b", "geo", "GEO", "two words"]) == ["geo", "b", "GEO", "two words"]
    assert clean_tags(()) == []


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        (["a", " "], "must not hold a blank tag"),
        (["\u200b"], "must not hold a blank tag"),
        (["x" * 101], "must not hold a tag longer than 100 characters, has one of 101"),
        ([f"tag {n}" for n in range(51)], "must not have more than 50 tags, has 51"),
        (["a\x00"], r"must not contain a NUL character \(U\+0000\)"),
        (["\ud800"], r"must not contain a lone surrogate \(U\+D800\)"),
        ([1], "must hold text only"),
        ("geo", "must be a list of tags"),
        (None, "must be a list of tags"),
    ],
)
def test_wrong_tags_are_refused(tags, message):
    with pytest.raises(ContentRefused, match=message):
        clean_tags(tags)


def test_fifty_tags_remain_after_duplicates_are_dropped():
    assert len(clean_tags([f"tag {n % 50}" for n in range(80)])) == 50
    assert clean_tags(["x" * 100]) == ["x" * 100]


def test_card_types_are_basic_and_cloze():
    assert [clean_card_type(kind) for kind in ("basic", "cloze")] == ["basic", "cloze"]
    for wrong in ("Basic", "", None, ["basic"]):
        with pytest.raises(ContentRefused, match="must be basic or cloze"):
            clean_card_type(wrong)
