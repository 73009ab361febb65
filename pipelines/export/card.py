"""The dataset card of an export: README.md with the header that the Hugging Face Hub reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipelines.config import SAMPLE
from pipelines.export.layout import DATA, FIRST, ExportOptions

CITATION = """\
@inproceedings{{memorybench2026,
  title     = {{MemoryBench: A Benchmark for Memory and Continual Learning in LLM Systems}},
  author    = {{Ai, Qingyao and Tang, Yichen and Wang, Changyue and Long, Jianming and Su, Weihang and Liu, Yiqun}},
  booktitle = {{Proceedings of the 43rd International Conference on Machine Learning}},
  year      = {{2026}},
  note      = {{Results: {source}, revision {revision}}}
}}"""

GENERATED = (
    "**Generated, not published.** This is an export of the sample archive of memorybench-warehouse: it has the shape "
    "of the published results, and its numbers mean nothing."
)
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def dataset_card(manifest: Mapping[str, Any], schema: Mapping[str, Any], options: ExportOptions) -> str:
    """The card of an export. `manifest` is snapshot.json without its list of files, `schema` is schema.json."""
    rows: Mapping[str, int] = manifest["rows"]
    total = sum(rows.values())
    size = next((name for limit, name in _SIZES if total < limit), "1M<n<10M")
    lines = [
        "---",
        "license: mit",
        "pretty_name: MemoryBench results",
        "language:",
        "- en",
        "- zh",
        "tags:",
        "- benchmark-results",
        "- memory",
        "- continual-learning",
        "size_categories:",
        f"- {size}",
        *_configs(rows, options),
        "---",
        "# MemoryBench results",
        "",
        *([GENERATED, ""] if manifest["source"] == SAMPLE else []),
        "The published results of MemoryBench, a benchmark of memory systems for language models, as tables: every "
        "score, metric and published number of each result group (experiment × backbone model × split × collection × "
        "memory baseline), and the standard result tables over them.",
        "",
        f"- Source: `{manifest['source']}`, revision `{manifest['revision']}`",
        f"- Groups: {manifest['groups']}",
        f"- Exported: {manifest['exported']}",
        f"- Format: {_format_text(options)}",
        "",
        "A number that was not published is NULL, never 0. Groups whose answers are mostly their runner's error text "
        "are in the tables with `validity` invalid, and left out of rankings. Numbers of different `protocol` "
        "(`metrics`, `llm_judge`) do not compare, nor do normalised scores of different splits or collections. "
        "`schema.json` has the meaning and type of each column, `SHA256SUMS` a digest of each file "
        "(`sha256sum -c SHA256SUMS`), `snapshot.json` the revision and the number of rows.",
        "",
        "| table | rows | grain | |",
        "| --- | ---: | --- | --- |",
        *(
            f"| {name} | {rows[name]:,} | {_cell(described['grain'])} | {_cell(described['meaning'])} |"
            for name, described in schema.items()
        ),
        "",
        "## Reading it",
        "",
        *_reading(options),
        "## Licence and citation",
        "",
        *_citation(manifest),
        "",
    ]
    return "\n".join(lines)


def _citation(manifest: Mapping[str, Any]) -> list[str]:
    if manifest["source"] == SAMPLE:
        return ["The MIT licence. There is nothing to cite: no system was run for these numbers."]
    return [
        "The results are the work of the authors of MemoryBench (THUIR), published under the MIT licence as the "
        "dataset `THUIR/MemoryBench-Results`; this export only reshapes them. Please cite the benchmark and the "
        "revision:",
        "",
        "```bibtex",
        CITATION.format(source=manifest["source"], revision=manifest["revision"]),
        "```",
    ]


def _configs(rows: Mapping[str, int], options: ExportOptions) -> list[str]:
    """One configuration a table, as far as the Hub can show it: without rows it cannot tell types, and keys in paths
    it does not read."""
    if options.format == "duckdb" or options.partitioned:
        return []
    lines = ["configs:"]
    for name in sorted((name for name, count in rows.items() if count), key=lambda name: (name != FIRST, name)):
        lines += [f"- config_name: {name}", f"  data_files: {DATA}/{name}/*.{options.format}"]
        lines += ["  default: true"] if name == FIRST else []
    return lines


def _format_text(options: ExportOptions) -> str:
    if options.format == "duckdb":
        return "one DuckDB file, for DuckDB 1.2 and newer"
    if options.partitioned:
        return f"Parquet, `{DATA}/<table>/experiment=…/backbone=…/split=…/collection=…/baseline=…/part-0.parquet`"
    return f"{'Parquet' if options.format == 'parquet' else 'CSV'}, `{DATA}/<table>/`"


def _reading(options: ExportOptions) -> list[str]:
    if options.format == "duckdb":
        return ["```sql", "ATTACH 'memorybench.duckdb' (READ_ONLY);", "FROM memorybench.results;", "```", ""]
    if options.partitioned:
        pattern = f"{DATA}/sample_scores/**/*.parquet"
        query = f"FROM read_parquet('{pattern}', hive_partitioning = true, hive_types_autocast = false);"
        return ["```sql", query, "```", ""]
    if options.format == "csv":
        return [
            'NULL is nothing between two commas, an empty text is `""`; lists are JSON.',
            "",
            "```sql",
            f"FROM read_csv('{DATA}/results/results.csv');",
            "```",
            "",
        ]
    return [
        "```python",
        "from datasets import load_dataset",
        "",
        'results = load_dataset("path/or/name/of/this/dataset", "results", split="train")',
        "```",
        "",
        "```sql",
        f"FROM '{DATA}/results/*.parquet';  -- DuckDB",
        "```",
        "",
    ]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
