from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flashcards.fields import decode_tags, encode_tag, encode_tags
from flashcards.folding import fold

tag = st.text(st.sampled_from("\x01\x02\x03\x04aB é"), min_size=1, max_size=5)
tags = st.lists(tag, max_size=4)


@given(tags)
def test_tags_come_back_as_they_were_stored(value: list[str]) -> None:
    assert decode_tags(encode_tags(value)) == value


@given(tags, tags)
def test_stored_tags_order_as_lists_do(one: list[str], other: list[str]) -> None:
    assert (encode_tags(one) < encode_tags(other)) == (one < other)


@given(tags, tag)
def test_a_tag_is_found_in_the_stored_text_when_and_only_when_it_is_an_element(value: list[str], sought: str) -> None:
    assert (("\x01" + encode_tag(sought)) in ("\x01" + encode_tags(value))) == (sought in value)


@given(st.text())
def test_folding_keeps_length_and_is_idempotent(text: str) -> None:
    assert len(fold(text)) == len(text)
    assert fold(fold(text)) == fold(text)


def test_folding_leaves_alone_what_has_no_single_lower_case() -> None:
    assert fold("İI Straße ΣΑΣ ＡＢ") == "İi straße σασ ａｂ"
