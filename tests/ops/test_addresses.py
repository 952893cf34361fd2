"""DATABASE_URL and EMAIL_URL as Django gets them."""

from __future__ import annotations

import pytest

from flashcards.addresses import database_settings, email_settings, without_password


def test_a_postgresql_address_keeps_every_part() -> None:
    made = database_settings("postgres://me%40home:p%23ss@db.example.com:5433/my%20cards?sslmode=verify-full")
    assert made["ENGINE"] == "django.db.backends.postgresql"
    assert (made["USER"], made["PASSWORD"], made["HOST"], made["PORT"], made["NAME"]) == (
        "me@home",
        "p#ss",
        "db.example.com",
        "5433",
        "my cards",
    )
    assert made["OPTIONS"]["sslmode"] == "verify-full"
    assert "statement_timeout=15s" in made["OPTIONS"]["options"]
    assert made["OPTIONS"]["connect_timeout"] == 3


def test_connections_are_persistent_or_pooled_and_never_both() -> None:
    persistent, pooled = (database_settings("postgres://host/name", pool=pool) for pool in (False, True))
    assert (persistent["CONN_MAX_AGE"], persistent["CONN_HEALTH_CHECKS"]) == (60, True)
    assert "pool" not in persistent["OPTIONS"]
    assert (pooled["CONN_MAX_AGE"], pooled["CONN_HEALTH_CHECKS"]) == (0, True)
    assert pooled["OPTIONS"]["pool"]["max_size"] == 8


def test_a_socket_folder_is_a_host() -> None:
    assert database_settings("postgresql:///cards?host=/var/run/postgresql")["HOST"] == "/var/run/postgresql"
    assert database_settings("postgresql://%2Fvar%2Frun%2Fpostgresql/cards")["HOST"] == "/var/run/postgresql"


@pytest.mark.parametrize(
    ("url", "name"), [("sqlite:////data/cards.db", "/data/cards.db"), ("sqlite:///a%20b/cards.db", "a b/cards.db")]
)
def test_a_sqlite_address_names_a_file(url: str, name: str) -> None:
    made = database_settings(f"{url}?timeout=2")
    assert made["NAME"] == name
    assert made["OPTIONS"]["timeout"] == 2
    assert made["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert database_settings(url)["OPTIONS"]["timeout"] == 10


@pytest.mark.parametrize(
    ("url", "port", "starttls", "tls"),
    [
        ("smtp://mail.example.com", 25, False, False),
        ("smtp+tls://mail.example.com", 587, True, False),
        ("smtps://mail.example.com", 465, False, True),
        ("smtp+ssl://mail.example.com:4650", 4650, False, True),
    ],
)
def test_the_scheme_of_a_mail_address_says_how_it_is_encrypted(url: str, port: int, starttls: bool, tls: bool) -> None:
    made = email_settings(url)
    assert (made["EMAIL_HOST"], made["EMAIL_PORT"]) == ("mail.example.com", port)
    assert (made["EMAIL_USE_TLS"], made["EMAIL_USE_SSL"]) == (starttls, tls)


def test_the_login_of_a_mail_server_may_hold_special_characters() -> None:
    made = email_settings("smtp+tls://me%40example.com:a%2Fb@mail.example.com")
    assert (made["EMAIL_HOST_USER"], made["EMAIL_HOST_PASSWORD"]) == ("me@example.com", "a/b")


def test_a_password_is_masked_and_the_rest_stays() -> None:
    assert without_password("postgres://me:secret@host:1/name?sslmode=require") == (
        "postgres://me:********@host:1/name?sslmode=require"
    )
    assert without_password("sqlite:////data/cards.db") == "sqlite:////data/cards.db"
