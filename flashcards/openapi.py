"""The OpenAPI 3.1 document of the REST API, generated from its routes and from the models that check its requests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from typing import Any, NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from flashcards.api import AnyOperation, Route, error_response, serialised
from flashcards.envelope import Surface, render
from flashcards.errors import (
    AppError,
    CommitOutcomeUnknown,
    Forbidden,
    InputRefused,
    InternalError,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    RateLimited,
    RequestTooLarge,
    ServiceUnavailable,
    UnsupportedMediaType,
    WorkspaceIdInvalid,
)
from flashcards.openapi_components import (
    DESCRIPTION,
    ENVELOPES,
    HEADERS,
    HEADERS_AT,
    LINKS,
    SECURITY_SCHEMES,
    TAGS,
    JsonObject,
)
from flashcards.operation import Effect, WorkspaceParams

_PLACEHOLDER = re.compile(r"<(?:\w+:)?(\w+)>")
_SCHEMA_AT = "#/components/schemas/{model}"
_SUCCESS: JsonObject = {"$ref": "#/components/schemas/Envelope"}
_FAILURE: JsonObject = {"$ref": "#/components/schemas/ErrorEnvelope"}
_EVERYWHERE: tuple[type[AppError], ...] = (
    InvalidRequest,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    RateLimited,
    InternalError,
    ServiceUnavailable,
)
_WITH_BODY: tuple[type[AppError], ...] = (RequestTooLarge, UnsupportedMediaType)


@dataclass(frozen=True, slots=True)
class Published:
    """What the document describes: the routes, and the errors that follow from needing a caller or a workspace."""

    routes: tuple[Route, ...]
    login_errors: tuple[type[AppError], ...]
    workspace_errors: tuple[type[AppError], ...]


class Bases(NamedTuple):
    """The part of the document that is a matter of settings."""

    service_name: str
    api: str
    auth: str


def openapi_view(published: Published) -> Callable[[HttpRequest], HttpResponse]:
    """A view that serves the document, without an envelope, to GET alone."""

    @csrf_exempt
    def openapi(request: HttpRequest) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            return error_response(MethodNotAllowed("This path takes GET.", headers={"Allow": "GET, HEAD"}))
        bases = Bases(settings.SERVICE_NAME, settings.PUBLIC_API_BASE_URL, settings.PUBLIC_AUTH_BASE_URL)
        return HttpResponse(_serialised(published, bases), content_type="application/json")

    return openapi


@lru_cache(maxsize=4)
def _serialised(published: Published, bases: Bases) -> bytes:
    return serialised(document(published, bases))


def document(published: Published, bases: Bases) -> JsonObject:
    """The whole document as plain JSON."""
    errors = {error.code: error for route in published.routes for error in _errors_of(route, published)}
    schemas = _Schemas(published.routes)
    paths: dict[str, JsonObject] = {}
    for address, route, number in _addresses(published.routes):
        entry = paths.setdefault(address, _servers(address, bases))
        entry[route.method.lower()] = _operation(route, number, published, schemas)
    for number, address in enumerate(("/v1/openapi.json", "/v1/agent/openapi.json"), 1):
        paths[address] = {"get": _document_operation("openapi" if number == 1 else f"openapi_{number}")}
    return {
        "openapi": "3.1.1",
        "info": {"title": f"{bases.service_name} agent API", "version": "v1", "description": DESCRIPTION},
        "servers": [{"url": bases.api}],
        "tags": [{"name": name, "description": text} for _, name, text in TAGS if text],
        "security": [],
        "paths": paths,
        "components": {
            "securitySchemes": SECURITY_SCHEMES,
            "headers": HEADERS,
            "schemas": ENVELOPES | schemas.components,
            "responses": _error_responses(published),
            "examples": {code: _error_example(error, bases) for code, error in sorted(errors.items())},
        },
    }


def _addresses(routes: Iterable[Route]) -> Iterable[tuple[str, Route, int]]:
    """Every address with its route, and the how many-th address of that operation it is."""
    counted: Counter[str] = Counter()
    for route in routes:
        both = [route.path, route.path.rstrip("/")] if route.either_slash else [route.path]
        for path in both:
            counted[route.operation.name] += 1
            yield "/" + _PLACEHOLDER.sub(r"{\1}", path), route, counted[route.operation.name]


def _servers(address: str, bases: Bases) -> JsonObject:
    return {"servers": [{"url": bases.auth}]} if address.startswith("/api/") and bases.auth != bases.api else {}


class _Schemas:
    """The schemas of all models, under one name each however many operations share it."""

    def __init__(self, routes: Iterable[Route]) -> None:
        wanted: list[tuple[type[BaseModel], JsonSchemaMode]] = []
        for route in routes:
            wanted.append((route.operation.data, "serialization"))
            if _body_is_params(route):
                wanted.append((route.operation.params, "validation"))
        self._references, defined = models_json_schema(list(dict.fromkeys(wanted)), ref_template=_SCHEMA_AT)
        self.components: JsonObject = defined.get("$defs", {})

    def data(self, operation: AnyOperation) -> JsonObject:
        """A reference to the schema of the operation's data."""
        return dict(self._references[operation.data, "serialization"])

    def body(self, route: Route) -> JsonObject:
        """The schema of the route's body: its arguments without those that stand in the path."""
        if _body_is_params(route):
            return dict(self._references[route.operation.params, "validation"])
        whole = route.operation.input_schema()
        in_path = _PLACEHOLDER.findall(route.path)
        properties = {name: schema for name, schema in whole.get("properties", {}).items() if name not in in_path}
        required = [name for name in whole.get("required", []) if name not in in_path]
        return {
            "type": "object",
            "properties": properties,
            "additionalProperties": False,
            **({"required": required} if required else {}),
        }


