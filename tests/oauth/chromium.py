"""A person at a real Chromium: signs in with the mailed code and presses the buttons of the consent page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

from tests.oauth.live import mailed_code
from tests.server import LiveServer

ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking")


@contextmanager
def running_chromium(*arguments: str) -> Iterator[Browser]:
    """Debian's Chromium, started for this block."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=[*ARGUMENTS, *arguments])
        try:
            yield browser
        finally:
            browser.close()


def sign_in(page: Page, server: LiveServer, email: str) -> None:
    """From the sign-in page to wherever it leads."""
    page.get_by_label("E-mail address").fill(email)
    page.get_by_role("button", name="Mail me a code").click()
    page.get_by_label("Eight-digit code").fill(mailed_code(server, email))
    page.get_by_role("button", name="Sign in").click()
