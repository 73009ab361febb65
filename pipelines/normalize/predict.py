"""predict.json: its bytes to the tables predictions and prompts, and back. No I/O.

Records are decoded one at a time and handed on in batches of bounded size, so that memory does not grow with the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from pipelines.archive.json_reader import dumps, json_type, loads, records
from pipelines.errors import BadRecord
from pipelines.normalize.arrow import repeated, strings_from_utf8, to_batch
from pipelines.normalize.records import SampleKey, as_unicode, check_sample, is_unicode, residue, restore
from schemas.contracts import PREDICT
from schemas.predictions import TABLE as PREDICTIONS
from schemas.prompts import TABLE as PROMPTS
from schemas.reference.runner import FAILED_GENERATION

CANONICAL_KEYS = PREDICT.canonical_keys
REQUIRED_KEYS = PREDICT.required_keys
_MESSAGE_KEYS = ["role", "content"]

#: A batch is handed on once its messages reach this size: large enough to compress well, small enough to stay flat.
BATCH_BYTES = 16 << 20


@dataclass(frozen=True)
class PredictBatch:
    """The same samples in both tables, in the order of the file."""

    predictions: pa.RecordBatch
    prompts: pa.RecordBatch


@dataclass
class PredictFacts:
    """What the rest of the group needs to know of its predictions once all batches have been read.

    `failed` maps each sample to whether its generation failed, in the order of the file; `distinct_responses` counts
    up to 2, enough to say whether all responses are equal.
    """

    failed: dict[SampleKey, bool] = field(default_factory=dict)
    distinct_responses: int = 0


def normalize(data: bytes, group_id: str, facts: PredictFacts) -> Iterator[PredictBatch]:
    """Yield the file's rows in batches and fill `facts` on the way.

    Raises:
        BadRecord: not JSON, not a list, a record without a required key or with one of the wrong type, or a sample
            that stands in it twice. Rows already yielded are then void.
    """
    rows = _Rows(group_id)
    first_response: Any = None
    for position, record in enumerate(records(data)):
        try:
            key = check_sample(record, REQUIRED_KEYS)
            if key in facts.failed:
                raise BadRecord(f"duplicate sample: dataset {key[0]!r}, test_idx {key[1]} stands twice")
            failed = rows.add(key, position, record)
        except BadRecord as error:
            raise error.at(record=position) from error
        facts.failed[key] = failed
        response = record["response"]
        if facts.distinct_responses == 0:
            first_response, facts.distinct_responses = response, 1
        elif facts.distinct_responses == 1 and response != first_response:
            facts.distinct_responses = 2
        if rows.message_bytes >= BATCH_BYTES:
            yield rows.batch()
            rows = _Rows(group_id)
    if rows.samples:
        yield rows.batch()


def is_failed_generation(response: str | None) -> bool:
    """The runner's error text, an empty response, or none at all."""
    return response is None or response.strip() in ("", FAILED_GENERATION)


class _Rows:
    """The rows of one batch, column by column."""

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.samples: list[SampleKey] = []
        self.message_bytes = 0
        self._predictions: list[tuple[Any, ...]] = []
        self._roles: list[str | None] = []
        self._contents: list[bytes | None] = []
        self._offsets: list[int | None] = [0]
        self._prompt_residues: list[str | None] = []

    def add(self, key: SampleKey, position: int, record: dict[str, Any]) -> bool:
        """Add a record; returns whether its generation failed."""
        response = record["response"]
        if response is not None and type(response) is not str:
            raise BadRecord(f"response is {json_type(response)}, expected a string")
        chars, prompt_residue = self._add_messages(record["messages"])
        unfit: tuple[str, ...] = ()
        shown = response
        if response is not None and not is_unicode(response):
            unfit, shown = ("response",), as_unicode(response)
        failed = is_failed_generation(response)
        messages = record["messages"]
        self.samples.append(key)
        self._prompt_residues.append(prompt_residue)
        self._predictions.append(
            (
                *key,
                position,
                shown,
                None if response is None else len(response),
                chars,
                len(messages) if type(messages) is list else 0,
                failed,
                residue(record, CANONICAL_KEYS, unfit),
            )
        )
        return failed

    def _add_messages(self, messages: Any) -> tuple[int, str | None]:
        """Append the messages; returns their length in characters and what of them does not fit."""
        if type(messages) is not list:
            self._offsets.append(self._offsets[-1])
            return 0, dumps({"value": messages})
        chars = 0
        misfits = []
        for place, message in enumerate(messages):
            role = content = None
            if type(message) is dict:
                role, content = message.get("role"), message.get("content")
            encoded_role, encoded = _utf8(role), _utf8(content)
            fits = (
                type(message) is dict
                and list(message) == _MESSAGE_KEYS
                and (encoded_role is not None or role is None)
                and (encoded is not None or content is None)
            )
            if not fits:
                misfits.append([place, message])
                if type(content) is str and encoded is None:
                    encoded = as_unicode(content).encode()
                if type(role) is str and encoded_role is None:
                    role = as_unicode(role)
            if type(content) is str:
                chars += len(content)
            if encoded is not None:
                self.message_bytes += len(encoded)
            self._roles.append(role if type(role) is str else None)
            self._contents.append(encoded)
        self._offsets.append(len(self._contents))
        return chars, dumps({"items": misfits}) if misfits else None

    def batch(self) -> PredictBatch:
        count = len(self.samples)
        group = repeated(self.group_id, count)
        columns = list(zip(*self._predictions, strict=True))
        present = [content for content in self._contents if content is not None]
        contents: pa.Array
        if len(present) == len(self._contents):
            contents = strings_from_utf8(present)
        else:
            contents = pa.array([None if c is None else c.decode() for c in self._contents], pa.string())
        roles = pa.array(self._roles, pa.string())
        structs = pa.StructArray.from_arrays([roles, contents], names=_MESSAGE_KEYS)
        messages = pa.ListArray.from_arrays(pa.array(self._offsets, pa.int32()), structs)
        prompts = to_batch(PROMPTS, [group, columns[0], columns[1], messages, self._prompt_residues])
        return PredictBatch(to_batch(PREDICTIONS, [group, *columns]), prompts)


def _utf8(text: Any) -> bytes | None:
    if type(text) is not str:
        return None
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None


def denormalize(predictions: pa.Table, prompts: pa.Table) -> list[dict[str, Any]]:
    """The content of predict.json, from the rows of one group of both tables."""
    messages = {
        (row["dataset"], row["test_idx"]): _restore_messages(row["messages"], row["residue"])
        for row in prompts.to_pylist()
    }
    out = []
    for row in predictions.sort_by("position").to_pylist():
        fitted = {
            "test_idx": row["test_idx"],
            "messages": messages[row["dataset"], row["test_idx"]],
            "response": row["response"],
            "dataset": row["dataset"],
        }
        out.append(restore(fitted, row["residue"]))
    return out


def _restore_messages(messages: list[dict[str, Any]], residue_text: str | None) -> Any:
    if residue_text is None:
        return messages
    parts = loads(residue_text.encode())
    if "value" in parts:
        return parts["value"]
    for place, message in parts["items"]:
        messages[place] = message
    return messages
