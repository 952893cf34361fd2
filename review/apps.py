"""The `review` application."""

from __future__ import annotations

from django.apps import AppConfig


class ReviewConfig(AppConfig):
    """Registers `review` with Django."""

    name = "review"
    verbose_name = "Review"
