"""The pages: what each is called, what it says of itself, and which exhibits it shows.

What is drawn above a table is in static/pages/<name>.js; a table alone needs nothing there.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """One page. `exhibits` are shown in order; `data` are loaded too, and shown elsewhere."""

    name: str
    title: str
    lead: str
    exhibits: tuple[str, ...]
    data: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        return f"{self.name}.html"


PAGES = (
    Page(
        "index",
        "Overview",
        "What the archive of MemoryBench results holds, how far it can be trusted, and what stands out.",
        (
            "overview_leaders",
            "overview_gains",
            "overview_validity",
            "overview_coverage",
            "reference_baselines",
            "overview_contents",
        ),
    ),
    Page(
        "leaderboard",
        "Leaderboard",
        "All systems of a split, over all of its collections. A system that lacks a collection is not ranked: it is "
        "not last, it is not comparable.",
        ("leaderboard_systems",),
    ),
    Page(
        "collections",
        "Collections",
        "One collection at a time: which memory system does how well with which backbone, and what memory adds to no "
        "memory at all. Numbers of different collections do not compare.",
        ("collection_results", "collection_gains"),
    ),
    Page(
        "datasets",
        "Datasets",
        "One dataset at a time: how the scores of each system are spread, and their means, in the dataset's own unit.",
        ("dataset_distributions", "dataset_means", "reference_datasets"),
    ),
    Page(
        "compare",
        "Compare",
        "Two systems on the samples that both were scored on: differences, wins, ties and losses.",
        ("compare_collections", "compare_datasets", "compare_samples"),
        data=("samples",),
    ),
    Page(
        "samples",
        "Samples",
        "What systems were asked and what they answered, side by side.",
        ("samples",),
        data=("sample_questions",),
    ),
    Page(
        "quality",
        "Quality",
        "What is wrong or notable in the archive, and whether its published numbers can be computed again.",
        ("quality_checks", "quality_findings", "quality_reconciliation"),
    ),
    Page(
        "changes",
        "Changes",
        "What moved since the revision before.",
        ("changes_numbers", "changes_refreshes"),
    ),
)

#: Exhibits that the samples page shows for one sample at a time.
SAMPLE_EXHIBITS = ("sample_responses", "sample_measures", "sample_notes", "sample_prompts")
