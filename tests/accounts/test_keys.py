"""Keys at the door of the REST API."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import ApiKey
from tests.agent import Agent, Answered
from tests.factories import make_api_key

CHALLENGE = 'ApiKey realm="flashcards"'
PROTECTED = [("GET", "/v1/agent/me"), ("GET", "/v1/agent/workspaces"), ("POST", "/v1/agent/workspaces")]


def me(agent: Agent, authorization: str | None) -> Answered:
    """Who am I, under this Authorization header."""
    headers = {} if authorization is None else {"authorization": authorization}
    answer = agent.client.get("/v1/agent/me", headers=headers)
    return Answered(answer.status_code, answer.json(), dict(answer.headers))


def without_id(answer: Answered) -> dict:
    return {name: value for name, value in answer.body.items() if name != "requestId"}


@pytest.mark.parametrize("scheme", ["ApiKey", "Bearer", "apikey", "BEARER"])
def test_a_key_opens_the_door_under_either_scheme(alice, scheme):
    answer = me(alice, f"{scheme} {alice.key}")
    assert answer.data["profile"]["email"] == "alice@example.com"
    assert answer.data["authTransport"] == "api_key"


@pytest.mark.parametrize(("method", "path"), PROTECTED)
def test_without_a_key_every_call_asks_for_one(alice, method, path):
    answer = alice.client.generic(method, path)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "AUTHENTICATION_REQUIRED"
    assert "/api/agent/send-code" in answer.json()["instructions"]
    assert answer["WWW-Authenticate"] == CHALLENGE


@pytest.mark.parametrize(
    "authorization",
    [
        "ApiKey",
        "ApiKey  ",
        "ApiKey nonsense",
        "Bearer fco_abc",
        "ApiKey fca_00000000_" + "0" * 26,
    ],
)
def test_whatever_is_no_key_gets_the_same_answer(alice, authorization):
    unknown = me(alice, "ApiKey fca_ABCDEFGH_" + "0" * 26)
    answer = me(alice, authorization)
    assert answer.status == 401
    assert answer.error["code"] == "AGENT_API_KEY_INVALID"
    assert answer.headers["WWW-Authenticate"] == CHALLENGE
    assert without_id(answer) == without_id(unknown)


def test_a_wrong_secret_a_revoked_key_and_an_unknown_one_are_not_told_apart(alice, bob):
    ApiKey.objects.filter(user=bob.user).update(revoked_at=timezone.now())
    wrong_secret = alice.key[:-1] + ("0" if alice.key[-1] != "0" else "1")
    answers = [me(alice, f"ApiKey {key}") for key in (wrong_secret, bob.key, "fca_ABCDEFGH_" + "0" * 26)]
    assert [answer.status for answer in answers] == [401] * 3
    assert without_id(answers[0]) == without_id(answers[1]) == without_id(answers[2])


def test_a_user_who_is_switched_off_or_deleted_is_out_with_the_next_request(alice, bob):
    type(alice.user).objects.filter(pk=alice.user.pk).update(is_active=False)
    bob.user.delete()
    for agent in (alice, bob):
        assert agent.get("/v1/agent/me").error["code"] == "AGENT_API_KEY_INVALID"


def test_last_use_is_written_at_most_every_five_minutes(alice, django_assert_num_queries):
    alice.get("/v1/agent/me")
    first = ApiKey.objects.get().last_used_at
    assert first is not None
    with django_assert_num_queries(2):
        alice.get("/v1/agent/me")
    assert ApiKey.objects.get().last_used_at == first
    ApiKey.objects.update(last_used_at=first - timedelta(minutes=5))
    alice.get("/v1/agent/me")
    assert ApiKey.objects.get().last_used_at >= first


def test_keys_of_one_user_are_independent(alice):
    second = make_api_key(alice.user)
    ApiKey.objects.filter(key_id=alice.key.split("_")[1]).update(revoked_at=timezone.now())
    assert me(alice, f"ApiKey {second}").status == 200
    assert me(alice, f"ApiKey {alice.key}").status == 401
