"""What a run can be told: the source, the warehouse, and how to build. Defaults come from the environment."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg
from pydantic import Field, PrivateAttr

from pipelines.config import BuildOptions, default_jobs, default_source, default_warehouse
from pipelines.load.snapshots import Warehouse
from pipelines.orchestration.partitions import chosen_partitions, selection
from pipelines.orchestration.session import BuildSession


class SourceResource(dg.ConfigurableResource):
    """Where the archive is read from."""

    address: str = Field(
        default=default_source(),
        description="sample, a folder, or hf://datasets/OWNER/NAME[@REVISION]. Default: MBW_SOURCE, else sample.",
    )


class WarehouseResource(dg.ConfigurableResource):
    """The warehouse that is built and read."""

    path: str = Field(
        default=str(default_warehouse().expanduser().absolute()),
        description="The warehouse's folder. Default: MBW_WAREHOUSE, else ./warehouse.",
    )

    @property
    def warehouse(self) -> Warehouse:
        return Warehouse(self.path)


class BuildResource(dg.ConfigurableResource):
    """How to build, and the one build that the steps of a run share."""

    jobs: int = Field(default=default_jobs(), ge=1, description="Worker processes. Default: one a processor.")
    full: bool = Field(default=False, description="Read every file again, also those that seem unchanged.")
    embed_prompts: bool = Field(default=False, description="Put the prompts into the database too: makes it large.")
    verify: bool = Field(
        default=False, description="Check the published tables anew, also where the archive has not changed."
    )
    _session: BuildSession | None = PrivateAttr(default=None)

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator["BuildResource"]:
        """The in-process executor makes one of these for all steps of a run, and ends it with the run."""
        try:
            yield self
        finally:
            if self._session is not None:
                self._session.close()

    def session(
        self, context: dg.AssetExecutionContext, source: SourceResource, warehouse: WarehouseResource
    ) -> BuildSession:
        """The run's build; opened, and the warehouse locked, when a step first asks for it.

        A run for chosen partitions reads those again, whether they changed or not, and leaves all others as they are.
        """
        if self._session is None:
            chosen = chosen_partitions(context.run.tags, context.instance)
            options = BuildOptions(
                jobs=self.jobs,
                select=() if chosen is None else selection(chosen),
                full=self.full or chosen is not None,
                embed_prompts=self.embed_prompts,
            )
            self._session = BuildSession(source.address, warehouse.path, options)
        return self._session
