"""The views: the standard result tables, each a file in sql/. They come with the database; this step looks at them."""

from collections.abc import Iterator

import dagster as dg

from pipelines.load.views import ViewFile, list_views
from pipelines.orchestration.checks import DATABASE
from pipelines.orchestration.events import published_views
from pipelines.orchestration.faults import reported
from pipelines.orchestration.metadata import OWNERS, view_schema
from pipelines.orchestration.resources import WarehouseResource

_VIEWS = list_views()


def view_spec(view: ViewFile, names: set[str]) -> dg.AssetSpec:
    """A view as an asset: everything from its file's header and its SQL."""
    return dg.AssetSpec(
        view.name,
        deps=[DATABASE, *(name for name in view.references if name in names)],
        description=f"{view.meaning} Grain: {view.grain}.\n\n```sql\n{view.sql}\n```",
        owners=OWNERS,
        group_name="views",
        kinds={"duckdb", "sql"},
        metadata={"dagster/column_schema": view_schema(view), "file": view.file},
    )


VIEW_SPECS = [view_spec(view, {view.name for view in _VIEWS}) for view in _VIEWS]


@dg.multi_asset(name="views", specs=VIEW_SPECS, can_subset=True)
def views(context: dg.AssetExecutionContext, warehouse: WarehouseResource) -> Iterator[dg.MaterializeResult]:
    """Counts and previews the views of the published database."""
    with reported(context):
        for result in published_views(warehouse.warehouse.require_current()):
            if result.asset_key in context.selected_asset_keys:
                yield result
