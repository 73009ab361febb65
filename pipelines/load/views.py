"""Reads the files of sql/ and creates their views and macros in a database.

Each file is one SELECT below a header of comments, from which the comments in the database and the reference in docs/
are made:

    -- results: one row for each result group and protocol. A line that is
    --     indented goes on with the one above.
    -- grain: group, protocol
    -- column group_id: The five keys joined by '/'.
    SELECT ...

A macro's header starts with its call (`-- prompts(root): ...`) and has a line `-- parameter root: ...` for each
parameter. A template stands for several views: with `{metric}` for the summary tables, which differ by metric and have
a column for each baseline; with `{_all}` for two views, of which the one whose name ends in _all has invalid groups in
it. The header must describe exactly the columns that the SELECT gives; views are created in the order of their own
references.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from graphlib import CycleError, TopologicalSorter
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

from schemas import TABLES

if TYPE_CHECKING:
    import duckdb
    from sqlglot import exp

#: The numbers of `summary` for which there is a table of all systems.
SUMMARY_METRICS = ("weighted_average", "average", "z_score")

#: What stands in the two views of a template with `{_all}`.
_VARIANTS = (
    {
        "{_all}": "",
        "{only_valid}": "TRUE",
        "{invalid_groups}": "Invalid groups are left out; the same with them has _all behind its name.",
    },
    {
        "{_all}": "_all",
        "{only_valid}": "FALSE",
        "{invalid_groups}": "Invalid groups are in it: their numbers mean nothing.",
    },
)

_DIALECT = "duckdb"
_TITLE = re.compile(r"--\s(?P<name>[a-z][a-z0-9_]*)(?:\((?P<parameters>[a-z0-9_, ]*)\))?: (?P<meaning>\S.*)")
_FIELD = re.compile(r"-- (?P<field>[a-z]+)(?: (?P<name>[a-z][a-z0-9_]*))?: (?P<text>\S.*)")
_CONTINUED = re.compile(r"--\s{2,}(?P<text>\S.*)")


class SqlFileError(Exception):
    """A file of sql/ is not as it has to be. The message starts with the file and says what to change."""


@dataclass(frozen=True)
class SqlFile:
    """One statement and what its header says of it.

    `fields` holds the header's other lines by name, such as grain, or severity for an audit; `columns` and
    `parameters` the meaning of each.
    """

    file: str
    name: str
    meaning: str
    sql: str
    fields: Mapping[str, str] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def _tree(self) -> exp.Query:
        return _parsed(self.sql, self.file)

    @cached_property
    def output_columns(self) -> tuple[str, ...]:
        """The columns that the SELECT gives, in order."""
        return tuple(self._tree.named_selects)

    @cached_property
    def references(self) -> tuple[str, ...]:
        """The tables and views that the SELECT reads, sorted."""
        from sqlglot import exp

        local = {cte.alias for cte in self._tree.find_all(exp.CTE)}
        named = {table.name for table in self._tree.find_all(exp.Table) if isinstance(table.this, exp.Identifier)}
        return tuple(sorted(named - local))

    def check(self) -> None:
        """Whether the header describes the columns of the SELECT, and all of them.

        Raises:
            SqlFileError: it does not, or a column is not listed by name.
        """
        given = self.output_columns
        if "*" in given or "" in given:
            raise SqlFileError(f"{self.file}: every output column has to be listed, by a name of its own.")
        described = tuple(self.columns)
        if described != given:
            missing = [name for name in given if name not in self.columns]
            extra = [name for name in described if name not in given]
            parts = [
                f"without a header line: {', '.join(missing)}" if missing else "",
                f"in the header alone: {', '.join(extra)}" if extra else "",
                "in another order" if not missing and not extra else "",
            ]
            raise SqlFileError(f"{self.file}: header and SELECT disagree in columns: {'; '.join(filter(None, parts))}.")


@lru_cache(maxsize=128)
def _parsed(sql: str, file: str) -> exp.Query:
    """The statement as a tree; remembered, because a process that builds more than once reads the same files again."""
    import sqlglot
    from sqlglot import exp

    try:
        tree = sqlglot.parse_one(sql, read=_DIALECT)
    except sqlglot.ParseError as error:
        raise SqlFileError(f"{file}: sqlglot cannot parse it: {error}") from error
    if not isinstance(tree, exp.Query):
        raise SqlFileError(f"{file}: it has to be one SELECT.")
    return tree


@dataclass(frozen=True)
class ViewFile(SqlFile):
    """A view: its name, what it says, its grain, and the meaning of each of its columns."""

    @property
    def grain(self) -> str:
        return self.fields["grain"]


@dataclass(frozen=True)
class MacroFile(SqlFile):
    """A table macro: as a view, with parameters."""

    @property
    def grain(self) -> str:
        return self.fields["grain"]


def parse_sql_file(text: str, file: str, *, fields: Sequence[str]) -> SqlFile:
    """The header and the statement of one file. `fields` names the lines that the header must have beside the title,
    columns and parameters.

    Raises:
        SqlFileError: the header is not of that form.
    """
    lines = text.splitlines()
    n_header = next((i for i, line in enumerate(lines) if not line.startswith("--")), len(lines))
    entries = _header_entries(lines[:n_header], file)
    sql = "\n".join(lines[n_header:]).strip().removesuffix(";").rstrip()
    title = _TITLE.fullmatch(entries[0]) if entries else None
    if title is None or not sql:
        raise SqlFileError(f"{file}: it has to start with a line '-- name: what it says.' and to hold one SELECT.")
    values: dict[str, str] = {}
    named: dict[str, dict[str, str]] = {"column": {}, "parameter": {}}
    for entry in entries[1:]:
        match = _FIELD.fullmatch(entry)
        kind, name = (match["field"], match["name"]) if match else ("", None)
        known = kind in named if name is not None else kind in fields
        target = named.get(kind, values) if name is not None else values
        if match is None or not known or (name or kind) in target:
            raise SqlFileError(f"{file}: header line not understood, or there twice: {entry!r}")
        target[name or kind] = match["text"]
    absent = [name for name in fields if name not in values]
    if absent:
        raise SqlFileError(f"{file}: the header lacks a line '-- {absent[0]}: ...'.")
    parameters = [name.strip() for name in (title["parameters"] or "").split(",") if name.strip()]
    if parameters != list(named["parameter"]):
        raise SqlFileError(f"{file}: every parameter needs a line '-- parameter name: ...', in the order of the call.")
    meaning = title["meaning"]
    if "_" not in meaning.split(" ", 1)[0]:  # a name keeps its spelling
        meaning = meaning[0].upper() + meaning[1:]
    return SqlFile(file, title["name"], meaning, sql, values, named["column"], named["parameter"])


def _header_entries(lines: Iterable[str], file: str) -> list[str]:
    entries: list[str] = []
    for line in lines:
        continued = _CONTINUED.fullmatch(line)
        if continued is None:
            entries.append(line.rstrip())
        elif entries:
            entries[-1] += f" {continued['text'].rstrip()}"
        else:
            raise SqlFileError(f"{file}: its first line is indented as if it went on with another.")
    return entries


def list_views(baselines: Iterable[str] = (), *, root: Traversable | None = None) -> list[ViewFile]:
    """All views with their descriptions, by name. Needs no database: without `baselines` the summary tables come
    without the columns that depend on which baselines occur. `root` is another folder than sql/."""
    root = root or files("sql")
    views = [_view(text, file) for file, text in _texts(root, "views")]
    names = tuple(baselines)
    for file, text in _texts(root, "templates"):
        if "{_all}" in text:
            views += [_variant(text, file, values) for values in _VARIANTS]
        else:
            views += [_summary_table(text, file, metric, names) for metric in SUMMARY_METRICS]
    return sorted(views, key=lambda view: view.name)


def list_macros(*, root: Traversable | None = None) -> list[MacroFile]:
    """All table macros with their descriptions, by name. `root` is another folder than sql/."""
    macros = []
    for file, text in _texts(root or files("sql"), "macros"):
        parsed = parse_sql_file(text, file, fields=("grain",))
        _check_name(parsed)
        macros.append(MacroFile(**vars(parsed)))
    return macros


def _texts(root: Traversable, folder: str) -> Iterator[tuple[str, str]]:
    """File and content of each statement in a folder of sql/, by name."""
    directory = root / folder
    if not directory.is_dir():
        return
    for path in sorted(directory.iterdir(), key=lambda path: path.name):
        if path.name.endswith(".sql"):
            yield f"sql/{folder}/{path.name}", path.read_text(encoding="utf-8")


def _view(text: str, file: str) -> ViewFile:
    view = ViewFile(**vars(parse_sql_file(text, file, fields=("grain",))))
    _check_name(view)
    return view


def _check_name(parsed: SqlFile) -> None:
    if not parsed.file.endswith(f"/{parsed.name}.sql"):
        raise SqlFileError(f"{parsed.file}: the header calls it {parsed.name}; both have to be the same word.")


def _variant(text: str, file: str, values: Mapping[str, str]) -> ViewFile:
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    return ViewFile(**vars(parse_sql_file(text, file, fields=("grain",))))


def _summary_table(text: str, file: str, metric: str, baselines: Sequence[str]) -> ViewFile:
    """One view of the template. Names of baselines are data of the archive: they go in last, quoted."""
    view = ViewFile(**vars(parse_sql_file(text.replace("{metric}", metric), file, fields=("grain",))))
    columns = summary_table_columns(baselines, taken=view.columns)
    select_list = "".join(
        f",\n    MAX(CASE WHEN group_protocols.baseline = {literal(baseline)} THEN summary_metrics.value END)"
        f" AS {quoted(column)}"
        for baseline, column in columns.items()
    )
    return replace(
        view,
        sql=view.sql.replace("{baseline_columns}", select_list),
        columns=view.columns
        | {
            column: f"The published {metric} of the baseline {baseline}; NULL where it is not published."
            for baseline, column in columns.items()
        },
    )


def summary_table_columns(
    baselines: Iterable[str],
    *,
    taken: Iterable[str] = ("experiment", "backbone", "split", "collection", "protocol"),
) -> dict[str, str]:
    """Each baseline's column in the summary tables: its name. SQL does not tell upper from lower case, so a baseline
    whose name is taken in that sense, by a key or another baseline, has a number after it: "Split (2)". Of two
    spellings the one in lower case keeps its name."""
    used = {name.casefold() for name in taken}
    columns = {}
    for baseline in sorted(set(baselines), reverse=True):
        column, number = baseline, 1
        while column.casefold() in used:
            number += 1
            column = f"{baseline} ({number})"
        used.add(column.casefold())
        columns[baseline] = column
    return dict(sorted(columns.items()))


def in_order(views: Iterable[ViewFile], tables: Iterable[str] = tuple(TABLES)) -> list[ViewFile]:
    """The views so that each comes after those that it reads.

    Raises:
        SqlFileError: two views have one name, a view reads what is neither table nor view, or views read one another
            in a circle.
    """
    by_name: dict[str, ViewFile] = {}
    known_tables = set(tables)
    for view in sorted(views, key=lambda view: view.name):
        if view.name in by_name or view.name in known_tables:
            raise SqlFileError(f"{view.file}: the name {view.name} is taken.")
        by_name[view.name] = view
    graph: dict[str, list[str]] = {}
    for view in by_name.values():
        unknown = [name for name in view.references if name not in by_name and name not in known_tables]
        if unknown:
            raise SqlFileError(f"{view.file}: it reads {unknown[0]}, which is neither a table nor a view.")
        graph[view.name] = [name for name in view.references if name in by_name]
    try:
        return [by_name[name] for name in TopologicalSorter(graph).static_order()]
    except CycleError as error:
        circle = error.args[1]
        raise SqlFileError(f"{by_name[circle[0]].file}: views read one another: {' <- '.join(circle)}.") from error


def create_views(connection: duckdb.DuckDBPyConnection, *, root: Traversable | None = None) -> list[str]:
    """Create all views and macros with their comments in the connection's current schema, which has the tables.

    Returns the names of the views, in the order of creation. `root` is another folder than sql/.
    """
    baselines = [row[0] for row in connection.execute("SELECT DISTINCT baseline FROM result_groups").fetchall()]
    views = in_order(list_views(baselines, root=root))
    for view in views:
        view.check()
        connection.execute(f"CREATE VIEW {quoted(view.name)} AS {view.sql}")
        comment = f"{view.meaning} Grain: {view.grain}."
        connection.execute(f"COMMENT ON VIEW {quoted(view.name)} IS {literal(comment)}")
        for column, meaning in view.columns.items():
            target = f"{quoted(view.name)}.{quoted(column)}"
            connection.execute(f"COMMENT ON COLUMN {target} IS {literal(meaning)}")
    for macro in list_macros(root=root):
        macro.check()
        parameters = ", ".join(map(quoted, macro.parameters))
        connection.execute(f"CREATE MACRO {quoted(macro.name)}({parameters}) AS TABLE {macro.sql}")
        parts = [f"{macro.meaning} Grain: {macro.grain}."]
        parts += [f"{name}: {meaning}" for name, meaning in (macro.parameters | macro.columns).items()]
        connection.execute(f"COMMENT ON MACRO TABLE {quoted(macro.name)} IS {literal(' '.join(parts))}")
    return [view.name for view in views]


def quoted(name: str) -> str:
    """A name as an SQL identifier, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as an SQL literal, whatever it holds."""
    return "'" + text.replace("'", "''") + "'"
