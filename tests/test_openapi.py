"""The OpenAPI document describes every address, method, argument and answer of the REST API."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
import schemathesis
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from flashcards.openapi import Bases, document
from flashcards.urls import PUBLISHED
from tests.documented import Documented

BASES = Bases("Flashcards", "https://api.example.com", "https://auth.example.com")


@pytest.fixture
def published(db) -> dict[str, Any]:
    """The document as it is served."""
    return Client().get("/v1/openapi.json").json()


def _served_addresses(resolver: URLResolver, prefix: str = "") -> set[str]:
    found: set[str] = set()
    for entry in resolver.url_patterns:
        at = prefix + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(entry.pattern))
        found |= {at} if isinstance(entry, URLPattern) else _served_addresses(entry, at)
    return found


def test_it_is_a_valid_openapi_document(published):
    assert published["openapi"].startswith("3.1.")
    schemathesis.openapi.from_dict(published).validate()


def test_it_is_served_without_envelope_login_or_query(django_assert_num_queries, db):
    with django_assert_num_queries(0):
        answer = Client().get("/v1/openapi.json")
    assert answer["Content-Type"] == "application/json"
    assert answer.json()["info"]["title"] == "Flashcards agent API"
    assert answer.content == Client().get("/v1/agent/openapi.json").content


@pytest.mark.parametrize("address", ["/v1/openapi.json", "/v1/agent/openapi.json"])
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete", "options"])
def test_it_is_served_to_get_alone(method, address):
    answer = getattr(Client(enforce_csrf_checks=True), method)(address)
    assert answer.status_code == 405
    assert answer["Allow"] == "GET, HEAD"
    assert answer.json()["error"]["code"] == "METHOD_NOT_ALLOWED"


def test_it_describes_every_address_that_is_served_and_no_other(published):
    served = {f"/{at}" for at in _served_addresses(get_resolver()) if re.match(r"v1(/|$)|api/", at)}
    assert set(published["paths"]) == served


def test_it_describes_every_method_of_every_route(published):
    for route in PUBLISHED.routes:
        path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route.path)
        assert route.method.lower() in published["paths"][path]


def test_operation_ids_are_unique(published):
    ids = [operation["operationId"] for path in published["paths"].values() for operation in path.values()]
    assert [name for name, count in Counter(ids).items() if count > 1] == []


def test_links_lead_to_operations_and_to_values_that_are_answered(published):
    operations = [operation for path in published["paths"].values() for operation in path.values()]
    ids = {operation["operationId"] for operation in operations}
    answers = [
        a for operation in operations for status, a in operation["responses"].items() if status in ("200", "201")
    ]
    links = [link for answer in answers for link in answer.get("links", {}).values()]
    assert links
    documented = Documented(published)
    assert {link["operationId"] for link in links} <= ids
    for answer in answers:
        for link in answer.get("links", {}).values():
            _, data = answer["content"]["application/json"]["schema"]["allOf"]
            for value in (link.get("requestBody", {}) | link.get("parameters", {})).values():
                part = documented.resolved(data["properties"]["data"])
                for step in value.removeprefix("$response.body#/data/").split("/"):
                    part = documented.resolved(part)["properties"][step]
                    part = next((choice for choice in part.get("anyOf", []) if "$ref" in choice), part)


def test_every_route_documents_the_codes_that_it_declares_and_the_common_ones(published):
    documented = Documented(published)
    for route in PUBLISHED.routes:
        path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route.path)
        common = {
            (404, "NOT_FOUND"),
            (405, "METHOD_NOT_ALLOWED"),
            (500, "INTERNAL_ERROR"),
            (503, "SERVICE_UNAVAILABLE"),
        }
        if route.operation.login:
            common |= {(401, "AUTHENTICATION_REQUIRED"), (401, "AGENT_API_KEY_INVALID")}
        if route.method == "POST":
            common |= {(413, "REQUEST_TOO_LARGE"), (415, "UNSUPPORTED_MEDIA_TYPE")}
        declared = {(int(error.status), error.code) for error in (route.operation.refusal, *route.operation.errors)}
        for status, code in common | declared:
            response = documented.response(route.method, path, status)
            assert code in response["content"]["application/json"]["examples"], (path, code)


def test_arguments_are_described_in_the_place_where_they_are_sent(published):
    guide = published["paths"]["/v1/agent/guide/{topic}"]["get"]
    (topic,) = guide["parameters"]
    assert (topic["name"], topic["in"], topic["required"]) == ("topic", "path", True)
    assert "review_flow" in topic["schema"]["enum"]
    workspaces = published["paths"]["/v1/agent/workspaces"]
    assert {parameter["name"]: parameter["in"] for parameter in workspaces["get"]["parameters"]} == {
        "limit": "query",
        "cursor": "query",
    }
    body = workspaces["post"]["requestBody"]
    assert body["required"] is True
    schema = Documented(published).resolved(body["content"]["application/json"]["schema"])
    assert (list(schema["properties"]), schema["additionalProperties"]) == (["name"], False)
    select = published["paths"]["/v1/agent/workspaces/{workspaceId}/select"]["post"]
    assert [parameter["name"] for parameter in select["parameters"]] == ["workspaceId"]
    assert select["requestBody"]["content"]["application/json"]["schema"]["properties"] == {}


def test_every_body_comes_with_an_example_that_is_accepted(published):
    for path, methods in published["paths"].items():
        body = methods.get("post", {}).get("requestBody")
        if body is None or not body["required"]:
            continue
        example = body["content"]["application/json"]["example"]
        route = next(r for r in PUBLISHED.routes if "/" + r.path == path and r.method == "POST")
        route.operation.params.model_validate(example)


def test_only_operations_that_need_a_caller_ask_for_a_key(published):
    free = {
        path for path, methods in published["paths"].items() if not any(m.get("security") for m in methods.values())
    }
    assert free == {
        "/v1/", "/v1", "/v1/agent/", "/v1/agent", "/v1/openapi.json", "/v1/agent/openapi.json",
        "/api/agent/send-code", "/api/agent/verify-code",
    }  # fmt: skip


def test_sign_in_is_described_at_the_host_that_serves_it():
    made = document(PUBLISHED, BASES)
    assert made["servers"] == [{"url": "https://api.example.com"}]
    assert made["paths"]["/api/agent/send-code"]["servers"] == [{"url": "https://auth.example.com"}]
    assert "servers" not in made["paths"]["/v1/agent/me"]


def test_answers_of_every_get_are_as_described(alice, published):
    documented = Documented(published)
    for path in ("/v1/", "/v1/agent", "/v1/agent/me", "/v1/agent/workspaces", "/v1/agent/guide/review_flow"):
        answer = alice.get(path)
        documented.check("get", path, answer.status, answer.body)
        assert answer.status == 200
