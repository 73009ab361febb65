"""Reference facts of the benchmark: datasets, baselines, normalisation constants and what the runner writes."""

from schemas.reference.baselines import BASELINES, Baseline, BaselineType
from schemas.reference.datasets import (
    DATASETS,
    METRIC_RANGES,
    Dataset,
    MetricRange,
    dataset_group,
    main_metric,
    metric_range,
    score_range,
)
from schemas.reference.normalization import NormalizationRow, normalization, normalization_of
from schemas.reference.runner import FAILED_GENERATION, KNOWN_EXPERIMENTS, NO_MEMORY

__all__ = [
    "BASELINES",
    "DATASETS",
    "FAILED_GENERATION",
    "KNOWN_EXPERIMENTS",
    "METRIC_RANGES",
    "NO_MEMORY",
    "Baseline",
    "BaselineType",
    "Dataset",
    "MetricRange",
    "NormalizationRow",
    "dataset_group",
    "main_metric",
    "metric_range",
    "normalization",
    "normalization_of",
    "score_range",
]
