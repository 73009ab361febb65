"""CSV and JSON, for what comes next: every value whole."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any, TextIO
from uuid import UUID

from pipelines.archive.json_reader import dumps

Row = Sequence[Any]


def write_csv(stream: TextIO, columns: Row, rows: Iterable[Row]) -> None:
    """CSV with a header; NULL is an empty field, lists and objects are JSON text."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_csv_value(value) for value in row])


def _csv_value(value: Any) -> Any:
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return dumps(value) if isinstance(value, (list, dict)) else value


def write_json(stream: TextIO, columns: Row, rows: Iterable[Row]) -> None:
    """A list of objects, a line each. What JSON has no number for is the text "NaN", "Infinity" or "-Infinity"."""
    names = unique_names(columns)
    stream.write("[")
    for number, row in enumerate(rows):
        stream.write(",\n " if number else "\n ")
        stream.write(dumps({name: plain(value) for name, value in zip(names, row, strict=True)}))
    stream.write("\n]\n")


def unique_names(columns: Iterable[str]) -> list[str]:
    """The names, with _1, _2, … behind one that came before, so that none hides another where names are keys."""
    names: dict[str, None] = {}
    for column in columns:
        name, number = column, 0
        while name in names:
            number += 1
            name = f"{column}_{number}"
        names[name] = None
    return list(names)


def plain(value: Any) -> Any:
    """A value as strict JSON can hold it."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Decimal):
        return plain(float(value))
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, (timedelta, UUID)):
        return str(value)
    raise TypeError(f"a {type(value).__name__} cannot be written")
