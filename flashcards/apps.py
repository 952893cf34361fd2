"""The `flashcards` application."""

from __future__ import annotations

from django.apps import AppConfig


class FlashcardsConfig(AppConfig):
    """Registers `flashcards` with Django."""

    name = "flashcards"
    verbose_name = "Flashcards"
