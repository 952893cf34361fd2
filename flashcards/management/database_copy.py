"""Whole copies of the database, taken and put back while the service runs."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

from django.core.management.base import CommandError
from django.db import connection

# Options of DATABASE_URL, as libpq's programs read them from the environment.
LIBPQ_VARIABLES = {
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY",
    "channel_binding": "PGCHANNELBINDING",
    "gssencmode": "PGGSSENCMODE",
    "target_session_attrs": "PGTARGETSESSIONATTRS",
}
LOCK_WAIT_SECONDS = 30
# What a newer release made must go too, or its migrations would find their tables there already.
DROP_TABLES = """\
DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP
    EXECUTE format('DROP TABLE IF EXISTS %I CASCADE', name);
  END LOOP;
END $$"""


def copy_suffix() -> str:
    """How the file of a copy ends."""
    return ".dump" if connection.vendor == "postgresql" else ".sqlite3"


def backup_database(file: Path) -> None:
    """Write a consistent copy to `file`, which appears only once it is whole. CommandError says what went wrong."""
    if file.exists():
        raise CommandError(f"{file} exists already.")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")[1])
    except OSError as error:
        raise CommandError(f"{file}: cannot be written ({error.strerror}).") from None
    try:
        _dump(draft)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)


def _dump(draft: Path) -> None:
    if connection.vendor == "postgresql":
        _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={draft}")
        return
    try:
        with closing(_sqlite_source(_sqlite_file())) as source, closing(sqlite3.connect(draft)) as target:
            source.backup(target)
    except sqlite3.Error as error:
        raise CommandError(f"The database cannot be copied ({error}).") from None


def restore_database(file: Path) -> None:
    """Replace all that is stored by the copy in `file`, in one transaction. CommandError says what went wrong."""
    if not file.is_file():
        raise CommandError(f"{file}: there is no such file.")
    connection.close()
    if connection.vendor == "postgresql":
        _restore_postgresql(file)
    else:
        _restore_sqlite(file)


def _restore_sqlite(file: Path) -> None:
    try:
        with closing(_sqlite_source(file)) as source:
            if source.execute("PRAGMA quick_check").fetchone() != ("ok",) or not _is_ours(source):
                raise CommandError(f"{file}: is no copy of this service's database.")
            with closing(sqlite3.connect(_sqlite_file(), timeout=LOCK_WAIT_SECONDS)) as target:
                source.backup(target)
    except sqlite3.Error as error:
        raise CommandError(f"{file}: cannot be restored ({error}).") from None


def _is_ours(source: sqlite3.Connection) -> bool:
    ours = "SELECT COUNT(*) FROM sqlite_master WHERE name IN ('django_migrations', 'flashcards_card')"
    return bool(source.execute(ours).fetchone() == (2,))


def _restore_postgresql(file: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "restore.sql"
        _run("pg_restore", "--no-owner", "--no-privileges", f"--file={script}", str(file))
        if "flashcards_card" not in script.read_text(encoding="utf-8", errors="replace"):
            raise CommandError(f"{file}: is no copy of this service's database.")
        wait = f"SET lock_timeout = '{LOCK_WAIT_SECONDS}s'"
        options = ("--quiet", "--no-psqlrc", "--single-transaction", "--set=ON_ERROR_STOP=1", "--output=/dev/null")
        _run("psql", *options, "--command", wait, "--command", DROP_TABLES, "--file", str(script))


def _sqlite_file() -> Path:
    return Path(str(connection.settings_dict["NAME"])).absolute()


def _sqlite_source(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)


def _run(program: str, *words: str) -> None:
    if shutil.which(program) is None:
        raise CommandError(f"{program} is not installed (Debian: apt install postgresql-client).")
    ended = subprocess.run(  # noqa: S603  the words are our own
        [program, *words], env=_libpq_environment(), capture_output=True, text=True, check=False
    )
    if ended.returncode:
        said = ended.stderr.strip().splitlines() or [f"status {ended.returncode}"]
        raise CommandError(f"{program} failed: {said[0]}")


def _libpq_environment() -> dict[str, str]:
    at = connection.settings_dict
    given = {
        "PGHOST": at["HOST"],
        "PGPORT": at["PORT"],
        "PGUSER": at["USER"],
        "PGPASSWORD": at["PASSWORD"],
        "PGDATABASE": at["NAME"],
        **{variable: at["OPTIONS"].get(option, "") for option, variable in LIBPQ_VARIABLES.items()},
    }
    return {**os.environ, **{name: str(value) for name, value in given.items() if value}}
