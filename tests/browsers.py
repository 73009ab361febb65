"""The real browser of the tests that look at pages: Chromium, driven by Playwright."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


def chromium() -> str | None:
    """Where Chromium is installed."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextlib.contextmanager
def opened_browser(downloads: Path) -> Iterator[Browser]:
    """A running Chromium that puts what it downloads into a folder; skips the test where there is none."""
    executable = chromium()
    if executable is None:
        pytest.skip("no Chromium; .ci/install-services installs one")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=_FLAGS, downloads_path=str(downloads))
        try:
            yield browser
        finally:
            browser.close()
