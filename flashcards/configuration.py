"""The service's settings as the environment gives them: names, types, defaults and what each is for.

`settings.py` is built from one instance of `Configuration`; the settings table of the documentation is generated from
this model. A wrong value stops the start with one line that names the variable.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from dotenv.parser import parse_stream
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from flashcards.addresses import database_settings, email_settings

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


_DEFAULT_PORTS = {"http": 80, "https": 443}
_HOST_FORM = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|[0-9a-f:.]*:[0-9a-f:.]*")


def origin(text: str) -> str:
    """`text` as browsers write an origin: scheme, host and a port that is not the scheme's own; empty stays empty."""
    if not text:
        return text
    parts = urlsplit(text)
    bare = parts.path in ("", "/") and not parts.query and not parts.fragment and "@" not in parts.netloc
    host = parts.hostname or ""
    if parts.scheme not in _DEFAULT_PORTS or not _HOST_FORM.fullmatch(host) or not bare:
        raise ValueError("must be an address such as https://cards.example.com, without a path")
    shown = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{parts.port}"
    return f"{parts.scheme}://{shown}{port}"


def allowed_host(address: str) -> str:
    """The host of an origin as Django's ALLOWED_HOSTS spells it, IPv6 in brackets."""
    host = urlsplit(address).hostname or ""
    return f"[{host}]" if ":" in host else host


def origins(words: tuple[str, ...]) -> tuple[str, ...]:
    """Each word as an origin."""
    return tuple(map(origin, words))


_SCHEME_FORM = re.compile(r"[a-z][a-z0-9+.-]*")
_SCHEMES_OF_BROWSERS = frozenset({"http", "https", "javascript", "data", "file", "blob", "about", "vbscript", "ftp"})


