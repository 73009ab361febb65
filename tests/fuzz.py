"""Seeded fuzzing: what no archive should hold, and what must be true of it all the same.

A seed is a whole case: it chooses a target and makes its input. A failure names the seed, and the seed becomes a case of
tests/test_fuzz.py.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
import pyarrow as pa

from pipelines.archive.groups import GroupKey, path_refusal
from pipelines.archive.json_equality import same_json
from pipelines.archive.json_reader import dumps, loads, records
from pipelines.archive.manifest import read_manifest
from pipelines.errors import BadRecord
from pipelines.load.views import literal, quoted
from pipelines.normalize.group import normalize_group
from schemas import TABLES
from tests.handmade import A_MEM, group_files
from tests.test_normalize_round_trip import given_back

TEXTS = (
    "", "a", "NFCats", "Locomo-0", "JuDGE", "score", "llm_judge_score", "judge_error", "metric", "dataset", "test_idx",
    "x'; DROP TABLE results; --", '"', "'", "../../etc", "/etc", "..", "a/b", "a=b/c", "%2F", "%", "<script>alert(1)</script>",
    "$$", "{}", "🦆", "数据", "é", "e\u0301", "\u202e", "\ufeff", "\u0000", "\n", "\\", "\ud83d", "\udc00x", "a" * 300,
    "Error: Unable to generate response.", "NULL", "NaN", "2024", "true", " ", "\u00a0", "__HIVE_DEFAULT_PARTITION__",
)  # fmt: skip
NUMBERS = (
    0, 1, -1, 0.0, -0.0, 0.1, 1e308, -1e308, 5e-324, float("nan"), float("inf"), float("-inf"), 2**53, 2**53 + 1,
    2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**400, True, False, None,
)  # fmt: skip
TOKENS = (
    b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-0", b"00", b"1.", b".5", b"\xff", b"\xef\xbb\xbf", b"\\ud83d", b"\\u0000",
    b"\xed\xa0\x80", b"null", b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\x00", b"\n", b" ", b"[" * 600, b"9" * 5000,
)  # fmt: skip


def text(rng: random.Random) -> str:
    choice = rng.random()
    if choice < 0.8:
        return rng.choice(TEXTS)
    if choice < 0.9:
        return rng.choice(TEXTS) + rng.choice(TEXTS)
    return "".join(chr(rng.choice((rng.randrange(128), rng.randrange(0x11_0000)))) for _ in range(rng.randrange(12)))


def value(rng: random.Random, depth: int = 3) -> Any:
    choice = rng.random()
    if depth and choice < 0.15:
        return [value(rng, depth - 1) for _ in range(rng.randrange(4))]
    if depth and choice < 0.3:
        return {text(rng): value(rng, depth - 1) for _ in range(rng.randrange(4))}
    return text(rng) if choice < 0.6 else rng.choice(NUMBERS)


def altered(document: Any, rng: random.Random) -> Any:
    """One part of a document replaced, renamed, removed, repeated or moved; any part as likely as its parent's others."""
    if not document or not isinstance(document, (dict, list)) or rng.random() < 0.15:
        return value(rng)
    if isinstance(document, list):
        items = list(document)
        place = rng.randrange(len(items))
        match rng.randrange(5):
            case 0:
                del items[place]
            case 1:
                items.insert(rng.randrange(len(items) + 1), items[place])
            case 2:
                rng.shuffle(items)
            case _:
                items[place] = altered(items[place], rng)
        return items
    key = rng.choice(list(document))
    pairs = list(document.items())
    match rng.randrange(6):
        case 0:
            return {k: v for k, v in pairs if k != key}
        case 1:
            return {(text(rng) if k == key else k): v for k, v in pairs}
        case 2:
            rng.shuffle(pairs)
            return dict(pairs)
        case 3:
            return {**document, text(rng): value(rng)}
        case _:
            return {**document, key: altered(document[key], rng)}


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Bytes inserted, removed, repeated or changed."""
    for _ in range(rng.randint(1, 3)):
        begin = rng.randrange(len(data) + 1)
        end = min(len(data), begin + rng.randrange(8))
        match rng.randrange(4):
            case 0:
                data = data[:begin] + rng.choice(TOKENS) + data[begin:]
            case 1:
                data = data[:begin] + data[end:]
            case 2:
                data = data[:begin] + bytes([rng.randrange(256)]) + data[begin + 1 :]
            case _:
                data = data[:end] + data[begin:]
    return data


def encoded(document: Any, rng: random.Random) -> bytes:
    ascii = rng.random() < 0.5
    indent = rng.choice((None, 4))
    return json.dumps(document, ensure_ascii=ascii, indent=indent).encode("utf-8", "surrogatepass")


def pythons_reading(data: bytes) -> tuple[bool, Any]:
    """Whether Python's json reads the bytes, and as what."""
    try:
        return True, json.loads(data)
    except (ValueError, RecursionError):
        return False, None


