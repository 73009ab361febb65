"""What the record-wise files share: required keys, and the residue that makes a record come back exactly.

A record fits when its keys stand in the canonical order and every value fits its column. What does not fit goes into
the record's residue, a JSON object of up to two members: `keys`, the record's keys in their order where that is not
the canonical one, and `values`, the values that no column holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.archive.json_reader import dumps, json_type, loads
from pipelines.errors import BadRecord

#: Columns hold 64-bit integers; a test_idx past that could not identify a sample.
MAX_TEST_IDX = 2**63 - 1

SampleKey = tuple[str, int]


def check_sample(record: Any, required: Sequence[str]) -> SampleKey:
    """The record's (dataset, test_idx), after checking that all required keys are there.

    Raises:
        BadRecord: not an object, a required key is missing, or dataset or test_idx has the wrong type.
    """
    if type(record) is not dict:
        raise BadRecord(f"expected an object, found {json_type(record)}")
    for key in required:
        if key not in record:
            raise BadRecord(f"required key {key!r} is missing")
    dataset, test_idx = record["dataset"], record["test_idx"]
    if type(test_idx) is not int:
        raise BadRecord(f"test_idx is {json_type(test_idx)}, expected an integer")
    if not -MAX_TEST_IDX <= test_idx <= MAX_TEST_IDX:
        raise BadRecord(f"test_idx {test_idx} does not fit 64 bits")
    if type(dataset) is not str or not dataset:
        found = "empty" if dataset == "" else json_type(dataset)
        raise BadRecord(f"dataset is {found}, expected a name")
    if not is_unicode(dataset):
        raise BadRecord(f"dataset is not valid Unicode: {dataset!r}")
    return dataset, test_idx


def residue(record: Mapping[str, Any], canonical: tuple[str, ...], unfit: Sequence[str] = ()) -> str | None:
    """The record's residue as JSON text, None where everything fits. `unfit` names keys whose values do not fit."""
    keys = tuple(record)
    if keys == canonical and not unfit:
        return None
    known = set(canonical)
    parts: dict[str, Any] = {}
    if keys != canonical:
        parts["keys"] = list(keys)
    values = {key: record[key] for key in keys if key not in known or key in unfit}
    if values:
        parts["values"] = values
    return dumps(parts)


def restore(fitted: dict[str, Any], residue_text: str | None) -> dict[str, Any]:
    """The published record, from its canonical form as the columns give it and its residue."""
    if residue_text is None:
        return fitted
    parts = loads(residue_text.encode())
    values = parts.get("values", {})
    return {key: values[key] if key in values else fitted[key] for key in parts.get("keys", fitted)}


def is_unicode(text: str) -> bool:
    """False where the text holds a lone surrogate, which no column can hold."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_unicode(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD, to be read by people; the residue keeps the original."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
