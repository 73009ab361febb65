"""Fixtures for tests that run the real client of the Hub. A test file names this module in `pytest_plugins`, and the
two that keep the machine's own settings and real waits out in `pytestmark`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from huggingface_hub import close_session, constants

from pipelines.archive.hub import retries
from tests.hub.loopback import LoopbackHub


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache and a token file of the test's own, and no setting of the machine's."""
    home = tmp_path / "home"
    for name in list(os.environ):
        if name.startswith("HF_") or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)
    for name, path in {"HF_HOME": "", "HF_HUB_CACHE": "hub", "HF_TOKEN_PATH": "token", "HF_XET_CACHE": "xet"}.items():
        monkeypatch.setattr(constants, name, str(home / path))
        monkeypatch.setenv(name, str(home / path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    close_session()
    yield home
    close_session()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Every wait that the client or the source asked for; none of them is waited."""
    asked: list[float] = []
    real_sleep = time.sleep

    def sleep(seconds: float, *_: object) -> None:
        asked.append(seconds)
        real_sleep(min(seconds, 0.001))

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(retries, "pause", sleep)
    return asked


@pytest.fixture
def make_default(monkeypatch: pytest.MonkeyPatch) -> Callable[[LoopbackHub], None]:
    """Makes a Hub the one that is asked where no endpoint is given: what HF_ENDPOINT does for processes that are
    started, and would have done here before the client was imported."""

    def make(hub: LoopbackHub) -> None:
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.removeprefix(constants.ENDPOINT)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.endpoint + template)
        monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)

    return make
