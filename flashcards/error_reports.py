"""What Django's error reports and debug pages may show: where a fault lies, never what the user had sent."""

from __future__ import annotations

from collections.abc import ItemsView
from types import FrameType
from typing import Any

from django.http import HttpRequest
from django.views.debug import SafeExceptionReporterFilter


class NothingSecret(SafeExceptionReporterFilter):
    """Stars for every form value, cookie, query and local variable: any of them may be a code, a token or a card."""

    def get_post_parameters(self, request: HttpRequest | None) -> dict[str, Any]:
        """The names of the form's fields."""
        return dict.fromkeys(request.POST if request is not None else (), self.cleansed_substitute)

    def get_safe_cookies(self, request: HttpRequest) -> dict[str, Any]:
        """The names of the cookies."""
        return dict.fromkeys(request.COOKIES, self.cleansed_substitute)

    def get_safe_request_meta(self, request: HttpRequest) -> dict[str, Any]:
        """Headers and environment without credentials, cookies and query."""
        shown: dict[str, Any] = super().get_safe_request_meta(request)
        hidden = (name for name in shown if name in ("QUERY_STRING", "REQUEST_URI", "RAW_URI", "HTTP_REFERER"))
        return shown | dict.fromkeys(hidden, self.cleansed_substitute)

    def get_traceback_frame_variables(self, request: HttpRequest | None, tb_frame: FrameType) -> ItemsView[str, Any]:
        """The names of the frame's variables."""
        return dict.fromkeys(tb_frame.f_locals, self.cleansed_substitute).items()
