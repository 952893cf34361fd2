"""Generated requests against the running server: no 5xx, and no answer that the OpenAPI document does not describe."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.server import LiveServer

EXAMPLES_MAX = 5
# It asks that whatever fits the schema is accepted; no schema knows SQL, a code's digits or the tags in use.
LEFT_OUT = "positive_data_acceptance"


@pytest.mark.server
def test_generated_requests_get_documented_answers_alone(server: LiveServer, tmp_path: Path):
    key = server.create_api_key("generated@example.com")
    rows = ", ".join(f"('Question {number}?', 'Answer {number}', ('geo'))" for number in range(50))
    insert = {"sql": f"INSERT INTO cards (front_text, back_text, tags) VALUES {rows}"}
    assert server.request("POST", "/v1/agent/sql/execute", insert, key=key).status == 200
    words = [
        "run", f"{server.url}/v1/openapi.json", "--header", f"Authorization: ApiKey {key}", "--checks", "all",
        "--exclude-checks", LEFT_OUT, "--max-examples", str(EXAMPLES_MAX), "--seed", "1", "--no-color",
        "--continue-on-failure", "--generation-database", "none",
    ]  # fmt: skip
    program = Path(sys.executable).parent / "schemathesis"
    ran = subprocess.run([program, *words], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "unexpected" not in server.printed()
