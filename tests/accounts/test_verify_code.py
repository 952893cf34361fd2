"""Exchanging a code for a key."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.login import send_code, sign_in_with_code
from accounts.models import ApiKey, LoginChallenge, User
from flashcards.models import Workspace
from tests.accounts.conftest import Visitor, code_in, other_code
from tests.agent import Agent
from tests.factories import make_user, make_workspace

KEY_FORM = re.compile(r"fca_[0-9A-HJKMNP-TV-Z]{8}_[0-9A-HJKMNP-TV-Z]{26}")


@pytest.fixture
def asked(visitor, mailoutbox) -> tuple[str, str]:
    """Carol's code and token."""
    token = visitor.token()
    return code_in(mailoutbox[-1]), token


def with_key(visitor: Visitor, key: str) -> Agent:
    return Agent(visitor.client, None, None, key)


def test_the_code_gives_a_key_that_opens_the_api(visitor, asked):
    answer = visitor.verify(*asked, label="  Claude on my laptop ")
    assert answer.status == 200
    assert answer.data.keys() == {"apiKey", "authorizationScheme", "apiBaseUrl", "connection"}
    assert KEY_FORM.fullmatch(answer.data["apiKey"])
    assert answer.data["authorizationScheme"] == "ApiKey"
    connection = answer.data["connection"]
    assert connection.keys() == {"connectionId", "label", "createdAt", "lastUsedAt", "revokedAt"}
    assert connection["label"] == "Claude on my laptop"
    assert connection["lastUsedAt"] is connection["revokedAt"] is None
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", connection["createdAt"])
    assert with_key(visitor, answer.data["apiKey"]).get("/v1/agent/me").status == 200


def test_the_key_is_stored_as_a_hash_alone(visitor, asked):
    key = visitor.verify(*asked).data["apiKey"]
    secret = key.rpartition("_")[2]
    row = ApiKey.objects.values().get()
    assert len(bytes(row["secret_hash"])) == 32
    assert secret not in repr(row)


def test_the_first_sign_in_makes_the_account_and_its_first_workspace(db, mailoutbox):
    visitor = Visitor(HTTP_ACCEPT_LANGUAGE="ru-RU,ru;q=0.9")
    token = visitor.token()
    assert not User.objects.exists()
    answer = visitor.verify(code_in(mailoutbox[0]), token)
    me = with_key(visitor, answer.data["apiKey"]).get("/v1/agent/me").data
    assert me["profile"]["email"] == "carol@example.com"
    assert me["profile"]["locale"] == "ru"
    (workspace,) = Workspace.objects.all()
    assert (workspace.name, str(workspace.workspace_id)) == ("Personal", me["selectedWorkspaceId"])
    assert not User.objects.get().has_usable_password()


def test_the_second_sign_in_makes_neither(visitor, mailoutbox):
    for _ in range(2):
        token = visitor.token()
        visitor.verify(code_in(mailoutbox[-1]), token)
    assert (User.objects.count(), Workspace.objects.count(), ApiKey.objects.count()) == (1, 1, 2)


def test_a_user_with_a_workspace_gets_no_other(visitor, mailoutbox):
    make_workspace(make_user("carol@example.com"), name="Spanish")
    token = visitor.token()
    visitor.verify(code_in(mailoutbox[0]), token)
    assert [workspace.name for workspace in Workspace.objects.all()] == ["Spanish"]


def test_instructions_fit_the_state_after_sign_in(visitor, mailoutbox):
    token = visitor.token()
    assert "a workspace is selected" in visitor.verify(code_in(mailoutbox[0]), token).body["instructions"]
    make_workspace(User.objects.get(), name="Spanish")
    token = visitor.token()
    instructions = visitor.verify(code_in(mailoutbox[1]), token).body["instructions"]
    assert "/v1/agent/workspaces/{workspaceId}/select" in instructions


@pytest.mark.parametrize("written", ["{0} {1}", "{0}-{1}", " {0}{1}\n", "{0}\u2013{1}"])
def test_spaces_and_dashes_in_the_code_do_not_matter(visitor, asked, written):
    code, token = asked
    assert visitor.verify(written.format(code[:4], code[4:]), token).status == 200


def test_full_width_digits_are_digits(visitor, asked):
    code, token = asked
    assert visitor.verify(code.translate({ord("0") + n: 0xFF10 + n for n in range(10)}), token).status == 200


def test_case_spaces_and_hyphens_in_the_token_do_not_matter(visitor, asked):
    code, token = asked
    written = f" {token[:5].lower()}-{token[5:10]} {token[10:].lower()}"
    assert visitor.verify(code, written).status == 200


def test_a_code_is_used_once(visitor, asked):
    assert visitor.verify(*asked).status == 200
    again = visitor.verify(*asked)
    assert again.status == 400
    assert again.error["code"] == "OTP_SESSION_EXPIRED"
    assert ApiKey.objects.count() == 1


