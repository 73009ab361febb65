"""What a benchmark makes of its measurements: ratios, verdicts, tables. Nothing is measured here."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import archives, sections
from benchmarks.archives import Size
from benchmarks.measure import Figures, Run, alternate
from benchmarks.report import Figure, fixed_and_variable, markdown, median_steps, number, targets
from pipelines.archive.local import LocalSource
from pipelines.load.snapshots import Warehouse
from pipelines.refresh import refresh
from tests.handmade import A_MEM, MEM0, WO_MEMORY, HandmadeArchive

TINY = Size(0.001, 10)


def test_a_figure_says_whether_it_meets_its_target_and_by_how_much_it_misses() -> None:
    assert Figure("a", 1.5, "×", 1.5).verdict == "met"
    assert Figure("a", 1.8, "×", 1.5).verdict == "missed by 20 %"
    assert Figure("a", 1.8, "×").cells == ("a", "1.80 ×", "", "", "")


def test_the_table_of_targets_has_a_row_for_each_figure() -> None:
    rows = targets([Figure("build | COPY", 2, "×", 1.5, "3 s / 1.5 s"), Figure("memory", 1400.4, "MiB", 1536)])
    assert rows.splitlines() == [
        "| figure | measured | target |  | made of |",
        "| --- | --- | --- | --- | --- |",
        "| build \\| COPY | 2.00 × | ≤ 1.50 × | missed by 33 % | 3 s / 1.5 s |",
        "| memory | 1,400 MiB | ≤ 1,536 MiB | met |  |",
    ]


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.0123, "0.012"), (0.25, "0.25"), (9.99, "9.99"), (12.34, "12.3"), (54321, "54,321")]
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_medians_and_peaks_are_those_of_all_rounds() -> None:
    figures = Figures(seconds=[3.0, 1.0, 2.0], peak_mib=[10.0, 30.0, 20.0])
    assert (figures.median_seconds, figures.max_peak_mib) == (2.0, 30.0)
    assert median_steps([{"plan": 1.0, "load": 5.0}, {"plan": 3.0, "load": 1.0}, {"plan": 2.0}]) == {
        "plan": 2.0,
        "load": 3.0,
    }


def test_the_fixed_part_is_where_the_line_meets_nothing() -> None:
    assert fixed_and_variable((1, 3.0), (201, 13.0)) == pytest.approx((2.95, 0.05))
    with pytest.raises(ValueError, match="one amount"):
        fixed_and_variable((1, 3.0), (1, 4.0))


def test_commands_run_in_alternation_with_their_preparation_and_output() -> None:
    order: list[str] = []
    runs = {name: Run(["echo", name], lambda n=name: order.append(n)) for name in ("a", "b")}
    figures = alternate(runs, 2)
    assert order == ["a", "b", "a", "b", *("a", "b")]  # the last time for their memory
    assert figures["b"].outputs == ["b\n", "b\n"]
    assert (len(figures["b"].seconds), len(figures["b"].peak_mib)) == (2, 1)
    with pytest.raises(RuntimeError, match="ended with 1"):
        alternate({"bad": Run(["false"])}, 1)


def test_a_cell_keeps_its_bars() -> None:
    assert markdown(["a|b"], [["c"]]).splitlines()[0] == "| a\\|b |"


@pytest.mark.full
def test_an_archive_is_generated_once_changed_in_its_copy_and_restored(tmp_path: Path) -> None:
    archive = archives.generated(tmp_path, TINY)
    assert archives.group_count(archive) == 244
    before = (archive / ".complete.json").stat().st_mtime_ns
    assert archives.generated(tmp_path, TINY) == archive
    assert (archive / ".complete.json").stat().st_mtime_ns == before
    files = {path: path.read_bytes() for path in archive.rglob("*.json*")}
    copy = archives.working_copy(archive, tmp_path / "copy")
    archives.change_groups(copy, 10)
    archives.move_numbers(copy, 3, 240)
    archives.add_backbone(copy, TINY)
    assert archives.group_count(copy) == 244 + 61
    assert {path: path.read_bytes() for path in archive.rglob("*.json*")} == files
    changed = [path for path in files if files[path] != (copy / path.relative_to(archive)).read_bytes()]
    assert len(changed) == 10 + 3 + 1  # the manifest too
    archives.restore(archive, copy)
    assert {path: (copy / path.relative_to(archive)).read_bytes() for path in files} == files
    assert not list(copy.glob(f"*{archives.NEW_BACKBONE}*"))


@pytest.mark.full
def test_refreshes_and_a_history_are_measured_on_any_archive_and_leave_it_alone(tmp_path: Path) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    for keys in (A_MEM, WO_MEMORY, MEM0):
        archive.add(keys)
    files = {path: path.read_bytes() for path in archive.root.rglob("*.json*")}
    bench = sections.Bench(tmp_path / "bench", TINY, 1, archive.root, 0, 2)
    bench.folder.mkdir()
    section = sections.refreshes(bench)
    assert [figure.name for figure in section.figures] == [
        "refresh with nothing changed",
        "refresh with one new backbone",
    ]
    assert "| 1 of 3 groups changed | " in section.tables["Refreshes"]
    assert "do not depend on how much changed" in section.tables["Refreshes"]
    table = sections.history(bench).tables["A history of 2 refreshes"]
    first, last = ([cell.strip() for cell in line.split("|")] for line in table.splitlines()[2:])
    assert int(last[3]) > int(first[3]) > 0
    assert {path: path.read_bytes() for path in archive.root.rglob("*.json*")} == files
    assert not bench.warehouse.exists()


@pytest.mark.full
def test_a_large_group_loads(tmp_path: Path) -> None:
    archive = archives.large_group(tmp_path, archives.generated(tmp_path, TINY), 500_000)
    report = refresh(LocalSource(archive), Warehouse(tmp_path / "warehouse"))
    assert report.groups_by_status == {"complete": 1}
    assert report.bytes_read > 500_000
