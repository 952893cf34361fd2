"""The `sqlgate` application."""

from __future__ import annotations

from django.apps import AppConfig


class SqlgateConfig(AppConfig):
    """Registers `sqlgate` with Django."""

    name = "sqlgate"
    verbose_name = "SQL"
