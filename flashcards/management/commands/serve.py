"""`manage.py serve`: everything that must be so before the first request, then gunicorn in this process's place."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from django.conf import settings
from django.core.mail import get_connection
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, InterfaceError, connection
from django.db.backends.postgresql.base import DatabaseWrapper as PostgreSQL

from flashcards.addresses import without_password
from flashcards.console_mail import WARNING, ConsoleMail

MIGRATION_LOCK = 0x666C617368  # "flash": the number of the advisory lock
LOCK_WAIT_SECONDS = 300
# What the service writes is its own: no other user of the machine reads it.
FILES_UMASK = 0o077
LOOPBACK = ("127.0.0.1", "::1")


class Command(BaseCommand):
    """Check the settings, migrate, collect static files, and serve."""

    help = "Serve the service: checks settings, migrates under a lock, collects static files, hands over to gunicorn."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=settings.CONFIGURATION.PORT, help="default: %(default)s")
        parser.add_argument(
            "--host",
            action="append",
            help="address to listen on, may be repeated; default: this machine only, "
            "or every address once PUBLIC_BASE_URL is set",
        )

    def handle(self, *, port: int, host: list[str] | None, **_: Any) -> None:
        """Does not return: the process becomes gunicorn. CommandError, one line, for whatever stands in the way."""
        os.umask(FILES_UMASK)
        bindings = free_bindings(host or default_hosts(), port)
        prepare_data()
        if isinstance(get_connection(), ConsoleMail):
            self.stderr.write(self.style.WARNING(f"*** {WARNING} ***"))
        self.stderr.write(f"Serving {published_address(port)} (listening on {', '.join(bindings)})")
        self.stderr.flush()
        hand_over(bindings, port)


def default_hosts() -> list[str]:
    """This machine only, until an address for others is set."""
    return ["0.0.0.0"] if settings.CONFIGURATION.PUBLIC_BASE_URL else list(LOOPBACK)  # noqa: S104  meant for others


def free_bindings(hosts: list[str], port: int) -> list[str]:
    """`hosts` with `port`, as gunicorn takes them; a default address that this machine lacks is left out.

    Raises CommandError when the port is taken.
    """
    if not 1 <= port <= 65535:
        raise CommandError(f"--port: must be 1 to 65535 (given: {port}).")
    found = [binding for host in hosts if (binding := _free_binding(host, port, optional=host == LOOPBACK[1]))]
    if not found:
        raise CommandError(f"--host: this machine has none of {', '.join(hosts)}.")
    return found


def _free_binding(host: str, port: int, *, optional: bool) -> str | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        in_use = error.errno == errno.EADDRINUSE
        if optional and not in_use:
            return None
        reason = "the port is in use" if in_use else str(error.strerror or error)
        raise CommandError(f"--port: cannot listen on {host} port {port}: {reason}.") from None
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def published_address(port: int) -> str:
    """The address that answers will name."""
    return settings.CONFIGURATION.PUBLIC_BASE_URL or f"http://localhost:{port}"


def prepare_data() -> None:
    """Migrate the database and collect static files, one process at a time.

    Raises CommandError when the database does not answer or cannot be written.
    """
    try:
        with migration_lock():
            call_command("migrate", interactive=False, verbosity=0)
    except (DatabaseError, InterfaceError) as error:
        raise CommandError(f"DATABASE_URL: {database_fault(error)}.") from None
    finally:
        connection.close()
    with file_lock(settings.DATA_DIR / "static.lock"):
        call_command("collectstatic", interactive=False, verbosity=0)


def database_fault(error: Exception) -> str:
    """What is wrong with the database, in one line that names it without its password."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return f"the database {shown_database()} cannot be used ({lines[0].rstrip('.')})"


def shown_database() -> str:
    """The database's address without its password."""
    return without_password(settings.CONFIGURATION.DATABASE_URL) or str(connection.settings_dict["NAME"])


@contextmanager
def migration_lock() -> Iterator[None]:
    """Held by one process for each database, on whatever machine it runs."""
    if connection.vendor != "postgresql":
        database = Path(str(connection.settings_dict["NAME"])).absolute()
        with file_lock(database.with_name(f"{database.name}.migrate.lock")):
            yield
        return
    with connection.cursor() as cursor:
        # Building an index may take longer than a request may.
        cursor.execute("SET statement_timeout = 0")
        _wait(_try_advisory_lock, "another process migrates the database")
    try:
        yield
    finally:
        # Closing the connection frees the lock, also when it broke meanwhile; a pool would keep it open.
        connection.close()
        cast(PostgreSQL, connection).close_pool()


def _try_advisory_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [MIGRATION_LOCK])
        return bool(cursor.fetchone()[0])


@contextmanager
def file_lock(file: Path) -> Iterator[None]:
    """Held by one process of this machine; CommandError when the folder cannot be written."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle = file.open("a")
    except OSError as error:
        raise CommandError(f"DATA_DIR: cannot write {file} ({error.strerror}).") from None
    with handle:
        _wait(lambda: _try_file_lock(handle.fileno()), f"another process holds {file}")
        yield


def _try_file_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(attempt: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
    while not attempt():
        if time.monotonic() > deadline:
            raise CommandError(f"{otherwise} for more than {LOCK_WAIT_SECONDS} s; giving up.")
        time.sleep(0.1)


def hand_over(bindings: list[str], port: int) -> None:
    """Become gunicorn, which reads the same settings at the port that is served."""
    root = str(settings.BASE_DIR)
    os.environ |= {
        "PORT": str(port),
        # gunicorn reads it by itself, and takes no empty value.
        "WEB_CONCURRENCY": str(settings.CONFIGURATION.WEB_CONCURRENCY),
        "DATA_DIR": str(settings.DATA_DIR),
        "PYTHONPATH": os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")])),
        "DJANGO_SETTINGS_MODULE": os.environ.get("DJANGO_SETTINGS_MODULE", "flashcards.settings"),
    }
    listening = [part for binding in bindings for part in ("--bind", binding)]
    command = [sys.executable, "-m", "gunicorn", "--config", "python:flashcards.gunicorn_config", *listening]
    os.execv(sys.executable, command)  # noqa: S606  the arguments are our own
