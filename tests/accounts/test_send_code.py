"""Asking for a sign-in code."""

from __future__ import annotations

import re
from email.header import decode_header, make_header
from smtplib import SMTPRecipientsRefused

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend

from accounts.models import LoginChallenge, LoginToken, User
from tests.accounts.conftest import Visitor, code_in
from tests.agent import Agent
from tests.factories import make_user


def refusing(error: Exception):
    """A mail server that fails with `error`."""

    def send_messages(self, messages):
        raise error

    return send_messages


def comparable(answer) -> dict:
    """An answer without what is random in it or names the address."""
    token = answer.data["otpSessionToken"]
    text = repr(answer.body).replace(token, "TOKEN").replace(answer.data["email"], "EMAIL")
    return {"status": answer.status, "text": text}


def test_the_answer_carries_what_verify_code_needs(visitor, mailoutbox):
    answer = visitor.send_code(" Carol@Example.COM ")
    assert answer.status == 200
    assert answer.data.keys() == {"email", "otpSessionToken", "expiresInSeconds", "authBaseUrl", "apiBaseUrl"}
    assert answer.data["email"] == "carol@example.com"
    assert re.fullmatch(r"[0-9A-HJKMNP-TV-Z]{20}", answer.data["otpSessionToken"])
    assert answer.data["expiresInSeconds"] == 180
    (action,) = answer.body["actions"]
    assert action["name"] == "verify_code"
    assert action["url"] == f"{answer.data['authBaseUrl']}/api/agent/verify-code"
    assert action["body"]["otpSessionToken"] == answer.data["otpSessionToken"]
    assert mailoutbox[0].to == ["carol@example.com"]


def test_the_mail_is_plain_text_with_the_digits_written_together(visitor, mailoutbox):
    visitor.send_code()
    message = mailoutbox[0].message()
    assert message.get_content_type() == "text/plain"
    assert re.findall(r"\d{8}", mailoutbox[0].body) == [code_in(mailoutbox[0])]
    assert code_in(mailoutbox[0]) in message["Subject"]
    assert message["Auto-Submitted"] == "auto-generated"


def test_neither_code_nor_token_is_stored(visitor, mailoutbox):
    token = visitor.token()
    challenge, row = LoginChallenge.objects.get(), LoginToken.objects.get()
    assert code_in(mailoutbox[0]).encode() not in bytes(challenge.code_hash)
    assert len(bytes(challenge.code_hash)) == len(bytes(row.token_hash)) == 32
    assert token.encode() not in bytes(row.token_hash)


@pytest.mark.parametrize(
    ("header", "word"), [("ru,en;q=0.5", "Код"), ("zh-CN", "验证码"), ("fr, en;q=0.1", "code"), ("", "code")]
)
def test_the_mail_speaks_the_language_of_the_request(db, mailoutbox, header, word):
    Visitor(HTTP_ACCEPT_LANGUAGE=header).send_code()
    assert word in mailoutbox[0].body
    assert word.lower() in str(make_header(decode_header(mailoutbox[0].message()["Subject"]))).lower()


def test_the_mail_speaks_the_language_of_the_account_when_there_is_one(db, mailoutbox):
    make_user("carol@example.com", locale="ru")
    Visitor(HTTP_ACCEPT_LANGUAGE="zh").send_code()
    assert "Код" in mailoutbox[0].body


def test_a_service_name_with_line_breaks_cannot_add_a_header(visitor, mailoutbox, settings):
    settings.SERVICE_NAME = "Cards\nBcc: eve@example.com"
    visitor.send_code()
    assert mailoutbox[0].message()["Bcc"] is None
    assert mailoutbox[0].recipients() == ["carol@example.com"]


def test_the_answer_does_not_tell_whether_an_account_exists(visitor, mailoutbox):
    make_user("known@example.com")
    assert comparable(visitor.send_code("known@example.com")) == comparable(visitor.send_code("other@example.com"))
    assert len(mailoutbox) == 2


