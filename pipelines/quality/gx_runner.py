"""Runs expectation suites with Great Expectations, which gx_import.py imports: the context lives in memory, and its
frames come from DuckDB as pandas.
"""

from __future__ import annotations

import re
import shutil
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.findings import Finding
from pipelines.load.views import literal, quoted
from pipelines.quality.gx_import import preload
from schemas.model import METRICS

if TYPE_CHECKING:
    import duckdb

    from pipelines.quality.suite import Expectation, Suite

#: How many failing rows a finding names.
MAX_ROWS = 20
#: How many groups of one failed expectation have a finding of their own; the summarising one counts the rest.
MAX_GROUPS = 50
#: A finding's message is cut here; what names a row, here.
MAX_MESSAGE = 2000
MAX_VALUE = 120
#: How many values a frame has, and those of the group with which it comes to be as many: larger ones are checked some
#: groups at a time, so that memory does not grow with the archive.
BATCH_VALUES = 1_600_000

_WITH_PLACES = {
    "result_format": "COMPLETE",
    "partial_unexpected_count": MAX_ROWS,
    "return_unexpected_index_query": False,
}
#: Expectations about a table as a whole: the only ones that an empty frame can fail.
_OF_TABLES = ("ExpectTableRowCountToBeBetween",)


@dataclass
class ExpectationResult:
    """What came of one expectation. `groups` counts failing rows by group (None: the frame has no groups), `examples`
    names up to MAX_ROWS of them in each of the first MAX_GROUPS groups."""

    expectation: Expectation
    success: bool
    rows: int = 0
    failing: int = 0
    groups: dict[str | None, int] = field(default_factory=dict)
    examples: dict[str | None, list[str]] = field(default_factory=dict)
    samples: dict[str | None, tuple[str | None, int | None]] = field(default_factory=dict)
    problem: str | None = None

    def add(self, later: ExpectationResult) -> None:
        """Take in what came of it on the groups that follow."""
        self.success &= later.success
        self.rows += later.rows
        self.failing += later.failing
        self.groups |= later.groups
        self.problem = self.problem or later.problem
        for group in list(later.examples)[: MAX_GROUPS - len(self.examples)]:
            self.examples[group] = later.examples[group]
            if group in later.samples:
                self.samples[group] = later.samples[group]

    def as_dict(self) -> dict[str, Any]:
        """For the results file: no clock times, no random ids."""
        return {
            "check": self.expectation.check,
            "meaning": self.expectation.meaning,
            "expectation": self.expectation.kind,
            "arguments": self.expectation.arguments,
            "severity": self.expectation.severity,
            "blocks_publication": self.expectation.blocks,
            "success": self.success,
            "rows": self.rows,
            "failing_rows": self.failing,
            "failing_groups": {group or "": count for group, count in self.groups.items()},
            "examples": {group or "": rows for group, rows in self.examples.items()},
            "problem": self.problem,
        }


@dataclass
class SuiteResult:
    """What came of one suite."""

    suite: Suite
    results: list[ExpectationResult]

    @property
    def success(self) -> bool:
        return all(result.success for result in self.results)

    def as_dict(self) -> dict[str, Any]:
        return {
            "suite": self.suite.name,
            "success": self.success,
            "expectations": [result.as_dict() for result in self.results],
        }

    def findings(self) -> list[Finding]:
        """One for each failed expectation and group, up to MAX_GROUPS, and one that sums the expectation up."""
        found = []
        for result in self.results:
            if not result.success:
                found += _findings(self.suite, result)
        return found


def _findings(suite: Suite, result: ExpectationResult) -> list[Finding]:
    expectation = result.expectation
    check, severity = expectation.check, expectation.severity
    expected = f"{suite.name}: expected that {expectation.meaning}"
    if result.problem is not None:
        return [Finding(check, severity, _cut(f"{expected}; {result.problem}"))]
    named = [group for group in result.examples if group is not None]
    found = []
    for group in named:
        count = result.groups[group]
        message = f"{expected}; not so in {_rows(count)}{_listed(result.examples[group], count)}"
        dataset, test_idx = result.samples.get(group, (None, None))
        text = _cut(message)
        found.append(Finding(check, severity, text, group, dataset=dataset, test_idx=test_idx, n_rows=count))
    message = f"{expected}; not so in {result.failing} of {_rows(result.rows)}"
    groups = [group for group in result.groups if group is not None]
    if groups:
        message += f", in {len(groups)} {'group' if len(groups) == 1 else 'groups'}"
        if len(groups) > len(named):
            message += f", of which the first {len(named)} have a finding of their own"
    elif None in result.examples:
        message += _listed(result.examples[None], result.failing)
    return [*found, Finding(check, severity, _cut(message), n_rows=result.failing or None)]


def _rows(count: int) -> str:
    return f"{count} row" if count == 1 else f"{count} rows"


