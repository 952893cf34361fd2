"""What is forgotten, and what is kept."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone
from oauth2_provider.models import AccessToken, RefreshToken

from accounts.oauth.models import OAuthClient, OAuthConnection, OAuthGrant, RefreshRetry, RegistrationLog
from accounts.oauth.pruning import prune_oauth
from accounts.oauth.tokens import checksum
from tests.oauth.app import WEB, App, pair_of
from tests.oauth.test_codes import refused

pytestmark = pytest.mark.django_db


def later(**by: int):
    return timezone.now() + timedelta(**by)


def test_a_client_that_nobody_let_in_goes_after_seven_days(app):
    prune_oauth(now=later(days=6, hours=23))
    assert OAuthClient.objects.exists()
    assert prune_oauth(now=later(days=7, minutes=1)) > 0
    assert not OAuthClient.objects.exists()


def test_the_seven_days_begin_with_the_last_registration(app):
    OAuthClient.objects.update(registered_at=later(days=-7), created=later(days=-30))
    assert app.registered()
    prune_oauth(now=timezone.now())
    assert OAuthClient.objects.exists()


def test_a_client_that_was_used_is_never_pruned(browser, app):
    browser.allow(app)
    App(redirect_uri=WEB).registered()
    prune_oauth(now=later(days=4000))
    assert OAuthClient.objects.get().client_id == app.client_id


def test_a_client_made_by_the_operator_is_kept(app):
    OAuthClient.objects.update(registration_source=OAuthClient.RegistrationSource.MANUAL)
    prune_oauth(now=later(days=4000))
    assert OAuthClient.objects.exists()


def test_a_code_that_was_never_redeemed_goes_when_it_is_too_old(browser, app):
    code = browser.allow(app)
    prune_oauth(now=later(seconds=590))
    assert OAuthGrant.objects.exists()
    prune_oauth(now=later(seconds=610))
    assert not OAuthGrant.objects.exists()
    assert refused(app.redeem(code))


def test_a_redeemed_code_is_remembered_so_that_its_replay_is_seen(browser, app):
    code = browser.allow(app)
    pair = pair_of(app.redeem(code))
    prune_oauth(now=later(days=30))
    assert refused(app.redeem(code))
    assert not pair.opens


def test_what_is_in_use_outlasts_every_pruning(browser, app):
    pair = browser.connect(app)
    prune_oauth(now=later(days=59))
    assert pair.opens
    assert pair_of(app.refresh(pair.refresh)).opens


def test_an_access_token_that_expired_leaves_its_refresh_token_usable(browser, app):
    pair = browser.connect(app)
    AccessToken.objects.update(expires=later(days=-1))
    prune_oauth(now=timezone.now())
    assert pair_of(app.refresh(pair.refresh)).opens


def test_a_rotated_token_is_remembered_as_long_as_its_reuse_means_something(browser, app):
    first = browser.connect(app)
    second = pair_of(app.refresh(first.refresh))
    RefreshToken.objects.filter(revoked__isnull=False).update(revoked=later(days=-59))
    prune_oauth(now=timezone.now())
    assert refused(app.refresh(first.refresh))
    assert not second.opens


def test_rotated_tokens_go_after_60_days(browser, app):
    first = browser.connect(app)
    second = pair_of(app.refresh(first.refresh))
    RefreshToken.objects.filter(revoked__isnull=False).update(revoked=later(days=-61))
    prune_oauth(now=timezone.now())
    assert [token.token_checksum for token in RefreshToken.objects.all()] == [checksum(second.refresh)]
    assert second.opens


def test_an_idle_connection_is_ended_and_forgotten_90_days_later(browser, app):
    browser.connect(app)
    prune_oauth(now=later(days=61))
    assert OAuthConnection.objects.get().revoked_at is not None
    prune_oauth(now=later(days=61 + 89))
    assert OAuthConnection.objects.exists()
    prune_oauth(now=later(days=61 + 91))
    for model in (OAuthConnection, OAuthGrant, RefreshToken, AccessToken):
        assert not model.objects.exists()


def test_a_revoked_connection_is_shown_for_90_days(browser, app):
    app.revoke(browser.connect(app).refresh)
    prune_oauth(now=later(days=89))
    assert OAuthConnection.objects.exists()
    prune_oauth(now=later(days=91))
    assert not OAuthConnection.objects.exists()


def test_counters_go_once_they_count_nowhere(browser, app):
    first = browser.connect(app)
    app.refresh(first.refresh)
    app.refresh(first.refresh)
    assert RefreshRetry.objects.count() == RegistrationLog.objects.count() == 1
    prune_oauth(now=later(minutes=59))
    assert RefreshRetry.objects.count() == RegistrationLog.objects.count() == 1
    prune_oauth(now=later(days=2))
    assert RefreshRetry.objects.count() == RegistrationLog.objects.count() == 0


def test_the_command_prunes_apps_too(app, capsys):
    OAuthClient.objects.update(registered_at=later(days=-8))
    call_command("prune")
    assert not OAuthClient.objects.exists()
    assert "apps nobody let in, connections that ended: 1 deleted" in capsys.readouterr().out


def test_pruning_an_empty_database_deletes_nothing(db):
    assert prune_oauth(now=timezone.now()) == 0
