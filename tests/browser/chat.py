"""The chat app of `host/`, as the tests drive it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self
from uuid import uuid4

from playwright.sync_api import Browser, Frame, Locator, Page, expect

from tests.browser.console import Console
from tests.oauth.live import LiveBrowser, live_app
from tests.server import LiveServer

RATINGS = ("Again", "Hard", "Good", "Easy")
REASON = "Oldest reviews first, one from each topic."


@dataclass(frozen=True)
class Sites:
    """Where the chat app and its sandbox are served."""

    chat: str
    sandbox: str


@dataclass
class Learner:
    """A user of the running server with a key, and what they do outside of the chat."""

    server: LiveServer
    console: Console
    email: str
    key: str
    cards: dict[str, str] = field(default_factory=dict)

    @cached_property
    def browser(self) -> LiveBrowser:
        """The browser in which they are signed in."""
        return LiveBrowser(self.server, self.email)

    def sql(self, text: str) -> dict[str, Any]:
        """The data of one SQL statement that must succeed."""
        word = "query" if text.startswith("SELECT") else "execute"
        data: dict[str, Any] = self.server.request("POST", f"/v1/agent/sql/{word}", {"sql": text}, key=self.key).data
        return data

    def add_card(self, front: str, back: str) -> str:
        """The id of a new card; later ones come after it in the queue."""
        values = ", ".join("'" + text.replace("'", "''") + "'" for text in (front, back))
        self.sql(f"INSERT INTO cards (front_text, back_text) VALUES ({values})")
        rows = self.sql("SELECT card_id FROM cards ORDER BY created_at DESC LIMIT 1")["rows"]
        self.cards[front] = rows[0]["card_id"]
        return self.cards[front]

    def delete_card(self, front: str) -> None:
        """Delete one of their cards."""
        self.sql(f"DELETE FROM cards WHERE card_id = '{self.cards[front]}'")

    def speak(self, locale: str) -> None:
        """Choose a language, as in the settings."""
        self.console.evaluate(f"User.objects.filter(email={self.email!r}).update(locale={locale!r})")

    def allow(self, **choice: str) -> None:
        """Save the settings page of the app with these boxes ticked: `enabled`, `may_rate`."""
        path = "/settings/apps/"
        assert self.browser.press(path, self.browser.get(path), **choice).status_code == 303

    def read_only_token(self) -> str:
        """The access token of a client that they allowed to read."""
        return self.browser.connect(live_app(self.server), asked={"scope": "flashcards:read"}).access

    def expire(self, model: str) -> None:
        """Let the time of their `CandidateSnapshot` or `ReviewSession` be over."""
        over = "timezone.now() - timedelta(seconds=1)"
        self.console.evaluate(f"{model}.objects.filter(user__email={self.email!r}).update(expires_at={over})")

    def age_reviews(self, minutes: int) -> None:
        """Let their reviews be that much older."""
        older = f"F('reviewed_at_server') - timedelta(minutes={minutes})"
        mine = f"filter(card_id__in={list(self.cards.values())!r})"
        self.console.evaluate(f"ReviewEvent.objects.{mine}.update(reviewed_at_server={older})")

    def reviews(self) -> list[tuple[str, int]]:
        """The stored reviews, oldest first: the front of the card, and the rating from 0 to 3."""
        fronts = {card_id: front for front, card_id in self.cards.items()}
        rows = self.sql("SELECT card_id, rating FROM review_events ORDER BY reviewed_at_server LIMIT 100")["rows"]
        return [(fronts[row["card_id"]], row["rating"]) for row in rows]


class Chat:
    """One conversation in one browser window."""

    def __init__(self, page: Page, learner: Learner) -> None:
        self.page, self.learner = page, learner
        self.errors: list[str] = []
        self.requested: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requested.append(request.url))
        self.view = page.frame_locator("iframe").frame_locator("iframe")

    @classmethod
    def opened(cls, browser: Browser, sites: Sites, learner: Learner, *, width: int = 760, **options: Any) -> Self:
        """A conversation; `options` are those of `Chat.connect` in host.js, `emulated` those of the browser window."""
        emulated = {"locale": "en-US", "timezone_id": "Asia/Tokyo", **options.pop("emulated", {})}
        context = browser.new_context(viewport={"width": width, "height": 900}, **emulated)
        if options.get("clipboard"):
            context.grant_permissions(["clipboard-read"])
        chat = cls(context.new_page(), learner)
        chat.page.goto(sites.chat)
        given = {"mcp": f"{learner.server.url}/mcp", "key": learner.key, "sandbox": sites.sandbox, **options}
        chat.revision = chat.page.evaluate("options => chat.connect(options)", given)
        return chat

    revision: str

    def read(self, name: str) -> Any:
        """What the chat app noted: `sent`, `calls`, `refused`, `messages`, `links`, `tools`."""
        return self.page.evaluate(f"chat.{name}")

    def candidates(self) -> dict[str, Any]:
        """What the model gets to choose from."""
        data: dict[str, Any] = self.page.evaluate("chat.candidates()")
        return data

    def launch(self, *fronts: str, **arguments: Any) -> dict[str, Any]:
        """Open a review of these cards, or of all; `arguments` replace those that a model would send."""
        cards = [self.learner.cards[front] for front in fronts or self.learner.cards]
        given = {"cards": [{"cardId": card_id} for card_id in cards], "selectionReason": REASON, **arguments}
        if "candidateToken" not in given:
            given["candidateToken"] = self.candidates()["candidateToken"]
        result: dict[str, Any] = self.page.evaluate("args => chat.launch(args)", given)
        return result

    def fail_next(self, *faults: str | None) -> None:
        """Let the next calls of the page go wrong as host.js says."""
        self.page.evaluate("faults => { chat.faults = faults; }", list(faults))

    @property
    def frame(self) -> Frame:
        """The document of the page itself."""
        return next(frame for frame in self.page.frames if frame.parent_frame and frame.parent_frame.parent_frame)

    def button(self, name: str) -> Locator:
        """The button that begins with that word."""
        return self.view.get_by_role("button", name=name)

    @property
    def front(self) -> Locator:
        """The prompt."""
        return self.view.locator(".front")

    @property
    def count(self) -> Locator:
        """Which card of how many it is."""
        return self.view.locator(".count")

    @property
    def notes(self) -> Locator:
        """What the page says under the buttons."""
        return self.view.locator(".notes")

    @property
    def back(self) -> Locator:
        """The answer."""
        return self.view.locator(".back")

    def settle(self) -> None:
        """Wait until the chat app has given the page the height that it asked for."""
        expect(self.page.locator("iframe")).to_have_js_property(
            "offsetHeight", self.frame.evaluate("Math.ceil(document.body.getBoundingClientRect().height)")
        )

    def rate(self, rating: str) -> None:
        """Show the answer and rate it, with the mouse."""
        self.button("Show answer").click()
        self.button(rating).click()

    def rate_all(self, *ratings: str) -> None:
        """Rate the cards that are left, to the summary."""
        for rating in ratings:
            self.rate(rating)
        expect(self.view.get_by_role("heading", name="Round finished")).to_be_visible()

    def saved_ratings(self) -> list[dict[str, Any]]:
        """The rating calls of the page that the chat app let through."""
        return [call for call in self.read("calls") if call["action"] == "review_card"]


def guessed_id() -> str:
    """An id that nobody has."""
    return str(uuid4())
