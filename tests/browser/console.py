"""Django beside the running server, in a process of its own: what only time or the operator changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flashcards.configuration import ROOT, unset_environment
from tests.server import LiveServer

_PROGRAM = """\
import json, sys, django
django.setup()
from datetime import timedelta
from django.db.models import F
from django.utils import timezone
from accounts.models import User
from review.app.models import CandidateSnapshot, ReviewAppChoice, ReviewSession
from review.models import ReviewEvent
from tests.factories import make_api_key, make_user, make_workspace
def make_learner(email):
    user = make_user(email)
    make_workspace(user)
    return make_api_key(user)
for line in sys.stdin:
    print(json.dumps(eval(json.loads(line)), default=str), flush=True)
"""


class Console:
    """Evaluates expressions on a server's database; `running_console` starts one."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def evaluate(self, expression: str) -> Any:
        """The value of a Python expression."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(expression) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"{expression} failed"
        return json.loads(answer)


@contextmanager
def running_console(server: LiveServer) -> Iterator[Console]:
    """A console of that server."""
    settings = {"DJANGO_SETTINGS_MODULE": "flashcards.settings", "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        cwd=ROOT,
        env={**os.environ, **unset_environment(), **settings, **server.environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Console(process)
        finally:
            process.terminate()
