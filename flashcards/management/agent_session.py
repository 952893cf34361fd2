"""One agent's session over HTTP, from discovery to a reviewed card; each step shows what went out and came back."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen
from uuid import uuid4

ANSWER_SHOWN_MAX = 400
TEXT_SHOWN_MAX = 120
MAIL_SECONDS_MAX = 10
REQUEST_SECONDS_MAX = 30
CODE_FORM = re.compile(r"^(\d{8})\s*$", re.MULTILINE)
KEY_FORM = re.compile(r"(fca_\w{8}_)\w{26}")


class StepFailed(Exception):
    """A step's answer is not what the step is there to show."""


def expect(holds: bool, otherwise: str) -> None:
    """Fail the step unless `holds`."""
    if not holds:
        raise StepFailed(otherwise)


@dataclass
class Narrator:
    """Numbers the steps and writes them through `write`, one line a call; keys are cut short."""

    write: Callable[[str], None]
    steps: int = field(default=0, init=False)

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """One step; StepFailed from inside leaves with the step's title in its text."""
        self.steps += 1
        self.say(f"\n{self.steps:2}. {title}")
        try:
            yield
        except StepFailed as failure:
            raise StepFailed(f"step {self.steps} ({title}): {failure}") from None

    def sent(self, line: str, body: Any = None) -> None:
        """What goes out."""
        self.say(f"    -> {line}" + (f"  {shortened(body)}" if body is not None else ""))

    def came(self, label: object, body: Any) -> None:
        """What came back."""
        self.say(f"    <- {label} {shortened(body)}")

    def say(self, line: str) -> None:
        """Any other line."""
        self.write(KEY_FORM.sub(r"\1…", line))


def shortened(body: Any) -> str:
    """`body` as JSON of one line, long texts and the end of it cut off."""
    text = json.dumps(_short_texts(body), ensure_ascii=False)
    return text if len(text) <= ANSWER_SHOWN_MAX else f"{text[:ANSWER_SHOWN_MAX]}…"


def _short_texts(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= TEXT_SHOWN_MAX else f"{value[:TEXT_SHOWN_MAX]}…"
    if isinstance(value, Mapping):
        return {key: _short_texts(inner) for key, inner in value.items()}
    return [_short_texts(inner) for inner in value] if isinstance(value, list) else value


@dataclass
class AgentSession:
    """An agent that knows one address, `discovery_url`, and a way to read the mail that the server printed."""

    discovery_url: str
    email: str
    read_mail: Callable[[], str]
    narrator: Narrator
    key: str = field(default="", init=False)

    def run(self) -> dict[str, Any]:
        """Every step in its order; what discovery told. StepFailed at the first that goes wrong."""
        service = self.discover()
        self.sign_in(service["authentication"])
        self.query_and_insert(service["surface"])
        self.review(service["surface"])
        return service

    def discover(self) -> dict[str, Any]:
        """What the service offers and where."""
        with self.narrator.step("Ask the service what it is"):
            service = self.call("GET", self.discovery_url)
            expect(service["service"]["version"] == "v1", "another version than v1")
            return service

    def sign_in(self, authentication: Mapping[str, Any]) -> None:
        """A code by mail, and a key for it."""
        with self.narrator.step("Ask for a sign-in code by mail"):
            before = len(self.read_mail())
            sent = self.call("POST", authentication["sendCodeUrl"], {"email": self.email})
        with self.narrator.step("Read the code from the mail that the server printed"):
            code = self._code_after(before)
            self.narrator.say(f"    the code is {code}")
        with self.narrator.step("Change the code for an API key"):
            body = {"code": code, "otpSessionToken": sent["otpSessionToken"], "label": "demo agent"}
            verified = self.call("POST", authentication["verifyCodeUrl"], body)
            expect(verified["authorizationScheme"] == "ApiKey", "the answer names another scheme")
            self.key = verified["apiKey"]

    def _code_after(self, start: int) -> str:
        deadline = time.monotonic() + MAIL_SECONDS_MAX
        while time.monotonic() < deadline:
            found = CODE_FORM.search(self.read_mail()[start:])
            if found:
                return found[1]
            time.sleep(0.1)
        raise StepFailed("no code was printed")

    def query_and_insert(self, surface: Mapping[str, str]) -> None:
        """SQL both ways: read the deck, add a card."""
        with self.narrator.step("Read cards with SQL"):
            sql = "SELECT front_text, tags FROM cards WHERE tags OVERLAP ('http-everyday') ORDER BY created_at LIMIT 2"
            read = self.call("POST", surface["sqlQueryUrl"], {"sql": sql})
            expect(read["rowCount"] == 2, "the sample deck is not there")
        with self.narrator.step("Add a card with SQL"):
            insert = (
                "INSERT INTO cards (front_text, back_text, tags) VALUES "
                "('Which HTTP method replaces a whole resource, and may be repeated?', 'PUT', ('http', 'methods')) "
                "RETURNING card_id, fsrs_card_state"
            )
            written = self.call("POST", surface["sqlExecuteUrl"], {"sql": insert})
            expect(written["affectedCount"] == 1, "the card was not stored")

    def review(self, surface: Mapping[str, str]) -> None:
        """A card asked, revealed, rated, and its new schedule."""
        with self.narrator.step("Ask for the next card to review"):
            card = self.call("POST", surface["reviewNextUrl"], {"tags": ["http-everyday"]})["card"]
            expect(card is not None and "backText" not in card, "no card, or one with its answer")
        with self.narrator.step("Reveal its answer"):
            revealed = self.call("POST", surface["reviewRevealUrl"], {"cardId": card["cardId"]})
            expect(revealed["backText"] != "", "there is no answer")
        with self.narrator.step("Rate it: Good"):
            rated = {"cardId": card["cardId"], "reviewId": str(uuid4()), "rating": "Good", "reviewedTimeZone": "UTC"}
            reviewed = self.call("POST", surface["reviewSubmitUrl"], rated)
            expect(reviewed["reps"] == 1, "the review was not counted")
        with self.narrator.step("Read its new schedule with SQL"):
            sql = f"SELECT fsrs_card_state, due_at, reps FROM cards WHERE card_id = '{card['cardId']}'"  # noqa: S608
            (row,) = self.call("POST", surface["sqlQueryUrl"], {"sql": sql})["rows"]
            expect(row["due_at"] == reviewed["dueAt"], "the schedule is not the one that the review gave")

    def call(self, method: str, url: str, body: Any = None) -> dict[str, Any]:
        """The `data` of the answer to one request; StepFailed for an error."""
        self.narrator.sent(f"{method} {url}", body)
        status, envelope = self._exchange(method, url, body)
        self.narrator.came(status, envelope["data"] if envelope["ok"] else envelope)
        expect(bool(envelope["ok"]), f"{method} {url} was answered {status}")
        data: dict[str, Any] = envelope["data"]
        return data

    def _exchange(self, method: str, url: str, body: Any) -> tuple[int, dict[str, Any]]:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        headers |= {"Authorization": f"ApiKey {self.key}"} if self.key else {}
        content = json.dumps(body).encode() if body is not None else None
        request = Request(url, content, headers, method=method)  # noqa: S310  the address is the demo server's
        try:
            with urlopen(request, timeout=REQUEST_SECONDS_MAX) as answer:  # noqa: S310
                return answer.status, json.load(answer)
        except HTTPError as error:
            with error:
                return error.code, json.load(error)
        except (URLError, ValueError) as error:
            raise StepFailed(f"{method} {url}: {error}") from None
