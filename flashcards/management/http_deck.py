"""A deck to try the service with: the HTTP status codes, each asked in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

CLASSES = {1: "informational", 2: "success", 3: "redirection", 4: "client-error", 5: "server-error"}
# What an API developer meets every week.
EVERYDAY = frozenset({200, 201, 204, 301, 302, 304, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class DeckCard:
    """`key` stays the same whatever the texts become, so that a second seeding finds the card again."""

    key: str
    front_text: str
    back_text: str
    tags: list[str]


SAVED_DECKS = {
    "HTTP: every day": ["http-everyday"],
    "HTTP: errors": ["client-error", "server-error"],
}


def http_cards() -> list[DeckCard]:
    """Two cards for each status code, the everyday ones first and never a card right before its own reverse."""
    known = [status for status in HTTPStatus if status in MEANINGS]
    everyday, others = ([status for status in known if (status in EVERYDAY) is wanted] for wanted in (True, False))
    pairs = [list(map(_both_directions, part)) for part in (everyday, others)]
    return [pair[direction] for part in pairs for direction in (0, 1) for pair in part]


def _both_directions(status: HTTPStatus) -> tuple[DeckCard, DeckCard]:
    meaning = MEANINGS[status]
    tags = ["http", CLASSES[status // 100], *(["http-everyday"] if status in EVERYDAY else [])]
    number, name = int(status), f"{int(status)} {status.phrase}"
    return (
        DeckCard(
            f"{number}/meaning",
            f"HTTP {number}: what is it called, and what does it say?",
            f"**{status.phrase}**: {meaning}.",
            [*tags, "code-to-meaning"],
        ),
        DeckCard(f"{number}/code", f"Which HTTP status says: {meaning}?", f"**{name}**", [*tags, "meaning-to-code"]),
    )


MEANINGS = {
    100: "the headers are fine, go on and send the body",
    101: "the server changes to the protocol that the Upgrade header asked for",
    102: "a WebDAV request was taken and is still being worked on",
    103: "here are some headers, such as Link preloads, ahead of the final answer",
    200: "the request worked and the answer is in the body",
    201: "a new resource was made, and Location names it",
    202: "the request was taken and will be worked on later",
    203: "it worked, but a proxy changed the answer on its way",
    204: "it worked and there is deliberately no body",
    205: "it worked, now clear the form that the request came from",
    206: "here is only the range of bytes that was asked for",
    207: "one WebDAV answer that holds a status for each of several resources",
    208: "the members of this WebDAV collection were already listed earlier in the same answer",
    226: "the answer is the difference to an earlier version that the client holds",
    300: "there are several representations, choose one",
    301: "the resource moved for good; clients may turn a POST into a GET there",
    302: "the resource is elsewhere for now; clients may turn a POST into a GET there",
    303: "see the result at another address, with GET",
    304: "what you have in your cache is still current",
    305: "obsolete: reach the resource through a proxy",
    307: "the resource is elsewhere for now; repeat the same method there",
    308: "the resource moved for good; repeat the same method there",
    400: "the server cannot make sense of the request as it was sent",
    401: "nobody is signed in; WWW-Authenticate says how to",
    402: "reserved for payments",
    403: "it is known who is asking, and they may not",
    404: "nothing is at this address, or nobody is to know that something is",
    405: "the resource exists but does not take this method; Allow lists those it takes",
    406: "no representation suits the Accept headers",
    407: "the proxy wants the client to sign in first",
    408: "the client took too long to send its request",
    409: "the request clashes with the present state of the resource",
    410: "the resource was here and is gone for good",
    411: "the request must say its Content-Length",
    412: "a condition such as If-Match did not hold",
    413: "the body is larger than the server is willing to read",
    414: "the address is longer than the server is willing to read",
    415: "the body is of a media type that the server does not take",
    416: "the range of bytes that was asked for lies outside of the resource",
    417: "the server cannot meet the Expect header",
    418: "an April joke of 1998: this pot brews tea, not coffee",
    421: "the request reached a server that does not answer for this host",
    422: "the body is well-formed, but its content makes no sense",
    423: "the WebDAV resource is locked",
    424: "this WebDAV action failed because one that it depends on failed",
    425: "a request in early TLS data might be a replay, so it is not worked on",
    426: "change to another protocol; Upgrade names it",
    428: "send a condition such as If-Match, so that no update is lost",
    429: "too many requests in too short a time; Retry-After may say when to come back",
    431: "the header fields are too large",
    451: "it may not be shown for legal reasons",
    500: "the server ran into a fault of its own and has nothing better to say",
    501: "the server does not know this method at all",
    502: "the server behind the proxy gave an answer that makes no sense",
    503: "the server cannot work for the moment, overloaded or in maintenance; Retry-After may say when",
    504: "the server behind the proxy did not answer in time",
    505: "the server does not speak this version of HTTP",
    506: "the server's content negotiation refers to itself, a mistake in its configuration",
    507: "the WebDAV server has no room to store what the request needs",
    508: "the WebDAV server found a loop while it worked on the request",
    510: "obsolete: the request lacks an extension that the server needs",
    511: "sign in to the network first, at a hotel's or airport's portal for instance",
}
