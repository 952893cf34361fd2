"""The yardstick over HTTP: a plain Django view for each bare query, without the service's middleware.

Served by gunicorn with the service's own settings and database. `POST /q1` takes the run's values as JSON.
"""

from __future__ import annotations

import json
import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "flashcards.settings")

import django
from django.conf import settings

django.setup()
settings.MIDDLEWARE = []
settings.ROOT_URLCONF = __name__

from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, JsonResponse
from django.urls import path

from bench.bare import QUERIES


def respond(request: HttpRequest, name: str) -> JsonResponse:
    """What the bare query of that name finds."""
    return JsonResponse({"data": QUERIES[name](json.loads(request.body))})


urlpatterns = [path("<name>", respond)]
application = WSGIHandler()
