"""Ctrl-C: taken once, so that what clears up after it is not cut short."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.client.reader import SnapshotReader, interrupt_queries
from pipelines.commands import interrupts
from tests.conftest import ROOT
from tests.handmade import A_MEM, HandmadeArchive, build


@pytest.fixture(autouse=True)
def default_handler() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def press(times: int = 1) -> None:
    for _ in range(times):
        signal.raise_signal(signal.SIGINT)


def test_pressed_again_while_it_clears_up_it_is_passed_over() -> None:
    cleared = False
    with interrupts.interrupts():
        try:
            press()
        except KeyboardInterrupt:
            press(5)
            cleared = True
    assert cleared
    with pytest.raises(KeyboardInterrupt):  # the handler is Python's own again
        press()


def test_pressed_before_a_command_has_begun_it_ends_the_process() -> None:
    """The signal comes while what the command needs is imported."""
    program = (
        "import signal, sys\n"
        "class Press:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'pipelines.commands.table': signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Press())\n"
        "from pipelines.entry import entry\n"
        "entry()\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "mbw: interrupted\n")


def test_pressed_later_it_is_taken_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "_CLEARING_SECONDS", 0.0)
    with interrupts.interrupts():
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                press()


def test_a_closed_session_is_no_reason_to_miss_it(tmp_path: Path, unchecked: None) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    archive.add(A_MEM)
    build(archive.root, tmp_path / "warehouse")
    reader = SnapshotReader(tmp_path / "warehouse")
    result = reader.execute("SELECT 1")
    reader.close()
    interrupt_queries()
    assert result is not None
