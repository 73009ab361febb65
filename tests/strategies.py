"""Hypothesis strategies for what an archive may hold."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

#: Any text that Python's json can carry: lone surrogates, NUL and the empty text included.
texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=12)
numbers = st.one_of(
    st.integers(),
    st.integers(min_value=-(2**80), max_value=2**80),
    st.floats(allow_nan=True, allow_infinity=True),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)


def json_values(max_leaves: int = 12) -> st.SearchStrategy[Any]:
    """Any JSON value."""
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
        max_leaves=max_leaves,
    )