def app_schemes(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words, each a scheme that only an app can claim."""
    if not all(_SCHEME_FORM.fullmatch(word) and word not in _SCHEMES_OF_BROWSERS for word in words):
        raise ValueError("must be schemes of apps, in lower case and without ://, such as cursor,vscode")
    return words


_DOMAIN_FORM = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")


def sign_up_rule(text: str) -> str:
    """`open`, `closed`, or e-mail domains separated by commas, in lower case."""
    text = text.strip().lower()
    if text in ("open", "closed"):
        return text
    domains = [part.strip() for part in text.split(",")]
    if not all(map(_DOMAIN_FORM.fullmatch, domains)):
        raise ValueError("must be open, closed, or domains such as example.com,example.org")
    return ",".join(domains)


_ADDRESS = r"[^<>@\s,]+@[^<>@\s,]+"
_SENDER_FORM = re.compile(rf'{_ADDRESS}|("[^"]*"|[^<>@,"]*) *<{_ADDRESS}>')


def sender(text: str) -> str:
    """`text`, when it is one mail address with or without a name."""
    if not _SENDER_FORM.fullmatch(text):
        raise ValueError("must be one address such as Flashcards <flashcards@example.com>")
    return text


def database_url(text: str) -> str:
    """`text`, when the service can use it; empty stays empty."""
    if text:
        database_settings(text)
    return text


def email_url(text: str) -> str:
    """`text`, when the service can use it."""
    email_settings(text)
    return text


def one_of_upper(text: object) -> object:
    """Upper case, so that `info` means INFO."""
    return text.upper() if isinstance(text, str) else text


def one_of_lower(text: object) -> object:
    """Lower case, so that `JSON` means json."""
    return text.lower() if isinstance(text, str) else text


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
        "The address people and agents use, e.g. `https://cards.example.com`. "
        "Unset: this machine only, at the port served.",
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
    DATABASE_URL: Annotated[str, AfterValidator(database_url)] = setting(
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
    EMAIL_URL: Annotated[str, AfterValidator(email_url)] = setting(
        "consolemail://",
        "Where mail goes: `consolemail://` prints it, sign-in codes included; `smtp+tls://user:password@host:587` "
        "(STARTTLS), `smtps://…:465` (TLS) or `smtp://…:25` sends it.",
        secret=True,
    )
    DEFAULT_FROM_EMAIL: Annotated[str, AfterValidator(sender)] = setting(
        "Flashcards <flashcards@localhost>", "The sender of mails."
    )
    SIGNUP: Annotated[str, AfterValidator(sign_up_rule)] = setting(
        "open", "Who may make an account: `open`, `closed`, or a list of e-mail domains."
    )
    TRUSTED_PROXY_COUNT: Annotated[int, Field(ge=0, le=10)] = setting(
        0, "How many proxies in front append to `X-Forwarded-For`; their `X-Forwarded-Proto` is believed too."
    )
    LIMIT_EMAIL_SENDS: Windows = setting("3/60,5/900,10/86400", "Sign-in mails to one address, as count/seconds pairs.")
    LIMIT_IP_SENDS: Windows = setting("10/900,30/3600,100/86400", "Sign-in requests from one IP address.")
    LIMIT_IP_ADDRESSES: Windows = setting("5/3600,20/86400", "Distinct e-mail addresses asked for from one IP address.")
    LIMIT_REGISTRATIONS: Windows = setting("600/3600", "OAuth client registrations from one IP address.")
    MCP_ALLOWED_ORIGINS: Annotated[Words, AfterValidator(origins)] = setting(
        "", "Further browser origins that may call `/mcp`, separated by commas."
    )
    OAUTH_CIMD: bool = setting(
        False, "Accept URLs as OAuth client ids and fetch their metadata (needs outgoing HTTPS)."
    )
    OAUTH_PRIVATE_SCHEMES: Annotated[Words, AfterValidator(app_schemes)] = setting(
        "cursor,vscode,vscode-insiders,windsurf,zed,claude,chatgpt,raycast,goose,warp",
        "App schemes without a dot that OAuth redirects may use.",
    )
    LOG_FORMAT: Annotated[Literal["text", "json"], BeforeValidator(one_of_lower)] = setting(
        "text", "`text` for people, `json` for collectors."
    )
    LOG_LEVEL: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(one_of_upper)] = setting(
        "INFO", "The least severe records that are written."
    )
    METRICS_TOKEN: str = setting("", "Bearer token for `/metrics`, which is not served yet.", secret=True)
    WEB_CONCURRENCY: Annotated[int, Field(ge=1, le=64)] = setting(
        2, "Worker processes of `serve`, each with 8 threads."
    )
    DEBUG: bool = setting(False, "Django's debug pages. Never on a machine that others reach.")


def is_secret(name: str) -> bool:
    """Whether the setting's value must not be shown."""
    extra = Configuration.model_fields[name].json_schema_extra
    return isinstance(extra, dict) and bool(extra.get("secret"))


def read_environment(env_file: Path, process: Mapping[str, str]) -> dict[str, str]:
    """The variables of `env_file`, overridden by those of the process; no file is no variables.

    Raises ConfigurationError for a line that is no assignment and for a name that looks like a misspelt setting.
    """
    if not env_file.is_file():
        return dict(process)
    try:
        with env_file.open(encoding="utf-8-sig") as lines:
            bindings = list(parse_stream(lines))
    except (OSError, UnicodeDecodeError):
        raise ConfigurationError(f"{env_file}: cannot be read as UTF-8 text.") from None
    given: dict[str, str] = {}
    for binding in bindings:
        if binding.key is not None:
            _refuse_misspelling(binding.key)
        elif not binding.error:
            continue
        if binding.error or binding.value is None:
            raise ConfigurationError(f"{env_file}, line {binding.original.line}: must be NAME=value.")
        given[str(binding.key)] = binding.value
    return given | dict(process)


def _refuse_misspelling(name: str) -> None:
    known = [
        *Configuration.model_fields,
        *(f"{secret}_FILE" for secret in Configuration.model_fields if is_secret(secret)),
    ]
    near = [] if name in known else get_close_matches(name.upper(), known, n=1, cutoff=0.75)
    if near:
        raise ConfigurationError(f"{name}: there is no such setting; did you mean {near[0]}?")


def unset_environment() -> dict[str, str]:
    """Every variable of the service set to nothing: laid over an environment, it leaves the defaults alone."""
    return {name: "" for setting_name in Configuration.model_fields for name in (setting_name, f"{setting_name}_FILE")}


def read_configuration(environment: Mapping[str, str]) -> Configuration:
    """The settings in `environment`; an empty value counts as unset.

    Raises ConfigurationError, one line naming the variable, for a value that is not of its form.
    """
    given = {name: value for name in Configuration.model_fields if (value := _value_of(name, environment))}
    try:
        return Configuration.model_validate(_defaults() | given)
    except ValidationError as error:
        raise ConfigurationError(_fault(error.errors(include_url=False)[0])) from None


def _value_of(name: str, environment: Mapping[str, str]) -> str:
    value = environment.get(name, "").strip()
    file = environment.get(f"{name}_FILE", "").strip() if is_secret(name) else ""
    if value and file:
        raise ConfigurationError(f"{name}: set {name} or {name}_FILE, not both.")
    value = _read_secret_file(name, file) if file else value
    if not value.isprintable():
        raise ConfigurationError(f"{name}: must be one line of printable characters.")
    return value


def _fault(detail: ErrorDetails) -> str:
    name = str(detail["loc"][0])
    said = detail["msg"].removeprefix("Value error, ").removeprefix("Input ")
    given = "" if is_secret(name) else f" (given: {str(detail['input'])[:60]})"
    return f"{name}: {said}{given}."


def _defaults() -> dict[str, Any]:
    # Defaults pass through the validators too, so that they may be written as the environment writes them.
    return {name: field.default for name, field in Configuration.model_fields.items()}


def _read_secret_file(name: str, file: str) -> str:
    try:
        value = Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError, ValueError):
        raise ConfigurationError(f"{name}_FILE: cannot read {file}.") from None
    if not value:
        raise ConfigurationError(f"{name}_FILE: {file} is empty.")
    return value


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