@pytest.mark.parametrize(
    ("rule", "email", "mails"),
    [
        ("closed", "known@example.com", 1),
        ("closed", "new@example.com", 0),
        ("example.org,example.net", "new@example.net", 1),
        ("example.org,example.net", "new@example.com", 0),
        ("example.org", "new@sub.example.org", 0),
        ("example.org", "known@example.com", 1),
    ],
)
def test_refused_sign_up_gets_the_same_answer_and_no_mail(visitor, mailoutbox, settings, *, rule, email, mails):
    make_user("known@example.com")
    expected = comparable(visitor.send_code("someone@example.com"))
    mailoutbox.clear()
    settings.SIGNUP = rule
    assert comparable(visitor.send_code(email)) == expected
    assert len(mailoutbox) == mails


def test_refused_sign_up_meets_the_same_limits(visitor, mailoutbox, settings):
    settings.SIGNUP = "closed"
    make_user("known@example.com")
    for email in ("known@example.com", "new@example.com"):
        answers = [visitor.send_code(email) for _ in range(4)]
        assert [answer.status for answer in answers] == [200] * 4
    assert len(mailoutbox) == 3


def test_no_code_opens_a_refused_sign_up(visitor, mailoutbox, settings):
    settings.SIGNUP = "closed"
    token = visitor.token("new@example.com")
    assert visitor.verify("", token).error["code"] == "OTP_CODE_INVALID"
    assert visitor.verify("00000000", token).error["code"] == "OTP_CODE_INVALID"
    assert not User.objects.exists()


def test_an_account_that_is_switched_off_gets_no_mail(visitor, mailoutbox):
    make_user("known@example.com", is_active=False)
    assert visitor.send_code("known@example.com").status == 200
    assert mailoutbox == []


@pytest.mark.parametrize(
    "email",
    ["", "  ", "carol", "carol@", "@example.com", "a@b@example.com", "carol@example.com\nBcc: x@example.com",
     "carol@example.com\x00", "carol@\ud800.com", "c" * 250 + "@example.com"],
)  # fmt: skip
def test_what_is_no_address_is_refused(visitor, mailoutbox, email):
    answer = visitor.send_code(email)
    assert answer.status == 400
    assert answer.error["code"] == "INVALID_EMAIL"
    assert answer.error["details"]["validationIssues"][0]["path"] == "email"
    assert mailoutbox == []


def test_an_address_of_256_characters_is_taken(visitor):
    domain = ".".join(["d" * 60] * 3 + ["example.com"])
    email = "c" * (256 - len(domain) - 1) + "@" + domain
    assert visitor.send_code(email).data["email"] == email
    assert visitor.send_code("c" + email).error["code"] == "INVALID_EMAIL"


@pytest.mark.parametrize("body", [{}, {"email": 5}, {"email": None}, {"email": "a@example.com", "name": "x"}])
def test_a_body_of_another_shape_is_an_invalid_request(visitor, body):
    assert visitor.post("/api/agent/send-code", body).error["code"] == "INVALID_REQUEST"


@pytest.mark.parametrize(
    "failure", [SMTPRecipientsRefused({}), TimeoutError("timed out"), ConnectionRefusedError("refused")]
)
def test_a_mail_that_fails_leaves_no_challenge_and_is_not_counted(visitor, monkeypatch, mailoutbox, failure):
    with monkeypatch.context() as patch:
        patch.setattr(EmailBackend, "send_messages", refusing(failure))
        for _ in range(4):
            answer = visitor.send_code()
            assert answer.status == 503
            assert answer.error["code"] == "OTP_SEND_FAILED"
            assert "refused" not in repr(answer.body["error"])
    assert not LoginChallenge.objects.exists()
    assert not LoginToken.objects.exists()
    for _ in range(3):
        assert visitor.send_code().status == 200
    assert len(mailoutbox) == 3


def test_requests_whose_mail_failed_count_for_the_network_address(visitor, monkeypatch, settings):
    settings.LIMIT_IP_SENDS = settings.LIMIT_IP_SENDS[:1]
    monkeypatch.setattr(EmailBackend, "send_messages", refusing(TimeoutError("timed out")))
    statuses = [visitor.send_code().status for _ in range(11)]
    assert statuses == [503] * 10 + [429]


def test_the_mail_server_has_ten_seconds(visitor, settings):
    assert vars(mail.get_connection("django.core.mail.backends.smtp.EmailBackend"))["timeout"] == 10


def test_send_code_needs_no_key_and_ignores_a_wrong_one(visitor):
    wrong = Agent(visitor.client, None, None, "fca_wrong")
    assert wrong.post("/api/agent/send-code", {"email": "carol@example.com"}).status == 200
