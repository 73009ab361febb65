"""The pipeline as Dagster assets. The only place that imports dagster; the logic is in the folders beside it."""