def _listed(examples: list[str], count: int) -> str:
    if not any(examples):
        return ""  # the group is all that names them
    more = f"; and {count - len(examples)} more" if count > len(examples) else ""
    return ": " + "; ".join(examples) + more


def _cut(message: str) -> str:
    return message if len(message) <= MAX_MESSAGE else message[: MAX_MESSAGE - 1] + "…"


def run_suites(
    connection: duckdb.DuckDBPyConnection, suites: Iterable[Suite], *, data_docs: Path | None = None
) -> list[SuiteResult]:
    """Run each suite on its frame. With `data_docs`, that folder is made anew with Great Expectations' pages."""
    preload()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own deprecations are no business of whoever builds
        runner = _Runner(connection)
        results = [runner.run(suite, keep=data_docs is not None) for suite in suites]
        if data_docs is not None:
            runner.write_data_docs(data_docs)
    return results


class _Runner:
    """One context in memory, and what each suite leaves in it for the pages."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        import great_expectations
        from great_expectations.data_context.types.base import ProgressBarsConfig

        self._gx: Any = great_expectations
        self._connection = connection
        self._context: Any = great_expectations.get_context(mode="ephemeral")
        self._context.enable_analytics(False)
        self._context.variables.progress_bars = ProgressBarsConfig(globally=False)
        self._source = self._context.data_sources.add_pandas("warehouse")
        self._any_frame = self._batch_definition("any frame")  # one for all: making one costs more than a small suite

    def _batch_definition(self, name: str) -> Any:
        return self._source.add_dataframe_asset(name).add_batch_definition_whole_dataframe("loaded")

    def run(self, suite: Suite, *, keep: bool) -> SuiteResult:
        """Run a suite on its frame, or on one batch of groups after the other; `keep` its results in the context, for
        the pages, which are about whole frames."""
        if keep:
            return self._run_and_keep(suite, self._frame(suite.query))
        first, *others = (self._run(suite, self._frame(query)) for query in self._batches(suite))
        for other in others:
            for result, later in zip(first, other, strict=True):
                result.add(later)
        return SuiteResult(suite, first)

    def _frame(self, query: str) -> Any:
        # By Arrow: DuckDB's own frames are made of one Python object for each text, which takes four times as long.
        return self._connection.sql(query).to_arrow_table().to_pandas(split_blocks=True, self_destruct=True)

    def _batches(self, suite: Suite) -> list[str]:
        """Queries for the suite's frame, in parts of whole groups where it is large, in the order of their names."""
        if suite.groups_of is None:
            return [suite.query]
        batch_rows = BATCH_VALUES // len(self._connection.sql(suite.query).columns)
        rows = self._connection.execute(f"""
            WITH counted AS (SELECT group_id, count(*) AS n FROM {quoted(suite.groups_of)} GROUP BY group_id),
            placed AS (SELECT group_id, (sum(n) OVER (ORDER BY group_id) - n) // {batch_rows} AS place FROM counted)
            SELECT min(group_id) FROM placed GROUP BY place ORDER BY place
            """).fetchall()
        # Each part goes up to the next one's first group, so that no group is between two of them.
        starts = [f"group_id >= {literal(first)}" for (first,) in rows[1:]]
        ends = [f"group_id < {literal(first)}" for (first,) in rows[1:]]
        parts = zip(["true", *starts], [*ends, "true"], strict=True)
        return [f"SELECT * FROM ({suite.query}) WHERE {start} AND {end}" for start, end in parts]

    def _run(self, suite: Suite, frame: Any) -> list[ExpectationResult]:
        """At first it is only asked what holds, which takes half the time; the places of failing rows are asked for
        where something does not. Places, not rows: naming rows is slow in Great Expectations."""
        places = range(len(suite.expectations))
        # Of an empty frame every row is as expected; only whether it may be empty is a question.
        asked = [place for place in places if len(frame) or suite.expectations[place].kind in _OF_TABLES]
        answers: dict[int, Any] = {}
        if asked:
            batch = self._any_frame.get_batch(batch_parameters={"dataframe": frame})
            answers = self._validate(batch, suite, asked, "BOOLEAN_ONLY")
            if failed := [place for place in asked if not answers[place].success]:
                answers |= self._validate(batch, suite, failed, _WITH_PLACES)
        return [
            _result(suite, expectation, answers.get(place), frame)
            for place, expectation in enumerate(suite.expectations)
        ]

    def _validate(self, batch: Any, suite: Suite, places: Iterable[int], result_format: Any) -> dict[int, Any]:
        outcome = batch.validate(self._gx_suite(suite, places), result_format=result_format)
        return {item.expectation_config.meta["place"]: item for item in outcome.results}

    def _gx_suite(self, suite: Suite, places: Iterable[int]) -> Any:
        """Results come back in an order of their own: each is told by its place in the suite."""
        made = []
        for place in places:
            expectation = suite.expectations[place]
            make = getattr(self._gx.expectations, expectation.kind)
            made.append(make(**expectation.arguments, meta={"place": place}))
        return self._gx.ExpectationSuite(name=suite.name, expectations=made)

    def _run_and_keep(self, suite: Suite, frame: Any) -> SuiteResult:
        definition = self._batch_definition(suite.name)
        gx_suite = self._context.suites.add(self._gx_suite(suite, range(len(suite.expectations))))
        validation = self._gx.ValidationDefinition(name=suite.name, data=definition, suite=gx_suite)
        outcome = self._context.validation_definitions.add(validation).run(
            batch_parameters={"dataframe": frame}, result_format=_WITH_PLACES
        )
        answers = {item.expectation_config.meta["place"]: item for item in outcome.results}
        results = [
            _result(suite, expectation, answers[place], frame) for place, expectation in enumerate(suite.expectations)
        ]
        return SuiteResult(suite, results)

    def write_data_docs(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self._context.add_data_docs_site(
            "local",
            {
                "class_name": "SiteBuilder",
                "show_how_to_buttons": False,
                "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
                "store_backend": {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(folder)},
            },
        )
        self._context.build_data_docs(site_names=["local"])
        for page in folder.rglob("*.html"):
            page.write_text(_offline(page.read_text(encoding="utf-8")), encoding="utf-8")


def _result(suite: Suite, expectation: Expectation, item: Any, frame: Any) -> ExpectationResult:
    result = ExpectationResult(expectation, item is None or bool(item.success), rows=len(frame))
    if result.success:
        return result
    details = item.result or {}
    places = details.get("unexpected_index_list")
    if places is None:
        result.problem = _problem(item, details)
        return result
    _name_rows(result, suite, frame.iloc[places])
    return result


def _problem(item: Any, details: dict[str, Any]) -> str:
    """Why an expectation failed that is not about single rows."""
    if "observed_value" in details:
        return f"found {details['observed_value']}"
    text = str(item.exception_info)
    message = re.search(r"['\"]exception_message['\"]: ['\"](.*?)['\"], ['\"]", text)
    return f"it could not be checked: {message[1] if message else text}"


def _name_rows(result: ExpectationResult, suite: Suite, failing: Any) -> None:
    result.failing = len(failing)
    if "group_id" in failing.columns:
        counts = failing["group_id"].value_counts(sort=False)
        result.groups = {str(group): int(counts[group]) for group in sorted(counts.index) if counts[group]}
        parts: list[tuple[str | None, Any]] = [
            (group, failing[failing["group_id"] == group]) for group in list(result.groups)[:MAX_GROUPS]
        ]
    else:
        result.groups = {None: len(failing)}
        parts = [(None, failing)]
    shown = [*suite.labels, *(c for c in result.expectation.evidence if c not in suite.labels)]
    column = result.expectation.arguments.get("column", "")
    if result.expectation.check == "reference" or column in shown:
        column = ""
    else:
        shown.append(column)
    for group, rows in parts:
        first = rows.head(MAX_ROWS)
        columns = [column for column in shown if column in first.columns]
        result.examples[group] = [
            ", ".join(
                f"{'value' if name == column else name} {_shown(value)}"
                for name, value in zip(columns, row, strict=True)
                if name != "protocol" or value != METRICS
            )
            for row in first[columns].itertuples(index=False, name=None)
        ]
        if len(rows) == 1 and "test_idx" in first.columns and first["test_idx"].notna().all():
            result.samples[group] = (str(first["dataset"].iloc[0]), int(first["test_idx"].iloc[0]))


def _shown(value: Any) -> str:
    if value is None or value != value:
        return "NULL"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value)
    return text if len(text) <= MAX_VALUE else text[: MAX_VALUE - 1] + "…"


_EXTERNAL = re.compile(
    r"<script[^>]*\ssrc=[\"']https?://[^>]*>\s*</script>|<(?:link|img)[^>]*\s(?:href|src)=[\"']https?://[^>]*>"
    r"|url\([\"']?https?://[^)]*\)",
    re.IGNORECASE,
)
_STYLE = """<style>
body { font: 14px/1.5 system-ui, sans-serif; margin: 1.5rem auto; max-width: 75rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: .5rem 0; } td, th { border: 1px solid #ccc; padding: .3rem .6rem; }
.row { display: flex; flex-wrap: wrap; gap: 1rem; } [class*="col-"] { flex: 1 1 20rem; } .d-none { display: none; }
.fa-check-circle::before { content: "✓"; color: #1a7f37; } .fa-times::before { content: "✗"; color: #cf222e; }
img { max-height: 2.5rem; } footer, .modal { display: none; }
</style>"""


def _offline(page: str) -> str:
    """The page without what it would fetch from elsewhere, with a plain style in its place."""
    return _EXTERNAL.sub("", page).replace("</head>", f"{_STYLE}</head>", 1)
