"""The one place that reads and writes JSON.

The archive is written by Python's `json`, which emits what strict parsers refuse: NaN, Infinity, lone surrogates, a
byte-order mark. The fast parser goes first; whatever it refuses is read again by Python's own, whose reading is the
definition of "equal". Both keep the order of keys, take the last of duplicate keys, and read integers of any size.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from pipelines.errors import BadRecord

_decode = msgspec.json.Decoder().decode
_decode_record_bytes = msgspec.json.Decoder(list[msgspec.Raw]).decode
_encode = msgspec.json.Encoder().encode

#: JSON text of a value: one line, and the fewest bytes.
_COMPACT = (",", ":")


def loads(data: bytes | memoryview | msgspec.Raw) -> Any:
    """Read one JSON document as Python's `json.loads` does, only faster.

    Raises:
        BadRecord: the bytes are not JSON (or not UTF-8), or are nested too deep to be read.
    """
    try:
        return _decode(data)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return _loads_faithfully(bytes(data))
    except RecursionError as error:
        raise BadRecord("nested too deep to be read") from error


def _loads_faithfully(data: bytes) -> Any:
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise BadRecord(f"not JSON: {error}") from error
    except UnicodeDecodeError as error:
        raise BadRecord(f"not UTF-8: {error.reason} at byte {error.start}") from error
    except RecursionError as error:
        raise BadRecord("nested too deep to be read") from error
    except ValueError as error:  # Python refuses integers of more than 4,300 digits
        raise BadRecord(f"not readable: {error}") from error


def records(data: bytes) -> Iterator[Any]:
    """Yield the items of a JSON list one after another, so that memory holds one decoded item at a time.

    Raises:
        BadRecord: not JSON, or the document is not a list. May come after some items were yielded, with `record` set
            to the place of the item that cannot be read.
    """
    try:
        items = _decode_record_bytes(data)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError):
        # Not a list, not JSON at all, or a bare NaN that only Python's parser knows: let that parser say which.
        document = loads(data)
        if not isinstance(document, list):
            raise BadRecord(f"expected a list at the top, found {json_type(document)}") from None
        yield from document
        return
    for position, item in enumerate(items):
        try:
            yield loads(item)
        except BadRecord:
            # The places in that message count from the record's start. Python's parser, given the whole file, says
            # where in the file it is.
            try:
                _loads_faithfully(bytes(data))
            except BadRecord as error:
                raise error.at(record=position) from None
            raise


def dumps(value: Any, *, indent: int | None = None, ascii: bool = False) -> str:
    """JSON text that Python's `json` reads back equal, NaN and lone surrogates included.

    Compact unless `indent` is given. Text stays readable; only where it is not valid Unicode (or with `ascii`) is it
    escaped, so that the result can always be encoded as UTF-8.

    Raises:
        BadRecord: the value is nested too deep to be written, though it could be read.
    """
    separators = _COMPACT if indent is None else None
    try:
        text = json.dumps(value, indent=indent, ensure_ascii=ascii, separators=separators)
    except RecursionError as error:
        raise BadRecord("nested too deep to be written") from error
    if ascii or text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent, ensure_ascii=True, separators=separators)
    return text


def json_type(value: Any) -> str:
    """The name of a value's JSON type, for messages: an object, a list, a string, …"""
    if value is None:
        return "null"
    names = {
        dict: "an object",
        list: "a list",
        str: "a string",
        bool: "a boolean",
        int: "an integer",
        float: "a number",
    }
    return names.get(type(value), type(value).__name__)
