"""The one JSON reader gives what Python's json gives, and its errors say where and why."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.archive.json_equality import same_json
from pipelines.archive.json_reader import dumps, loads, records
from pipelines.errors import BadRecord
from tests.strategies import json_values


@given(json_values(), st.booleans(), st.sampled_from([None, 4]))
def test_any_document_that_python_writes_is_read_equal(value: Any, ascii: bool, indent: int | None) -> None:
    data = json.dumps(value, ensure_ascii=ascii, indent=indent).encode("utf-8", "surrogatepass")
    assert same_json(loads(data), json.loads(data))


@given(json_values())
def test_what_is_written_is_read_back_equal_and_is_utf8(value: Any) -> None:
    text = dumps(value)
    assert same_json(loads(text.encode()), value)
    assert same_json(json.loads(text), value)


@given(st.lists(json_values(), max_size=5))
def test_records_are_the_items_of_the_list(items: list[Any]) -> None:
    data = json.dumps(items, indent=4).encode()
    assert same_json(list(records(data)), json.loads(data))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\xef\xbb\xbf[1]", id="a byte-order mark"),
        pytest.param(b'{"a": 1, "b": 2, "a": 3}', id="a duplicate key takes the last value at the first place"),
        pytest.param(b"[1e400, -1e400, NaN, -Infinity]", id="numbers past the range of floats"),
        pytest.param(b"[-0, -0.0, 18446744073709551616, 1e23]", id="negative zeros and big integers"),
        pytest.param(b'["\\ud83d", "\\u0000"]', id="a lone surrogate and NUL"),
    ],
)
def test_what_strict_parsers_refuse_is_read_as_python_reads_it(data: bytes) -> None:
    assert same_json(loads(data), json.loads(data))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"", "not JSON: Expecting value", id="an empty file"),
        pytest.param(b'[{"a": 1}', "not JSON: Expecting", id="a truncated list"),
        pytest.param(b'{"a": 1}{}', "not JSON: Extra data", id="two documents"),
        pytest.param(b'["\xff"]', "not UTF-8: invalid start byte at byte 2", id="a byte that is not UTF-8"),
        pytest.param(b"[" * 10_000 + b"]" * 10_000, "nested too deep", id="ten thousand levels"),
        pytest.param(b"[" + b"9" * 5_000 + b"]", "not readable: Exceeds the limit", id="an integer of 5,000 digits"),
        pytest.param(b'["a\x01b"]', "not JSON: Invalid control character", id="a raw control character in a text"),
    ],
)
def test_what_is_not_json_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(BadRecord, match=reason):
        loads(data)
    with pytest.raises(BadRecord, match=reason):
        list(records(data))


def test_records_of_something_else_than_a_list_say_what_was_found() -> None:
    with pytest.raises(BadRecord, match="expected a list at the top, found an object"):
        list(records(b'{"a": 1}'))


@pytest.mark.parametrize(("left", "right"), [(1, 1.0), (1, True), (0.0, -0.0), ({"a": 1, "b": 2}, {"b": 2, "a": 1})])
def test_values_that_python_calls_equal_are_told_apart(left: Any, right: Any) -> None:
    assert left == right
    assert not same_json(left, right)


def test_nan_is_the_same_as_nan() -> None:
    assert same_json({"x": [float("nan")]}, {"x": [float("nan")]})


def test_values_nested_as_deep_as_the_parser_reads_are_compared() -> None:
    deep = b"[" * 900 + b"1" + b"]" * 900
    assert same_json(loads(deep), loads(deep))
    assert not same_json(loads(deep), loads(deep.replace(b"1", b"2")))
