"""The guide of the dialect: everything it shows works as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.factories import make_card, make_deck, make_review_event

GUIDE = Path(__file__).parent.parent.parent / "mcp_bridge" / "guides" / "sql_dialect.md"
TEXT = GUIDE.read_text(encoding="utf-8")
READS, WRITES = ("SELECT", "SHOW", "DESCRIBE"), ("INSERT", "UPDATE", "DELETE")
STATEMENTS = [
    statement.strip() for block in re.findall(r"```sql\n(.*?)```", TEXT, re.DOTALL) for statement in block.split(";\n")
]
TABLE_ROWS = re.findall(r"^\| (.*) \| (.*) \|$", TEXT, re.MULTILINE)[2:]
CONDITIONS = {
    "BETWEEN 1 AND 5": "reps BETWEEN 1 AND 5",
    "IN (1, 2)": "reps IN (1, 2)",
    "IS NULL": "due_at IS NULL",
    "ESCAPE '!'": "front_text LIKE '!%' ESCAPE '!'",
    **{f"LIKE '{pattern}'": f"front_text LIKE '{pattern}'" for pattern in ("%cap_tal%",)},
    **{f"LOWER(name) {rest}": f"LOWER(front_text) {rest}" for rest in ("= 'x'", "IN ('x', 'y')")},
    **{f"{rest} ('a', 'b')": f"tags {rest} ('a', 'b')" for rest in ("OVERLAP", "@>")},
}
NO_CONDITIONS = {"=", "!=", "<", "<=", ">", ">=", "\\%", "\\_"}


@pytest.fixture
def learner(alice):
    card = make_card(alice.workspace, front_text="Capital of Chile?", back_text="Santiago", tags=["geo"])
    make_deck(alice.workspace, name="Geography", tags=["geo"])
    make_review_event(card)
    return alice


def test_every_statement_of_the_guide_runs_by_itself(learner):
    assert len(STATEMENTS) >= 12
    for statement in STATEMENTS:
        answered = learner.sql(statement)
        assert answered.status == 200, (statement, answered.body)


def test_every_condition_of_the_guide_runs(learner):
    shown = [code for _, cell in TABLE_ROWS for code in re.findall(r"`([^`]+)`", cell)]
    assert len(shown) > 20
    for code in shown:
        if code in NO_CONDITIONS:
            continue
        condition = CONDITIONS.get(code, code)
        answered = learner.sql(f"SELECT front_text FROM cards WHERE {condition}")
        assert answered.status == 200, (code, answered.body)


def test_the_guide_says_which_tool_takes_which_statement(learner):
    for statement in STATEMENTS:
        side = "write" if statement.startswith(WRITES) else "read"
        wrong = "query" if side == "write" else "execute"
        answered = learner.post(f"/v1/agent/sql/{wrong}", {"sql": statement})
        assert answered.error["details"]["validationIssues"][0]["code"] == "wrong_tool"


def test_the_guide_states_the_limits_that_hold(learner):
    for limit in ("50 statements", "48000 characters", "100 rows", "at most 100"):
        assert limit in TEXT
