"""What gunicorn serves."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application
from django.urls import resolve

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "flashcards.settings")

application = get_wsgi_application()

# Imports every view now, once for all workers, instead of at each worker's first request.
resolve("/healthz")