def written_and_read(document: Any) -> Any:
    """What Python keeps of a document: two surrogates, each in bytes of its own, are two where it reads them, and one
    character once it has written them."""
    return json.loads(json.dumps(document))


def json_reader(rng: random.Random) -> None:
    """The reader reads what Python's json reads, as the same; anything else is a BadRecord."""
    data = encoded([value(rng) for _ in range(rng.randrange(4))] if rng.random() < 0.7 else value(rng, 4), rng)
    if rng.random() < 0.7:
        data = damaged(data, rng)
    valid, expected = pythons_reading(data)
    try:
        found = loads(data)
    except BadRecord:
        assert not valid, "refused, and Python reads it"
    else:
        assert valid, "read, and Python refuses it"
        assert same_json(found, expected)
        assert same_json(json.loads(dumps(found)), written_and_read(expected))
    try:
        items = list(records(data))
    except BadRecord:
        assert not (valid and isinstance(expected, list)), "a list was refused, and Python reads it"
    else:
        assert valid and same_json(items, expected)


def manifest(rng: random.Random) -> None:
    """Each line becomes an entry or a finding, and no entry leaves the archive."""
    names = ("exp", "model", "dataset_type", "set_name", "baseline")
    line: dict[str, Any] = {
        **dict(zip(names, A_MEM, strict=True)),
        "run_id": "r",
        "relative_dir": "a/b",
        "files": ["x"],
    }
    for name in rng.sample([*names, "relative_dir", "run_id"], 2):
        line[name] = text(rng)
    lines = [encoded(altered(line, rng) if rng.random() < 0.5 else line, random.Random(0)) for _ in range(3)]
    data = b"\n".join(line.replace(b"\n", b"") for line in lines)
    if rng.random() < 0.5:
        data = damaged(data, rng)
    entries, findings = read_manifest(data)
    assert len(entries) + len(findings) >= min(1, len(data.strip()))
    for entry in entries:
        assert entry.key.refusal() is None
        assert path_refusal(entry.relative_dir) is None
        assert all("/" not in name and name not in ("", ".", "..") for name in entry.files or ())
    for finding in findings:
        finding.message.encode()


def group(rng: random.Random) -> None:
    """A group is refused with a reason, or every file of it comes back equal."""
    files = group_files()
    for _ in range(rng.randint(1, 4)):
        name = rng.choice(list(files))
        files[name] = altered(files[name], rng)
    data = {name: encoded(content, rng) for name, content in files.items()}
    if rng.random() < 0.3:
        name = rng.choice(list(data))
        data[name] = damaged(data[name], rng)
    batches: dict[str, list[pa.RecordBatch]] = {name: [] for name in TABLES}
    try:
        facts = normalize_group(GroupKey(*A_MEM), "a/b", data, lambda table, batch: batches[table].append(batch))
    except BadRecord as error:
        assert error.file is not None and error.reason
        str(error).encode()
        return
    tables = {name: pa.Table.from_batches(b, TABLES[name].arrow_schema()) for name, b in batches.items()}
    back = given_back(facts, tables)
    for name, content in data.items():
        assert same_json(back[name], written_and_read(json.loads(content))), f"{name} does not come back"
    for finding in facts.findings:
        finding.message.encode()


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def names(rng: random.Random) -> None:
    """A name is refused, or stands for itself in a path, in an identifier and in a literal."""
    key = GroupKey(*(text(rng) if rng.random() < 0.5 else part for part in A_MEM))
    if key.refusal() is not None:
        key.refusal().encode()  # type: ignore[union-attr]
        return
    parts = Path("t", key.partition_path).parts[1:]
    assert len(parts) == 5 and all(len(part) <= 255 for part in parts)
    assert [unquote(part.split("=", 1)[1]) for part in parts] == list(key)
    assert [unquote(part) for part in key.group_id.split("/")] == list(key)
    columns = [f"{literal(v)} AS {quoted(v + str(i))}" for i, v in enumerate(key)]
    query = f"SELECT {', '.join(columns)}"
    cursor = _connection().execute(query)
    assert [column[0] for column in cursor.description] == [f"{v}{i}" for i, v in enumerate(key)]
    assert cursor.fetchall() == [tuple(key)]


TARGETS: tuple[Callable[[random.Random], None], ...] = (json_reader, manifest, group, names)


def fuzz(seed: int) -> None:
    """Run one case.

    Raises:
        AssertionError: something did not hold, or anything but BadRecord was raised; the message names the seed.
    """
    target = TARGETS[seed % len(TARGETS)]
    try:
        target(random.Random(seed))
    except BaseException as error:
        raise AssertionError(f"seed {seed} ({target.__name__}): {type(error).__name__}: {error}") from error
