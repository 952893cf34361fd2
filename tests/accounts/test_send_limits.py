"""How often a code may be asked for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from accounts.errors import OtpSessionExpired
from accounts.login import SentCode, prune_login, send_code, sign_in_with_code
from accounts.models import LoginChallenge, LoginToken, SendLog
from flashcards.configuration import parse_windows
from flashcards.errors import RateLimited
from tests.accounts.conftest import Visitor, code_in

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
pytestmark = pytest.mark.django_db


def ask(at: float, email: str = "carol@example.com", client: str = "192.0.2.1") -> SentCode:
    """A code asked for `at` seconds after noon."""
    return send_code(email=email, client_address=client, locale="en", now=NOON + timedelta(seconds=at))


def wait_of(refused: pytest.ExceptionInfo[RateLimited]) -> int:
    """The Retry-After of a refusal."""
    return int(refused.value.headers["Retry-After"])


def ask_from_everywhere(moments) -> None:
    """Codes for Carol, each asked for from another network address."""
    for number, at in enumerate(moments):
        ask(at, client=f"198.51.100.{number}")


def test_three_mails_a_minute_go_to_an_address(mailoutbox):
    for at in (0, 1, 2, 3, 59):
        ask(at)
    assert len(mailoutbox) == 3
    ask(60)
    assert len(mailoutbox) == 4


def test_five_mails_in_fifteen_minutes_and_ten_a_day(mailoutbox):
    moments = [hour * 3600 + minute * 60 for hour in range(3) for minute in range(6)]
    ask_from_everywhere(moments[:6])
    assert len(mailoutbox) == 5
    ask_from_everywhere(moments[6:11])
    assert len(mailoutbox) == 10
    with pytest.raises(RateLimited) as refused:
        ask(4 * 3600)
    assert wait_of(refused) == 20 * 3600
    ask(24 * 3600)
    assert len(mailoutbox) == 11


def test_over_the_limit_the_newest_live_code_gets_another_token(mailoutbox):
    sent = [ask(at) for at in (0, 1, 2, 10)]
    assert len({one.token for one in sent}) == 4
    assert sent[3].expires_in_seconds == 172
    newest = code_in(mailoutbox[2])
    user = sign_in_with_code(code=newest, token=sent[3].token, locale="en", now=NOON + timedelta(seconds=20))
    assert user.email == "carol@example.com"


def test_tokens_and_codes_given_earlier_stay_valid(mailoutbox):
    sent = [ask(at) for at in range(5)]
    for mail, one in zip(mailoutbox, sent, strict=False):
        assert sign_in_with_code(code=code_in(mail), token=one.token, locale="en", now=NOON + timedelta(seconds=9))


def test_over_the_limit_without_a_live_code_it_is_429_with_the_time_to_wait(mailoutbox):
    ask_from_everywhere(range(0, 300, 60))
    with pytest.raises(RateLimited) as refused:
        ask(500)
    assert wait_of(refused) == 400
    ask(500 + wait_of(refused))
    assert len(mailoutbox) == 6


@pytest.mark.parametrize("change", [{"used_at": NOON}, {"wrong_codes": 5}, {"expires_at": NOON + timedelta(seconds=3)}])
def test_a_used_locked_or_old_code_gets_no_more_tokens(mailoutbox, change):
    for at in range(3):
        ask(at)
    LoginChallenge.objects.update(**change)
    with pytest.raises(RateLimited):
        ask(3)
    assert LoginToken.objects.count() == 3


def test_ten_requests_in_fifteen_minutes_from_a_network_address(mailoutbox):
    for at in range(10):
        ask(at)
    with pytest.raises(RateLimited) as refused:
        ask(100)
    assert wait_of(refused) == 800
    assert ask(100, client="192.0.2.2")
    with pytest.raises(RateLimited):
        ask(899)
    ask(900)


def test_thirty_requests_an_hour_and_a_hundred_a_day_from_a_network_address():
    start_of_window = [900 * number for number in range(3)]
    for start in start_of_window:
        for at in range(10):
            ask(start + at)
    with pytest.raises(RateLimited) as refused:
        ask(2700)
    assert wait_of(refused) == 900
    rows = [SendLog(email="x@example.com", client_address="192.0.2.1", new_code=False) for _ in range(70)]
    for row in rows:
        row.created_at = NOON + timedelta(hours=2)
    SendLog.objects.bulk_create(rows)
    with pytest.raises(RateLimited) as refused:
        ask(20 * 3600)
    assert wait_of(refused) == 4 * 3600


def test_five_distinct_addresses_an_hour_and_twenty_a_day(mailoutbox):
    for number in range(5):
        ask(number, email=f"user{number}@example.com")
    with pytest.raises(RateLimited) as refused:
        ask(10, email="user5@example.com")
    assert wait_of(refused) == 3590
    assert ask(10, email="user0@example.com")
    assert ask(10, email="user5@example.com", client="192.0.2.2")
    with pytest.raises(RateLimited):
        ask(3599, email="user5@example.com")
    ask(3601, email="user5@example.com")


def test_twenty_distinct_addresses_a_day():
    for number in range(20):
        ask(number // 5 * 3600, email=f"user{number}@example.com")
    with pytest.raises(RateLimited) as refused:
        ask(5 * 3600, email="one.more@example.com")
    assert wait_of(refused) == 19 * 3600
    assert ask(5 * 3600, email="user7@example.com")


def test_a_refused_request_is_not_counted():
    for at in range(10):
        ask(at)
    for at in range(100, 200):
        with pytest.raises(RateLimited):
            ask(at)
    assert ask(900)


def test_the_limits_are_settings(settings, mailoutbox):
    settings.LIMIT_EMAIL_SENDS = parse_windows("1/10")
    settings.LIMIT_IP_SENDS = parse_windows("4/100")
    settings.LIMIT_IP_ADDRESSES = parse_windows("2/100")
    ask(0)
    ask(1)
    ask(11, email="bob@example.com")
    assert len(mailoutbox) == 2
    with pytest.raises(RateLimited):
        ask(12, email="dora@example.com")
    ask(13)
    with pytest.raises(RateLimited):
        ask(14)


def test_over_rest_the_refusal_carries_retry_after(visitor, settings):
    settings.LIMIT_IP_SENDS = parse_windows("1/900")
    visitor.send_code()
    answer = visitor.send_code()
    assert answer.status == 429
    assert answer.error["code"] == "RATE_LIMITED"
    assert 890 <= int(answer.headers["Retry-After"]) <= 900
    assert answer.error["details"]["retryAfterSeconds"] == int(answer.headers["Retry-After"])


def asked_addresses() -> set[str]:
    return set(SendLog.objects.values_list("client_address", flat=True))


@pytest.mark.parametrize(
    ("proxies", "forwarded", "counted"),
    [
        (0, "203.0.113.9", "127.0.0.1"),
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "1.1.1.1, 203.0.113.9", "203.0.113.9"),
        (2, "1.1.1.1, 203.0.113.9, 10.0.0.1", "203.0.113.9"),
        (2, "10.0.0.1", "127.0.0.1"),
        (1, "", "127.0.0.1"),
        (1, "203.0.113.9:50123", "203.0.113.9"),
        (1, "::ffff:203.0.113.9", "203.0.113.9"),
        (1, "[::ffff:203.0.113.9]:50123", "203.0.113.9"),
        (1, "[2001:DB8:0::1]", "2001:db8::/64"),
        (1, "2001:db8::aa:0:1", "2001:db8::/64"),
        (1, "unknown", "127.0.0.1"),
        (1, "203.0.113.9:x", "127.0.0.1"),
    ],
)
def test_a_forwarded_address_counts_as_far_as_proxies_are_trusted(settings, proxies, forwarded, counted):
    settings.TRUSTED_PROXY_COUNT = proxies
    Visitor(HTTP_X_FORWARDED_FOR=forwarded).send_code()
    assert asked_addresses() == {counted}


def test_inventing_forwarded_addresses_evades_no_limit(settings):
    settings.TRUSTED_PROXY_COUNT = 1
    settings.LIMIT_IP_SENDS = parse_windows("3/900")
    answers = [Visitor(HTTP_X_FORWARDED_FOR=f"10.9.9.{n}, 203.0.113.9").send_code().status for n in range(4)]
    assert answers == [200, 200, 200, 429]


def test_prune_keeps_what_still_counts(mailoutbox):
    sent = ask(0)
    assert prune_login(now=NOON + timedelta(seconds=179)) == 0
    prune_login(now=NOON + timedelta(seconds=180))
    assert not LoginChallenge.objects.exists()
    assert not LoginToken.objects.exists()
    assert SendLog.objects.count() == 1
    prune_login(now=NOON + timedelta(days=1, seconds=1))
    assert not SendLog.objects.exists()
    with pytest.raises(OtpSessionExpired):
        sign_in_with_code(code=code_in(mailoutbox[0]), token=sent.token, locale="en", now=NOON + timedelta(seconds=181))


def test_a_send_takes_a_constant_number_of_queries(django_assert_num_queries, is_postgresql):
    for at in range(3):
        ask(at)
    locks = 2 if is_postgresql else 0
    with django_assert_num_queries(11 + locks):
        ask(100)