def _body_is_params(route: Route) -> bool:
    return route.method != "GET" and not _PLACEHOLDER.search(route.path)


def _operation(route: Route, number: int, published: Published, schemas: _Schemas) -> JsonObject:
    operation = route.operation
    described: JsonObject = {
        "operationId": operation.name if number == 1 else f"{operation.name}_{number}",
        "summary": operation.title,
        "description": operation.description,
        "tags": [next(name for prefix, name, _ in TAGS if route.path.startswith(prefix))],
        "security": [{"apiKey": []}, {"bearer": []}] if operation.login else [],
        "responses": _responses(route, published, schemas),
    }
    parameters = _parameters(route)
    described |= {"parameters": parameters} if parameters else {}
    return described | ({"requestBody": _request_body(route, schemas)} if route.method != "GET" else {})


def _parameters(route: Route) -> list[JsonObject]:
    schema = route.operation.input_schema()
    in_path = _PLACEHOLDER.findall(route.path)
    in_query = [name for name in schema.get("properties", {}) if name not in in_path] if route.method == "GET" else []
    required = schema.get("required", [])
    places = [(name, "path") for name in in_path] + [(name, "query") for name in in_query]
    return [
        _parameter(name, place, schema["properties"][name], required=place == "path" or name in required)
        for name, place in places
    ]


def _parameter(name: str, place: str, schema: Mapping[str, Any], *, required: bool) -> JsonObject:
    description = schema.get("description", "")
    plain = {key: value for key, value in schema.items() if key not in ("title", "description")}
    choices = [choice for choice in plain.get("anyOf", []) if choice != {"type": "null"}]
    if len(choices) == 1:
        # An address has no null: what may be null may be left out.
        plain = choices[0] | {key: value for key, value in plain.items() if key != "anyOf" and value is not None}
    return {"name": name, "in": place, "required": required, "description": description, "schema": plain}


def _request_body(route: Route, schemas: _Schemas) -> JsonObject:
    fields = route.operation.params.model_fields
    in_path = _PLACEHOLDER.findall(route.path)
    named = {field.alias or name: field for name, field in fields.items() if (field.alias or name) not in in_path}
    example = {name: field.examples[0] for name, field in named.items() if field.examples}
    content: JsonObject = {"schema": schemas.body(route)}
    content |= {"example": example} if example else {}
    return {
        "required": any(field.is_required() for field in named.values()),
        "content": {"application/json": content},
    }


