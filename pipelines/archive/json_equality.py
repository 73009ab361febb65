"""When two JSON values are the same: what "lossless" means in this project."""

from __future__ import annotations

from typing import Any


def same_json(left: Any, right: Any) -> bool:
    """Equal in value, type and order: NaN is NaN, 1 is not 1.0 nor true, -0.0 is not 0.0, and keys keep their order.

    Values may be nested as deep as the parser reads them, so this keeps its own stack.
    """
    pairs = [(left, right)]
    while pairs:
        one, other = pairs.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, dict):
            if list(one) != list(other):
                return False
            pairs += [(value, other[key]) for key, value in one.items()]
        elif isinstance(one, list):
            if len(one) != len(other):
                return False
            pairs += zip(one, other, strict=True)
        elif isinstance(one, float):
            if repr(one) != repr(other):
                return False
        elif one != other:
            return False
    return True
