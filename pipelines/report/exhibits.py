"""The queries of the report: the files of sql/report/, one exhibit each.

A file is as those of views are (see pipelines/load/views.py), with header lines of its own: `title`; `chunk`, the
columns by which its rows are split into files, or none; `reason`, the column that says why numbers of a row are
missing, or none. `{_all}` in a file makes two exhibits, of which the second has invalid groups in it. `{name}` stands
for sql/report/parts/name.sql, which several exhibits share.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from pipelines.load.views import SqlFile, SqlFileError, parse_sql_file

_FIELDS = ("title", "grain", "chunk", "reason")
_NONE = "none"
_PART = re.compile(r"\{([a-z][a-z_]*)\}")
#: What a template's two exhibits put in the place of `{_all}`.
VARIANTS = ("", "_all")


@dataclass(frozen=True)
class Exhibit(SqlFile):
    """A query whose rows a page shows: its header, and where it is drawn from."""

    @property
    def title(self) -> str:
        return self.fields["title"]

    @property
    def grain(self) -> str:
        return self.fields["grain"]

    @property
    def chunk(self) -> tuple[str, ...]:
        """The columns whose values decide in which file a row stands; empty where all rows are in one."""
        named = self.fields["chunk"]
        return () if named == _NONE else tuple(name.strip() for name in named.split(","))

    @property
    def reason(self) -> str | None:
        """The column that says why numbers of a row are missing."""
        named = self.fields["reason"]
        return None if named == _NONE else named


def _root() -> Traversable:
    return files("sql") / "report"


def read_part(name: str, *, root: Traversable | None = None) -> str:
    """What exhibits share: common table expressions without WITH, or columns of a SELECT."""
    return ((root or _root()) / "parts" / f"{name}.sql").read_text(encoding="utf-8").strip()


def list_exhibits(*, root: Traversable | None = None) -> dict[str, Exhibit]:
    """All exhibits by name. `root` is another folder than sql/report/.

    Raises:
        SqlFileError: a file is not as it has to be.
    """
    root = root or _root()
    parts = {
        name: read_part(name, root=root)
        for name in (path.name.removesuffix(".sql") for path in (root / "parts").iterdir())
    }
    exhibits: dict[str, Exhibit] = {}
    for path in sorted(root.iterdir(), key=lambda path: path.name):
        if not path.name.endswith(".sql"):
            continue
        text = path.read_text(encoding="utf-8")
        for variant in VARIANTS if "{_all}" in text else VARIANTS[:1]:
            exhibit = _exhibit(text.replace("{_all}", variant), f"sql/report/{path.name}", parts)
            if exhibit.name != path.name.removesuffix(".sql") + variant:
                raise SqlFileError(f"{exhibit.file}: the header calls it {exhibit.name}; both have to be the same.")
            exhibits[exhibit.name] = exhibit
    return exhibits


def _exhibit(text: str, file: str, parts: dict[str, str]) -> Exhibit:
    def part(match: re.Match[str]) -> str:
        if match[1] not in parts:
            raise SqlFileError(f"{file}: there is no sql/report/parts/{match[1]}.sql.")
        return parts[match[1]]

    exhibit = Exhibit(**vars(parse_sql_file(_PART.sub(part, text), file, fields=_FIELDS)))
    named = [*exhibit.chunk, *([exhibit.reason] if exhibit.reason else [])]
    unknown = [name for name in named if name not in exhibit.columns]
    if unknown:
        raise SqlFileError(f"{file}: chunk or reason names {unknown[0]}, which is not one of its columns.")
    return exhibit


def standalone_sql(exhibit: Exhibit, exhibits: dict[str, Exhibit]) -> str:
    """The query as `mbw query` runs it: an exhibit that reads another one has that one's query in it."""
    read = [name for name in exhibit.references if name in exhibits]
    if not read:
        return exhibit.sql
    ctes = "".join(f"{name} AS (\n{standalone_sql(exhibits[name], exhibits)}\n),\n\n" for name in read)
    if exhibit.sql.startswith("WITH "):
        return f"WITH {ctes}{exhibit.sql.removeprefix('WITH ')}"
    return f"WITH {ctes.rstrip().removesuffix(',')}\n\n{exhibit.sql}"
