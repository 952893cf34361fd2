"""The `accounts` application."""

from __future__ import annotations

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Registers `accounts` with Django."""

    name = "accounts"
    verbose_name = "Accounts"
