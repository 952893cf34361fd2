"""The sample deck, and the demonstration that `make demo` runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from flashcards.management.agent_session import AgentSession, Narrator, StepFailed, shortened
from flashcards.management.http_deck import SAVED_DECKS, http_cards
from flashcards.management.mcp_session import run_mcp_session
from flashcards.models import Card, CardTag, Deck, Workspace
from tests.server import LiveServer, manage, running_server


def test_the_deck_asks_in_both_directions_and_never_shows_an_answer_in_its_question() -> None:
    cards = http_cards()
    assert len(cards) >= 120
    assert len({card.front_text for card in cards}) == len({card.key for card in cards}) == len(cards)
    for direction in ("code-to-meaning", "meaning-to-code"):
        assert sum(direction in card.tags for card in cards) == len(cards) / 2
    for card in cards:
        assert card.back_text.split("**")[1] not in card.front_text, "the answer stands in the question"


def test_seeding_stores_the_deck_once(db: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("seed_demo", email="Demo@Example.com")
    assert capsys.readouterr().out.startswith(f"Stored {len(http_cards())} cards and 2 decks for demo@example.com")
    call_command("seed_demo", email="demo@example.com")
    assert capsys.readouterr().out.startswith("Stored 0 cards and 0 decks")
    workspace = User.objects.get(email="demo@example.com").workspaces.get()
    assert workspace.name == "Personal"
    assert CardTag.objects.in_workspace(workspace).count() == sum(len(card.tags) for card in http_cards())


def test_seeded_decks_select_seeded_cards(db: None) -> None:
    call_command("seed_demo")
    workspace = Workspace.objects.get()
    decks = Deck.objects.in_workspace(workspace)
    assert {deck.name for deck in decks} == set(SAVED_DECKS)
    assert all(Card.objects.in_workspace(workspace).in_deck(deck).count() >= 30 for deck in decks)


def test_seeding_leaves_a_deleted_card_in_the_trash(db: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("seed_demo")
    Card.objects.filter(front_text__startswith="HTTP 418").update(deleted_at="2026-01-01T00:00:00Z")
    call_command("seed_demo")
    assert "Stored 0 cards" in capsys.readouterr().out
    assert Card.objects.live().filter(front_text__startswith="HTTP 418").count() == 0


@pytest.mark.parametrize("arguments", [{"email": "nobody"}, {"workspace": " "}])
def test_seeding_refuses_what_is_no_address_or_name(db: None, arguments: dict[str, str]) -> None:
    with pytest.raises(CommandError):
        call_command("seed_demo", **arguments)
    assert not User.objects.exists()


@pytest.mark.server
def test_the_demo_goes_through_every_step_and_leaves_nothing_running(tmp_path: Path) -> None:
    ended = manage("demo", "--data-dir", str(tmp_path), environment={}, timeout_seconds=120)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "All 17 steps worked." in ended.stdout
    assert "How to go on" in ended.stdout
    assert "CREATE" not in ended.stderr
    assert not (tmp_path / "server.pid").exists()
    assert "Shutting down: Master" in (tmp_path / "server.log").read_text()


@pytest.mark.server
def test_the_demo_can_leave_its_server_up_and_says_how_to_stop_it(tmp_path: Path) -> None:
    ended = manage("demo", "--data-dir", str(tmp_path), environment={"KEEP": "1"}, timeout_seconds=120)
    process_id = int((tmp_path / "server.pid").read_text())
    try:
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert f"kill {process_id}" in ended.stdout
        again = manage("demo", "--data-dir", str(tmp_path), environment={}, timeout_seconds=120)
        assert again.returncode == 1
        assert again.stderr.strip() == (
            f"CommandError: The server of an earlier demo is still up. Stop it first: kill {process_id}"
        )
    finally:
        os.kill(process_id, 15)


@pytest.mark.server
def test_a_step_that_fails_ends_the_demo_with_its_name(tmp_path: Path) -> None:
    # Nobody may sign up, so no code is mailed and the third step cannot work.
    with running_server(tmp_path, SIGNUP="closed") as running:
        told: list[str] = []
        session = AgentSession(f"{running.url}/v1/", "new@example.com", running.printed, Narrator(told.append))
        with pytest.raises(StepFailed, match=r"step 3 \(Read the code from the mail .*\): no code was printed"):
            session.run()
    assert told[-1].strip().startswith("3. ")


@pytest.mark.server
def test_a_demo_that_fails_ends_with_a_status_and_stops_its_server(tmp_path: Path) -> None:
    words = ("demo", "--data-dir", str(tmp_path), "--email", "nobody")
    ended = manage(*words, environment={"KEEP": "1"}, timeout_seconds=120)
    assert ended.returncode == 1
    assert ended.stderr.startswith("CommandError: The demo failed at step 2 (Ask for a sign-in code by mail): POST ")
    assert len(ended.stderr.splitlines()) == 1
    assert "Shutting down: Master" in (tmp_path / "server.log").read_text()


@pytest.mark.server
def test_an_mcp_step_that_fails_is_told_like_any_other(server: LiveServer) -> None:
    narrator = Narrator(lambda _line: None)
    with pytest.raises(StepFailed, match=f"{server.url}/mcp: "):
        run_mcp_session(f"{server.url}/mcp", key="fca_wrong", narrator=narrator)
    key = server.create_api_key("without-cards@example.com")
    with pytest.raises(StepFailed, match=r"step 3 \(Count the cards by state\): there are no cards"):
        run_mcp_session(f"{server.url}/mcp", key=key, narrator=Narrator(lambda _line: None))


def test_what_is_shown_is_short_and_holds_no_whole_key() -> None:
    lines: list[str] = []
    key = "fca_ABCDEFGH_" + "0" * 26
    Narrator(lines.append).came(200, {"apiKey": key, "text": "x" * 1000, "list": ["y" * 1000] * 9})
    assert len(lines[0]) < 450
    assert "fca_ABCDEFGH_…" in lines[0]
    assert "0" * 26 not in lines[0]
    assert shortened({"text": "x" * 1000}) == '{"text": "' + "x" * 120 + '…"}'
