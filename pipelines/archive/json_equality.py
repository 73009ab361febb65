"""When two JSON values are the same: what "lossless" means in this project."""

from __future__ import annotations

from typing import Any


def same_json(left: Any, right: Any) -> bool:
    """Equal in value, type and order: NaN is NaN, 1 is not 1.0 nor true, -0.0 is not 0.0, and keys keep their order."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(same_json(value, right[key]) for key, value in left.items())
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    if isinstance(left, float):
        return repr(left) == repr(right)
    return bool(left == right)
