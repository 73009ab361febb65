"""The report: the site for people who do not write SQL, written when the views are published."""

from typing import Any

import dagster as dg

from pipelines.load.views import list_views
from pipelines.orchestration.checks import DATABASE
from pipelines.orchestration.faults import reported
from pipelines.orchestration.metadata import OWNERS, data_version
from pipelines.orchestration.resources import WarehouseResource
from pipelines.report.exhibits import list_exhibits
from pipelines.report.site import default_output, is_current, write_report
from schemas import TABLES

_KNOWN = {view.name for view in list_views()} | set(TABLES)
_READ = sorted({name for exhibit in list_exhibits().values() for name in exhibit.references} & _KNOWN)


@dg.asset(
    name="report",
    deps=[DATABASE, *_READ],
    description="The results as a static site, in the folder report of the warehouse. Written anew where the published "
    "snapshot or the program has changed.",
    owners=OWNERS,
    group_name="report",
    kinds={"html"},
)
def report(context: dg.AssetExecutionContext, warehouse: WarehouseResource) -> dg.MaterializeResult:
    """Writes the report of the published snapshot."""
    with reported(context):
        root = warehouse.warehouse.root
        info = warehouse.warehouse.require_current().info
        metadata: dict[str, Any] = {
            "revision": info.revision,
            "path": dg.MetadataValue.path(str(default_output(root) / "index.html")),
        }
        if not is_current(root):
            written = write_report(root)
            metadata |= {"files": written.n_files, "bytes": written.n_bytes, "samples": written.n_samples}
        return dg.MaterializeResult(metadata=metadata, data_version=data_version(f"{info.refresh_id} {info.revision}"))
