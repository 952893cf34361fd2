"""Refusals about who is calling and which workspace is meant."""

from __future__ import annotations

from flashcards.errors import Advice, AppError, InputRefused

_SIGN_IN_AGAIN = Advice(
    rest="Sign in again: POST /api/agent/send-code with the user's e-mail address, then POST /api/agent/verify-code.",
    mcp="Ask the user to connect this server again.",
)


class AuthenticationRequired(AppError):
    """No credentials at all."""

    code = "AUTHENTICATION_REQUIRED"
    status = 401
    advice = Advice(
        rest="Send the header `Authorization: ApiKey <key>`. Without a key: POST /api/agent/send-code, then "
        "POST /api/agent/verify-code.",
        mcp="Ask the user to connect this server.",
    )


class ApiKeyInvalid(AppError):
    """A key that is unknown, revoked, or not of the form; one answer for all."""

    code = "AGENT_API_KEY_INVALID"
    status = 401
    advice = _SIGN_IN_AGAIN


class InvalidEmail(InputRefused):
    """Not an e-mail address, or too long a one."""

    code = "INVALID_EMAIL"
    advice = Advice(
        rest="Ask the user for their e-mail address and send it again.", mcp="Ask the user for their e-mail address."
    )


class OtpCodeInvalid(AppError):
    """The code does not match; the details say how many guesses remain."""

    code = "OTP_CODE_INVALID"
    status = 400
    advice = Advice(
        rest="Ask the user to read the 8 digits from the newest mail again, and repeat verify-code with the same "
        "otpSessionToken.",
        mcp="Ask the user for the code again.",
    )


class OtpSessionExpired(AppError):
    """The otpSessionToken is unknown, its code was used, or its time is over."""

    code = "OTP_SESSION_EXPIRED"
    status = 400
    advice = Advice(
        rest="Start again with POST /api/agent/send-code; codes are good for 180 seconds and for one sign-in.",
        mcp="Start the sign-in again.",
    )


class OtpTooManyAttempts(AppError):
    """Five wrong codes: the challenge is locked."""

    code = "OTP_TOO_MANY_ATTEMPTS"
    status = 429
    advice = Advice(
        rest="This code is locked. Ask the user whether they want a new one, then POST /api/agent/send-code.",
        mcp="This code is locked. Start the sign-in again.",
    )


class OtpSendFailed(AppError):
    """The mail server refused the mail or did not answer in time."""

    code = "OTP_SEND_FAILED"
    status = 503
    advice = Advice(
        rest="No code was sent. Try again in a minute; if it persists, the operator should check the mail settings.",
        mcp="No code was sent. Try again in a minute.",
    )


class WorkspaceNotFound(AppError):
    """No such workspace for this user; the same answer for a foreign one."""

    code = "WORKSPACE_NOT_FOUND"
    status = 404
    advice = Advice(
        rest="Take a workspaceId from GET /v1/agent/workspaces.", mcp="Take a workspaceId from list_workspaces."
    )


class WorkspaceSelectionRequired(AppError):
    """Several workspaces, none selected and none named; or none at all. The details list them."""

    code = "WORKSPACE_SELECTION_REQUIRED"
    status = 409
    advice = Advice(
        rest="Ask the user which of error.details.workspaces to use. Then either POST "
        "/v1/agent/workspaces/{workspaceId}/select once, or send workspaceId with each request.",
        mcp="Ask the user which of error.details.workspaces to use, then pass its workspaceId with each call.",
    )
