"""How the page looks and reads: both themes, narrow and wide, with what people have set."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.chat import Chat, Learner
from tests.browser.conftest import OpenChat

pytestmark = [pytest.mark.server, pytest.mark.browser]

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RICH_FRONT = "Solve $ax^2 + bx + c = 0$ for $x$."
RICH_BACK = r"""Completing the square gives

$$x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a} = \frac{-b \pm \sqrt{D}}{2a} = \frac{2c}{-b \mp \sqrt{b^2 - 4ac}}$$

with `b**2 - 4*a*c` and inline $a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q+r+s+t+u+v+w+x+y+z+a+b+c+d+e+f$

```python
def roots(a, b, c):
    return [(-b + sign * (b ** 2 - 4 * a * c) ** 0.5) / (2 * a) for sign in (1, -1)]
```

| Method | Safe | Idempotent | What a client may do after a timeout |
|--|--|--|--|
| GET | yes | yes | retry-at-once-without-asking-anybody |

1. one
2. two

> quoted"""


@pytest.fixture
def axe(packages: Path) -> str:
    """The checker's source."""
    return (packages / "axe-core/axe.min.js").read_text()


def faults(chat: Chat, axe: str) -> list[str]:
    """What the checker has against the page as it stands."""
    chat.frame.evaluate(axe)
    found = chat.frame.evaluate("rules => axe.run(document, {runOnly: rules})", RULES)["violations"]
    return [f"{fault['id']}: {node['html']}" for fault in found for node in fault["nodes"]]


def check(chat: Chat, axe: str) -> None:
    """No fault, nothing to scroll sideways, no target below 44 pixels."""
    chat.page.wait_for_timeout(300)
    assert faults(chat, axe) == []
    assert chat.frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
    small = """[...document.querySelectorAll('button, summary')].filter((node) => {
        const { width, height } = node.getBoundingClientRect(); return width < 44 || height < 44; })
        .map((node) => node.outerHTML)"""
    assert chat.frame.evaluate(small) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [340, 760])
@pytest.mark.parametrize("language", ["en", "zh", "ru"])
def test_every_screen_can_be_read_and_used_by_everybody(
    open_chat: OpenChat, learner: Learner, axe: str, *, theme: str, width: int, language: str
) -> None:
    learner.speak(language)
    learner.add_card(RICH_FRONT, RICH_BACK)
    chat = open_chat(theme=theme, width=width, message="refuse")
    chat.launch(RICH_FRONT, "Peru", selectionReason="Because of this and that. " * 10)
    expect(chat.view.locator(".show")).to_be_visible()
    check(chat, axe)
    chat.view.locator("summary").click()
    # The frame grows with what opens, and a press at that moment would miss a button that moves.
    check(chat, axe)
    chat.view.locator(".show").click()
    expect(chat.view.locator(".Hard")).to_be_visible()
    check(chat, axe)
    chat.fail_next("lost")
    chat.view.locator(".Hard").click()
    expect(chat.view.locator(".retry")).to_be_visible()
    check(chat, axe)
    chat.view.locator(".retry").click()
    expect(chat.front).to_have_text("Peru")
    check(chat, axe)
    chat.view.locator(".skip").click()
    expect(chat.view.locator("h1")).to_be_visible()
    check(chat, axe)
    chat.view.locator(".ask").click()
    expect(chat.view.locator("textarea")).to_be_visible()
    check(chat, axe)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_failed_launch_can_be_read_by_everybody(open_chat: OpenChat, axe: str, theme: str) -> None:
    chat = open_chat(theme=theme, width=340)
    chat.launch(candidateToken="spent")
    expect(chat.view.locator("h1")).to_be_visible()
    check(chat, axe)


