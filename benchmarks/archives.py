"""The archives that are measured on. Each is generated once, by the project's own generator, and kept."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipelines.archive.sample import BACKBONES, EXPERIMENT, write_sample

#: Written last, so that an archive whose generation was interrupted is made anew.
_COMPLETE = ".complete.json"
NEW_BACKBONE = "New-Backbone-8B"


@dataclass(frozen=True)
class Size:
    """How large an archive is: the share of the published samples, the characters of context, and `times` as many
    backbones as are published."""

    samples: float
    context: int
    times: int = 1

    @property
    def name(self) -> str:
        return f"archive-{self.samples:g}-{self.context}-x{self.times}"


def generated(folder: Path, size: Size) -> Path:
    """The archive of a size below `folder`, generated where it is not there yet."""
    out = folder / size.name
    marker = out / _COMPLETE
    if marker.exists():
        return out
    shutil.rmtree(out, ignore_errors=True)
    more = [f"{name}-{copy}" for copy in range(2, size.times + 1) for name in BACKBONES]
    print(f"generating {out}", file=sys.stderr)
    made = write_sample(out, backbones=[*BACKBONES, *more], samples=size.samples, context_chars=size.context)
    marker.write_text(json.dumps(asdict(made)), encoding="utf-8")
    return out


def json_bytes(archive: Path) -> int:
    """Bytes of all JSON files."""
    return sum(path.stat().st_size for path in archive.rglob("*.json") if path.name != _COMPLETE)


def group_count(archive: Path) -> int:
    """Lines of the manifest."""
    return len((archive / "manifest.jsonl").read_bytes().splitlines())


def working_copy(archive: Path, out: Path) -> Path:
    """The same archive to be changed by `change_groups` and `add_backbone`: files are shared until they change."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(archive, out, copy_function=os.link)
    for name in ("manifest.jsonl", _COMPLETE):
        if (out / name).exists():
            (out / name).unlink()
            shutil.copy2(archive / name, out / name)
    return out


def restore(archive: Path, copy: Path) -> None:
    """Undo all changes to a working copy of an archive, and touch nothing else."""
    shutil.rmtree(copy / f"{EXPERIMENT}-{NEW_BACKBONE}", ignore_errors=True)
    shutil.copy2(archive / "manifest.jsonl", copy / "manifest.jsonl")
    for path in archive.rglob("*.json"):
        copied = copy / path.relative_to(archive)
        if path.name != _COMPLETE and not os.path.samefile(path, copied):
            copied.unlink()
            os.link(path, copied)


def group_folders(archive: Path) -> list[Path]:
    """The folders of all groups, in the order of the manifest."""
    lines = (archive / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    return [archive / json.loads(line)["relative_dir"] for line in lines]


def change_groups(archive: Path, count: int) -> None:
    """Give `count` groups, spread over the archive, another predict.json of the same content."""
    folders = group_folders(archive)
    for folder in folders[:: max(1, len(folders) // count)][:count]:
        path = folder / "predict.json"
        data = path.read_bytes()
        path.unlink()  # the file may be shared with another archive
        path.write_bytes(data + b"\n")


def move_numbers(archive: Path, count: int, start: int) -> None:
    """Publish other numbers for `count` groups, from the one at `start` on."""
    folders = group_folders(archive)
    for folder in (folders[(start + place) % len(folders)] for place in range(count)):
        path = folder / "summary.json"
        summary: dict[str, Any] = json.loads(path.read_bytes())
        summary["summary"]["weighted_average"] += 0.001
        path.unlink()
        path.write_text(json.dumps(summary, indent=4), encoding="utf-8")


def add_backbone(archive: Path, size: Size) -> None:
    """Add one backbone, with the groups of any other."""
    write_sample(archive, backbones=[NEW_BACKBONE], samples=size.samples, context_chars=size.context, append=True)


def large_group(folder: Path, archive: Path, n_bytes: int) -> Path:
    """An archive of one group whose predict.json has `n_bytes`: the records of the largest group, over and over, so
    that they are as long as those that make a group large."""
    out = folder / f"large-group-{n_bytes}"
    marker = out / _COMPLETE
    if marker.exists():
        return out
    shutil.rmtree(out, ignore_errors=True)
    lines = [json.loads(line) for line in (archive / "manifest.jsonl").read_text(encoding="utf-8").splitlines()]
    sizes = {line["relative_dir"]: (archive / line["relative_dir"] / "predict.json").stat().st_size for line in lines}
    line = max(lines, key=lambda line: sizes[line["relative_dir"]])
    source, target = archive / line["relative_dir"], out / line["relative_dir"]
    target.mkdir(parents=True)
    records = json.loads((source / "predict.json").read_bytes())
    evaluated = {(r["dataset"], r["test_idx"]): r for r in json.loads((source / "evaluate_details.json").read_bytes())}
    evaluations = []
    with open(target / "predict.json", "wb") as stream:
        written = count = 0
        while written < n_bytes:
            record = records[count % len(records)]
            evaluation = evaluated[record["dataset"], record["test_idx"]]
            text = json.dumps({**record, "test_idx": count}, ensure_ascii=False, indent=4)
            written += stream.write(b"[\n" if count == 0 else b",\n") + stream.write(text.encode())
            evaluations.append({**evaluation, "test_idx": count})
            count += 1
        stream.write(b"\n]\n")
    (target / "evaluate_details.json").write_text(json.dumps(evaluations, indent=4), encoding="utf-8")
    shutil.copy2(source / "run_config.json", target / "run_config.json")
    line["files"] = sorted(path.name for path in target.iterdir())
    (out / "manifest.jsonl").write_text(json.dumps(line, ensure_ascii=False) + "\n", encoding="utf-8")
    marker.write_text(json.dumps({"records": count}), encoding="utf-8")
    return out
