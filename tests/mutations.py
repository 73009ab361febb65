"""Seeded damage to an archive: what a bad disk, a bad upload or a careless hand does to a file."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

FILES = ("predict.json", "evaluate_details.json", "summary.json", "run_config.json")
Mutation = Callable[[Path, random.Random], None]


def _rewrite(path: Path, change: Callable[[Any, random.Random], Any], rng: random.Random) -> None:
    path.write_text(json.dumps(change(json.loads(path.read_bytes()), rng), indent=4), encoding="utf-8")


def truncate(path: Path, rng: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: rng.randrange(len(data))])


def flip_bytes(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(rng.randint(1, 20)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    path.write_bytes(bytes(data))


def _a_record(document: Any, rng: random.Random) -> dict[str, Any]:
    if isinstance(document, list):
        return rng.choice(document) if document else {}
    return document


def retype_a_key(path: Path, rng: random.Random) -> None:
    def change(document: Any, rng: random.Random) -> Any:
        record = _a_record(document, rng)
        if record:
            record[rng.choice(list(record))] = rng.choice([None, [], {}, 1, 1.5, "text", True, [[1]], {"a": None}])
        return document

    _rewrite(path, change, rng)


def drop_a_key(path: Path, rng: random.Random) -> None:
    def change(document: Any, rng: random.Random) -> Any:
        record = _a_record(document, rng)
        if record:
            del record[rng.choice(list(record))]
        return document

    _rewrite(path, change, rng)


def repeat_a_record(path: Path, rng: random.Random) -> None:
    def change(document: Any, rng: random.Random) -> Any:
        return [*document, rng.choice(document)] if isinstance(document, list) and document else document

    _rewrite(path, change, rng)


def swap_files(path: Path, rng: random.Random) -> None:
    other = path.with_name(rng.choice([name for name in FILES if name != path.name]))
    if other.exists():
        mine, theirs = path.read_bytes(), other.read_bytes()
        path.write_bytes(theirs)
        other.write_bytes(mine)


def nest_deep(path: Path, rng: random.Random) -> None:
    depth = rng.choice([500, 990, 1_000, 10_000])
    path.write_bytes(b'{"a":' * depth + b"1" + b"}" * depth if rng.random() < 0.5 else b"[" * depth + b"]" * depth)


def huge_string(path: Path, rng: random.Random) -> None:
    """50 MB of text in the file's first text; slow, so rare."""

    def change(document: Any, rng: random.Random) -> Any:
        record = _a_record(document, rng)
        for key, value in record.items():
            if isinstance(value, str):
                record[key] = "巨" * (17 << 20)
                break
        return document

    _rewrite(path, change, rng)


def duplicate_keys(path: Path, rng: random.Random) -> None:
    data = path.read_bytes()
    place = data.find(b'"')
    colon = data.find(b":", place)
    path.write_bytes(data[:place] + data[place:colon] + b": 1, " + data[place:])


def empty(path: Path, rng: random.Random) -> None:
    path.write_bytes(b"")


def delete(path: Path, rng: random.Random) -> None:
    path.unlink()


def byte_order_mark(path: Path, rng: random.Random) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


def insert_garbage(path: Path, rng: random.Random) -> None:
    data = path.read_bytes()
    place = rng.randrange(len(data))
    garbage = rng.choice([b"\x00", b"NaN", b"\xff\xfe", b'"', b"]", b"}", b",", b"\\ud83d", b"1e999"])
    path.write_bytes(data[:place] + garbage + data[place:])


MUTATIONS: tuple[Mutation, ...] = (
    truncate,
    flip_bytes,
    retype_a_key,
    drop_a_key,
    repeat_a_record,
    swap_files,
    nest_deep,
    huge_string,
    duplicate_keys,
    empty,
    delete,
    byte_order_mark,
    insert_garbage,
)
#: How often each is drawn.
_WEIGHTS = [1 if mutation is huge_string else 6 for mutation in MUTATIONS]


def mutate(group_folder: Path, seed: int) -> str:
    """Damage one file of a group; returns what was done, for the test's message."""
    rng = random.Random(seed)
    path = group_folder / rng.choice([name for name in FILES if (group_folder / name).exists()])
    mutation = rng.choices(MUTATIONS, _WEIGHTS)[0]
    mutation(path, rng)
    return f"seed {seed}: {mutation.__name__} of {path.name}"
