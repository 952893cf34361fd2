"""Whatever is wrong with a request: the envelope with a documented 4xx, nothing stored, nothing of the inside shown."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from jsonschema import Draft202012Validator

from flashcards.api import Route
from flashcards.openapi import Bases, document
from flashcards.urls import PUBLISHED
from tests.agent import Agent
from tests.documented import Documented
from tests.factories import make_card

DOCUMENTED = Documented(document(PUBLISHED, Bases("Flashcards", "http://localhost:8000", "http://localhost:8000")))
ROUTES = PUBLISHED.routes
POSTS = [route for route in ROUTES if route.method == "POST"]
GETS = [route for route in ROUTES if route.method == "GET"]
INSIDE = re.compile(
    r"traceback|pydantic|django|psycopg|sqlite|postgres|\blark\b|rest_framework|\.py\b|0x[0-9a-f]{6}", re.I
)
JSON = "application/json"

every_route = pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method}-{route.path}")
every_post = pytest.mark.parametrize("route", POSTS, ids=lambda route: route.path)
every_get = pytest.mark.parametrize("route", GETS, ids=lambda route: route.path)


@dataclass
class Caller:
    """Alice's agent, sending what no client should."""

    agent: Agent

    def address(self, route: Route) -> str:
        """The route's path with valid arguments in it."""
        values = {"workspaceId": str(self.agent.workspace.workspace_id), "topic": "card_authoring"}
        return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda match: values[match[1]], route.path)

    def send(self, route: Route, body: bytes = b"", *, method: str = "", content_type: str = JSON, **more: Any) -> Any:
        """The answer to `body` sent there with Alice's key."""
        headers = {"authorization": f"ApiKey {self.agent.key}"} | more.pop("headers", {})
        return self.agent.client.generic(
            method or route.method, self.address(route), body, content_type=content_type, headers=headers, **more
        )


@pytest.fixture
def caller(alice: Agent) -> Caller:
    """Alice with a card, her key already used."""
    make_card(alice.workspace, tags=["geo"])
    alice.get("/v1/agent/guide/review_flow")
    return Caller(alice)


@contextmanager
def nothing_stored() -> Iterator[None]:
    """Fails the test when any row of any table came, went or changed."""
    before = _everything()
    yield
    assert _everything() == before


def _everything() -> dict[str, list[Any]]:
    return {model._meta.label: list(model._default_manager.order_by("pk").values()) for model in apps.get_models()}


def refused(answer: Any, route: Route | None, *statuses: int) -> dict[str, Any]:
    """The error of an answer that must be a well-formed refusal with one of these statuses."""
    assert answer.status_code in statuses, (answer.status_code, answer.content[:500])
    assert answer["Content-Type"] == JSON
    body = json.loads(answer.content)
    assert set(body) == {"ok", "data", "instructions", "docs", "error", "requestId"}
    assert (body["ok"], body["data"]) == (False, {})
    assert body["instructions"]
    assert body["docs"] == {"discoveryUrl": "http://localhost:8000/v1/"}
    assert body["requestId"] == answer["X-Request-Id"]
    assert re.fullmatch(r"[0-9a-f]{32}", body["requestId"])
    error: dict[str, Any] = body["error"]
    assert set(error) == {"code", "message", "details"}
    assert 0 < len(error["message"]) < 700, error
    assert not INSIDE.search(answer.content.decode()), answer.content
    if route is not None:
        DOCUMENTED.check(route.method, DOCUMENTED_AT[route], answer.status_code, body)
    return error


