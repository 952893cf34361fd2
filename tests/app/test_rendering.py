from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.app.rendering import FORMULA_LENGTH_MAX, is_readable, render_markdown


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**bold** `a<b` ~~old~~", "<p><strong>bold</strong> <code>a&lt;b</code> <s>old</s></p>"),
        ("one\ntwo", "<p>one<br>\ntwo</p>"),
        ("costs $5 and $6", "<p>costs $5 and $6</p>"),
        ("[words](https://example.com) ![alt *text*](p.png)", "<p>words alt text</p>"),
        ("<b onclick=x>hi</b>", "<p>&lt;b onclick=x&gt;hi&lt;/b&gt;</p>"),
        ("```py\nx\n```", "<pre><code>x\n</code></pre>"),
        ("3. c", '<ol start="3">\n<li>c</li>\n</ol>'),
    ],
)
def test_markdown_becomes_html(text: str, html: str) -> None:
    assert render_markdown(text) == html


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        ("$x^2$", "<msup><mi>x</mi><mn>2</mn></msup>"),
        ("$$\\frac{a}{b}$$", "<mfrac>"),
        (r"$\text{a<b&c}$", "a&lt;b&amp;c"),
        (r"$a \pm b$", "<mi>a</mi><mo>±</mo><mi>b</mi>"),
        (r"$a \sim b$", "<mi>a</mi><mo>∼</mo><mi>b</mi>"),
        (r"$a\,b$", '<mi>a</mi><mspace width="0.167em"></mspace><mi>b</mi>'),
        ("$" + "x+" * FORMULA_LENGTH_MAX + "x$", "<code>x+x+"),
    ],
)
def test_formulas_become_mathml_or_stay_readable_source(latex: str, expected: str) -> None:
    assert expected in render_markdown(latex)


@pytest.mark.parametrize("text", ["", "![](x.png)", "---", "\u200b", "&nbsp;", "[](x)"])
def test_a_text_that_shows_nothing_is_not_readable(text: str) -> None:
    assert not is_readable(render_markdown(text))


@pytest.mark.parametrize("text", ["a", "$x$", "![alt](x.png)", "`c`", "1."])
def test_a_text_that_shows_something_is_readable(text: str) -> None:
    assert is_readable(render_markdown(text)) == (text != "1.")


hostile = st.lists(
    st.sampled_from(
        [
            "<script>",
            "</math>",
            "<img src=x onerror=a()>",
            "$",
            "\\href{javascript:a()}{x}",
            "\\text{<svg onload=a()>}",
            "`",
            "[x](javascript:a())",
            "\n",
            "<style>",
            "&lt;",
            "<!--",
            "\\unicode{x3c}",
            "<annotation-xml>",
            "{",
            "}",
            "x",
        ]
    ),
    max_size=12,
).map("".join)

ALLOWED = re.compile(r"</?(m[a-z]+|semantics|p|br|strong|em|s|del|code|pre|[uo]l|li|blockquote|t[a-z]+|hr|h\d)[ >]")


@given(hostile)
def test_no_text_brings_in_an_element_or_address_of_its_own(text: str) -> None:
    html = render_markdown(text)
    for tag in re.findall(r"<[^>]*>", html):
        assert ALLOWED.match(tag), tag
        assert " on" not in tag
        assert "href" not in tag
        assert "src" not in tag
        assert "style=" not in tag
