"""The publisher's results client: the same methods, arguments, results and exceptions, served from the warehouse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pipelines.archive.groups import EVALUATE_DETAILS, PREDICT, RUN_CONFIG, SUMMARY, GroupKey
from pipelines.archive.json_reader import loads
from pipelines.client.reader import Parameters, SnapshotReader
from pipelines.errors import UsageError
from pipelines.normalize.restore import restore_file

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

RESULTS_REPO = "THUIR/MemoryBench-Results"
EXPERIMENT = "off-policy"


@dataclass(frozen=True)
class ResultEntry:
    """One result group, in the publisher's words. `files` are the files that are there."""

    exp: str
    model: str
    dataset_type: str
    set_name: str
    baseline: str
    run_id: str | None
    relative_dir: str
    files: list[str]

    @property
    def key(self) -> GroupKey:
        return GroupKey(self.exp, self.model, self.dataset_type, self.set_name, self.baseline)


class MemoryBenchResults:
    """Published results, read from a warehouse. Make one with `from_warehouse`, `from_local` or `from_hf`.

    It shows the version that was current when it was made, also while the warehouse is refreshed. Once that version is
    deleted (two refreshes later), what needs its files raises WarehouseError: open the warehouse again. A context
    manager; `close` lets go of the files.
    """

    def __init__(self, reader: SnapshotReader, repo_id: str = "warehouse", repo_type: str = "dataset") -> None:
        reader.lock()
        self._reader = reader
        self.repo_id = repo_id
        self.repo_type = repo_type
        self.source = reader.snapshot.info.source
        self.revision = reader.snapshot.info.revision
        self.warehouse = reader.warehouse.root
        self.entries = [
            ResultEntry(exp, model, split, collection, baseline, run_id, folder, _names(files))
            for exp, model, split, collection, baseline, run_id, folder, files in reader.rows(
                "SELECT experiment, backbone, split, collection, baseline, run_id, relative_dir, files "
                "FROM result_groups ORDER BY experiment, backbone, split, collection, baseline"
            )
        ]
        self._index = {entry.key: entry for entry in self.entries}

    @classmethod
    def from_warehouse(cls, path: Path | str) -> Self:
        """Serve a warehouse that `mbw build` made.

        Raises:
            WarehouseError: there is none at `path`.
        """
        return cls(SnapshotReader(path))

    @classmethod
    def from_local(
        cls,
        root_dir: Path | str,
        repo_id: str = "local",
        repo_type: str = "dataset",
        *,
        cache_dir: Path | str | None = None,
    ) -> Self:
        """Serve an archive in a folder. Its warehouse is cached; each call reads again only what changed.

        For a large archive `mbw build`, which uses all processors, and `from_warehouse` are faster.

        Raises:
            SourceError: `root_dir` is no archive.
        """
        from pipelines.client.cache import refreshed_warehouse

        address = str(Path(root_dir).expanduser().absolute())
        return cls(SnapshotReader(refreshed_warehouse(address, cache_dir)), repo_id, repo_type)

    @classmethod
    def from_hf(
        cls,
        repo_id: str = RESULTS_REPO,
        repo_type: str = "dataset",
        revision: str | None = None,
        cache_dir: Path | str | None = None,
    ) -> Self:
        """Serve an archive on the Hub. Its warehouse is cached in `cache_dir`, one for each revision asked for.

        Raises:
            SourceError: the Hub or the repository cannot be reached.
        """
        from pipelines.archive.hub import HubAddress
        from pipelines.client.cache import refreshed_warehouse

        if repo_type != "dataset":
            raise UsageError(f"repo_type is {repo_type!r}: results are published in dataset repositories only.")
        address = str(HubAddress(repo_id, revision or None))
        return cls(SnapshotReader(refreshed_warehouse(address, cache_dir)), repo_id, repo_type)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the warehouse's files."""
        self._reader.close()

    # What there is.

    def list_exps(self) -> list[str]:
        """The experiments."""
        return sorted({entry.exp for entry in self.entries})

    def list_models(self, exp: str | None = None) -> list[str]:
        """The backbones."""
        return sorted({entry.model for entry in self._matching(exp=exp)})

    def list_set_names(
        self, exp: str | None = None, model: str | None = None, dataset_type: str | None = None
    ) -> list[str]:
        """The collections."""
        return sorted({entry.set_name for entry in self._matching(exp=exp, model=model, dataset_type=dataset_type)})

    def list_baselines(
        self,
        exp: str | None = None,
        model: str | None = None,
        dataset_type: str | None = None,
        set_name: str | None = None,
    ) -> list[str]:
        """The baselines."""
        matching = self._matching(exp=exp, model=model, dataset_type=dataset_type, set_name=set_name)
        return sorted({entry.baseline for entry in matching})

    def _matching(self, **wanted: str | None) -> Iterator[ResultEntry]:
        given = {name: value for name, value in wanted.items() if value is not None}
        for entry in self.entries:
            if all(getattr(entry, name) == value for name, value in given.items()):
                yield entry

    def get_entry(self, exp: str, model: str, dataset_type: str, set_name: str, baseline: str) -> ResultEntry:
        """One result group.

        Raises:
            KeyError: there is no such group.
        """
        entry = self._index.get(GroupKey(exp, model, dataset_type, set_name, baseline))
        if entry is None:
            raise KeyError(
                f"Result not found for exp={exp!r}, model={model!r}, dataset_type={dataset_type!r}, "
                f"set_name={set_name!r}, baseline={baseline!r}"
            )
        return entry

    # Whole files.

    def load_summary(self, exp: str, model: str, dataset_type: str, set_name: str, baseline: str) -> dict[str, Any]:
        """The content of the group's summary.json; see load_json."""
        document: dict[str, Any] = self.load_json(exp, model, dataset_type, set_name, baseline, SUMMARY)
        return document

    def load_predict(
        self, exp: str, model: str, dataset_type: str, set_name: str, baseline: str
    ) -> list[dict[str, Any]]:
        """The content of the group's predict.json; see load_json."""
        document: list[dict[str, Any]] = self.load_json(exp, model, dataset_type, set_name, baseline, PREDICT)
        return document

    def load_evaluate_details(
        self, exp: str, model: str, dataset_type: str, set_name: str, baseline: str
    ) -> list[dict[str, Any]]:
        """The content of the group's evaluate_details.json; see load_json."""
        document: list[dict[str, Any]] = self.load_json(exp, model, dataset_type, set_name, baseline, EVALUATE_DETAILS)
        return document

    def load_run_config(self, exp: str, model: str, dataset_type: str, set_name: str, baseline: str) -> dict[str, Any]:
        """The content of the group's run_config.json; see load_json."""
        document: dict[str, Any] = self.load_json(exp, model, dataset_type, set_name, baseline, RUN_CONFIG)
        return document

    def load_json(self, exp: str, model: str, dataset_type: str, set_name: str, baseline: str, filename: str) -> Any:
        """The content of a file of one group, equal to what `json.load` gives for the published file.

        Beside the four files, others that hold evaluation details or a summary can be loaded.

        Raises:
            KeyError: there is no such group.
            FileNotFoundError: the group has no such file, or it was not loaded; then the message says why.
            WarehouseError: the version that was opened is deleted.
        """
        entry = self.get_entry(exp, model, dataset_type, set_name, baseline)
        if filename not in entry.files:
            raise FileNotFoundError(f"{filename} is not available for {entry.relative_dir}")
        ((status, residue),) = self._reader.rows(
            "SELECT status, residue FROM result_groups WHERE group_id = ?", [entry.key.group_id]
        )
        reason = self._why_not_loaded(entry, filename, status)
        if reason is not None:
            raise FileNotFoundError(f"{filename} is not available for {entry.relative_dir}: {reason}")
        partition = entry.key.partition_path
        return restore_file(filename, lambda table: self._reader.group_table(table, partition), residue)

    def _why_not_loaded(self, entry: ResultEntry, filename: str, status: str) -> str | None:
        quarantined = status == "quarantined"
        rows = self._reader.rows(
            'SELECT file, message FROM findings WHERE group_id = ? AND "check" = ?',
            [entry.key.group_id, "input_contract" if quarantined else "unknown_file"],
        )
        if quarantined:
            return "; ".join(f"{message} ({file})" for file, message in rows) or "the group is quarantined"
        path = f"{entry.relative_dir}/{filename}"
        return next((message for file, message in rows if file == path), None)

    # Tables.

    def summary_table(
        self,
        metric: str,
        exp: str = EXPERIMENT,
        dataset_type: str | None = None,
        set_name: str | None = None,
        baselines: Sequence[str] | None = None,
        models: Sequence[str] | None = None,
        missing_value: Any = None,
        as_pandas: bool = True,
    ) -> pd.DataFrame | list[dict[str, Any]]:
        """One metric of all summaries: a row for each (model, dataset_type, set_name), a column for each baseline.

        The dataset columns are left out where both dataset_type and set_name are given. Values are as published (null
        is None); a group that is not there, has no summary or not this metric, gives `missing_value`. (The publisher's
        client raises FileNotFoundError where a group has no summary.) One query.

        Raises:
            TypeError: the metric is no name, or a name stands where a list of names is taken.
        """
        from pipelines.client.summary_values import summary_values

        if not isinstance(metric, str):
            raise TypeError(f"metric is the name of one, not {metric!r}")
        for name, names in (("baselines", baselines), ("models", models)):
            if isinstance(names, str):
                raise TypeError(f"{name} is a list of names, not {names!r}: write {name}=[{names!r}]")
        columns = list(baselines) if baselines is not None else self.list_baselines(exp, None, dataset_type, set_name)
        wanted = None if models is None else set(models)
        found: dict[tuple[str, str, str], dict[str, Any]] = {}
        for value in summary_values(
            self._reader, metric, experiment=exp, split=dataset_type, collection=set_name, file=SUMMARY
        ):
            if wanted is None or value.backbone in wanted:
                cells = found.setdefault((value.backbone, value.split, value.collection), {})
                if value.is_published:
                    cells[value.baseline] = value.value
        keys = ["model"] if dataset_type is not None and set_name is not None else ["model", "dataset_type", "set_name"]
        rows = [
            {**dict(zip(keys, row, strict=False)), **{name: cells.get(name, missing_value) for name in columns}}
            for row, cells in sorted(found.items())
        ]
        if not as_pandas:
            return rows
        import pandas as pd

        return pd.DataFrame(rows, columns=[*keys, *columns])

    def sql(self, query: str, parameters: Parameters = ()) -> pd.DataFrame:
        """The result of a query on the warehouse's tables and views; `?` or `$name` in it take parameters.

        `FROM prompts` reads the prompts of this version. As with `mbw query`, the query can read nothing outside of the
        warehouse and can change nothing; to join what is yours, take the result to pandas, or open the database file.

        Raises:
            UsageError: it is not one query.
            duckdb.Error: it cannot be run.
        """
        from pipelines.client.queries import check_query

        check_query(query)
        return self._reader.execute(query, parameters).df()

    def arrow(self, table: str, **keys: Any) -> pa.Table:
        """A table or view as Arrow. Keywords filter by column: `arrow("results", backbone="Qwen3-8B")`; a list takes
        any of its values, and None the rows that have none.

        Raises:
            UsageError: there is no such table, or it has no such column, or the column no such values.
        """
        with _told_of_filters(table, keys):
            return self._reader.arrow(*self._selection(table, keys))

    def pandas(self, table: str, **keys: Any) -> pd.DataFrame:
        """A table or view as a pandas DataFrame; see arrow."""
        with _told_of_filters(table, keys):
            return self._reader.execute(*self._selection(table, keys)).df()

    def polars(self, table: str, **keys: Any) -> pl.DataFrame:
        """A table or view as a Polars DataFrame; see arrow. Needs the package polars."""
        import polars as pl

        frame = pl.from_arrow(self.arrow(table, **keys))
        assert isinstance(frame, pl.DataFrame)
        return frame

    def _selection(self, table: str, keys: dict[str, Any]) -> tuple[str, list[Any]]:
        from pipelines.client.catalog import selection

        return selection(self._reader, table, keys)


