"""Every refusal the service can give, as one hierarchy of exceptions.

An error class fixes what never changes for its code: the code itself, the HTTP status and how to recover, worded once
for REST and once for MCP. An instance adds what happened this time. `flashcards.envelope.render` is the only reader.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do next, worded for each surface: REST speaks of requests, MCP of tools."""

    rest: str
    mcp: str


class AppError(Exception):
    """An answer that is not a success.

    `message` says what is wrong, `instructions` what to do about it, `details` is for programs and `headers` go onto
    the HTTP answer. The subclass gives `code`, `status` and the default `advice`.
    """

    code: ClassVar[str]
    status: ClassVar[int]
    advice: ClassVar[Advice]

    def __init__(
        self,
        message: str,
        *,
        details: Mapping[str, Any] | None = None,
        instructions: Advice | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, Any] = dict(details or {})
        self.instructions = instructions or self.advice
        self.headers: dict[str, str] = dict(headers or {})


def error_classes(root: type[AppError] = AppError) -> Iterator[type[AppError]]:
    """Every concrete error class that has been imported, each once; what docs/errors.md is checked against."""
    for child in root.__subclasses__():
        if "code" in child.__dict__:
            yield child
        yield from error_classes(child)


def printable(text: str) -> str:
    r"""`text` of a client as an answer may repeat it: what has no shape of its own stands as its escape.

    Line breaks, signs that turn the direction of writing, invisible ones and lone surrogates: `\n`, `\u202e`, `\ud800`.
    """
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def validation_issue(path: str, code: str, message: str) -> dict[str, str]:
    """One entry of `details.validationIssues`: where in the input, a stable reason, and a sentence."""
    return {"path": path, "code": code, "message": message}


class InputRefused(AppError):
    """Base of the 400 answers that list what is wrong with the arguments under `details.validationIssues`."""

    status = 400

    def __init__(self, message: str, issues: list[dict[str, str]] | None = None, **more: Any) -> None:
        super().__init__(message, details={"validationIssues": issues or []}, **more)


class InvalidRequest(InputRefused):
    """A body, field, cursor, topic or name that is not of the documented form."""

    code = "INVALID_REQUEST"
    advice = Advice(
        rest="Correct the request as error.details.validationIssues says and send it again. Nothing was stored.",
        mcp="Correct the arguments as error.details.validationIssues says and call the tool again. Nothing was stored.",
    )


class WorkspaceIdInvalid(InputRefused):
    """A `workspaceId` that is no UUID."""

    code = "WORKSPACE_ID_INVALID"
    advice = Advice(
        rest="Take a workspaceId from GET /v1/agent/workspaces, or leave it out to use the selected workspace.",
        mcp="Take a workspaceId from list_workspaces, or leave it out to use the selected workspace.",
    )


class Forbidden(AppError):
    """The caller is known and may not do this."""

    code = "FORBIDDEN"
    status = 403
    advice = Advice(
        rest="This key may not do that. Use another operation, or ask the user for access.",
        mcp="This connection may not do that. Use another tool, or ask the user to connect again with more access.",
    )


class NotFound(AppError):
    """No such address."""

    code = "NOT_FOUND"
    status = 404
    advice = Advice(
        rest="Check the path and method against GET /v1/ or /v1/openapi.json.",
        mcp="Call tools/list for what this server offers.",
    )


class MethodNotAllowed(AppError):
    """The address exists and takes other methods."""

    code = "METHOD_NOT_ALLOWED"
    status = 405
    advice = Advice(
        rest="Send the request with one of the methods in the Allow header.",
        mcp="Send a JSON-RPC message by POST.",
    )


class RequestTooLarge(AppError):
    """The body is over the limit."""

    code = "REQUEST_TOO_LARGE"
    status = 413
    advice = Advice(
        rest="Send less at once: split a large batch of SQL into several requests.",
        mcp="Send less at once: split a large batch of SQL into several calls.",
    )


class UnsupportedMediaType(AppError):
    """A body that is not declared JSON."""

    code = "UNSUPPORTED_MEDIA_TYPE"
    status = 415
    advice = Advice(
        rest="Send the body as JSON with the header `Content-Type: application/json`.",
        mcp="Send the body as JSON with the header `Content-Type: application/json`.",
    )


class RateLimited(AppError):
    """Too many requests of one kind; `Retry-After` says in seconds when the next is welcome."""

    code = "RATE_LIMITED"
    status = 429
    advice = Advice(
        rest="Wait as long as the Retry-After header says, then try again.",
        mcp="Wait a while, then try again.",
    )


class InternalError(AppError):
    """A defect of the service. The cause stands in the log under the same request id, never in the answer."""

    code = "INTERNAL_ERROR"
    status = 500
    advice = Advice(
        rest="Try once more. If it persists, give the operator the requestId.",
        mcp="Try once more. If it persists, tell the user to give the operator the requestId.",
    )


class ServiceUnavailable(AppError):
    """The database cannot be reached, or is locked past its time-out."""

    code = "SERVICE_UNAVAILABLE"
    status = 503
    advice = Advice(
        rest="Nothing was stored. Wait as long as the Retry-After header says, then send the same request again.",
        mcp="Nothing was stored. Wait a few seconds, then call the tool again with the same arguments.",
    )


class CommitOutcomeUnknown(AppError):
    """The connection to the database broke during COMMIT: stored or not cannot be told."""

    code = "DATABASE_COMMIT_OUTCOME_UNKNOWN"
    status = 503
    advice = Advice(
        rest="The write may or may not be stored. For a review, send the identical request with the same reviewId. "
        "For SQL, read first whether the change is there before you send it again.",
        mcp="The write may or may not be stored. For a review, call submit_review again with the same reviewId. "
        "For SQL, read with sql_query whether the change is there before you repeat it.",
    )