DOCUMENTED_AT = {route: "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route.path) for route in ROUTES}


def example_of(route: Route) -> dict[str, Any]:
    """A body that the route takes."""
    content = DOCUMENTED.operation("POST", DOCUMENTED_AT[route])["requestBody"]["content"][JSON]
    return dict(content.get("example", {}))


def fields_of(route: Route) -> dict[str, Any]:
    """The schema of each field of the route's body."""
    content = DOCUMENTED.operation("POST", DOCUMENTED_AT[route])["requestBody"]["content"][JSON]
    return dict(DOCUMENTED.resolved(content["schema"])["properties"])


MALFORMED = {
    "not JSON": b'{"sql": ',
    "prose": b"SELECT 1",
    "an array": b"[]",
    "a text": b'"sql"',
    "null": b"null",
    "a number": b"1",
    "single quotes": b"{'sql': 'x'}",
    "a comma too many": b'{"sql": "x",}',
    "something after it": b"{} {}",
    "a control character": b'{"sql": "a\nb"}',
    "NaN": b'{"sql": NaN}',
    "Infinity": b'{"limit": -Infinity}',
    "invalid UTF-8": b'{"sql": "\xff"}',
    "an encoded surrogate": b'{"sql": "\xed\xa0\x80"}',
    "an overlong encoding": b'{"sql": "\xc0\x80"}',
    "UTF-16": '{"sql": "x"}'.encode("utf-16"),
    "a key twice": b'{"sql": "x", "sql": "y"}',
    "a nested key twice": b'{"sql": {"a": 1, "a": 2}}',
    "a surrogate key twice": b'{"\\ud800": 1, "\\ud800": 2}',
    "100,000 brackets": b"[" * 100_000,
    "100,000 braces": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a number of 5,000 digits": b'{"sql": ' + b"9" * 5_000 + b"}",
    "100,000 keys, the last twice": b"{" + b",".join(b'"%d":0' % (n % 99_999) for n in range(100_000)) + b"}",
}


@every_post
def test_a_malformed_body_is_refused(caller, route):
    with nothing_stored():
        for kind, body in MALFORMED.items():
            error = refused(caller.send(route, body), route, 400)
            assert error["code"] == route.operation.refusal.code, kind
            assert error["details"]["validationIssues"][0]["path"] == "body", kind


@every_post
@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp", "json",
     "application/xml", "application/problem+json", "", ";", "application/", "\x7f"],
)  # fmt: skip
def test_a_body_that_is_not_declared_json_is_refused(caller, route, content_type):
    with nothing_stored():
        error = refused(caller.send(route, b'{"a": 1}', content_type=content_type), route, 415)
    assert error["code"] == "UNSUPPORTED_MEDIA_TYPE"


@every_post
@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/json;"])
def test_json_may_be_declared_as_the_rfc_allows(caller, route, content_type):
    error = refused(caller.send(route, b'{"noSuchField": 1}', content_type=content_type), route, 400)
    assert "noSuchField" in error["message"]


@every_post
def test_an_unknown_field_is_refused_by_name(caller, route):
    same = ["workspaceID", "workspace_id", "noSuchField", "__class__", "<b>"]
    shown = dict(zip(same, same, strict=True)) | {
        "a\x00b": "a\\x00b",
        "a\nb\u202e": "a\\nb\\u202e",
        "x" * 500: "x" * 60,
    }
    with nothing_stored():
        for name, path in shown.items():
            body = json.dumps(example_of(route) | {name: "x"}).encode()
            error = refused(caller.send(route, body), route, 400)
            assert error["code"] == route.operation.refusal.code
            (issue,) = error["details"]["validationIssues"]
            assert issue["code"] == "unknown_field", name
            assert issue["path"] == path


@every_post
def test_a_field_whose_name_cannot_be_repeated_is_refused(caller, route):
    with nothing_stored():
        for name in ("", "\ud800", "a\udfff"):
            error = refused(caller.send(route, json.dumps(example_of(route) | {name: "x"}).encode()), route, 400)
            assert error["details"]["validationIssues"][0]["code"] == "unknown_field"


@every_post
def test_of_many_unknown_fields_the_first_are_named(caller, route):
    body = json.dumps(example_of(route) | {f"field{n}": n for n in range(50_000)}).encode()
    issues = refused(caller.send(route, body), route, 400)["details"]["validationIssues"]
    assert [issue["path"] for issue in issues] == [f"field{n}" for n in range(10)]


