"""Archives of a few groups, written by hand: what a test needs and nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipelines.archive.local import LocalSource
from pipelines.config import SAMPLE, BuildOptions
from pipelines.load.snapshots import Warehouse
from pipelines.refresh import RefreshReport, refresh
from schemas.reference.normalization import normalization_of

Keys = tuple[str, str, str, str, str]
A_MEM: Keys = ("off-policy", "Qwen3-8B", "domain", "Open-Domain", "a_mem")
WO_MEMORY: Keys = ("off-policy", "Qwen3-8B", "domain", "Open-Domain", "wo_memory")
MEM0: Keys = ("off-policy", "Qwen3-8B", "task", "Long-Short", "mem0")


def group_id(keys: Keys) -> str:
    return "/".join(keys)


def folder(keys: Keys) -> str:
    return f"{keys[0]}-{keys[1]}/{keys[2]}/{keys[3]}/{keys[4]}"


def prediction(dataset: str, test_idx: int, response: str = "An answer.", **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": f"Question {test_idx} of {dataset}?"}]
    return {"test_idx": test_idx, "messages": messages, "response": response, "dataset": dataset, **more}


def evaluation(dataset: str, test_idx: int, metrics: dict[str, Any]) -> dict[str, Any]:
    return {"test_idx": test_idx, "metrics": metrics, "dataset": dataset}


def group_files(**replaced: Any) -> dict[str, Any]:
    """The four files of a group with three samples; keyword arguments replace whole files (`predict=…`), and None
    leaves one out."""
    files: dict[str, Any] = {
        "predict.json": [prediction("NFCats", 3), prediction("Locomo-0", 1, "Blue."), prediction("Locomo-1", 0, "No.")],
        "evaluate_details.json": [
            evaluation("NFCats", 3, {"score": 4}),
            evaluation("Locomo-0", 1, {"f1": 0.5, "golden_answer": "blue"}),
            evaluation("Locomo-1", 0, {"f1": 1, "golden_answer": "no"}),
        ],
        "summary.json": {
            "summary": {"average": 0.75, "weighted_average": 0.75, "z_score": _z_score()},
            "average": {"Locomo": 0.75, "NFCats": 4.0},
            "details": {"Locomo": [0.5, 1], "NFCats": [4]},
        },
        "run_config.json": {"memory_system": "a_mem", "retrieve_k": 5, "threads": 4},
    }
    files.update({f"{name}.json": content for name, content in replaced.items()})
    return {name: content for name, content in files.items() if content is not None}


def _z_score() -> float:
    """The z_score of the three samples by the published formula, so that the summary reconciles."""
    locomo, nfcats = (normalization_of("domain", "Open-Domain", name) for name in ("Locomo", "NFCats"))
    assert locomo is not None and nfcats is not None
    return ((0.5 - locomo.mu) / locomo.sigma + (1 - locomo.mu) / locomo.sigma + (4 - nfcats.mu) / nfcats.sigma) / 3


class HandmadeArchive:
    """Writes groups below a folder and the manifest that names them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lines: list[Any] = []
        root.mkdir(parents=True, exist_ok=True)

    def add(self, keys: Keys, contents: Mapping[str, Any] | None = None, **line: Any) -> Path:
        """Write a group and its manifest line, whose members keyword arguments replace."""
        contents = group_files() if contents is None else contents
        directory = self.root / folder(keys)
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            self.write(directory / name, content)
        names = ("exp", "model", "dataset_type", "set_name", "baseline")
        entry = {**dict(zip(names, keys, strict=True)), "run_id": "published", "relative_dir": folder(keys)}
        self.lines.append({**entry, "files": sorted(contents), **line})
        self.write_manifest()
        return directory

    def write(self, path: Path, content: Any) -> None:
        """Bytes are written as they are, anything else as JSON."""
        data = content if isinstance(content, bytes) else json.dumps(content, indent=4).encode()
        path.write_bytes(data)

    def write_manifest(self) -> None:
        texts = (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in self.lines)
        (self.root / "manifest.jsonl").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


def build(root: Path, warehouse: Path, **options: Any) -> RefreshReport:
    """Refresh a warehouse from a folder, in this process."""
    return refresh(LocalSource(root), Warehouse(warehouse), BuildOptions(**options))


def as_sample(warehouse: Path, copy: Path) -> Path:
    """A copy of a warehouse that says it was made from the bundled sample."""
    shutil.copytree(warehouse, copy, symlinks=True)
    file = copy / "current" / "snapshot.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"source": SAMPLE}))
    return copy
