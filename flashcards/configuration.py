"""The service's settings as the environment gives them: names, types, defaults and what each is for.

`settings.py` is built from one instance of `Configuration`; the settings table of the documentation is generated from
this model. A wrong value stops the start with one line that names the variable.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticUndefined

ROOT = Path(__file__).resolve().parent.parent


class ConfigurationError(SystemExit):
    """Stops the start: the message is the one line that the operator sees."""


class Window(NamedTuple):
    """At most `limit` events within any `seconds`."""

    limit: int
    seconds: int


def parse_windows(text: object) -> object:
    """`3/60,5/900` as windows, the text's order kept; ValueError says the form."""
    if not isinstance(text, str):
        return text
    pairs = [part.strip().split("/") for part in text.split(",") if part.strip()]
    if not pairs or not all(
        len(pair) == 2 and all(n.isascii() and n.isdigit() and int(n) > 0 for n in pair) for pair in pairs
    ):
        raise ValueError("must be count/seconds pairs such as 3/60,5/900")
    return tuple(Window(int(count), int(seconds)) for count, seconds in pairs)


def parse_words(text: object) -> object:
    """A comma-separated list as a tuple of its words."""
    return tuple(word.strip() for word in text.split(",") if word.strip()) if isinstance(text, str) else text


def origin(text: str) -> str:
    """`text` as scheme and host without a path or last slash; empty stays empty."""
    if not text:
        return text
    parts = urlsplit(text)
    bare = parts.path in ("", "/") and not parts.query and not parts.fragment and not parts.username
    if parts.scheme not in ("http", "https") or not parts.hostname or not bare:
        raise ValueError("must be an address such as https://cards.example.com, without a path")
    return f"{parts.scheme}://{parts.netloc.lower()}"


def sign_up_rule(text: str) -> str:
    """`open`, `closed`, or e-mail domains separated by commas, in lower case."""
    text = text.strip().lower()
    if text in ("open", "closed"):
        return text
    domains = [part.strip() for part in text.split(",")]
    if not all("." in domain and "@" not in domain and " " not in domain for domain in domains):
        raise ValueError("must be open, closed, or domains such as example.com,example.org")
    return ",".join(domains)


Windows = Annotated[tuple[Window, ...], BeforeValidator(parse_windows)]
Words = Annotated[tuple[str, ...], BeforeValidator(parse_words)]
Origin = Annotated[str, AfterValidator(origin)]


def setting(default: Any, description: str, *, secret: bool = False) -> Any:
    """A setting with its default and one sentence for the table; a secret is masked and may come from NAME_FILE."""
    return Field(default, description=description, json_schema_extra={"secret": secret})