@every_post
def test_an_argument_in_the_query_of_a_post_is_not_passed_over_in_silence(caller, route):
    body = json.dumps(example_of(route)).encode()
    with nothing_stored():
        answer = caller.send(route, body, query_params={"workspaceId": str(caller.agent.workspace.workspace_id)})
        error = refused(answer, route, 400)
    assert error["details"]["validationIssues"][0] == {
        "path": "workspaceId",
        "code": "misplaced",
        "message": "workspaceId: POST takes its arguments in the body.",
    }


@every_get
def test_an_argument_in_the_body_of_a_get_is_not_passed_over_in_silence(caller, route):
    error = refused(caller.send(route, b'{"limit": 1}'), route, 400)
    assert error["details"]["validationIssues"][0]["code"] == "misplaced"
    refused(caller.send(route, b"{"), route, 400)


@pytest.mark.parametrize(
    "route", [route for route in GETS if route.operation.name != "discover"], ids=lambda route: route.path
)
def test_queries_that_no_form_could_send_are_refused(caller, route):
    strange = ["noSuchArgument=1", "%00=1", "%ff=%fe", "a=1&a=2", "&".join(f"n{n}=1" for n in range(2_000))]
    for query in strange:
        answer = caller.send(route, QUERY_STRING=query)
        assert refused(answer, None, 400)["code"] == "INVALID_REQUEST"


@every_post
def test_a_body_over_the_limit_is_refused_whatever_is_in_it(caller, route):
    with nothing_stored():
        for body in (b'{"sql": "' + b"x" * (1 << 20) + b'"}', b" " * ((1 << 20) + 1), b"\xff" * (2 << 20)):
            assert refused(caller.send(route, body), route, 413)["code"] == "REQUEST_TOO_LARGE"


@every_post
def test_a_body_of_exactly_the_limit_is_read(caller, route):
    body = b'{"noSuchField": 1}'
    error = refused(caller.send(route, body + b" " * ((1 << 20) - len(body))), route, 400)
    assert "noSuchField" in error["message"]


@every_post
def test_an_empty_body_needs_no_content_type(caller, route):
    for body, content_type in ((b"", ""), (b"", "text/plain"), (b"", JSON), (b"  \n", JSON), (b"{}", JSON)):
        answer = caller.send(route, body, content_type=content_type)
        if DOCUMENTED.operation("POST", DOCUMENTED_AT[route])["requestBody"]["required"]:
            issue = refused(answer, route, 400)["details"]["validationIssues"][0]
            assert issue["code"] == "missing_field"
        else:
            assert answer.status_code == 200, answer.content


def methods_of(route: Route) -> set[str]:
    """The methods that the route's path serves."""
    mine = {other.method for other in ROUTES if other.path == route.path}
    return mine | ({"HEAD"} if "GET" in mine else set()) | {"OPTIONS"}


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "SERVE")
REFUSED_METHODS = [(route, method) for route in ROUTES for method in METHODS if method not in methods_of(route)]


@pytest.mark.parametrize(("route", "method"), REFUSED_METHODS, ids=lambda part: getattr(part, "path", part))
def test_another_method_is_405_with_those_that_work(caller, route, method):
    with nothing_stored():
        answer = caller.agent.client.generic(method, caller.address(route))
    assert answer.status_code == 405
    assert set(answer["Allow"].split(", ")) == methods_of(route)
    if method != "HEAD":
        assert refused(answer, route, 405)["code"] == "METHOD_NOT_ALLOWED"


@every_route
def test_options_names_the_methods_without_login(route, caller):
    answer = Client().options(caller.address(route))
    assert answer.status_code == 200
    assert answer.json()["ok"] is True
    assert ", ".join(answer.json()["data"]["methods"]) == answer["Allow"]
    assert route.method in answer["Allow"]


@every_get
def test_head_answers_as_get_without_the_body(caller, route):
    got, head = caller.send(route), caller.send(route, method="HEAD")
    assert (head.status_code, head.content) == (200, b"")
    assert head["Content-Type"] == got["Content-Type"]


@every_route
@pytest.mark.parametrize("host", ["evil.example", "localhost:8000@evil.example", "a b", "testserver/", "[::1"])
def test_a_host_that_is_not_ours_is_refused(caller, route, host):
    with nothing_stored():
        answer = caller.send(route, b"{}" if route.method == "POST" else b"", headers={"host": host})
        assert refused(answer, route, 400)["code"] == "INVALID_REQUEST"


