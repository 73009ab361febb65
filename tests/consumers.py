"""A warehouse with everything that readers stumble over, for the tests of consumers; and what its tables hold."""

from __future__ import annotations

import hashlib
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipelines.load.views import literal, quoted
from schemas import TABLES
from schemas.model import Table
from tests.handmade import MEM0, HandmadeArchive, build, folder, group_files, prediction

#: Keys that a reader would take for a number or a date, that must be unescaped or quoted, that are not ASCII.
ODD_KEYS = (
    ("off-policy", "2024", "domain", "Academic&Knowledge", "007"),
    ("stepwise off-policy", "Qwen3-8B", "task", "Long-Short", "uno-single"),
    ("off-policy", "2024-01-31", "task", "Short-Long", "true"),
    ("off-policy", "模型-8B", "domain", "Legal", "café ß"),
    ("off-policy", 'it\'s "a" `b` \\n', "domain", "a/b%2Fc=d", "x"),
)
#: Of the generated archive, what is enough for gains, rankings and comparisons to have rows.
TAKEN = {
    "set_name": {"Legal", "Academic&Knowledge", "Long-Short"},
    "baseline": {"wo_memory", "a_mem", "bm25_message", "mem0"},
}


def odd_archive(root: Path, generated: Path) -> HandmadeArchive:
    """Some groups of a generated archive, and groups with odd keys and texts beside them."""
    archive = HandmadeArchive(root)
    for line in (generated / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if all(entry[name] in values for name, values in TAKEN.items()):
            shutil.copytree(generated / entry["relative_dir"], root / entry["relative_dir"])
            archive.lines.append(entry)
    for number, keys in enumerate(ODD_KEYS):
        line = {"relative_dir": f"odd/{number}"}
        source = archive.add(keys, **line)
        shutil.move(source, root / "odd" / str(number))
    # A NUL, an empty text, a character beyond 16 bits, an empty list of messages and none at all.
    texts = [prediction("NFCats", 0, "a\0b"), prediction("NFCats", 1, ""), prediction("NFCats", 2, "🙂 \r\n\t\"'")]
    texts[1]["messages"] = []
    texts[2]["messages"] = None
    evaluations = [
        {"test_idx": i, "metrics": {"score": score}, "dataset": "NFCats"} for i, score in enumerate((1, None, 2.5))
    ]
    archive.add(MEM0, group_files(predict=texts, evaluate_details=evaluations, summary=None))
    return archive


def build_twice(archive: HandmadeArchive, warehouse: Path) -> None:
    """Build, change one published number and what a group holds, spoil one group, and build again: there are changes
    between revisions, a stale group and findings."""
    build(archive.root, warehouse)
    summary = archive.root / "odd" / "0" / "summary.json"
    content = json.loads(summary.read_text())
    content["summary"]["z_score"] += 0.25
    summary.write_text(json.dumps(content))
    (archive.root / folder(MEM0) / "predict.json").write_text('[{"test_idx": 1')
    report = build(archive.root, warehouse)
    assert report.groups_by_status["stale"] == 1


def declared_source(parquet: Path, table: Table) -> str:
    """A table's Parquet as DuckDB reads it, for a FROM clause."""
    pattern = f"{parquet}/{table.name}/{'*/' * 5 if table.grouped else ''}*.parquet"
    columns = ", ".join(quoted(column.name) for column in table.database_columns)
    hive = "true, hive_types_autocast=false" if table.grouped else "false"
    return f"(SELECT {columns} FROM read_parquet({literal(pattern)}, hive_partitioning={hive}))"


def checksums(rows: pa.Table, table: Table) -> dict[str, str]:
    """Number of rows, and for each column a digest of its values in the order of the table's key. Two floats are the
    same where they print the same, NaN included; a time is the instant it means."""
    keys = ["group_id", *table.key] if "group_id" in rows.column_names else list(table.key)
    columns = {name: [plain(value) for value in rows[name].to_pylist()] for name in rows.column_names}
    order = sorted(range(rows.num_rows), key=lambda i: [repr(columns[name][i]) for name in keys])
    digests = {
        name: hashlib.sha256("\n".join(repr(values[i]) for i in order).encode("utf-8", "surrogatepass")).hexdigest()
        for name, values in columns.items()
    }
    return {"rows": str(rows.num_rows), **digests}


def plain(value: Any) -> Any:
    """A value as it prints alike whoever read it: a time as the instant it means."""
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value


def example(section: str, language: str = "python") -> str:
    """The first code block of that language in a section of docs/readers.md."""
    text = (Path(__file__).parent.parent / "docs" / "readers.md").read_text(encoding="utf-8")
    body = text.split(f"## {section}\n", 1)[1].split("\n## ", 1)[0]
    return body.split(f"```{language}\n", 1)[1].split("```", 1)[0]


def all_tables() -> list[Table]:
    return list(TABLES.values())
