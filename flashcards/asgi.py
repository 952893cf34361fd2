"""For servers that speak ASGI only. `serve` uses WSGI: every view is synchronous."""

from __future__ import annotations

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "flashcards.settings")

application = get_asgi_application()
