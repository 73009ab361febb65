"""Tables, input contracts and reference data, each declared once.

`TABLES` lists every table in the order of the data flow. One module a table; `schemas.model` says what a table is.
"""

from schemas import (
    baselines,
    datasets,
    evaluations,
    findings,
    gain_tests,
    normalization,
    predictions,
    prompts,
    published_history,
    ratings,
    refreshes,
    result_groups,
    run_configs,
    sample_annotations,
    sample_metrics,
    sample_scores,
    summary_datasets,
    summary_metrics,
)
from schemas.model import Table

TABLES: dict[str, Table] = {
    module.TABLE.name: module.TABLE
    for module in (
        result_groups,
        run_configs,
        predictions,
        prompts,
        evaluations,
        sample_metrics,
        sample_annotations,
        sample_scores,
        summary_metrics,
        summary_datasets,
        datasets,
        baselines,
        normalization,
        gain_tests,
        ratings,
        findings,
        refreshes,
        published_history,
    )
}

__all__ = ["TABLES", "Table"]
