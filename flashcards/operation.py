"""An operation is one thing an agent can do: declared once, with its arguments as a model, and served twice.

`flashcards.api` serves it over REST and `mcp_bridge` as a tool; both call `flashcards.outcome.perform`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Generic, Protocol, TypeVar
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel

from flashcards.envelope import Reply, Surface
from flashcards.errors import AppError, InputRefused, InvalidRequest

_UUID_FORM = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def parse_uuid(value: object) -> UUID:
    """The UUID that a text of the hyphenated form means; ValueError for anything else."""
    if isinstance(value, UUID):
        return value
    if isinstance(value, str) and _UUID_FORM.fullmatch(value):
        return UUID(value)
    raise ValueError("must be a UUID such as 3f2b8c1e-9a4d-4c7b-8f10-2d6e5a90b1c4")


UuidText = Annotated[UUID, BeforeValidator(parse_uuid), WithJsonSchema({"type": "string", "format": "uuid"})]


class Params(BaseModel):
    """Arguments of an operation: camelCase on the wire, unknown names refused, nothing coerced."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, alias_generator=to_camel, validate_by_name=False
    )


class Data(BaseModel):
    """The shape of a success's `data`, published in OpenAPI and as a tool's output; unknown keys are welcome later."""

    model_config = ConfigDict(alias_generator=to_camel)


class NoParams(Params):
    """An operation without arguments."""


class WorkspaceParams(Params):
    """Arguments of an operation that works in one workspace."""

    workspace_id: UuidText | None = Field(
        None,
        description="The workspace to work in, for this call alone. Left out: the one selected for this connection.",
    )


class Scope(StrEnum):
    """What a caller may be allowed to do."""

    ALL = "flashcards"
    READ = "flashcards:read"


class Effect(StrEnum):
    """What a call does to the data; a tool's hints follow from it."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"


class Toolset(StrEnum):
    """What an MCP client takes beyond the standard tools: it shows MCP Apps, or asks for the tool `flashcard`."""

    APPS = "apps"
    FLASHCARD = "flashcard"


class Caller(Protocol):
    """Who is calling, as far as an operation's frame needs to know; `accounts.auth.Principal` is the one there is."""

    @property
    def user_id(self) -> UUID: ...
    @property
    def connection_id(self) -> UUID: ...
    def allows(self, scope: Scope) -> bool:
        """Whether the connection was granted `scope`."""
        ...


P = TypeVar("P", bound=Params)
C = TypeVar("C", bound=Caller)


@dataclass(frozen=True, slots=True)
class Call(Generic[C]):
    """One call: by whom (None before login), through which door, under which request id, from which address."""

    caller: C | None
    surface: Surface
    request_id: str
    client_address: str = ""
    accept_language: str = ""
    toolsets: frozenset[Toolset] = frozenset()

    @property
    def principal(self) -> C:
        """The caller of an operation that asks for one; `perform` has made sure."""
        assert self.caller is not None, "an operation with login=False asked who is calling"
        return self.caller


@dataclass(frozen=True, slots=True)
class Operation(Generic[P, C]):
    """One thing an agent can do.

    `run` takes the call and checked arguments and returns a Reply or raises an AppError listed in `errors`.
    `refusal` is the error that a wrong argument gives; `login` whether a caller is needed. Where an argument `action`
    chooses among several things, `writing_actions` names those that write.
    """

    name: str
    title: str
    description: str
    params: type[P]
    data: type[BaseModel]
    run: Callable[[Call[C], P], Reply]
    effect: Effect = Effect.READ
    idempotent: bool = False
    login: bool = True
    refusal: type[InputRefused] = InvalidRequest
    errors: tuple[type[AppError], ...] = ()
    writing_actions: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """The scope that a caller needs to do anything with it at all."""
        return Scope.READ if self.effect is Effect.READ or self.writing_actions else Scope.ALL

    def scope_for(self, arguments: Mapping[str, Any]) -> Scope:
        """The scope that a caller needs for a call with these arguments, which nobody has checked yet."""
        return Scope.ALL if arguments.get("action") in self.writing_actions else self.scope

    def input_schema(self) -> dict[str, Any]:
        """The exact JSON schema of the arguments, as published and as enforced."""
        return self.params.model_json_schema(by_alias=True)


def operation(
    *, title: str, params: type[P], data: type[BaseModel], description: str = "", **more: Any
) -> Callable[[Callable[[Call[C], P], Reply]], Operation[P, C]]:
    """Declare the decorated function as an operation under its own name; the docstring is the default description."""

    def declare(run: Callable[[Call[C], P], Reply]) -> Operation[P, C]:
        text = description or (run.__doc__ or "").strip()
        return Operation(name=run.__name__, title=title, description=text, params=params, data=data, run=run, **more)

    return declare
