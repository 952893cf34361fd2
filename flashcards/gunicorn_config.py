"""How gunicorn serves: threads, limits, time-outs and the log; `serve` starts it with this as its configuration."""

from __future__ import annotations

import logging
import os
from typing import Any

from django.conf import settings

from flashcards.configuration import Configuration

configuration: Configuration = settings.CONFIGURATION

wsgi_app = "flashcards.wsgi:application"
worker_class = "flashcards.gunicorn_worker.Worker"
workers = configuration.WEB_CONCURRENCY
threads = 8
# One import for all workers; it opens no connection, so that nothing is shared over the fork.
preload_app = True

# A request has 15 s of database time; what runs when SIGTERM comes may end.
timeout = 60
graceful_timeout = 30
# Longer than what proxies keep an idle connection for, so that it is they who close it.
keepalive = 75

limit_request_line = 8190
limit_request_fields = 100
limit_request_field_size = 16380

# Whether the caller came by TLS is for Django to say, by TRUSTED_PROXY_COUNT; where a request goes is said by its line.
secure_scheme_headers: dict[str, str] = {}
forwarder_headers = ""

worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108  heartbeats must not wait for a disk
control_socket_disable = True

accesslog = None


class WithoutInput(logging.Filter):
    """gunicorn quotes the request it could not read or answer, and a URL or header may be a secret."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always true; the quoted part is cut off."""
        text = record.msg if isinstance(record.msg, str) else type(record.msg).__name__
        if text.startswith("Invalid request from ip="):
            record.msg, record.args = ": ".join(text.split(": ")[:1]), ()
        elif text.startswith("Error handling request"):
            record.msg, record.args = "Error handling request", ()
        return True


def _with_gunicorn(logging_settings: dict[str, Any]) -> dict[str, Any]:
    handlers = {
        name: {**handler, "filters": ["without_input"]} for name, handler in logging_settings["handlers"].items()
    }
    gunicorn_log = {"level": configuration.LOG_LEVEL, "handlers": list(handlers), "propagate": False}
    return {
        **logging_settings,
        "filters": {"without_input": {"()": WithoutInput}},
        "handlers": handlers,
        "loggers": {
            **logging_settings["loggers"],
            "gunicorn.error": gunicorn_log,
            # Warns of each answer to HEAD, whose body it drops as it should.
            "gunicorn.http.wsgi": {"level": "ERROR"},
        },
    }


logconfig_dict = _with_gunicorn(settings.LOGGING)


def post_worker_init(_worker: Any) -> None:
    """Gunicorn's hook: a worker is ready to serve."""
    from flashcards.management.upkeep import start_upkeep  # noqa: PLC0415  there are no models before the application

    start_upkeep()