@contextmanager
def _told_of_filters(table: str, keys: dict[str, Any]) -> Iterator[None]:
    """Tell of a value that is of another type than its column."""
    import duckdb

    try:
        yield
    except (duckdb.ProgrammingError, duckdb.DataError, duckdb.NotSupportedError) as error:
        if not keys:
            raise
        given = ", ".join(f"{name}={value!r}" for name, value in keys.items())
        raise UsageError(f"{table} cannot be filtered by {given}: {error}") from error


def _names(files: str) -> list[str]:
    """The names in result_groups.files."""
    return [file["name"] for file in loads(files.encode())]


def load_result_summary_table(
    metric: str = "z_score",
    exp: str = EXPERIMENT,
    models: Sequence[str] | None = None,
    dataset_type: str | None = None,
    set_name: str | None = None,
    baselines: Sequence[str] | None = None,
    missing_value: Any = None,
    as_pandas: bool = True,
    repo_id: str = RESULTS_REPO,
    revision: str | None = None,
    cache_dir: Path | str | None = None,
) -> pd.DataFrame | list[dict[str, Any]]:
    """`MemoryBenchResults.from_hf(repo_id, revision, cache_dir).summary_table(…)` in one call."""
    with MemoryBenchResults.from_hf(repo_id, revision=revision, cache_dir=cache_dir) as results:
        return results.summary_table(
            metric,
            exp=exp,
            dataset_type=dataset_type,
            set_name=set_name,
            baselines=baselines,
            models=models,
            missing_value=missing_value,
            as_pandas=as_pandas,
        )