AUTHORIZATIONS = [
    "ApiKey", "ApiKey ", "Bearer x", "Basic YTpi", "fca_00000000_00000000000000000000000000",
    "ApiKey fca_00000000_00000000000000000000000000", "ApiKey fca_\x00", "ApiKey \xff", "ApiKey " + "x" * 9000,
    "ApiKey fco_00000000000000000000000000000000",
]  # fmt: skip


@pytest.mark.parametrize(
    "route", [route for route in ROUTES if route.operation.login], ids=lambda route: f"{route.method}-{route.path}"
)
def test_a_call_without_a_good_key_is_401_before_anything_else_is_looked_at(caller, route):
    with nothing_stored():
        for body in (b"{}", b"not JSON", b"x" * (2 << 20)):
            answer = Client().generic(route.method, caller.address(route), body, content_type="text/plain")
            assert refused(answer, route, 401)["code"] == "AUTHENTICATION_REQUIRED"
            assert answer["WWW-Authenticate"].startswith("ApiKey")
        for authorization in AUTHORIZATIONS:
            answer = caller.send(route, b"{}", headers={"authorization": authorization})
            assert refused(answer, route, 401)["code"] == "AGENT_API_KEY_INVALID", authorization
            assert answer["WWW-Authenticate"].startswith("ApiKey")


UNKNOWN = [
    "/v1/nothing", "/v1/agent/nothing", "/v1//", "/v1/agent/sql", "/v1/agent/sql/query/", "/v1/agent/guide/",
    "/v1/agent/workspaces//select", "/v1/agent/guide/a/b", "/v1/agent/%2e%2e/me", "/v1/agent/m%00e", "/v1/\xff",
    "/v1/%ED%A0%80", "/v1/" + "a" * 5000, "/api/agent/nothing", "/api/agent/", "/api/agent/send-code/", "/api/",
    "/v1/agent/me%0d%0aX-Evil:%201", "/v1/openapi.json/",
]  # fmt: skip


@pytest.mark.parametrize("address", UNKNOWN)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_an_unknown_address_of_the_api_is_404_in_the_envelope(caller, address, method):
    with nothing_stored():
        answer = Client(enforce_csrf_checks=True).generic(method, address, b"{}", content_type=JSON)
    assert refused(answer, None, 404)["code"] == "NOT_FOUND"
    assert "X-Evil" not in answer.headers


@pytest.mark.parametrize("address", ["/v1/agent/me/", "/v1/agent/sql/query/", "/api/agent/send-code//"])
def test_a_slash_too_many_is_answered_with_the_address_that_exists(db, address):
    error = refused(Client().get(address), None, 404)
    assert error["message"] == f"There is nothing at {address}. Did you mean {address.rstrip('/')}?"


@pytest.mark.parametrize("authorization", ["fca_00000000_00000000000000000000000000", "Token x", "Basic YTpi"])
def test_a_key_without_its_scheme_is_answered_with_the_form_that_works(caller, authorization):
    answer = Client().get("/v1/agent/me", headers={"authorization": authorization})
    assert "ApiKey <key>" in refused(answer, None, 401)["message"]
    assert "`Authorization: ApiKey <key>`" in answer.json()["instructions"]
    assert authorization not in answer.content.decode()


NO_TEXT = {"a NUL": "a\x00b", "a lone surrogate": "a\ud800b", "a low surrogate first": "\udc00\ud800"}


def _in_place_of(value: Any, text: str) -> Any:
    return [text] if isinstance(value, list) else text


@every_post
def test_text_that_cannot_be_stored_is_refused_in_every_argument(caller, route):
    with nothing_stored():
        for name in fields_of(route):
            for kind, text in NO_TEXT.items():
                for value in (text, [text]):
                    body = json.dumps(example_of(route) | {name: value}).encode()
                    error = refused(caller.send(route, body), route, 400)
                    assert "\x00" not in error["message"], (name, kind)


