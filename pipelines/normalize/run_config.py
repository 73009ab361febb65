"""run_config.json: its bytes to run_configs, and back. No I/O."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from pipelines.archive.json_reader import dumps, json_type, loads
from pipelines.errors import BadRecord
from pipelines.normalize.arrow import to_batch
from pipelines.normalize.records import is_unicode
from schemas.run_configs import TABLE


def normalize(data: bytes, group_id: str) -> pa.RecordBatch:
    """The file's one row. The columns hold what has the expected type; `config` holds everything.

    Raises:
        BadRecord: not JSON, or not an object.
    """
    config = loads(data)
    if type(config) is not dict:
        raise BadRecord(f"expected an object at the top, found {json_type(config)}")
    system = _object(config.get("memory_system_config"))
    llm = _object(system.get("llm_config"))
    row = [
        group_id,
        _text(config.get("dataset_type")),
        _text(config.get("set_name")),
        _text(config.get("memory_system")),
        _integer(config.get("retrieve_k")),
        _integer(config.get("threads")),
        _text(system.get("llm_provider")),
        _text(llm.get("model")),
        _number(llm.get("temperature")),
        _text(config.get("output_dir")),
        _text(config.get("memory_cache_prefix")),
        dumps(config),
    ]
    return to_batch(TABLE, [[value] for value in row])


def denormalize(run_configs: pa.Table) -> dict[str, Any]:
    """The content of run_config.json, from the group's row."""
    return loads(run_configs.column("config")[0].as_py().encode())


def _object(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}


def _text(value: Any) -> str | None:
    return value if type(value) is str and is_unicode(value) else None


def _integer(value: Any) -> int | None:
    return value if type(value) is int and abs(value) < 2**63 else None


def _number(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) and abs(value) < 2**53 else None
