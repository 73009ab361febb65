"""`make bench`: measure builds, refreshes and answers against their targets, and save the tables as Markdown.

    python -m benchmarks [--sections NAME …] [--samples F] [--context CHARS] [--archive DIR] [--rounds N] …

The archives are generated once, into the output folder, which git ignores. Full size takes hours and some 40 GB; try
it with --samples 0.02 --context 300 --large-bytes 20000000 --refreshes 5 --rounds 1.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.archives import Size
from benchmarks.report import Figure, targets
from benchmarks.sections import SECTIONS, Bench, machine

DEFAULT_FOLDER = Path("build/bench")
REPORT = "performance.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--sections", nargs="+", choices=SECTIONS, default=list(SECTIONS), help="which parts (default: all)")
    add("--samples", type=float, default=1.0, help="share of the published samples (default %(default)s)")
    add("--context", type=int, default=34_000, help="median characters of context (default %(default)s)")
    add("--archive", type=Path, help="measure on this archive where the size is 1 ×, in place of the generated one")
    add("--rounds", type=int, default=3, help="how often each command runs (default %(default)s)")
    add("--large-bytes", type=int, default=10**9, help="size of the one large group (default %(default)s)")
    add("--refreshes", type=int, default=50, help="length of the history (default %(default)s)")
    add("--folder", type=Path, default=DEFAULT_FOLDER, help="where archives and the report go (default %(default)s)")
    args = parser.parse_args()
    folder = args.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    archive = args.archive.absolute() if args.archive else None
    bench = Bench(folder, Size(args.samples, args.context), args.rounds, archive, args.large_bytes, args.refreshes)
    figures: list[Figure] = []
    tables: dict[str, str] = {}
    for name in args.sections:
        section = SECTIONS[name](bench)
        figures += section.figures
        tables |= section.tables
        (folder / REPORT).write_text(report(figures, tables, args), encoding="utf-8")  # what is known so far
    print(report(figures, tables, args))


def report(figures: list[Figure], tables: dict[str, str], args: argparse.Namespace) -> str:
    """The page."""
    on = ", ".join(f"{name} {value}" for name, value in machine().items())
    archive = args.archive or f"generated, samples {args.samples:g}, context {args.context}"
    parts = [
        f"Measured {datetime.now(UTC):%Y-%m-%d} on {on}; archive: {archive}; {args.rounds} rounds in alternation.",
        f"## Targets\n\n{targets(figures)}",
        *(f"## {title}\n\n{table}" for title, table in tables.items()),
    ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    main()