def test_a_used_code_ends_every_token_of_its_challenge(visitor, mailoutbox):
    tokens = [visitor.token() for _ in range(4)]
    assert visitor.verify(code_in(mailoutbox[2]), tokens[3]).status == 200
    assert visitor.verify(code_in(mailoutbox[2]), tokens[2]).error["code"] == "OTP_SESSION_EXPIRED"
    assert visitor.verify(code_in(mailoutbox[1]), tokens[1]).status == 200


def test_a_code_is_good_for_180_seconds(db, mailoutbox):
    asked_at = timezone.now() - timedelta(seconds=200)
    sent = send_code(email="carol@example.com", client_address="192.0.2.1", locale="en", now=asked_at)
    code = code_in(mailoutbox[0])
    assert Visitor().verify(code, sent.token).error["code"] == "OTP_SESSION_EXPIRED"
    just = asked_at + timedelta(seconds=179, milliseconds=999)
    assert sign_in_with_code(code=code, token=sent.token, locale="en", now=just).email == "carol@example.com"


@pytest.mark.parametrize("token", ["", "0" * 20, "x", "\u0417\ud800", "A\x00B", "9" * 5000])
def test_an_unknown_token_is_an_expired_session(visitor, asked, token):
    answer = visitor.verify(asked[0], token)
    assert answer.status == 400
    assert answer.error["code"] == "OTP_SESSION_EXPIRED"


def test_wrong_codes_are_counted_down_and_the_sixth_guess_is_not_compared(visitor, asked):
    code, token = asked
    for left in (4, 3, 2, 1, 0):
        answer = visitor.verify(other_code(code), token)
        assert answer.status == 400
        assert answer.error["code"] == "OTP_CODE_INVALID"
        assert answer.error["details"] == {"attemptsRemaining": left}
    assert "locked" in answer.body["instructions"]
    locked = visitor.verify(code, token)
    assert locked.status == 429
    assert locked.error["code"] == "OTP_TOO_MANY_ATTEMPTS"
    assert not User.objects.exists()


def test_the_count_belongs_to_the_challenge_and_not_to_its_tokens(visitor, mailoutbox):
    tokens = [visitor.token() for _ in range(6)]
    code = code_in(mailoutbox[2])
    for token in tokens[2:]:
        assert visitor.verify(other_code(code), token).error["code"] == "OTP_CODE_INVALID"
    assert visitor.verify(other_code(code), tokens[2]).error["details"] == {"attemptsRemaining": 0}
    assert visitor.verify(code, tokens[5]).error["code"] == "OTP_TOO_MANY_ATTEMPTS"
    assert visitor.verify(code_in(mailoutbox[0]), tokens[0]).status == 200


def test_the_code_of_another_challenge_is_a_wrong_code(visitor, mailoutbox):
    token = visitor.token()
    visitor.token("dora@example.com")
    assert visitor.verify(code_in(mailoutbox[1]), token).error["code"] == "OTP_CODE_INVALID"


@pytest.mark.parametrize("code", ["", "abc", "123", "\ud800", "0" * 5000])
def test_what_is_no_code_counts_as_a_wrong_one(visitor, asked, code):
    answer = visitor.verify(code, asked[1])
    assert answer.error["code"] == "OTP_CODE_INVALID"
    assert LoginChallenge.objects.get().wrong_codes == 1


def test_the_right_code_after_four_wrong_ones_signs_in(visitor, asked):
    code, token = asked
    for _ in range(4):
        visitor.verify(other_code(code), token)
    assert visitor.verify(code, token).status == 200


@pytest.mark.parametrize("label", ["", "  ", "\u200b", "x" * 121, "a\x00b", "a\ud800", 5, None])
def test_a_label_has_1_to_120_characters_and_a_bad_one_costs_no_guess(visitor, asked, label):
    answer = visitor.verify(*asked, label=label)
    assert answer.status == 400
    assert answer.error["code"] == "INVALID_REQUEST"
    assert answer.error["details"]["validationIssues"][0]["path"] == "label"
    assert LoginChallenge.objects.get().wrong_codes == 0
    assert visitor.verify(*asked, label=" " + "x" * 120 + " ").status == 200


@pytest.mark.parametrize("missing", ["code", "otpSessionToken", "label"])
def test_every_field_is_needed(visitor, missing):
    body = {"code": "12345678", "otpSessionToken": "x", "label": "x"}
    del body[missing]
    answer = visitor.post("/api/agent/verify-code", body)
    assert answer.error["code"] == "INVALID_REQUEST"
    assert missing in answer.error["message"]


def test_an_account_switched_off_meanwhile_is_told_so_and_gets_no_key(visitor, mailoutbox):
    make_user("carol@example.com")
    token = visitor.token()
    User.objects.update(is_active=False)
    answer = visitor.verify(code_in(mailoutbox[0]), token)
    assert answer.status == 403
    assert answer.error["code"] == "FORBIDDEN"
    assert "operator" in answer.body["instructions"]
    assert not ApiKey.objects.exists()


def test_a_refused_code_costs_a_constant_number_of_queries(visitor, asked, django_assert_num_queries):
    with django_assert_num_queries(3):
        visitor.verify(other_code(asked[0]), asked[1])
