"""`make bench`: measure a build against its peer.

python -m benchmarks [--archive DIR] [--samples F] [--rounds N]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.build import compare
from pipelines.archive.sample import write_sample


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--archive", type=Path, help="an archive to build from; made anew where none is given")
    parser.add_argument("--samples", type=float, default=0.25, help="share of the published samples to make")
    parser.add_argument("--rounds", type=int, default=3, help="how often each command runs")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memorybench-bench-") as folder:
        scratch = Path(folder)
        archive = args.archive
        if archive is None:
            archive = scratch / "archive"
            write_sample(archive, samples=args.samples, context_chars=34_000)
        print(compare(archive.absolute(), scratch, args.rounds))


if __name__ == "__main__":
    main()
