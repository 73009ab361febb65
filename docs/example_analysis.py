"""From a warehouse to the numbers of a paper: the published table, each memory system's gain, and one plot.

    python docs/example_analysis.py [WAREHOUSE [PLOT.svg]]

Needs a warehouse (`mbw build`) and nothing beside the project's own environment. docs/result-tables.md explains the
tables that are used.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

import pandas as pd

from pipelines.client import MemoryBenchResults
from pipelines.config import GENERATED, SAMPLE


def published_table(results: MemoryBenchResults) -> pd.DataFrame:
    """The publisher's table: a row for each backbone, split and collection, a column for each memory system."""
    return results.summary_table("weighted_average")


def n_invalid(results: MemoryBenchResults) -> int:
    """How many groups of the published table are invalid: their numbers are in it, and mean nothing."""
    found = results.sql(
        "SELECT count(DISTINCT group_id) AS n FROM results "
        "WHERE validity = 'invalid' AND protocol = 'metrics' AND weighted_average IS NOT NULL"
    )
    return int(found["n"].item())


def gains(results: MemoryBenchResults) -> pd.DataFrame:
    """What each memory system gains over the same backbone without memory. Rows that do not count stay, with the
    reason in `excluded`: leaving them out silently would hide how much is missing."""
    return results.sql(
        """
        SELECT
            backbone, split, collection, baseline,
            delta, ci_low, ci_high, on_these_datasets, to_other_datasets, excluded
        FROM memory_gain
        WHERE protocol = 'metrics' AND experiment = 'off-policy'
        ORDER BY backbone, split, collection, baseline
        """
    )


def forest_plot(rows: pd.DataFrame, title: str) -> str:
    """The gains of one backbone as SVG: a dot and its 95 % interval for each system, a block for each collection. Full
    dots are significant after Holm, hollow ones are not; no interval means that none could be had."""
    shown = rows.dropna(subset="delta")
    reach = max(0.01, shown[["delta", "ci_low", "ci_high"]].abs().max().max())
    left, right, step = 190, 690, 16

    def x(value: float) -> float:
        return left + (right - left) * (value + reach) / (2 * reach)

    parts = [f'<text x="10" y="24" font-weight="bold">{escape(title)}</text>']
    y = 24
    for (split, collection), block in shown.groupby(["split", "collection"]):
        y += 28
        parts.append(f'<text x="10" y="{y}" font-weight="bold">{escape(f"{split} / {collection}")}</text>')
        for row in block.itertuples():
            y += step
            parts.append(f'<text x="20" y="{y + 4}">{escape(str(row.baseline))}</text>')
            if pd.notna(row.ci_low):
                parts.append(f'<path d="M{x(row.ci_low):.1f} {y}H{x(row.ci_high):.1f}" stroke="#555"/>')
            fill = "#1f6fb4" if row.on_these_datasets in ("better", "worse") else "white"
            parts.append(f'<circle cx="{x(row.delta):.1f}" cy="{y}" r="4" fill="{fill}" stroke="#1f6fb4"/>')
    y += 30
    parts.append(f'<path d="M{x(0):.1f} 36V{y - 16}" stroke="#999" stroke-dasharray="3 3"/>')
    for value in (-reach, 0.0, reach):
        parts.append(f'<text x="{x(value):.1f}" y="{y}" text-anchor="middle">{value:+.2f}</text>')

    style = 'font-family="sans-serif" font-size="12"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{y + 12}" {style}>'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>", ""])


def as_text(rows: pd.DataFrame, number: str) -> str:
    """The rows for people; "-" stands wherever something is missing, be it a number or a text."""
    shown = pd.DataFrame(
        {name: ["-" if pd.isna(x) else number % x if isinstance(x, float) else x for x in rows[name]] for name in rows}
    )
    return shown.to_string(index=False)


def main(warehouse: str = "warehouse", plot: str = "gains.svg") -> None:
    with MemoryBenchResults.from_warehouse(warehouse) as results:
        print(f"weighted_average, as published (revision {results.revision})\n")
        print(as_text(published_table(results), "%.4f"))
        if invalid := n_invalid(results):
            print(f"{invalid} invalid group{'s' if invalid > 1 else ''} in here: see validity in results")
        if results.source == SAMPLE:
            print(GENERATED)
        found = gains(results)
    print("\nGain over wo_memory: difference of min-max scores, with its 95 % interval on these datasets\n")
    print(as_text(found, "%+.4f"))
    with_gain = found.dropna(subset="delta")
    if with_gain.empty:
        print("\nnothing to draw: no gain can be computed")
        return
    backbone = with_gain["backbone"].iloc[0]
    chosen = found[found["backbone"] == backbone]
    Path(plot).write_text(forest_plot(chosen, f"Gain over no memory, {backbone}"), encoding="utf-8")
    print(f"\nThe gains of {backbone} are drawn in {plot}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
