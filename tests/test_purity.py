"""Structure that no type checker sees: who may import what, who reads the clock, and who handles exceptions."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from flashcards.configuration import ROOT

PACKAGES = ("flashcards", "accounts", "review", "sqlgate", "mcp_bridge")
PURE = (
    "flashcards.errors", "flashcards.envelope", "flashcards.operation", "flashcards.folding", "flashcards.content",
    "flashcards.addresses", "review.scheduler", "sqlgate.ast", "sqlgate.errors", "sqlgate.lexer", "sqlgate.parser",
)  # fmt: skip
OWNERS = {
    "lark": {"sqlgate/parser.py"},
    "fsrs": {"review/scheduler.py"},
    "nh3": {"review/app/rendering.py"},
    "latex2mathml": {"review/app/rendering.py"},
    "oauthlib": {"accounts/oauth/"},
    "oauth2_provider": {"accounts/oauth/"},
    "mcp": {"mcp_bridge/", "flashcards/management/mcp_session.py"},
    "mcp_types": {"mcp_bridge/"},
}
DOORS = re.compile(r"(operations|views|pages|auth|registration|server|consent|endpoint|health|upkeep)\.py$|/commands/")
LINES_OF_FUNCTION_MAX = 60


@cache
def _modules() -> dict[str, ast.Module]:
    files = [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]
    return {
        str(file.relative_to(ROOT)): ast.parse(file.read_text(encoding="utf-8"))
        for file in files
        if "migrations" not in file.parts
    }


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _imported(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def test_imports_go_downwards_only():
    ran = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("module", PURE)
def test_a_pure_module_is_imported_without_django(module):
    code = f"import sys, {module}; print(*(name for name in sys.modules if name in ('django', 'rest_framework')))"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.strip()) == (0, ""), ran.stderr


@pytest.mark.parametrize("library", OWNERS)
def test_a_library_is_imported_only_where_it_is_owned(library):
    importers = {name for name, tree in _modules().items() if library in _imported(tree)}
    assert importers, f"nobody imports {library}: take it off the list"
    assert [name for name in importers if not name.startswith(tuple(OWNERS[library]))] == []


def test_credentials_are_read_from_the_header_in_one_place():
    form = re.compile(r"""headers(\.get\(|\[)["']authorization["']|HTTP_AUTHORIZATION""", re.IGNORECASE)
    readers = {name for name in _modules() if form.search(_text(name))}
    # The token endpoint looks whether a client tried HTTP Basic, to refuse it.
    assert readers == {"accounts/auth.py", "accounts/oauth/server.py"}


def test_the_clock_is_read_at_the_doors_alone():
    readers = {
        name
        for name, tree in _modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("now", "utcnow", "today")
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in ("timezone", "datetime", "date")
    }
    # Django's interface of a session store has no room for `now`.
    assert [name for name in sorted(readers - {"accounts/sessions.py"}) if not DOORS.search(name)] == []


def test_operations_handle_no_exception():
    handlers = {
        f"{name}:{node.lineno}"
        for name, tree in _modules().items()
        if name.endswith(("operations.py", "views.py"))
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
    }
    assert handlers == set()


def test_no_exception_is_swallowed():
    swallowed = {
        f"{name}:{node.lineno}"
        for name, tree in _modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or [type(line) for line in node.body] == [ast.Pass])
    }
    assert swallowed == set()


def test_sql_text_of_the_dialect_never_reaches_a_driver():
    form = re.compile(r"\.raw\(|RawSQL|\.extra\(|cursor\(")
    users = {name for name in _modules() if name.startswith("sqlgate/") and form.search(_text(name))}
    # The time limit of a statement is told to the database there.
    assert users == {"sqlgate/clock.py"}


def test_modules_are_named_for_what_they_do():
    vague = {"utils", "util", "helpers", "managers", "selectors", "repositories", "signals", "common", "misc"}
    assert [name for name in _modules() if vague & set(name.removesuffix(".py").split("/"))] == []


def test_functions_stay_readable():
    long_functions = [
        f"{name}:{node.lineno} {node.name}"
        for name, tree in _modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno >= LINES_OF_FUNCTION_MAX
    ]
    assert long_functions == []
