"""Settings: what is accepted, what stops the start, and that documentation and code say the same."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from django.conf import settings

from flashcards.configuration import (
    ROOT,
    Configuration,
    ConfigurationError,
    Window,
    is_secret,
    kept_secret_key,
    read_configuration,
    read_environment,
)
from flashcards.management.commands.show_config import env_example, settings_page
from tests.server import manage


def refusal(**environment: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        read_configuration(environment)
    line = str(caught.value)
    assert "\n" not in line
    return line


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("PORT", "eighty", "integer"),
        ("PORT", "0", "greater than or equal to 1"),
        ("PORT", "65536", "65535"),
        ("DEBUG", "maybe", "boolean"),
        ("PUBLIC_BASE_URL", "cards.example.com", "https://cards.example.com"),
        ("PUBLIC_BASE_URL", "https://cards.example.com/app", "without a path"),
        ("PUBLIC_BASE_URL", "https://user@cards.example.com", "without a path"),
        ("PUBLIC_BASE_URL", "https://cards.example.com:99999", "ort"),
        ("PUBLIC_BASE_URL", "https://cards_and spaces", "such as"),
        ("PUBLIC_MCP_BASE_URL", "ftp://cards.example.com", "such as"),
        ("LIMIT_EMAIL_SENDS", "3 per minute", "count/seconds"),
        ("LIMIT_EMAIL_SENDS", "3/0", "count/seconds"),
        ("SIGNUP", "maybe", "open, closed"),
        ("SIGNUP", "example.com,@example.org", "domains"),
        ("TRUSTED_PROXY_COUNT", "-1", "0"),
        ("MCP_ALLOWED_ORIGINS", "https://a.example/x", "without a path"),
        ("OAUTH_PRIVATE_SCHEMES", "cursor,javascript", "schemes of apps"),
        ("OAUTH_PRIVATE_SCHEMES", "cursor://", "schemes of apps"),
        ("LOG_FORMAT", "xml", "'text' or 'json'"),
        ("LOG_LEVEL", "LOUD", "INFO"),
        ("WEB_CONCURRENCY", "0", "1"),
        ("SERVICE_NAME", "Cards\r\nBcc: x", "one line"),
        ("DEFAULT_FROM_EMAIL", "nobody", "one address"),
        ("DEFAULT_FROM_EMAIL", "a@example.com, b@example.com", "one address"),
        ("DATABASE_URL", "mysql://host/name", "postgres://"),
        ("DATABASE_URL", "postgres://host", "must name a database"),
        ("DATABASE_URL", "postgres://host:port/name", "postgres://"),
        ("DATABASE_URL", "postgres://me:pa#ss@host/name", "%XX"),
        ("DATABASE_URL", "postgres://host/name?sslmod=require", "sslmod"),
        ("DATABASE_URL", "postgres://host/name?options=-cstatement_timeout=0", "options"),
        ("DATABASE_URL", "sqlite://relative.db", "three slashes"),
        ("DATABASE_URL", "sqlite://:memory:", "sqlite:///"),
        ("DATABASE_URL", "sqlite:///:memory:", "name a file"),
        ("DATABASE_URL", "sqlite:///", "name a file"),
        ("DATABASE_URL", "sqlite:///a?timeout=never", "timeout"),
        ("EMAIL_URL", "mail.example.com", "smtp+tls://"),
        ("EMAIL_URL", "smtp+tls://", "smtp+tls://"),
        ("EMAIL_URL", "smtp://host:587/path", "nothing after the port"),
        ("EMAIL_URL", "consolemail://somewhere", "consolemail://"),
    ],
)
def test_a_wrong_value_is_refused_in_one_line_naming_the_variable(name: str, value: str, hint: str) -> None:
    line = refusal(**{name: value})
    assert line.startswith(f"{name}: ")
    assert hint in line


def test_a_refusal_repeats_what_was_given_unless_it_is_secret() -> None:
    assert "(given: eighty)" in refusal(PORT="eighty")
    assert "hunter2" not in refusal(DATABASE_URL="mysql://me:hunter2@host/name")
    assert "hunter2" not in refusal(DATABASE_URL="postgres://me:hunter2@host")
    assert "hunter2" not in refusal(EMAIL_URL="smtp+tls://me:hunter2@")


def test_an_empty_value_counts_as_unset() -> None:
    assert read_configuration({"PORT": "", "SIGNUP": " "}) == read_configuration({})


def test_values_are_brought_to_one_form() -> None:
    configuration = read_configuration({
        "PUBLIC_BASE_URL": "HTTPS://Cards.Example.com:443/",
        "PUBLIC_MCP_BASE_URL": "http://[::1]:8000",
        "LIMIT_IP_SENDS": " 2/60 , 3/900",
        "SIGNUP": "Example.com, example.ORG",
        "LOG_LEVEL": "debug",
        "DEBUG": "on",
    })  # fmt: skip
    assert configuration.PUBLIC_BASE_URL == "https://cards.example.com"
    assert configuration.PUBLIC_MCP_BASE_URL == "http://[::1]:8000"
    assert (Window(2, 60), Window(3, 900)) == configuration.LIMIT_IP_SENDS
    assert configuration.SIGNUP == "example.com,example.org"
    assert configuration.LOG_LEVEL == "DEBUG"
    assert configuration.DEBUG is True


def test_a_secret_may_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("from a file\n")
    assert read_configuration({"SECRET_KEY_FILE": str(file)}).SECRET_KEY == "from a file"
    assert refusal(SECRET_KEY_FILE=str(file), SECRET_KEY="x") == (
        "SECRET_KEY: set SECRET_KEY or SECRET_KEY_FILE, not both."
    )
    assert refusal(SECRET_KEY_FILE="/no/such/file") == "SECRET_KEY_FILE: cannot read /no/such/file."
    file.write_text("\n")
    assert refusal(SECRET_KEY_FILE=str(file)) == f"SECRET_KEY_FILE: {file} is empty."
    file.write_text("https://never.example")
    assert read_configuration({"SERVICE_NAME_FILE": str(file)}).SERVICE_NAME == "Flashcards", "only secrets have a file"


def test_the_env_file_is_read_and_the_environment_wins(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# ours\n\nexport PORT=8001\nSERVICE_NAME='My cards'\nTZ=UTC\nSIGNUP=closed\n")
    assert read_environment(file, {"SIGNUP": "open"}) == {
        "PORT": "8001",
        "SERVICE_NAME": "My cards",
        "TZ": "UTC",
        "SIGNUP": "open",
    }
    assert read_environment(tmp_path / "none", {"A": "b"}) == {"A": "b"}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("PUBLIC_BASEURL=https://a.example", "PUBLIC_BASEURL: there is no such setting; did you mean PUBLIC_BASE_URL?"),
        ("SECRET_KEYFILE=/k", "SECRET_KEYFILE: there is no such setting; did you mean SECRET_KEY_FILE?"),
        ("SINGUP=closed", "SINGUP: there is no such setting; did you mean SIGNUP?"),
        ("PUBLIC_URL=https://a.example", "PUBLIC_URL: there is no such setting; did you mean PUBLIC_BASE_URL?"),
        ("PORT=1\nwhat is this\n", "line 2: must be NAME=value."),
        ("PORT\n", "line 1: must be NAME=value."),
        ("SERVICE_NAME='open\n", "line 1: must be NAME=value."),
    ],
)
def test_a_malformed_env_file_stops_the_start(tmp_path: Path, text: str, line: str) -> None:
    file = tmp_path / ".env"
    file.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        read_environment(file, {})
    assert str(caught.value).endswith(line)


@pytest.mark.parametrize(
    "name",
    [
        "POSTGRES_PASSWORD",
        "POSTGRES_USER",
        "PUBLISH",
        "TZ",
        "LANG",
        "PATH",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "COMPOSE_PROJECT_NAME",
        "PYTHONUNBUFFERED",
        "DJANGO_SETTINGS_MODULE",
        "VIRTUAL_HOST",
        "TAG",
        "EMAIL",
    ],
)
def test_a_name_that_may_be_somebody_elses_is_left_alone(tmp_path: Path, name: str) -> None:
    file = tmp_path / ".env"
    file.write_text(f"{name}=x\n")
    assert read_environment(file, {}) == {name: "x"}


def test_the_secret_key_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    first = kept_secret_key(tmp_path / "data")
    assert kept_secret_key(tmp_path / "data") == first
    assert len(first) >= 50
    assert stat.S_IMODE(os.stat(tmp_path / "data" / "secret_key").st_mode) == 0o600
    assert os.listdir(tmp_path / "data") == ["secret_key"]


def test_the_table_of_settings_is_the_one_that_the_code_makes() -> None:
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == settings_page() + "\n"


def test_the_example_of_an_env_file_is_the_one_that_the_code_makes() -> None:
    assert (ROOT / ".env.example").read_text(encoding="utf-8") == env_example() + "\n"


def test_the_example_of_an_env_file_changes_nothing_when_uncommented(tmp_path: Path) -> None:
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    assigned = [line.removeprefix("# ") for line in lines if line.startswith("# ") and line[2:].split("=")[0].isupper()]
    file = tmp_path / ".env"
    file.write_text("\n".join(line for line in assigned if not line.startswith("DATA_DIR")))
    assert len(assigned) == len(Configuration.model_fields)
    assert read_configuration(read_environment(file, {})) == read_configuration({})


def test_a_wrong_setting_ends_every_command_with_one_line() -> None:
    ended = manage("check", environment={"PORT": "eighty"})
    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [
        "PORT: should be a valid integer, unable to parse string as an integer (given: eighty)."
    ]


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = manage("check", environment={"DATA_DIR": str(tmp_path / "file" / "data")})
    assert ended.returncode == 1
    assert ended.stderr.startswith("DATA_DIR: cannot keep the secret key in ")
    assert len(ended.stderr.splitlines()) == 1


def test_show_config_prints_what_is_in_effect_and_masks_secrets(tmp_path: Path) -> None:
    environment = {
        "DATA_DIR": str(tmp_path),
        "PUBLIC_BASE_URL": "https://cards.example.com",
        "DATABASE_URL": "postgres://me:hunter2@db.example.com:5433/cards",
        "EMAIL_URL": "smtp+tls://me:hunter2@mail.example.com",
        "SECRET_KEY": "hunter2",
        "METRICS_TOKEN": "hunter2",
    }
    ended = manage("show_config", environment=environment)
    assert ended.returncode == 0, ended.stderr
    assert "hunter2" not in ended.stdout
    shown = dict(line.split("=", 1) for line in ended.stdout.splitlines())
    assert list(shown) == list(Configuration.model_fields)
    assert shown["PUBLIC_MCP_BASE_URL"] == "https://cards.example.com"
    assert shown["DATABASE_URL"] == "postgres://me:********@db.example.com:5433/cards"
    assert shown["EMAIL_URL"] == "smtp+tls://me:********@mail.example.com"
    assert shown["SECRET_KEY"] == shown["METRICS_TOKEN"] == "********"
    assert shown["LIMIT_EMAIL_SENDS"] == "3/60,5/900,10/86400"


def test_the_deployment_check_is_clean_behind_tls(tmp_path: Path) -> None:
    environment = {"DATA_DIR": str(tmp_path), "PUBLIC_BASE_URL": "https://cards.example.com"}
    ended = manage("check", "--deploy", "--fail-level", "WARNING", environment=environment)
    assert ended.returncode == 0, ended.stderr


def test_every_setting_reaches_django() -> None:
    derived = {"DATABASE_URL", "DATABASE_POOL", "EMAIL_URL", "PORT", "LOG_FORMAT", "LOG_LEVEL", "WEB_CONCURRENCY"}
    missing = [name for name in Configuration.model_fields if name not in derived and not hasattr(settings, name)]
    assert missing == []


def test_what_holds_a_password_or_key_is_secret() -> None:
    assert {name for name in Configuration.model_fields if is_secret(name)} == {
        "DATABASE_URL",
        "SECRET_KEY",
        "EMAIL_URL",
        "METRICS_TOKEN",
    }
