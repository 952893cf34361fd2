"""Addresses of the dialect."""

from __future__ import annotations

from django.urls import URLPattern

from flashcards.api import Route, url_patterns
from sqlgate.operations import sql_execute, sql_query

ROUTES: list[Route] = [
    Route("POST", "v1/agent/sql/query", sql_query),
    Route("POST", "v1/agent/sql/execute", sql_execute),
]

urlpatterns: list[URLPattern] = url_patterns(ROUTES)
