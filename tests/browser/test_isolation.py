"""What neither the page nor a hostile card can do."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.chat import Chat, Learner, guessed_id
from tests.browser.conftest import OpenChat

pytestmark = [pytest.mark.server, pytest.mark.browser]

ATTACKS = (
    "<script>document.title = 'owned'</script>",
    "<img src=x onerror=\"document.title = 'owned'\">",
    "<svg onload=\"document.title = 'owned'\"><a xlink:href='javascript:1'>x</a></svg>",
    "<iframe srcdoc='<script>parent.document.title=1</script>'></iframe>",
    "</p></div><style>*{display:none}</style>",
    "![x](https://example.com/pixel.png) [click](javascript:document.title='owned')",
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_card_text_is_shown_as_text(open_chat: OpenChat, learner: Learner, attack: str) -> None:
    learner.add_card(f"Front {attack}", f"Back {attack}")
    chat = open_chat()
    chat.launch(f"Front {attack}")
    expect(chat.front).to_contain_text("Front")
    chat.button("Show answer").click()
    expect(chat.back).to_contain_text("Back")
    if attack.startswith("<"):
        expect(chat.front).to_contain_text(attack)
        expect(chat.back).to_contain_text(attack)
    faces = chat.view.locator(".face :is(script, img, svg, iframe, style, a, [onerror], [onload])")
    expect(faces).to_have_count(0)
    assert chat.frame.evaluate("document.title") == "Flashcard review"


def test_markup_in_a_reason_and_in_an_error_is_text(open_chat: OpenChat) -> None:
    chat = open_chat()
    chat.launch(selectionReason="<img src=x onerror=alert(1)> & <b>because</b>")
    expect(chat.view.locator(".reason")).to_have_text("<img src=x onerror=alert(1)> & <b>because</b>")
    chat.page.evaluate("""() => {
        chat.bridge.oncalltool = async () => { throw new Error('<img src=x onerror=alert(1)>') };
    }""")
    chat.rate("Good")
    expect(chat.notes).to_contain_text("<img src=x onerror=alert(1)>")


def test_the_network_is_out_of_reach_and_not_tried(chat: Chat) -> None:
    chat.rate("Good")
    expect(chat.front).to_have_text("Chile")
    allowed = (chat.learner.server.url, chat.page.url.removesuffix("host.html"))
    outside = [url for url in chat.requested if not url.startswith(allowed)]
    assert [url.rpartition("/")[2] for url in outside] == ["sandbox.html"]
    reached = chat.frame.evaluate(
        "url => fetch(url).then(() => 'reached', (error) => error.name)", f"{chat.learner.server.url}/healthz"
    )
    assert reached == "TypeError"


def test_even_an_inserted_script_would_not_run(chat: Chat) -> None:
    ran = chat.frame.evaluate("""() => {
        const script = document.createElement('script');
        script.textContent = 'window.ran = true';
        document.body.append(script);
        const image = document.createElement('div');
        image.innerHTML = '<img src="data:,x" onerror="window.ran = true">';
        document.body.append(image);
        return new Promise((resolve) => setTimeout(() => resolve(window.ran === true), 200));
    }""")
    assert ran is False


def view_calls(chat: Chat, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What the host answers when the document of the page asks it for a tool call."""
    message = {"jsonrpc": "2.0", "id": 4711, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    answer: dict[str, Any] = chat.frame.evaluate(
        """message => new Promise((resolve) => {
            addEventListener('message', ({ data }) => data.id === message.id && resolve(data));
            parent.postMessage(message, '*');
        })""",
        message,
    )
    return answer


def test_the_page_may_not_call_a_tool_of_the_model(chat: Chat) -> None:
    expect(chat.front).to_have_text("Peru")
    for tool in ("flashcard_review_session", "no_such_tool"):
        assert "error" in view_calls(chat, tool, {})
    assert chat.read("refused") == ["flashcard_review_session", "no_such_tool"]


def test_a_host_that_forwards_anything_gives_the_page_no_more_than_the_learner_has(chat: Chat) -> None:
    expect(chat.front).to_have_text("Peru")
    chat.page.evaluate("() => { chat.bridge.oncalltool = (params) => chat.client.callTool(params); }")
    answer = view_calls(chat, "flashcard_review_app_action", {"action": "state", "sessionId": guessed_id()})
    assert answer["result"]["isError"]
    session_id = chat.read("result.structuredContent.data.sessionId")
    guessed = {"cardId": chat.learner.cards["Peru"], "reviewId": guessed_id(), "rating": "Easy"}
    sent = {"action": "review_card", "sessionId": session_id, **guessed}
    answer = view_calls(chat, "flashcard_review_app_action", sent)
    assert answer["result"]["structuredContent"]["error"]["code"] == "REVIEW_SESSION_CARD_NOT_FOUND"
    assert chat.learner.reviews() == []


def test_messages_of_other_windows_are_not_heard(chat: Chat) -> None:
    expect(chat.front).to_have_text("Peru")
    chat.frame.evaluate("""() => window.postMessage({
        jsonrpc: '2.0', method: 'ui/notifications/host-context-changed', params: {theme: 'dark'}}, '*')""")
    chat.page.wait_for_timeout(100)
    assert chat.frame.evaluate("document.documentElement.style.colorScheme") == "light"
