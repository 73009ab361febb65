"""What others take to read the same archive: Python's json over every file, and pandas over every predict.json.

python -m benchmarks.peers json|pandas ARCHIVE
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def read_json(archive: Path) -> int:
    """`json.load` of every file, one after another, which is the least that a script of one's own does."""
    count = 0
    for path in sorted(archive.rglob("*.json")):
        with open(path, encoding="utf-8") as stream:
            json.load(stream)
        count += 1
    return count


def read_pandas(archive: Path) -> int:
    """Every predict.json as a frame, its prompts and responses measured, as a notebook would."""
    import pandas as pd

    rows = 0
    for path in sorted(archive.rglob("predict.json")):
        frame = pd.read_json(path, orient="records", convert_dates=False)
        rows += int(frame["response"].str.len().count())
    return rows


if __name__ == "__main__":
    print({"json": read_json, "pandas": read_pandas}[sys.argv[1]](Path(sys.argv[2])))
