"""What gunicorn serves."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.core.wsgi import get_wsgi_application
from django.urls import resolve

from flashcards.request_body import CLOSE_CONNECTION

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "flashcards.settings")


class Request(WSGIRequest):
    """Django's request, for which a Content-Type that cannot be read is none.

    Django's own fails before any view, with a 500, on a parameter in an unknown encoding (RFC 2231).
    """

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            super()._set_content_type_params(meta)  # type: ignore[misc]  # Django's own hook, in no stub
        except (LookupError, ValueError):
            meta["CONTENT_TYPE"] = ""
            super()._set_content_type_params(meta)  # type: ignore[misc]  # as above


django_application = get_wsgi_application()
django_application.request_class = Request


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Django, which may have the connection closed after the answer (PEP 3333 leaves that header to the server)."""
    force_close = getattr(getattr(start_response, "__self__", None), "force_close", None)
    if force_close is not None:
        environ[CLOSE_CONNECTION] = force_close
    answer: Iterable[bytes] = django_application(environ, start_response)
    return answer


# Imports every view now, once for all workers, instead of at each worker's first request.
resolve("/healthz")
