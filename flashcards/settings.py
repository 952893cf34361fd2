"""Django's settings, built from `flashcards.configuration` and nothing else."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import quote

from flashcards import addresses
from flashcards.configuration import ROOT, allowed_host, kept_secret_key, read_configuration, read_environment

CONFIGURATION = read_configuration(read_environment(ROOT / ".env", os.environ))

BASE_DIR = ROOT
DATA_DIR = CONFIGURATION.DATA_DIR.expanduser().resolve()
DEBUG = CONFIGURATION.DEBUG
SECRET_KEY = CONFIGURATION.SECRET_KEY or kept_secret_key(DATA_DIR)
SERVICE_NAME = CONFIGURATION.SERVICE_NAME
SIGNUP = CONFIGURATION.SIGNUP
TRUSTED_PROXY_COUNT = CONFIGURATION.TRUSTED_PROXY_COUNT
LIMIT_EMAIL_SENDS = CONFIGURATION.LIMIT_EMAIL_SENDS
LIMIT_IP_SENDS = CONFIGURATION.LIMIT_IP_SENDS
LIMIT_IP_ADDRESSES = CONFIGURATION.LIMIT_IP_ADDRESSES
LIMIT_REGISTRATIONS = CONFIGURATION.LIMIT_REGISTRATIONS
MCP_ALLOWED_ORIGINS = CONFIGURATION.MCP_ALLOWED_ORIGINS
OAUTH_CIMD = CONFIGURATION.OAUTH_CIMD
OAUTH_PRIVATE_SCHEMES = CONFIGURATION.OAUTH_PRIVATE_SCHEMES
METRICS_TOKEN = CONFIGURATION.METRICS_TOKEN

# Addresses: whatever an answer publishes is built from these four, never from the request.

PUBLIC_BASE_URL = CONFIGURATION.PUBLIC_BASE_URL or f"http://localhost:{CONFIGURATION.PORT}"
PUBLIC_API_BASE_URL = CONFIGURATION.PUBLIC_API_BASE_URL or PUBLIC_BASE_URL
PUBLIC_AUTH_BASE_URL = CONFIGURATION.PUBLIC_AUTH_BASE_URL or PUBLIC_BASE_URL
PUBLIC_MCP_BASE_URL = CONFIGURATION.PUBLIC_MCP_BASE_URL or PUBLIC_BASE_URL
PUBLIC_ORIGINS = tuple(dict.fromkeys((PUBLIC_BASE_URL, PUBLIC_API_BASE_URL, PUBLIC_AUTH_BASE_URL, PUBLIC_MCP_BASE_URL)))
ALLOWED_HOSTS = [
    *dict.fromkeys(map(allowed_host, PUBLIC_ORIGINS)),
    *([] if CONFIGURATION.PUBLIC_BASE_URL else ["127.0.0.1", "[::1]"]),
]
CSRF_TRUSTED_ORIGINS = list(PUBLIC_ORIGINS)
BEHIND_TLS = PUBLIC_AUTH_BASE_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SESSION_COOKIE_HTTPONLY = True
SESSION_ENGINE = "accounts.sessions"
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_HSTS_SECONDS = 31_536_000 if BEHIND_TLS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXY_COUNT else None
SILENCED_SYSTEM_CHECKS = [
    "security.W005",  # other hosts of the domain are not ours to bind to TLS
    "security.W008",  # the proxy that ends TLS redirects; here health checks come in plain HTTP
    "security.W021",  # as W005: a preload list is for the owner of the domain
]
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
# Some clients open sign-in in a pop-up and lose it when this header cuts the opener off.
SECURE_CROSS_ORIGIN_OPENER_POLICY = None
X_FRAME_OPTIONS = "DENY"
APPEND_SLASH = False
DATA_UPLOAD_MAX_MEMORY_SIZE = 1 << 20

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "oauth2_provider",
    "flashcards",
    "accounts",
    "review",
    "sqlgate",
    "mcp_bridge",
]

MIDDLEWARE = [
    "flashcards.request_log.RequestLog",
    "flashcards.health.HealthChecks",
    "django.middleware.security.SecurityMiddleware",
    "accounts.pages.PageHeaders",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "flashcards.request_body.ChunkedBody",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "accounts.pages.UserLanguage",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "flashcards.urls"
WSGI_APPLICATION = "flashcards.wsgi.application"
AUTH_USER_MODEL = "accounts.User"
OAUTH2_PROVIDER_APPLICATION_MODEL = "accounts.OAuthClient"
OAUTH2_PROVIDER_GRANT_MODEL = "accounts.OAuthGrant"
# accounts.oauth decides what these leave open; they keep the toolkit's own code, and its checks, as strict.
OAUTH2_PROVIDER = {
    "SCOPES": {"flashcards": "Read and change flashcards", "flashcards:read": "Read flashcards"},
    "DEFAULT_SCOPES": ["flashcards"],
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https"],
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
    "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
    "COMPLIANT_BCP_RFC9700_PKCE_REQUIRED": True,
    "COMPLIANT_BCP_RFC9700_ACCESS_TOKEN_TRANSPORT": True,
    "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
    "COMPLIANT_BCP_RFC9700_REFRESH_TOKEN": True,
    "COMPLIANT_BCP_RFC9700_REDIRECT_URI_SCHEME": True,
    "COMPLIANT_BCP_RFC9700_REDIRECT_URI_MATCHING": True,
    "CIMD_ENABLED": OAUTH_CIMD,
    "CIMD_METADATA_FETCHER": "accounts.oauth.documents.NarrowedDocuments",
}
LOGIN_URL = "/login/"
CSRF_FAILURE_VIEW = "accounts.views.csrf_failure"
DEFAULT_EXCEPTION_REPORTER_FILTER = "flashcards.error_reports.NothingSecret"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "accounts.pages.service",
            ]
        },
    }
]

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.auth.AgentAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "EXCEPTION_HANDLER": "flashcards.api.exception_handler",
    "UNAUTHENTICATED_USER": None,
}


STATEMENT_SECONDS_MAX = addresses.STATEMENT_SECONDS_MAX
DATABASES: dict[str, dict[str, Any]] = {
    "default": addresses.database_settings(
        CONFIGURATION.DATABASE_URL or f"sqlite:///{quote(str(DATA_DIR / 'flashcards.sqlite3'))}",
        pool=CONFIGURATION.DATABASE_POOL,
    )
}

globals().update(addresses.email_settings(CONFIGURATION.EMAIL_URL))
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = CONFIGURATION.DEFAULT_FROM_EMAIL

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "中文"), ("ru", "Русский")]
LOCALE_PATHS = [ROOT / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [ROOT / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"()": "flashcards.request_log.TextFormatter"},
        "json": {"()": "flashcards.request_log.JsonFormatter"},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": CONFIGURATION.LOG_FORMAT}},
    "root": {"handlers": ["stderr"], "level": CONFIGURATION.LOG_LEVEL},
    "loggers": {
        # One line a request is ours; Django's own repeats it with the URL, which may carry what must not be logged.
        "django.request": {"level": "CRITICAL"},
        # A forged Host is its sender's fault: the line of the request says 400, and no traceback quotes it.
        "django.security.DisallowedHost": {"level": "CRITICAL"},
        "django.db.backends": {"level": "WARNING"},
        "django.server": {"level": "WARNING"},
        # These write addresses, headers or tokens at their lower levels.
        **{name: {"level": "WARNING"} for name in ("httpx2", "httpcore2", "mcp", "oauthlib", "oauth2_provider")},
        **{name: {"level": "WARNING"} for name in ("requests_oauthlib", "urllib3", "asyncio")},
    },
}
