"""One JSON value as columns hold it: a number where there is one, exact text where DOUBLE is not enough, its kind."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from pipelines.archive.json_reader import dumps, loads


class Value(NamedTuple):
    """`number` is what aggregates use; `text` what the number cannot say; `kind` the JSON type as Python reads it."""

    number: float | None
    text: str | None
    kind: str


_NULL = Value(None, None, "null")
_TRUE = Value(1.0, None, "bool")
_FALSE = Value(0.0, None, "bool")

#: Every integer up to here is exact as a DOUBLE.
_EXACT = 2**53


def to_columns(value: Any) -> Value:
    """Any JSON value as a number, a text and a kind (bool, int, float, null, text, list or object).

    Texts and JSON texts may hold lone surrogates, which the caller has to look for.
    """
    kind = type(value)
    if kind is float:
        return Value(value, None, "float")
    if kind is bool:
        return _TRUE if value else _FALSE
    if kind is int:
        if -_EXACT <= value <= _EXACT:
            return Value(float(value), None, "int")
        try:
            return Value(float(value), str(value), "int")
        except OverflowError:  # past 1.8e308
            return Value(None, str(value), "int")
    if value is None:
        return _NULL
    if kind is str:
        return Value(None, value, "text")
    return Value(None, dumps(value), "list" if kind is list else "object")


def to_score(value: Any) -> tuple[float | None, str]:
    """A published score as a number and a kind, which is `text` for all that is no scalar.

    An integer that is larger than every float is infinite here: it is no 0, and means cannot count it.
    """
    number, text, kind = to_columns(value)
    if kind == "int" and number is None:
        number = -math.inf if _there(text).startswith("-") else math.inf
    return number, kind if kind in ("bool", "int", "float", "null") else "text"


def from_columns(number: float | None, text: str | None, kind: str) -> Any:
    """The JSON value that `to_columns` was given."""
    if kind == "float":
        return number
    if kind == "int":
        return int(text) if text is not None else int(_there(number))
    if kind == "bool" and text is None:
        return bool(number)
    if kind == "null":
        return None
    if kind == "text":
        return text
    return loads(_there(text).encode())


def _there(value: Any) -> Any:
    if value is None:
        raise ValueError("a value that its kind promises is not there")
    return value
