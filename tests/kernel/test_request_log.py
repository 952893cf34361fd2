from __future__ import annotations

import json
import logging
import sys

import pytest
from django.db import DatabaseError
from django.test import Client

from flashcards.request_log import JsonFormatter, TextFormatter


def record_of(error: Exception) -> logging.LogRecord:
    try:
        raise error
    except type(error):
        return logging.LogRecord("flashcards", logging.ERROR, "", 0, "unexpected", (), sys.exc_info())


@pytest.mark.parametrize("formatter", [TextFormatter(), JsonFormatter()])
def test_a_database_errors_text_stays_out_of_the_log(formatter: logging.Formatter) -> None:
    line = formatter.format(record_of(DatabaseError("Failing row contains (the answer on the card)")))
    assert "DatabaseError" in line
    assert "test_request_log.py" in line
    assert "the answer" not in line


def test_another_errors_text_is_in_the_log() -> None:
    assert "no such deck shape" in TextFormatter().format(record_of(RuntimeError("no such deck shape")))


def test_json_lines_are_single_objects() -> None:
    record = logging.LogRecord("flashcards", logging.INFO, "", 0, "two\nlines", (), None)
    record.fields = {"status": 200}
    line = JsonFormatter().format(record)
    assert "\n" not in line
    assert json.loads(line)["status"] == 200


@pytest.mark.django_db
def test_every_answer_carries_the_id_of_its_log_line(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "flashcards.request")
    answer = client.get("/v1/nowhere", headers={"x-request-id": "forged"})
    assert answer.headers["X-Request-Id"] == answer.json()["requestId"] != "forged"
    (record,) = [record for record in caplog.records if record.name == "flashcards.request"]
    fields = vars(record)["fields"]
    assert fields["status"] == 404
    assert "nowhere" not in str(fields)
