"""Refresh tokens: rotated on every use, honoured again for a moment, and the end of the family after that."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from oauth2_provider.models import AccessToken, RefreshToken

from accounts.oauth.models import OAuthConnection, RefreshRetry
from accounts.oauth.tokens import checksum
from flashcards.operation import Scope
from tests.oauth.app import RESOURCE, App, pair_of
from tests.oauth.test_codes import refused

pytestmark = pytest.mark.django_db


def age(token: str, **by: int) -> None:
    """Let that refresh token have been rotated that much earlier."""
    row = RefreshToken.objects.get(token_checksum=checksum(token))
    RefreshToken.objects.filter(pk=row.pk).update(revoked=row.revoked - timedelta(**by))


def test_a_refresh_gives_a_new_pair_and_ends_the_old_access_token(browser, app):
    first = browser.connect(app)
    second = pair_of(app.refresh(first.refresh))
    assert second.access != first.access
    assert second.refresh != first.refresh
    assert second.refresh.startswith("fcr_")
    assert second.opens
    assert not first.opens


def test_the_connection_stays_the_same_through_refreshes(browser, app):
    first = browser.connect(app)
    before = first.connection
    second = pair_of(app.refresh(first.refresh))
    assert second.connection == before
    assert OAuthConnection.objects.count() == 1


def test_no_cache_may_keep_the_answer(browser, app):
    assert app.refresh(browser.connect(app).refresh)["Cache-Control"] == "no-store"


def test_a_rotated_token_is_honoured_five_times_within_the_window(browser, app):
    first = browser.connect(app)
    pairs = [pair_of(app.refresh(first.refresh)) for _ in range(6)]
    assert len({pair.refresh for pair in pairs}) == 6
    assert all(pair.opens for pair in pairs)
    assert {pair.connection for pair in pairs} == {OAuthConnection.objects.get()}
    assert refused(app.refresh(first.refresh))
    assert not any(pair.opens for pair in pairs)


def test_what_the_siblings_do_does_not_use_up_the_retries(browser, app):
    first = browser.connect(app)
    pair_of(app.refresh(first.refresh))
    sibling = pair_of(app.refresh(first.refresh))
    for _ in range(4):
        sibling = pair_of(app.refresh(sibling.refresh))
    assert all(pair_of(app.refresh(first.refresh)).opens for _ in range(4))


def test_every_sibling_can_be_refreshed_in_its_turn(browser, app):
    first = browser.connect(app)
    siblings = [pair_of(app.refresh(first.refresh)) for _ in range(3)]
    assert all(pair_of(app.refresh(sibling.refresh)).opens for sibling in siblings)


def test_a_retry_is_counted_for_its_own_token(browser, app):
    first = browser.connect(app)
    second = pair_of(app.refresh(first.refresh))
    pair_of(app.refresh(first.refresh))
    pair_of(app.refresh(second.refresh))
    pair_of(app.refresh(second.refresh))
    assert set(RefreshRetry.objects.values_list("token_checksum", flat=True)) == {
        checksum(first.refresh),
        checksum(second.refresh),
    }


@pytest.mark.parametrize(("seconds", "honoured"), [(110, True), (121, False)])
def test_the_window_is_120_seconds_from_the_rotation(browser, app, seconds, honoured):
    first = browser.connect(app)
    second = pair_of(app.refresh(first.refresh))
    age(first.refresh, seconds=seconds)
    answer = app.refresh(first.refresh)
    assert answer.status_code == (200 if honoured else 400)
    assert second.opens == honoured


def test_reuse_after_the_window_ends_the_whole_family(browser, app, caplog):
    first = browser.connect(app)
    second = pair_of(app.refresh(first.refresh))
    third = pair_of(app.refresh(second.refresh))
    age(first.refresh, hours=1)
    assert refused(app.refresh(first.refresh))
    assert not third.opens
    assert refused(app.refresh(third.refresh))
    assert OAuthConnection.objects.get().revoked_at is not None
    (record,) = [record for record in caplog.records if record.getMessage() == "connection ended"]
    assert (record.levelname, record.fields["reason"]) == ("WARNING", "refresh_token_reused")
    assert first.refresh not in caplog.text


def test_once_the_successor_was_rotated_the_old_token_is_a_strangers(browser, app):
    first = browser.connect(app)
    second = pair_of(app.refresh(first.refresh))
    third = pair_of(app.refresh(second.refresh))
    assert refused(app.refresh(first.refresh))
    assert not third.opens


def test_one_family_ends_and_another_of_the_same_app_stays(browser, app):
    first, other = browser.connect(app), browser.connect(app)
    pair_of(app.refresh(first.refresh))
    age(first.refresh, hours=1)
    assert refused(app.refresh(first.refresh))
    assert other.opens


def test_the_token_of_another_client_is_refused_and_nothing_changes(browser, app):
    pair = browser.connect(app)
    other = App().registered(client_name="Other")
    assert refused(other.refresh(pair.refresh))
    assert pair.opens
    rotated = pair_of(app.refresh(pair.refresh))
    age(pair.refresh, hours=1)
    assert refused(other.refresh(pair.refresh))
    assert rotated.opens


@pytest.mark.parametrize(("days", "status"), [(59, 200), (60, 400)])
def test_an_idle_token_lives_60_days(browser, app, days, status):
    pair = browser.connect(app)
    then = timezone.now() - timedelta(days=days)
    RefreshToken.objects.update(created=then)
    AccessToken.objects.update(created=then, expires=then + timedelta(hours=1))
    assert app.refresh(pair.refresh).status_code == status


def test_every_use_starts_the_idle_life_again(browser, app):
    pair = browser.connect(app)
    RefreshToken.objects.update(created=timezone.now() - timedelta(days=59))
    second = pair_of(app.refresh(pair.refresh))
    new = RefreshToken.objects.get(token_checksum=checksum(second.refresh))
    assert timezone.now() - new.created < timedelta(minutes=1)


@pytest.mark.parametrize("token", ["fcr_unknown", "", None, "\x00", "fco_x"])
def test_an_unknown_token_is_refused(app, token):
    assert app.refresh(token).status_code == 400


def test_an_access_token_cannot_be_refreshed(browser, app):
    assert refused(app.refresh(browser.connect(app).access))


def test_a_user_who_was_switched_off_cannot_refresh(browser, app, alice):
    pair = browser.connect(app)
    alice.user.is_active = False
    alice.user.save()
    assert refused(app.refresh(pair.refresh))
    alice.user.is_active = True
    alice.user.save()
    assert pair_of(app.refresh(pair.refresh)).opens


@pytest.mark.parametrize(
    ("granted", "asked", "answered"),
    [
        ("flashcards", None, "flashcards"),
        ("flashcards", "", "flashcards"),
        ("flashcards", "flashcards", "flashcards"),
        ("flashcards", "flashcards:read", "flashcards:read"),
        ("flashcards", "flashcards:read flashcards", "flashcards"),
        ("flashcards", "offline_access", "flashcards"),
        ("flashcards", "flashcards flashcards", "flashcards"),
        ("flashcards:read", None, "flashcards:read"),
        ("flashcards:read", "flashcards", "flashcards:read"),
        ("flashcards:read", "flashcards:read flashcards", "flashcards:read"),
        ("flashcards:read", "offline_access", "flashcards:read"),
    ],
)
def test_a_refresh_never_exceeds_what_was_granted(browser, app, granted, asked, answered):
    pair = browser.connect(app, asked={"scope": granted})
    new = pair_of(app.refresh(pair.refresh, scope=asked))
    assert new.scope == answered
    assert new.principal.allows(Scope.ALL) == (answered == "flashcards")


def test_a_narrowed_refresh_narrows_that_pair_alone(browser, app):
    narrowed = pair_of(app.refresh(browser.connect(app).refresh, scope="flashcards:read"))
    assert pair_of(app.refresh(narrowed.refresh)).scope == "flashcards"


@pytest.mark.parametrize("resource", [None, "", RESOURCE, RESOURCE + "/"])
def test_the_resource_stays_the_mcp_endpoint(browser, app, resource):
    assert pair_of(app.refresh(browser.connect(app).refresh, resource=resource)).opens


def test_another_resource_is_refused_and_the_token_stays_usable(browser, app):
    pair = browser.connect(app)
    assert refused(app.refresh(pair.refresh, resource="https://other.example/mcp"), "invalid_target")
    assert pair.opens
    assert pair_of(app.refresh(pair.refresh)).opens


def test_the_workspace_of_the_connection_outlasts_a_refresh(browser, app, alice):
    pair = browser.connect(app)
    OAuthConnection.objects.update(selected_workspace=alice.workspace)
    assert pair_of(app.refresh(pair.refresh)).connection.selected_workspace == alice.workspace
