"""A written report, read back: its data files as rows, its pages as links and texts. Independent of how it is written."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tests.handmade import HandmadeArchive, Keys, evaluation, prediction

PUT = re.compile(r'mbw\.put\(("[^"]*"), (.*)\);\n', re.DOTALL)

SCRIPT = "<script>alert(1)</script>"
DROP = "x'; DROP TABLE results; --"
BREAKS = 'one\u2028two\u2029three\x00four </script><img src=x onerror="alert(2)"> \u4f60\u597d\uff0c\u4e16\u754c'


def data_file(path: Path) -> tuple[str, Any]:
    """What a data file hands over: its name and the object."""
    match = PUT.fullmatch(path.read_text(encoding="utf-8"))
    assert match is not None, path
    return json.loads(match[1]), json.loads(match[2])


def rows_of(data: dict[str, Any]) -> list[dict[str, Any]]:
    columns = {}
    for column in data["columns"]:
        if "texts" in column:
            columns[column["name"]] = [None if at is None else column["texts"][at] for at in column["at"]]
        else:
            columns[column["name"]] = column["values"]
        assert len(columns[column["name"]]) == data["n"]
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def exhibit_rows(site: Path, name: str) -> list[dict[str, Any]]:
    """The rows of an exhibit, of all of its chunks."""
    stored, data = data_file(site / "data" / f"{name}.js")
    assert stored == name
    if "chunks" not in data:
        return rows_of(data)
    rows = []
    for chunk in data["chunks"]:
        stored, part = data_file(site / "data" / f"{chunk['name']}.js")
        assert stored == chunk["name"] and part["n"] == chunk["n"]
        found = rows_of(part)
        keys = {key: value for key, value in chunk.items() if key not in ("name", "n")}
        assert all(row[key] == value for row in found for key, value in keys.items())
        rows += found
    return rows


class Page(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


Scores = dict[tuple[str, int], float]


def scored_group(
    scores: Scores, *, response: str = "An answer", failed: bool = False, **summary: float | str
) -> dict[str, Any]:
    """The four files of a group with these scores of NFCats and LoCoMo samples. The summary's numbers are as given."""
    metric = {"NFCats": "score"}
    details: dict[str, list[float]] = {}
    for (dataset, _), score in sorted(scores.items()):
        details.setdefault("Locomo" if dataset.startswith("Locomo") else dataset, []).append(score)
    text = "Error: Unable to generate response." if failed else response
    return {
        "predict.json": [prediction(d, i, text if failed else f"{text} {i}") for d, i in scores],
        "evaluate_details.json": [
            evaluation(d, i, {metric.get(d, "f1"): score, "golden_answer": f"gold of {d} {i}"})
            for (d, i), score in scores.items()
        ],
        "summary.json": {
            "summary": {"average": 0.5, "weighted_average": 0.5, "z_score": 0.0, **summary},
            "details": details,
        },
        "run_config.json": {"memory_system": "handmade"},
    }


def without_details(files: dict[str, Any]) -> dict[str, Any]:
    """The group without the scores of its samples, which then are derived from its evaluations."""
    summary = {name: value for name, value in files["summary.json"].items() if name != "details"}
    return {**files, "summary.json": summary}


def keys(backbone: str, baseline: str, collection: str = "Open-Domain", split: str = "domain") -> Keys:
    return ("off-policy", backbone, split, collection, baseline)


def samples(*values: float) -> Scores:
    """Scores of NFCats (1 to 5) and LoCoMo (0 to 1) samples by turns."""
    return {("NFCats" if n % 2 == 0 else f"Locomo-{n % 3}", n): value for n, value in enumerate(values)}


def handmade_archive(root: Path) -> HandmadeArchive:
    """Two backbones, four systems with two hostile names among them, an invalid group, both splits."""
    archive = HandmadeArchive(root)
    plain = {
        ("B one", "wo_memory"): samples(3, 0.5, 4, 0.25, 2, 0.0, 5, 1.0),
        ("B one", "a_mem"): samples(4, 0.5, 4, 0.75, 1, 0.5, 5, 0.0),
        ("B two", "wo_memory"): samples(2, 0.0, 3, 0.5, 3, 0.25, 4, 0.5),
        ("B two", "a_mem"): samples(3, 0.25, 5, 0.5, 4, 0.0, 4, 1.0),
    }
    for n, ((backbone, baseline), scores) in enumerate(plain.items()):
        archive.add(keys(backbone, baseline), scored_group(scores, weighted_average=0.4 + n / 20, z_score=n / 10 - 0.2))
    archive.add(keys(DROP, SCRIPT), scored_group(samples(1, 0.1, 2, 0.2), response=BREAKS, weighted_average=0.3))
    archive.add(
        keys("B one", "mem0"), scored_group(samples(1, 0.0, 1, 0.0, 1, 0.0), failed=True, weighted_average=0.01)
    )
    task = {("NFCats", n): float(1 + n % 5) for n in range(6)}
    archive.add(keys("B one", "a_mem", "Short-Long", "task"), scored_group(task, weighted_average=0.7))
    other = {("NFCats", n): float(1 + 2 * n % 5) for n in range(6)}
    archive.add(keys("B one", "wo_memory", "Short-Long", "task"), scored_group(other, weighted_average=0.6))
    many = {("Locomo-0", n): n / 24 for n in range(25)}
    archive.add(keys("B one", "wo_memory", "Long-Short", "task"), scored_group(many))
    for baseline in ("a_mem", "wo_memory"):
        archive.add(keys("B two", baseline, "Short-Short", "task"), judged_group())
    return archive


def judged_group() -> dict[str, Any]:
    """A group scored both ways: by metrics, and by a judge in files of its own."""
    files = scored_group({("NFCats", n): float(n + 1) for n in range(4)})
    judged = scored_group({("NFCats", n): 0.5 for n in range(4)})
    for record in judged["evaluate_details.json"]:
        record["metrics"] = {"llm_judge_score": 0.5, "judge_error": False}
    judged["summary.json"]["summary"]["metric"] = "llm_judge_score"
    files["evaluate_details_llm_judge.json"] = judged["evaluate_details.json"]
    files["summary_llm_judge.json"] = judged["summary.json"]
    return files
