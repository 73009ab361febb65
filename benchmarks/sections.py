"""The parts of the benchmark: each runs its commands in alternation and says what came of it.

What is a target of the design is a Figure with a limit. Seconds are medians of whole processes; memory is the highest
peak of all processes of a command together.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from benchmarks import archives, views
from benchmarks.archives import Size
from benchmarks.measure import Figures, Run, alternate, seconds_of
from benchmarks.report import Figure, Section, fixed_and_variable, markdown, median_steps, number
from pipelines.load.snapshots import DATABASE
from pipelines.orchestration.instance import MODULE, prepare_home

GIB_IN_MIB = 1024.0
#: The statuses of a build that published: some generated groups are bad on purpose.
PUBLISHED = (0, 3)
BUILD, COPY = "mbw build", "DuckDB COPY of predict.json"
JSON, PANDAS = "json.load of every file", "pandas.read_json of every predict.json"


@dataclass(frozen=True)
class Bench:
    """What all parts are told. `archive` is another archive to measure on than the generated one, or None."""

    folder: Path
    size: Size
    rounds: int
    archive: Path | None
    large_bytes: int
    refreshes: int

    def of_size(self, times: int = 1) -> Path:
        if times == 1 and self.archive is not None:
            return self.archive
        return archives.generated(self.folder, replace(self.size, times=times))

    @property
    def warehouse(self) -> Path:
        return self.folder / "warehouse"


def mbw_build(archive: Path, warehouse: Path) -> list[str]:
    """The command that builds or refreshes, with its report on stdout."""
    command = [sys.executable, "-m", "pipelines.entry", "build", "--json"]
    return [*command, "--source", str(archive), "--warehouse", str(warehouse)]


def remove(*folders: Path) -> Callable[[], None]:
    def prepare() -> None:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)

    return prepare


def build_and_peers(bench: Bench) -> Section:
    """A full build against what others take to read the same archive."""
    archive, copied = bench.of_size(), bench.folder / "copy"
    runs = {
        BUILD: Run(mbw_build(archive, bench.warehouse), remove(bench.warehouse), PUBLISHED),
        COPY: Run([sys.executable, "-m", "benchmarks.duckdb_copy", str(archive), str(copied)], remove(copied)),
        JSON: Run([sys.executable, "-m", "benchmarks.peers", "json", str(archive)]),
        PANDAS: Run([sys.executable, "-m", "benchmarks.peers", "pandas", str(archive)]),
    }
    figures = alternate(runs, bench.rounds)
    shutil.rmtree(copied)
    build = figures[BUILD]
    reports = [json.loads(output) for output in build.outputs]
    steps = median_steps([report["seconds_by_step"] for report in reports])
    size, source = reports[-1]["bytes"], archives.json_bytes(archive)
    stored = size["database"] + sum(size["parquet"].values())
    validation = steps["validate"]
    return Section(
        [
            Figure(
                "full build against DuckDB's COPY of predict.json alone",
                build.median_seconds / figures[COPY].median_seconds,
                "×",
                1.5,
                f"{number(build.median_seconds)} s / {number(figures[COPY].median_seconds)} s",
            ),
            Figure(
                "validation's share of a full build",
                100 * validation / build.median_seconds,
                "%",
                25,
                f"{number(validation)} s; Great Expectations is imported while groups load",
            ),
            Figure("peak memory of a full build", build.max_peak_mib, "MiB", 1.5 * GIB_IN_MIB),
            Figure(
                "warehouse against JSON",
                stored / source,
                "×",
                0.25,
                f"{stored / 1e6:,.0f} MB / {source / 1e6:,.0f} MB",
            ),
        ],
        {
            f"A full build and its peers ({source / 1e9:.2f} GB, {archives.group_count(archive)} groups)": _against(
                figures, BUILD
            ),
            "Where a full build's time goes": _steps_table(steps, build.median_seconds),
        },
    )


def _against(figures: Mapping[str, Figures], base: str) -> str:
    return markdown(
        ("command", "median", "spread", f"of {base}", "peak memory"),
        [
            (
                name,
                f"{number(f.median_seconds)} s",
                f"{number(min(f.seconds))} to {number(max(f.seconds))} s",
                f"{number(f.median_seconds / figures[base].median_seconds)} ×",
                f"{number(f.max_peak_mib)} MiB",
            )
            for name, f in figures.items()
        ],
    )


def _steps_table(steps: Mapping[str, float], total: float) -> str:
    rest = total - sum(steps.values())
    rows = [*steps.items(), ("start of Python, imports, the report", rest)]
    shown = [(name, f"{number(seconds)} s", f"{100 * seconds / total:.0f} %") for name, seconds in rows]
    return markdown(("step", "seconds", "share"), shown)


def dagster(bench: Bench) -> Section:
    """The same build as Dagster runs it."""
    archive, warehouse = bench.of_size(), bench.warehouse

    def prepare() -> None:
        shutil.rmtree(warehouse, ignore_errors=True)
        prepare_home(warehouse)

    executable = str(Path(sys.executable).with_name("dagster"))
    environment = {
        "DAGSTER_HOME": str(warehouse / ".dagster"),
        "MBW_SOURCE": str(archive),
        "MBW_WAREHOUSE": str(warehouse),
    }
    runs = {
        BUILD: Run(mbw_build(archive, warehouse), remove(warehouse), PUBLISHED),
        "Dagster's job": Run(
            [executable, "job", "execute", "-m", MODULE, "-j", "refresh"], prepare, environment=environment
        ),
    }
    runs["mbw report"] = Run([sys.executable, "-m", "pipelines.entry", "report", "--warehouse", str(warehouse)])
    figures = alternate(runs, bench.rounds)
    build, job, report = (figures[name].median_seconds for name in runs)
    limit = 1.25 * build + 8 + report
    made_of = f"1.25 × {number(build)} s + 8 s, and {number(report)} s for the report, which the job writes too"
    return Section(
        [Figure("the same build run by Dagster", job, "s", limit, made_of)],
        {"Run by Dagster": _against(figures, BUILD)},
    )


def refreshes(bench: Bench) -> Section:
    """Refreshes in which nothing, some, or everything changed, and the part that does not depend on it."""
    original, warehouse = bench.of_size(), bench.warehouse
    archive = archives.working_copy(original, bench.folder / "changing")
    build = Run(mbw_build(archive, warehouse), allowed_status=PUBLISHED)
    full = {"full build": replace(build, prepare=remove(warehouse))}
    first = alternate(full, bench.rounds, memory=False)["full build"]
    groups = archives.group_count(archive)

    def after(change: Callable[[Path], None]) -> Run:
        def prepare() -> None:
            archives.restore(original, archive)
            seconds_of(build)
            change(archive)

        return replace(build, prepare=prepare)

    def changing(count: int) -> Run:
        return after(lambda folder: archives.change_groups(folder, count))

    runs = {
        "nothing changed": after(lambda folder: None),
        **{f"{n} of {groups} groups changed": changing(n) for n in sorted({1, min(10, groups), groups})},
        "one new backbone": after(lambda folder: archives.add_backbone(folder, bench.size)),
    }
    figures = alternate(runs, bench.rounds)
    remove(warehouse, archive)()
    seconds = {name: f.median_seconds for name, f in figures.items()}
    added = archives.group_count(original) / 4  # a backbone's groups: a quarter of the published
    share = first.median_seconds * added / groups
    fixed, each = fixed_and_variable(
        (1, seconds[f"1 of {groups} groups changed"]), (groups, seconds[f"{groups} of {groups} groups changed"])
    )
    table = markdown(
        ("refresh", "median", "load", "database", "validate", "peak memory"),
        [
            (
                name,
                f"{number(f.median_seconds)} s",
                *(f"{number(_step(f, step))} s" for step in ("load", "build_database", "validate")),
                f"{number(f.max_peak_mib)} MiB",
            )
            for name, f in figures.items()
        ],
    )
    line = (
        f"Of a refresh, {number(fixed)} s do not depend on how much changed (database, statistics, checks, imports); "
        f"each changed group adds {number(1000 * each)} ms."
    )
    return Section(
        [
            Figure("refresh with nothing changed", seconds["nothing changed"], "s", 1.0),
            Figure(
                "refresh with one new backbone",
                seconds["one new backbone"],
                "s",
                1.3 * share + 8,
                f"1.3 × {number(share)} s + 8 s; its share of a full build of {number(first.median_seconds)} s",
            ),
        ],
        {"Refreshes": f"{table}\n\n{line}"},
    )


def _step(figures: Figures, step: str) -> float:
    return statistics.median(json.loads(output)["seconds_by_step"].get(step, 0.0) for output in figures.outputs)


def scale(bench: Bench) -> Section:
    """Full builds of archives 1, 2 and 4 times as large: seconds, and whether memory stays flat."""
    paths = {times: bench.of_size(times) for times in (1, 2, 4)}
    runs = {
        str(times): Run(mbw_build(path, bench.warehouse), remove(bench.warehouse), PUBLISHED)
        for times, path in paths.items()
    }
    figures = alternate(runs, bench.rounds)
    remove(bench.warehouse)()
    peaks = {times: figures[str(times)].max_peak_mib for times in paths}
    table = markdown(
        ("archive", "JSON", "median", "seconds a GB", "load", "database", "validate", "peak memory"),
        [
            (
                f"{times} ×",
                f"{archives.json_bytes(path) / 1e9:.2f} GB",
                f"{number(figures[str(times)].median_seconds)} s",
                number(figures[str(times)].median_seconds / archives.json_bytes(path) * 1e9),
                *(f"{number(_step(figures[str(times)], step))} s" for step in ("load", "build_database", "validate")),
                f"{number(peaks[times])} MiB",
            )
            for times, path in paths.items()
        ],
    )
    return Section(
        [
            Figure(
                "peak memory of a build 4 × as large",
                peaks[4] / peaks[1],
                "×",
                1.15,
                f"{number(peaks[4])} MiB / {number(peaks[1])} MiB",
            )
        ],
        {"Archives of several sizes": table},
    )


def large_group(bench: Bench) -> Section:
    """A build of one group whose predict.json is huge."""
    archive = archives.large_group(bench.folder, bench.of_size(), bench.large_bytes)
    run = Run(mbw_build(archive, bench.warehouse), remove(bench.warehouse), PUBLISHED)
    figures = alternate({"large group": run}, bench.rounds)["large group"]
    remove(bench.warehouse)()
    name = f"peak memory of one group of {bench.large_bytes / 1e9:g} GB"
    made_of = f"in {number(figures.median_seconds)} s"
    return Section([Figure(name, figures.max_peak_mib, "MiB", 3 * GIB_IN_MIB, made_of)], {})


def history(bench: Bench) -> Section:
    """A warehouse that is refreshed over and over, each time with new numbers for two groups in a hundred."""
    original = bench.archive or archives.generated(bench.folder, Size(min(bench.size.samples, 0.04), 160))
    archive = archives.working_copy(original, bench.folder / "changing")
    warehouse = bench.warehouse
    remove(warehouse)()
    run = Run(mbw_build(archive, warehouse), allowed_status=PUBLISHED)
    seconds_of(run)
    count = max(1, archives.group_count(archive) // 50)
    seconds: list[float] = []
    rows: list[tuple[int, int]] = []
    for place in range(bench.refreshes):
        archives.move_numbers(archive, count, place * count)
        seconds.append(seconds_of(run)[0])
        with duckdb.connect(str(warehouse / DATABASE), read_only=True) as connection:
            found = connection.execute("SELECT count(*) FROM published_history").fetchone()
        assert found is not None
        rows.append((found[0], (warehouse / DATABASE).stat().st_size))
    remove(warehouse, archive)()
    few = max(1, bench.refreshes // 10)
    parts = {f"first {few}": slice(0, few), f"last {few}": slice(-few, None)}
    table = markdown(
        ("refreshes", "median", "rows of published_history", "database"),
        [
            (name, f"{number(statistics.median(seconds[part]))} s", f"{rows[part][-1][0]:,}", _megabytes(rows[part]))
            for name, part in parts.items()
        ],
    )
    growth = statistics.median(seconds[-few:]) / statistics.median(seconds[:few])
    name = f"the last of {bench.refreshes} refreshes against the first"
    return Section([Figure(name, growth, "×")], {f"A history of {bench.refreshes} refreshes": table})


def _megabytes(rows: list[tuple[int, int]]) -> str:
    return f"{rows[-1][1] / 1e6:.1f} MB"


def answers(bench: Bench) -> Section:
    """The standard views and commands on the full warehouse."""
    remove(bench.warehouse)()
    seconds_of(Run(mbw_build(bench.of_size(), bench.warehouse), allowed_status=PUBLISHED))
    times = views.view_times(bench.warehouse, bench.rounds)
    commands = views.command_times(bench.warehouse, bench.rounds)
    slowest = max(times, key=lambda time: time.milliseconds)
    slow = max(commands, key=lambda name: commands[name])
    rows: list[tuple[str, ...]] = [(t.view, f"{number(t.milliseconds)} ms", f"{t.rows:,}") for t in times]
    return Section(
        [
            Figure("the slowest standard view, one collection", slowest.milliseconds, "ms", 50, slowest.view),
            Figure("the slowest `mbw table`, as a process", commands[slow], "s", 0.5, slow),
            Figure("`mbw --help`, as a process", views.help_time(bench.rounds), "s", 0.3),
        ],
        {"Views": markdown(("view", "slowest collection", "rows"), rows)},
    )


SECTIONS: dict[str, Callable[[Bench], Section]] = {
    "build": build_and_peers,
    "dagster": dagster,
    "refresh": refreshes,
    "scale": scale,
    "large-group": large_group,
    "history": history,
    "answers": answers,
}


def machine() -> dict[str, Any]:
    """What it was measured on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processors": len(os.sched_getaffinity(0)),
        "memory": f"{memory / 2**30:.0f} GiB",
        "python": sys.version.split()[0],
        "duckdb": duckdb.__version__,
    }
