"""Fixtures that every test may ask for: the archives on this machine, generated archives, hypothesis profiles.

What one test file alone needs belongs in that file.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import pipelines.refresh

ROOT = Path(__file__).resolve().parent.parent

settings.register_profile("fast", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


@pytest.fixture(scope="session")
def archives() -> Path:
    """The folder of archives to test against: MBW_TEST_ARCHIVES, else `../shared/archive` beside the project."""
    named = os.environ.get("MBW_TEST_ARCHIVES")
    folder = Path(named) if named else ROOT.parent / "shared" / "archive"
    if not folder.is_dir():
        pytest.skip(f"no archives at {folder}; MBW_TEST_ARCHIVES names another folder")
    return folder.resolve()


@pytest.fixture(scope="session")
def real_archive(archives: Path) -> Path:
    """Samples of the published archive, every group of it. Read-only: a test that changes files copies it first."""
    folder = archives / "real"
    if not folder.is_dir():
        pytest.skip(f"no real archive at {folder}")
    return folder


@pytest.fixture(scope="session")
def make_archive(archives: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Generate an archive of the published shape, once for each set of options in a session.

    `make_archive()` is small (244 groups, 1,884 samples, some 20 MB); options of the tool follow as text:
    `make_archive("--traps")`, `make_archive("--models", "1")`. A later option wins over the two defaults.
    Read-only, because shared: a test that changes files copies it first.
    """
    tool = archives.parent / "tools" / "make_archive.py"
    if not tool.is_file():
        pytest.skip(f"no archive generator at {tool}")
    made: dict[tuple[str, ...], Path] = {}

    def make(*options: str) -> Path:
        if options not in made:
            out = tmp_path_factory.mktemp("archive")
            command = [sys.executable, str(tool), str(out), "--samples", "0.02", "--context", "300", *options]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            made[options] = out
        return made[options]

    return make


@pytest.fixture(scope="session")
def generated_archive(make_archive: Callable[..., Path]) -> Path:
    """A small generated archive with complete summaries."""
    return make_archive()


@pytest.fixture(scope="session")
def traps_archive(make_archive: Callable[..., Path]) -> Path:
    """The same with what strict readers trip over: NaN, lone surrogates, NUL, integers past 64 bits, unknown keys."""
    return make_archive("--traps")


def leave_out_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build without the checks of quality, which cost most of a small refresh."""
    monkeypatch.setattr(pipelines.refresh, "_preload", lambda: None)
    monkeypatch.setattr(pipelines.refresh.RefreshRun, "validate", lambda run: [])


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of everything but the checks."""
    leave_out_checks(monkeypatch)
