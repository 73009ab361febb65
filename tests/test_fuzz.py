"""Fuzzing: a few hundred seeds always, ten minutes of them in the soak, and every seed that once found a fault."""

from __future__ import annotations

import os
import time

import pytest

from tests.fuzz import fuzz

#: The first few, and those that found a fault.
FAST_SEEDS = (*range(160), 207880076112, 207880240094)
#: How long the soak goes on, and where it begins; another day, other seeds.
SECONDS = float(os.environ.get("MBW_FUZZ_SECONDS", 600))
FIRST_SEED = int(os.environ.get("MBW_FUZZ_SEED", int(time.time()) // 86400 * 10_000_000))


def test_no_input_is_lost_misread_or_a_crash() -> None:
    for seed in FAST_SEEDS:
        fuzz(seed)


@pytest.mark.soak
@pytest.mark.timeout(SECONDS + 120)
def test_no_input_is_lost_misread_or_a_crash_for_ten_minutes() -> None:
    until = time.monotonic() + SECONDS
    seed = FIRST_SEED
    while time.monotonic() < until:
        fuzz(seed)
        seed += 1
    print(f"{seed - FIRST_SEED} cases from seed {FIRST_SEED} on")
