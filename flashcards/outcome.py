"""Run an operation and turn whatever happens into an outcome: the one place where exceptions end.

Both doors call `perform`; neither has an `except` of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, get_args

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError, connection, transaction
from django.http import Http404, UnreadablePostError
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from rest_framework.exceptions import MethodNotAllowed as RestMethodNotAllowed
from rest_framework.exceptions import ParseError
from rest_framework.exceptions import UnsupportedMediaType as RestUnsupportedMediaType

from flashcards.envelope import Reply
from flashcards.errors import (
    AppError,
    CommitOutcomeUnknown,
    Forbidden,
    InternalError,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    RequestTooLarge,
    ServiceUnavailable,
    UnsupportedMediaType,
    WorkspaceIdInvalid,
    printable,
    validation_issue,
)
from flashcards.operation import C, Call, Operation, P, Params

log = logging.getLogger(__name__)

T = TypeVar("T")

BODY_BYTES_MAX = 1 << 20
ISSUES_MAX = 10
NAME_SHOWN_MAX = 60
RETRY_AFTER_SECONDS = "5"


def perform(operation: Operation[P, C], call: Call[C], arguments: Mapping[str, Any]) -> Reply | AppError:
    """Check `arguments`, run `operation`, and return its Reply or the error that the caller is to see."""
    return outcome_of(lambda: operation.run(call, checked(operation, arguments)))


def outcome_of(action: Callable[[], T]) -> T | AppError:
    """What `action` returns, or the error that its exception means."""
    try:
        return action()
    except Exception as error:  # noqa: BLE001  the one net: `as_app_error` logs what nobody foresaw
        return as_app_error(error)


def checked(operation: Operation[P, C], arguments: Mapping[str, Any]) -> P:
    """The arguments as the operation's model; raises its `refusal` naming every wrong one.

    A malformed `workspaceId` is WORKSPACE_ID_INVALID on every operation.
    """
    try:
        return operation.params.model_validate(_with_few_unknown(arguments, operation.params))
    except ValidationError as error:
        # A misspelt name first: it explains the one that is missing.
        faults = sorted(error.errors(include_url=False), key=lambda fault: fault["type"] != "extra_forbidden")
        issues = [_issue(fault, operation.params) for fault in faults[:ISSUES_MAX]]
    malformed = (issue for issue in issues if (issue["path"], issue["code"]) == ("workspaceId", "invalid_value"))
    wrong = next(malformed, None)
    if wrong is not None:
        raise WorkspaceIdInvalid(wrong["message"], [wrong])
    raise operation.refusal(issues[0]["message"], issues)


def _with_few_unknown(arguments: Mapping[str, Any], params: type[Params]) -> dict[str, Any]:
    """The arguments without the tail of a long list of unknown names, each of which would cost an error to be built."""
    known = set(_fields_of(params))
    unknown = [name for name in arguments if name not in known][:ISSUES_MAX]
    return {name: arguments[name] for name in arguments if name in known} | {name: arguments[name] for name in unknown}


def _issue(detail: ErrorDetails, params: type[Params]) -> dict[str, str]:
    path = printable(".".join(str(part)[:NAME_SHOWN_MAX] for part in detail["loc"])) or "body"
    kind = detail["type"]
    if kind == "extra_forbidden":
        known = ", ".join(_fields_of(_model_at(params, detail["loc"][:-1]))) or "none"
        return validation_issue(path, "unknown_field", f"Unknown field {path!r}. Known fields: {known}.")
    if kind == "string_unicode" and not detail["loc"]:
        return validation_issue(path, "unknown_field", "A field's name is not valid Unicode.")
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return validation_issue(path, "invalid_value", f"{path}: must be an object.")
    if kind == "missing":
        return validation_issue(path, "missing_field", f"{path} is required.")
    said = str(detail.get("ctx", {}).get("error", "")) if kind == "value_error" else _lower_first(detail["msg"])
    return validation_issue(path, "invalid_value", f"{path}: {said.rstrip('.')}.")


def _fields_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields by the names that callers know."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _model_at(model: type[BaseModel], location: Sequence[int | str]) -> type[BaseModel]:
    """The model of the object at `location` inside an instance of `model`, through lists and optional fields."""
    for part in location:
        field = _fields_of(model).get(str(part))
        inner = next(_models_in(field.annotation), None) if field else None
        model = inner or model
    return model


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)


def _lower_first(text: str) -> str:
    text = text.removeprefix("Input ").removeprefix("Value error, ")
    return text[:1].lower() + text[1:]


def as_app_error(error: Exception) -> AppError:
    """The answer that `error` means. What is not foreseen is logged with its traceback and answered INTERNAL_ERROR."""
    if isinstance(error, AppError):
        return error
    for kinds, translate in _TRANSLATIONS:
        if isinstance(error, kinds):
            return translate(error)
    log.error("unexpected %s", type(error).__name__, exc_info=error)
    return InternalError("Something went wrong on the server.")


def _method_not_allowed(error: Exception) -> AppError:
    allowed = getattr(error, "allowed", "")
    return MethodNotAllowed(
        str(getattr(error, "detail", "Method not allowed.")), headers={"Allow": allowed} if allowed else None
    )


def _database_away(error: Exception) -> AppError:
    log.error("database unavailable: %s", type(error).__name__, exc_info=error)
    return ServiceUnavailable("The database does not answer.", headers={"Retry-After": RETRY_AFTER_SECONDS})


_Translate = Callable[[Exception], AppError]
_TRANSLATIONS: tuple[tuple[tuple[type[Exception], ...], _Translate], ...] = (
    ((Http404,), lambda _: NotFound("There is nothing at this address.")),
    ((PermissionDenied,), lambda _: Forbidden("This is not allowed.")),
    ((RequestDataTooBig,), lambda _: request_too_large(BODY_BYTES_MAX)),
    ((SuspiciousOperation,), lambda _: InvalidRequest("The request is malformed.")),
    ((UnreadablePostError,), lambda _: InvalidRequest("The body ended before it was complete.")),
    ((ParseError,), lambda error: InvalidRequest(str(error), [validation_issue("body", "malformed_json", str(error))])),
    ((RestUnsupportedMediaType,), lambda _: UnsupportedMediaType("The body is not declared as application/json.")),
    ((RestMethodNotAllowed,), _method_not_allowed),
    ((OperationalError, InterfaceError), _database_away),
)


def request_too_large(limit_bytes: int) -> RequestTooLarge:
    """The 413 for a body over `limit_bytes`."""
    return RequestTooLarge(f"The body is over {limit_bytes:,} bytes.")


@contextmanager
def committed() -> Iterator[None]:
    """A transaction (a savepoint inside an open one) that tells a failed COMMIT from a failure before it.

    Raises CommitOutcomeUnknown when the connection broke while the outermost block committed.
    """
    outermost = not connection.in_atomic_block
    body_ended = False
    try:
        with transaction.atomic():
            yield
            body_ended = True
    except (OperationalError, InterfaceError) as error:
        if body_ended and outermost and not connection.is_usable():
            raise CommitOutcomeUnknown("The database went away while the change was being committed.") from error
        raise