@pytest.mark.parametrize(("theme", "paper"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(31, 31, 30)")])
def test_the_theme_is_the_hosts_whatever_the_system_prefers(open_chat: OpenChat, theme: str, paper: str) -> None:
    chat = open_chat(theme=theme, emulated={"color_scheme": "light" if theme == "dark" else "dark"})
    chat.launch()
    expect(chat.front).to_be_visible()
    assert chat.frame.evaluate("getComputedStyle(document.documentElement).backgroundColor") == paper


def test_the_colours_and_the_type_are_the_hosts_and_follow_its_changes(open_chat: OpenChat) -> None:
    chat = open_chat(variables={"--color-background-primary": "light-dark(#fafafa, #101010)", "--font-sans": "Georgia"})
    chat.launch()
    expect(chat.front).to_be_visible()
    background = "getComputedStyle(document.documentElement).backgroundColor"
    assert chat.frame.evaluate(background) == "rgb(250, 250, 250)"
    assert chat.frame.evaluate("getComputedStyle(document.body).fontFamily") == "Georgia"
    chat.page.evaluate("chat.bridge.setHostContext({ ...chat.context(), theme: 'dark' })")
    chat.frame.wait_for_function(f"{background} === 'rgb(16, 16, 16)'")


@pytest.mark.parametrize("width", [340, 760])
def test_nothing_jumps_while_it_loads_or_when_the_answer_is_shown(open_chat: OpenChat, width: int) -> None:
    chat = open_chat(width=width, variables={"--font-sans": "Liberation Sans"})
    chat.page.evaluate("args => { chat.launcher = chat.tools.get('flashcard_review_session'); chat.args = args; }", {})
    chat.page.evaluate("chat.mount()")
    chat.page.wait_for_timeout(200)
    height = "document.body.getBoundingClientRect().height"
    top = "document.querySelector('.front').getBoundingClientRect().top"
    answers = "document.querySelector('.answers').getBoundingClientRect().top"
    loading = chat.frame.evaluate(height)
    chat.launch(selectionReason="Oldest first.")
    expect(chat.front).to_be_visible()
    prompt = [chat.frame.evaluate(script) for script in (height, top, answers)]
    assert prompt[0] == loading
    chat.button("Show answer").click()
    assert [chat.frame.evaluate(script) for script in (height, top, answers)] == prompt
    chat.button("Good").click()
    expect(chat.front).to_have_text("Chile")
    assert [chat.frame.evaluate(script) for script in (height, top, answers)] == prompt


@pytest.mark.parametrize("language", ["en", "zh", "ru"])
def test_no_rating_is_broken_within_its_word(open_chat: OpenChat, learner: Learner, language: str) -> None:
    learner.speak(language)
    chat = open_chat(width=340)
    chat.launch("Peru")
    broken = """(selector) => [...document.querySelectorAll(selector)].filter((node) => {
        const range = document.createRange(); range.selectNodeContents(node.lastChild);
        return new Set([...range.getClientRects()].map((line) => Math.round(line.top))).size > 1; })
        .map((node) => node.textContent)"""
    chat.view.locator(".show").click()
    expect(chat.view.locator(".rating")).to_have_count(4)
    assert chat.frame.evaluate(broken, ".rating b") == []
    chat.view.locator(".Good").click()
    expect(chat.view.locator(".counts li")).to_have_count(4)
    assert chat.frame.evaluate(broken, ".counts li") == []


def test_motion_is_only_for_those_who_want_it(open_chat: OpenChat) -> None:
    moving = """() => ['.back', '.bar i', 'button'].map((name) => getComputedStyle(document.querySelector(name)))
        .some((style) => style.animationName !== 'none' || parseFloat(style.transitionDuration) > 0)"""
    for preference, expected in (("reduce", False), ("no-preference", True)):
        chat = open_chat(emulated={"reduced_motion": preference})
        chat.launch()
        chat.button("Show answer").click()
        assert chat.frame.evaluate(moving) is expected


def test_forced_colours_keep_the_buttons_and_the_progress_visible(open_chat: OpenChat) -> None:
    chat = open_chat(emulated={"forced_colors": "active"})
    chat.launch()
    chat.rate("Good")
    expect(chat.front).to_have_text("Chile")
    style = "(selector) => getComputedStyle(document.querySelector(selector))"
    fill, ground = (chat.frame.evaluate(f"({style})('{name}').backgroundColor") for name in (".bar i", ".bar"))
    assert fill != ground
    assert chat.frame.evaluate(f"({style})('.show').borderTopStyle") == "solid"


@pytest.mark.parametrize(("front", "direction"), [("مرحبا", "rtl"), ("Hello", "ltr")])
def test_a_face_reads_in_the_direction_of_its_text(
    open_chat: OpenChat, learner: Learner, front: str, direction: str
) -> None:
    learner.add_card(front, "hello")
    chat = open_chat()
    chat.launch(front)
    expect(chat.front).to_have_text(front)
    assert chat.frame.evaluate("getComputedStyle(document.querySelector('.front')).direction") == direction


def test_formulas_and_code_wider_than_the_card_scroll_in_themselves(open_chat: OpenChat, learner: Learner) -> None:
    learner.add_card(RICH_FRONT, RICH_BACK)
    chat = open_chat(width=340)
    chat.launch(RICH_FRONT)
    chat.button("Show answer").click()
    wide = chat.view.locator(".back [tabindex='0']")
    expect(wide).to_have_count(4)
    assert chat.frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
