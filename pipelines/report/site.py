"""Writes the site: pages, the data they load, and what is the same for every warehouse.

    index.html … changes.html   data/<exhibit>.js, data/<exhibit>/<n>.js, data/sample/<n>.js   assets/   report.json

The site is written beside its place and takes it in one step, so that a server never shows half of two. What else is in
the folder, such as .git or CNAME, stays: report.json lists the files of the report. The same snapshot gives the same
bytes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.archive.groups import GroupKey
from pipelines.archive.json_reader import dumps, loads
from pipelines.client.reader import SnapshotReader
from pipelines.config import SAMPLE
from pipelines.errors import BadRecord, UsageError
from pipelines.load.partitions import partition_file
from pipelines.load.snapshots import QUALITY, Snapshot, Warehouse, link_file
from pipelines.load.views import literal, quoted
from pipelines.places import has_working_directory, warehouse_around
from pipelines.report.exhibits import Exhibit, list_exhibits, read_part, standalone_sql
from pipelines.report.pages import PAGES, SAMPLE_EXHIBITS, Page
from pipelines.report.scripts import Rows, script, split

if TYPE_CHECKING:
    import duckdb
    from jinja2 import Environment

#: The folder of the report inside a warehouse, unless another is named.
REPORT = "report"
MARKER = "report.json"
GENERATOR = "memorybench-warehouse"
DATA_DOCS = "data_docs"
#: Where report.json lists the files of the report.
_FILES = "files"
#: What a report wrote at its top that lists no files.
_WRITTEN = {*(page.file for page in PAGES), "assets", "data", DATA_DOCS, MARKER}

#: Exhibits that others read: kept as tables while the report is written, in this order.
_STORED = ("samples", "sample_prompts")

#: The style sheet that Observable Plot puts into each of its drawings, for the class "plot". The policy of the pages
#: allows this one and no other, by its digest; tests/test_report_browser.py notices when Plot changes it.
_PLOT_STYLE = """:where(.plot) {
  --plot-background: white;
  display: block;
  height: auto;
  height: intrinsic;
  max-width: 100%;
}
:where(.plot text),
:where(.plot tspan) {
  white-space: pre;
}"""


@dataclass(frozen=True)
class WrittenReport:
    """What was written."""

    path: Path
    revision: str
    n_files: int
    n_bytes: int
    n_samples: int

    @property
    def first_page(self) -> Path:
        return self.path / PAGES[0].file


def default_output(warehouse: Path) -> Path:
    """Where the report of a warehouse goes unless another folder is named."""
    return warehouse / REPORT


def write_report(warehouse: Path, output: Path | None = None) -> WrittenReport:
    """Write the report of a warehouse's published snapshot; an earlier one in its place is replaced, and what else is
    in the folder stays.

    Raises:
        WarehouseError: there is no warehouse.
        UsageError: `output` holds something and no report, is no place for one, or cannot be written.
    """
    output = (output or default_output(warehouse)).expanduser().absolute()
    check_output(output, warehouse)
    partial = output.with_name(f".{output.name}.partial-{os.getpid()}")
    old = output.with_name(f".{output.name}.old-{os.getpid()}")
    with SnapshotReader(warehouse) as reader:
        try:
            partial.mkdir(parents=True)
            n_samples = _Site(reader, partial).write()
            sizes = [(partial / name).stat().st_size for name in _files(partial)]
            if output.exists():
                _carry_over(output, partial)
            _take_place(partial, output, old)
        except OSError as error:
            raise UsageError(
                f"{output} cannot be written: {error.strerror or error}. Choose another with --output."
            ) from error
        finally:
            shutil.rmtree(partial, ignore_errors=True)
            shutil.rmtree(old, ignore_errors=True)
        return WrittenReport(output, reader.snapshot.info.revision, len(sizes), sum(sizes), n_samples)


def is_current(warehouse: Path, output: Path | None = None) -> bool:
    """Whether the report is that of the published snapshot, written by this version of the program."""
    snapshot = Warehouse(warehouse).require_current()
    output = output or default_output(warehouse)
    found = _read_marker(output)
    has_docs = (snapshot.path / QUALITY / DATA_DOCS).is_dir()
    made_from = {name: value for name, value in found.items() if name != _FILES}
    return made_from == _marker(snapshot) and has_docs == (output / DATA_DOCS).is_dir()


def _read_marker(output: Path) -> dict[str, Any]:
    """The content of report.json; empty where there is none, or one of somebody else."""
    try:
        marker = loads((output / MARKER).read_bytes())
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError, BadRecord):
        return {}
    return marker if isinstance(marker, dict) and marker.get("generator") == GENERATOR else {}


def _files(folder: Path) -> list[str]:
    """Every file below a folder, links too, relative to it."""
    found = (os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names)
    return sorted(os.path.relpath(path, folder) for path in found)


def _carry_over(output: Path, partial: Path) -> None:
    """Let the new site have what is in the old one's folder and was not written by a report.

    Hard links, where the file system has them: nothing is missing at its place at any time, however large it is.

    Raises:
        UsageError: the new report has a file of that name.
    """
    listed = _read_marker(output).get(_FILES)
    written = set(listed) if isinstance(listed, list) else None

    def is_written(name: str) -> bool:
        return name in written if written is not None else name.split("/")[0] in _WRITTEN

    for folder, names, found in os.walk(output, onerror=_fail):
        place = Path(folder).relative_to(output)
        for name in [*found, *(name for name in names if os.path.islink(os.path.join(folder, name)))]:
            relative = place / name
            if is_written(relative.as_posix()):
                continue
            target = partial / relative
            if os.path.lexists(target) or any((partial / parent).is_file() for parent in relative.parents):
                raise UsageError(
                    f"{output / relative} was not written by a report and is in the way of this one. Move it, or "
                    "choose another folder with --output."
                )
            if (output / relative).is_symlink():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(os.readlink(output / relative))
            else:
                link_file(output / relative, target)
        if place.parts and not names and not found:
            (partial / place).mkdir(parents=True, exist_ok=True)  # git needs its empty folders
    for folder, names, _ in os.walk(partial, topdown=False):
        for name in names:
            kept = output / Path(folder, name).relative_to(partial)
            if kept.is_dir() and not kept.is_symlink():
                shutil.copystat(kept, Path(folder, name))
    shutil.copystat(output, partial)


def _fail(error: OSError) -> None:
    raise error


def _take_place(partial: Path, output: Path, old: Path) -> None:
    """Put the new site where the old one is; the old one comes back where that cannot be."""
    if output.exists():
        output.rename(old)
    try:
        partial.rename(output)
    except BaseException:
        if old.exists():
            old.rename(output)
        raise


def _marker(snapshot: Snapshot) -> dict[str, Any]:
    """What a report was made from: the content of report.json, but for the list of files."""
    info = snapshot.info
    return {
        "generator": GENERATOR,
        "source": info.source,
        "revision": info.revision,
        "refresh_id": info.refresh_id,
        "program": _program_digest(),
    }


def _program_digest() -> str:
    """SHA-256 over everything that makes a report from the same rows."""
    digest = hashlib.sha256()
    for exhibit in list_exhibits().values():
        digest.update(f"{exhibit.fields} {exhibit.columns} {exhibit.sql}".encode())
    package = files("pipelines.report")
    for folder in (package, package / "templates", package / "static", package / "static" / "pages"):
        for path in sorted(folder.iterdir(), key=lambda path: path.name):
            if path.is_file():
                digest.update(path.read_bytes())
    return digest.hexdigest()


def check_output(output: Path, warehouse: Path) -> None:
    """Whether the folder may be written: it is not there, empty, or holds a report; and it is no place of a warehouse
    but the one that is meant for its report.

    Raises:
        UsageError: it may not.
    """
    place = Path(os.path.realpath(output))
    root = Path(os.path.realpath(warehouse.expanduser()))
    if place != default_output(root) and (place.is_relative_to(root) or warehouse_around(place)):
        raise UsageError(f"{output} lies inside of a warehouse. Choose another with --output.")
    if root.is_relative_to(place):
        raise UsageError(f"{output} has the warehouse inside. Choose another with --output.")
    if output.is_symlink() or (output.exists() and not output.is_dir()):
        raise UsageError(f"{output} is not a folder. Choose another with --output.")
    try:
        is_foreign = output.exists() and any(output.iterdir()) and not _read_marker(output)
    except OSError as error:
        raise UsageError(
            f"{output} cannot be read: {error.strerror or error}. Choose another with --output."
        ) from error
    if is_foreign:
        raise UsageError(f"{output} holds something that is not a report. Choose another with --output.")
    if has_working_directory(output):
        raise UsageError(f"{output} is to be replaced, and you are in it. Run this from elsewhere.")


class _Site:
    """One writing of the site."""

    def __init__(self, reader: SnapshotReader, root: Path) -> None:
        self.snapshot: Snapshot = reader.snapshot
        self.root = root
        self.exhibits = list_exhibits()
        # One session for all queries: it keeps the chosen samples, and knows the prompts.
        self.session: duckdb.DuckDBPyConnection = reader.execute("SELECT 1 FROM prompts LIMIT 0")
        self.session.fetchall()

    def write(self) -> int:
        """Write everything; returns the number of samples shown."""
        with as_file(files("pipelines.report") / "static") as static:
            shutil.copytree(static, self.root / "assets")
        self._limit_prompts()
        for name in _STORED:
            self.session.execute(f"CREATE TEMP TABLE {name} AS {self.exhibits[name].sql}")
        shown = {name for page in PAGES for name in (*page.exhibits, *page.data)} - set(SAMPLE_EXHIBITS)
        for name in sorted(shown):
            for exhibit in (self.exhibits[name], self.exhibits.get(f"{name}_all")):
                if exhibit is not None:
                    self._write_exhibit(exhibit)
        n_samples = self._write_samples()
        has_docs = self._copy_data_docs()
        self._write_pages(has_docs, n_samples)
        marker = {**_marker(self.snapshot), _FILES: sorted([*_files(self.root), MARKER])}
        (self.root / MARKER).write_text(dumps(marker, indent=2) + "\n", encoding="utf-8")
        return n_samples

    def _query(self, exhibit: Exhibit) -> Rows:
        cursor = self.session.execute(
            f"SELECT {', '.join(map(quoted, exhibit.columns))} FROM {exhibit.name} ORDER BY rowid"
            if exhibit.name in _STORED
            else exhibit.sql
        )
        described = cursor.description or []
        return Rows([column[0] for column in described], [str(column[1]) for column in described], cursor.fetchall())

    def _write_exhibit(self, exhibit: Exhibit) -> None:
        rows = self._query(exhibit)
        if not exhibit.chunk:
            self._write_script(exhibit.name, rows.as_data())
            return
        chunks = []
        for number, (key, part) in enumerate(split(rows, exhibit.chunk).items(), start=1):
            name = f"{exhibit.name}/{number}"
            self._write_script(name, part.as_data())
            chunks.append({"name": name, "n": len(part.rows), **dict(zip(exhibit.chunk, key, strict=True))})
        columns = Rows(rows.names, rows.types, []).as_data()["columns"]
        self._write_script(exhibit.name, {"n": 0, "columns": columns, "chunks": chunks})

    def _limit_prompts(self) -> None:
        """Let `prompts` be the files of the groups whose prompts are shown: the others are most bytes of the archive,
        and none of their rows would be taken."""
        if self.snapshot.info.embed_prompts:
            return
        groups = self.session.execute(
            f"WITH {read_part('shown_backbones')} SELECT coverage.experiment, coverage.backbone, coverage.split, "
            "coverage.collection, coverage.baseline FROM coverage INNER JOIN shown_backbones "
            "USING (experiment, backbone, split, collection) WHERE coverage.has_predictions ORDER BY ALL"
        ).fetchall()
        files = [partition_file(self.snapshot.parquet, "prompts", GroupKey(*keys).partition_path) for keys in groups]
        listed = ", ".join(literal(str(file)) for file in files if file.exists())
        if listed:
            self.session.unregister("prompts")
            self.session.execute(
                f"CREATE TEMP VIEW prompts AS SELECT * FROM read_parquet([{listed}], hive_partitioning = true, "
                "hive_types_autocast = false)"
            )

    def _write_samples(self) -> int:
        """A file for each sample, with the rows of all exhibits that are shown of it."""
        parts: dict[int, dict[str, Any]] = {}
        row = self.session.execute("SELECT count(*) FROM samples").fetchone()
        n_samples = row[0] if row else 0
        empty = {}
        for name in SAMPLE_EXHIBITS:
            rows = self._query(self.exhibits[name])
            empty[name] = Rows(rows.names, rows.types, []).as_data()
            for (number,), part in split(rows, ("sample",)).items():
                parts.setdefault(number, {})[name] = part.as_data()
        for number in range(1, n_samples + 1):
            self._write_script(f"sample/{number}", empty | parts.get(number, {}))
        return int(n_samples)

    def _write_script(self, name: str, data: Any) -> None:
        path = self.root / "data" / f"{name}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script(name, data), encoding="utf-8")

    def _copy_data_docs(self) -> bool:
        """Take Great Expectations' pages along where `mbw verify --docs` has written them."""
        docs = self.snapshot.path / QUALITY / DATA_DOCS
        if not docs.is_dir():
            return False
        shutil.copytree(docs, self.root / DATA_DOCS)
        return True

    def _write_pages(self, has_docs: bool, n_samples: int) -> None:
        environment = _environment()
        template = environment.get_template("page.html.j2")
        shared = {
            "pages": PAGES,
            "policy": content_security_policy(),
            "source": self.snapshot.info.source,
            "is_sample": self.snapshot.info.source == SAMPLE,
            "revision": self.snapshot.info.revision,
            "has_docs": has_docs,
            "n_samples": n_samples,
            "sample_exhibits": [self.exhibits[name] for name in SAMPLE_EXHIBITS],
            "sql_of": lambda exhibit: standalone_sql(exhibit, self.exhibits),
        }
        for page in PAGES:
            exhibits = [self.exhibits[name] for name in page.exhibits]
            text = template.render(shared, page=page, exhibits=exhibits, scripts=list(_scripts(page)))
            (self.root / page.file).write_text(text, encoding="utf-8")


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("pipelines.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _scripts(page: Page) -> Iterator[str]:
    """The scripts of a page, in order. Chunks and samples come when they are asked for."""
    yield from ("assets/vendor/d3.min.js", "assets/vendor/plot.umd.min.js")
    yield from ("assets/data.js", "assets/tables.js", "assets/charts.js", "assets/controls.js")
    names: Sequence[str] = [n for n in (*page.exhibits, *page.data) if n not in SAMPLE_EXHIBITS]
    yield from (f"data/{name}.js" for name in dict.fromkeys((*names, "reference_baselines", "overview_coverage")))
    yield from (f"assets/pages/{page.name}.js", "assets/start.js")


def content_security_policy() -> str:
    """Scripts and styles come from the site's own files; nothing is loaded from elsewhere and nothing is sent."""
    digest = b64encode(hashlib.sha256(_PLOT_STYLE.encode()).digest()).decode()
    # A page that is opened from a file has no origin of its own that 'self' could mean in every browser.
    return (
        "default-src 'none'; script-src 'self' file:; "
        f"style-src 'self' file: 'sha256-{digest}'; img-src 'self' file: data:; base-uri 'none'; form-action 'none'"
    )