def _responses(route: Route, published: Published, schemas: _Schemas) -> JsonObject:
    data = {"allOf": [_SUCCESS, _property("data", schemas.data(route.operation))]}
    links = LINKS.get(route.operation.name)
    success = _response("The outcome, and what to do next.", data) | ({"links": links} if links else {})
    return {
        str(int(route.status)): success,
        **{
            str(status): {"$ref": f"#/components/responses/{_response_name(errors)}"}
            for status, errors in _by_status(route, published)
        },
    }


def _by_status(route: Route, published: Published) -> list[tuple[int, list[type[AppError]]]]:
    by_status: dict[int, list[type[AppError]]] = {}
    for error in sorted(_errors_of(route, published), key=lambda error: error.code):
        by_status.setdefault(int(error.status), []).append(error)
    return sorted(by_status.items())


def _response_name(errors: list[type[AppError]]) -> str:
    return ".".join(error.code for error in errors)


def _error_responses(published: Published) -> JsonObject:
    """Every set of errors that some route answers with one status, once."""
    found = {
        _response_name(errors): (status, errors)
        for route in published.routes
        for status, errors in _by_status(route, published)
    }
    return {name: _error_response(status, errors) for name, (status, errors) in sorted(found.items())}


def _errors_of(route: Route, published: Published) -> list[type[AppError]]:
    """Every error that the route may answer, each once: its own and those that follow from its kind."""
    operation = route.operation
    in_workspace = issubclass(operation.params, WorkspaceParams)
    names_workspace = in_workspace or "workspaceId" in operation.input_schema().get("properties", {})
    return list(
        dict.fromkeys(
            (
                operation.refusal,
                *operation.errors,
                *((WorkspaceIdInvalid,) if names_workspace else ()),
                *(published.workspace_errors if in_workspace else ()),
                *(published.login_errors if operation.login else ()),
                *(_WITH_BODY if route.method != "GET" else ()),
                *((CommitOutcomeUnknown,) if operation.effect is not Effect.READ else ()),
                *_EVERYWHERE,
            )
        )
    )


def _error_response(status: int, errors: list[type[AppError]]) -> JsonObject:
    codes = [error.code for error in errors]
    examples = {code: {"$ref": f"#/components/examples/{code}"} for code in codes}
    text = " ".join(f"`{error.code}`: {_when(error)}" for error in errors)
    return _response(
        f"{HTTPStatus(status).phrase}. {text}",
        {"allOf": [_FAILURE, _property("error", _property("code", {"enum": codes}))]},
        examples=examples,
        headers=HEADERS_AT.get(status, ()),
    )


def _property(name: str, schema: Mapping[str, Any]) -> JsonObject:
    return {"type": "object", "properties": {name: dict(schema)}}


def _response(
    description: str, schema: JsonObject, *, examples: JsonObject | None = None, headers: Iterable[str] = ()
) -> JsonObject:
    names = ("X-Request-Id", *headers)
    content = {"schema": schema, **({"examples": examples} if examples else {})}
    return {
        "description": description,
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in names},
        "content": {"application/json": content},
    }


def _when(error: type[AppError]) -> str:
    return " ".join((error.__doc__ or "").split())


def _error_example(error: type[AppError], bases: Bases) -> JsonObject:
    made = error("What is wrong, in one sentence.")
    rendered = render(made, surface=Surface.REST, discovery_url=f"{bases.api}/v1/", request_id="0" * 32)
    if issubclass(error, InputRefused):
        issue = {"path": "where", "code": "reason", "message": made.message}
        rendered.body["error"]["details"]["validationIssues"] = [issue]
    return {"summary": _when(error), "value": rendered.body}


def _document_operation(operation_id: str) -> JsonObject:
    return {
        "operationId": operation_id,
        "summary": "This document",
        "description": "The one answer of the API that has no envelope.",
        "tags": ["Discovery"],
        "security": [],
        "responses": {"200": _response("An OpenAPI 3.1 document.", {"type": "object", "required": ["openapi"]})},
    }
