"""What gunicorn serves."""

from __future__ import annotations

import os
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.core.wsgi import get_wsgi_application
from django.urls import resolve

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


application = get_wsgi_application()
application.request_class = Request

# Imports every view now, once for all workers, instead of at each worker's first request.
resolve("/healthz")