TYPES: list[Any] = [None, True, 0, -1, 1.5, 1e999, 10**30, "", " ", "x", [], {}, [None], [[]], [1], {"a": 1}]


def _as_json(value: Any) -> bytes:
    return json.dumps(value).replace("Infinity", "1e999").encode()


@every_post
def test_a_value_of_a_wrong_type_is_refused_by_name(caller, route):
    with nothing_stored():
        for name, schema in fields_of(route).items():
            takes = Draft202012Validator({"components": DOCUMENTED.document["components"], "allOf": [schema]})
            for value in TYPES:
                if takes.is_valid(value):
                    continue
                error = refused(caller.send(route, _as_json(example_of(route) | {name: value})), route, 400)
                issue = error["details"]["validationIssues"][0]
                assert issue["path"].split(".")[0] == name, (name, value, issue)
                wanted = "WORKSPACE_ID_INVALID" if name == "workspaceId" else route.operation.refusal.code
                assert error["code"] == wanted, (name, value)


@every_post
def test_a_malformed_id_is_refused_and_never_guessed_at(caller, route):
    malformed = ["x", "", "{3f2b8c1e-9a4d-4c7b-8f10-2d6e5a90b1c4}", "3f2b8c1e9a4d4c7b8f102d6e5a90b1c4", " ", "0",
                 "urn:uuid:3f2b8c1e-9a4d-4c7b-8f10-2d6e5a90b1c4", "3f2b8c1e-9a4d-4c7b-8f10-2d6e5a90b1c4\n",
                 "３f2b8c1e-9a4d-4c7b-8f10-2d6e5a90b1c4"]  # fmt: skip
    ids = [name for name, schema in fields_of(route).items() if "uuid" in json.dumps(schema)]
    with nothing_stored():
        for name in ids:
            for value in malformed:
                error = refused(caller.send(route, _as_json(example_of(route) | {name: value})), route, 400)
                assert error["details"]["validationIssues"][0]["path"] == name


def test_a_defect_shows_nothing_of_itself_and_everything_in_the_log(caller, monkeypatch, caplog):
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the secret cause")

    monkeypatch.setattr("mcp_bridge.operations.guide_text", broken)
    guide = next(route for route in ROUTES if route.operation.name == "get_guide")
    error = refused(caller.send(guide), guide, 500)
    assert error == {"code": "INTERNAL_ERROR", "message": "Something went wrong on the server.", "details": {}}
    assert "the secret cause" in caplog.text


HOSTILE_HEADERS = {
    "accept": "text/html, */*;q=zzz; \x7f",
    "accept-language": "x" * 5_000 + ", *;q=9, ;;, \xff",
    "accept-encoding": "\xff",
    "accept-charset": "utf-16",
    "cookie": "sessionid=\xff; csrftoken=; django_language=../../etc; =; a=b=c; \x01",
    "content-encoding": "gzip",
    "expect": "200-maybe",
    "if-none-match": "*",
    "if-modified-since": "yesterday",
    "range": "bytes=-1",
    "referer": "javascript:alert(1)",
    "user-agent": "\xff" * 500,
    "x-forwarded-for": "1.2.3.4, ,\xff" + "9" * 3_000,
    "x-forwarded-host": "evil.example",
    "x-http-method-override": "DELETE",
    "x-request-id": "chosen-by-the-client",
    "forwarded": "for=evil;host=evil.example",
    "origin": "null",
}


@pytest.mark.parametrize("name", HOSTILE_HEADERS)
def test_no_header_but_the_documented_ones_changes_an_answer(caller, name):
    me = next(route for route in GETS if route.operation.name == "me")
    usual = caller.send(me)
    with nothing_stored():
        answer = caller.send(me, headers={name: HOSTILE_HEADERS[name]})
    assert (answer.status_code, answer.json()) == (200, usual.json())
    assert answer["Content-Type"] == JSON
    assert answer["X-Request-Id"] != "chosen-by-the-client"


@every_post
def test_a_compressed_body_is_refused_and_not_unpacked(caller, route):
    with nothing_stored():
        refused(caller.send(route, gzip.compress(b"{}"), headers={"content-encoding": "gzip"}), route, 400)