class Configuration(BaseModel):
    """Every variable the service reads."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    PUBLIC_BASE_URL: Origin = setting(
        "",
        "The address people and agents use, e.g. `https://cards.example.com`. Unset: this machine only, at the port served.",
    )
    PUBLIC_API_BASE_URL: Origin = setting(
        "", "Address of the REST API where it has a host of its own. Unset: `PUBLIC_BASE_URL`."
    )
    PUBLIC_AUTH_BASE_URL: Origin = setting(
        "", "Address of sign-in and OAuth where they have a host of their own. Unset: `PUBLIC_BASE_URL`."
    )
    PUBLIC_MCP_BASE_URL: Origin = setting(
        "", "Address of `/mcp` where it has a host of its own. Unset: `PUBLIC_BASE_URL`."
    )
    PORT: Annotated[int, Field(ge=1, le=65535)] = setting(
        8000, "The port that `serve` listens on and that addresses name while `PUBLIC_BASE_URL` is unset."
    )
    SERVICE_NAME: Annotated[str, Field(min_length=1, max_length=60)] = setting(
        "Flashcards", "The name that pages, mails and clients show."
    )
    DATA_DIR: Path = setting(ROOT / "var", "Folder of the SQLite database and the generated secret key.")
    DATABASE_URL: str = setting(
        "", "`postgres://user:password@host:5432/name` or `sqlite:///path`. Unset: SQLite in `DATA_DIR`.", secret=True
    )
    DATABASE_POOL: bool = setting(
        False, "Use psycopg's connection pool instead of one persistent connection a thread (PostgreSQL)."
    )
    SECRET_KEY: str = setting(
        "",
        "Signs sessions and keys the stored hashes. Unset: made once and kept in `DATA_DIR/secret_key`.",
        secret=True,
    )
    EMAIL_URL: str = setting(
        "consolemail://",
        "Where mail goes: `consolemail://` prints it, codes included; `smtp+tls://user:password@host:587` sends it.",
        secret=True,
    )
    DEFAULT_FROM_EMAIL: str = setting("Flashcards <flashcards@localhost>", "The sender of mails.")
    SIGNUP: Annotated[str, AfterValidator(sign_up_rule)] = setting(
        "open", "Who may make an account: `open`, `closed`, or a list of e-mail domains."
    )
    TRUSTED_PROXY_COUNT: Annotated[int, Field(ge=0, le=10)] = setting(
        0, "How many proxies in front append to `X-Forwarded-For`."
    )
    LIMIT_EMAIL_SENDS: Windows = setting("3/60,5/900,10/86400", "Sign-in mails to one address, as count/seconds pairs.")
    LIMIT_IP_SENDS: Windows = setting("10/900,30/3600,100/86400", "Sign-in requests from one IP address.")
    LIMIT_IP_ADDRESSES: Windows = setting("5/3600,20/86400", "Distinct e-mail addresses asked for from one IP address.")
    LIMIT_REGISTRATIONS: Windows = setting("600/3600", "OAuth client registrations from one IP address.")
    MCP_ALLOWED_ORIGINS: Words = setting("", "Further browser origins that may call `/mcp`, separated by commas.")
    OAUTH_CIMD: bool = setting(
        False, "Accept URLs as OAuth client ids and fetch their metadata (needs outgoing HTTPS)."
    )
    OAUTH_PRIVATE_SCHEMES: Words = setting(
        "cursor,vscode,vscode-insiders,windsurf,zed,claude,chatgpt,raycast,goose,warp",
        "App schemes without a dot that OAuth redirects may use.",
    )
    LOG_FORMAT: Literal["text", "json"] = setting("text", "`text` for people, `json` for collectors.")
    LOG_LEVEL: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = setting(
        "INFO", "The least severe records that are written."
    )
    METRICS_TOKEN: str = setting("", "Bearer token of `/metrics`. Unset: `/metrics` does not exist.", secret=True)
    WEB_CONCURRENCY: Annotated[int, Field(ge=1, le=64)] = setting(
        2, "Worker processes of `serve`, each with 8 threads."
    )
    DEBUG: bool = setting(False, "Django's debug pages. Never on a machine that others reach.")


def is_secret(name: str) -> bool:
    """Whether the setting's value must not be shown."""
    extra = Configuration.model_fields[name].json_schema_extra
    return isinstance(extra, dict) and bool(extra.get("secret"))


def read_configuration(environment: Mapping[str, str]) -> Configuration:
    """The settings in `environment`; an empty value counts as unset.

    Raises ConfigurationError, one line naming the variable, for a value that is not of its form.
    """
    given: dict[str, str] = {}
    for name in Configuration.model_fields:
        value = environment.get(name, "")
        file = environment.get(f"{name}_FILE", "") if is_secret(name) else ""
        if value and file:
            raise ConfigurationError(f"{name}: set {name} or {name}_FILE, not both.")
        given |= {name: _read_secret_file(name, file) if file else value} if value or file else {}
    try:
        return Configuration.model_validate(_defaults() | given)
    except ValidationError as error:
        detail = error.errors(include_url=False, include_input=False)[0]
        said = detail["msg"].removeprefix("Value error, ").removeprefix("Input ")
        raise ConfigurationError(f"{detail['loc'][0]}: {said}.") from None


def _defaults() -> dict[str, Any]:
    # Defaults pass through the validators too, so that they may be written as the environment writes them.
    fields = Configuration.model_fields.items()
    return {name: field.default for name, field in fields if field.default is not PydanticUndefined}


def _read_secret_file(name: str, file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise ConfigurationError(f"{name}_FILE: cannot read {file}.") from None


def kept_secret_key(data_dir: Path) -> str:
    """The key in `DATA_DIR/secret_key`, made by the first process that needs it and readable by its user only."""
    file = data_dir / "secret_key"
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            draft = data_dir / f"secret_key.{os.getpid()}.{secrets.token_hex(4)}"
            draft.touch(mode=0o600)
            draft.write_text(secrets.token_urlsafe(50), encoding="ascii")
            _publish(draft, file)
        return file.read_text(encoding="ascii").strip()
    except OSError as error:
        raise ConfigurationError(f"DATA_DIR: cannot keep the secret key in {data_dir} ({error.strerror}).") from None


def _publish(draft: Path, file: Path) -> None:
    # A link is made whole or not at all, so two processes that start together end with one key.
    try:
        os.link(draft, file)
    except FileExistsError:
        return
    finally:
        draft.unlink()
