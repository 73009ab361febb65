"""An independent reading of an archive, written from the description of the publisher's client: what ours must equal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Key(NamedTuple):
    exp: str
    model: str
    dataset_type: str
    set_name: str
    baseline: str


class PublishedArchive:
    """The JSON files themselves, read with `json`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        lines = (root / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
        manifest = [json.loads(line) for line in lines if line.strip()]
        self.groups = {Key(*(line[name] for name in Key._fields)): line for line in manifest}

    def path(self, key: Key, name: str) -> Path:
        return self.root / str(self.groups[key]["relative_dir"]) / name

    def files(self, key: Key) -> list[str]:
        return sorted(path.name for path in self.path(key, "").iterdir())

    def load(self, key: Key, name: str) -> Any:
        return json.loads(self.path(key, name).read_text(encoding="utf-8"))

    def listed(self, name: str, **wanted: str | None) -> list[str]:
        return sorted(
            {
                getattr(key, name)
                for key in self.groups
                if all(value is None or getattr(key, field) == value for field, value in wanted.items())
            }
        )

    def summary_rows(
        self,
        metric: str,
        exp: str,
        dataset_type: str | None = None,
        set_name: str | None = None,
        baselines: Sequence[str] | None = None,
        models: Sequence[str] | None = None,
        missing_value: Any = None,
    ) -> list[dict[str, Any]]:
        if baselines is None:
            baselines = self.listed("baseline", exp=exp, dataset_type=dataset_type, set_name=set_name)
        blocks = {
            (key.model, key.dataset_type, key.set_name)
            for key in self.groups
            if key.exp == exp
            and (models is None or key.model in models)
            and dataset_type in (None, key.dataset_type)
            and set_name in (None, key.set_name)
        }
        rows = []
        for model, split, collection in sorted(blocks):
            row: dict[str, Any] = {"model": model}
            if dataset_type is None or set_name is None:
                row |= {"dataset_type": split, "set_name": collection}
            for baseline in baselines:
                key = Key(exp, model, split, collection, baseline)
                there = key in self.groups and "summary.json" in self.files(key)
                summary = self.load(key, "summary.json")["summary"] if there else {}
                row[baseline] = summary.get(metric, missing_value)
            rows.append(row)
        return rows
