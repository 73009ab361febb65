"""Writes the generated pages of docs/: the table reference and the command reference.

    python -m pipelines.docs [--check]

Both are rendered from the declarations that the program itself runs on. `--check` writes nothing and fails where a page
is not what it would be.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pipelines.cli import EPILOG, make_parser
from pipelines.load.views import MacroFile, ViewFile, list_macros, list_views
from schemas import TABLES, Table
from schemas.model import DUCKDB_TYPES, KEY_COLUMNS, KEYS, Column

DOCS = Path(__file__).resolve().parent.parent / "docs"
_NOTICE = "<!-- Made by `make docs`; do not edit. -->"


def pages() -> dict[str, str]:
    """Every generated page, by file name."""
    return {"tables.md": "\n".join(_tables_page()), "commands.md": "\n".join(_commands_page())}


def _tables_page() -> Iterator[str]:
    yield from (_NOTICE, "# Tables and views", "")
    yield (
        "Every table is Parquet, one dataset each, and a table of the DuckDB file (`prompts` is in the file only when "
        "built with `--embed-prompts`). Tables that belong to result groups have the five keys as columns: in Parquet "
        "they are in the path alone, "
        f"`parquet/<table>/{'/'.join(f'{key}=…' for key in KEYS)}/part-0.parquet`, percent-encoded. A number that is "
        "not there is NULL, never 0."
    )
    yield from ("", "## Keys", "")
    yield from _column_table(KEY_COLUMNS)
    yield from ("", "## Tables", "")
    yield from _index((table.name, table.meaning) for table in TABLES.values())
    yield ""
    for table in TABLES.values():
        yield from _table(table)
    views = list_views()
    yield from ("## Views", "")
    yield from _index((view.name, view.meaning) for view in views)
    yield ""
    for view in views:
        yield from _view(view)
    yield from ("## Macros", "")
    for macro in list_macros():
        yield from _view(macro)


def _index(entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, meaning in entries:
        yield f"- [`{name}`](#{name}): {_text(meaning)}"


def _table(table: Table) -> Iterator[str]:
    yield from (f"### {table.name}", "", _text(table.meaning), "")
    place = "with the five keys" if table.grouped else "a single Parquet file"
    yield from (f"Grain: {table.grain}; {place}.", "")
    yield from _column_table(table.columns)
    yield ""


def _column_table(columns: Iterable[Column]) -> Iterator[str]:
    yield from ("| column | type | NULL | meaning |", "| --- | --- | --- | --- |")
    for column in columns:
        meaning = _text(column.meaning)
        if column.kind == "json":
            meaning = f"JSON. {meaning}"
        nullable = "yes" if column.nullable else "no"
        yield f"| `{column.name}` | {DUCKDB_TYPES[column.kind]} | {nullable} | {meaning} |"


def _view(view: ViewFile | MacroFile) -> Iterator[str]:
    yield from (f"### {view.name}", "", _text(view.meaning), "")
    yield from (f"Grain: {view.grain}. Defined in `{view.file}`.", "")
    if view.parameters:
        yield from ("| parameter | meaning |", "| --- | --- |")
        yield from (f"| `{name}` | {_text(meaning)} |" for name, meaning in view.parameters.items())
        yield ""
    yield from ("| column | meaning |", "| --- | --- |")
    yield from (f"| `{name}` | {_text(meaning)} |" for name, meaning in view.columns.items())
    yield ""


def _commands_page() -> Iterator[str]:
    parser = make_parser()
    yield from (_NOTICE, "# Commands", "", _text(parser.description or ""), "", _text(EPILOG), "")
    for command, help_text, subparser in _commands(parser):
        yield from (f"## mbw {command}", "", _text(subparser.description or help_text), "")
        actions = [action for action in subparser._actions if action.dest != "help"]
        yield from ("```", f"mbw {command} {' '.join(map(_usage, actions))}", "```", "")
        yield from ("| argument | |", "| --- | --- |")
        for action in actions:
            yield f"| `{_text(_invocation(action))}` | {_text(action.help or '')} |"
        yield ""


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            help_texts = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, subparser in action.choices.items():
                yield name, help_texts[name], subparser


def _invocation(action: argparse.Action) -> str:
    value = str(action.metavar or "|".join(map(str, action.choices or ())))
    return " ".join(filter(None, ("/".join(action.option_strings), value if action.nargs != 0 else "")))


def _usage(action: argparse.Action) -> str:
    text = _invocation(action)
    if action.required:
        return text
    return f"[{text}]…" if isinstance(action, argparse._AppendAction) else f"[{text}]"


def _text(text: str) -> str:
    """Prose as it must stand in Markdown, in tables too."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("*", "\\*")


def main(argv: Sequence[str] | None = None) -> int:
    """Write or check the pages; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m pipelines.docs", description="Writes the generated pages of docs/."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a page is out of date")
    args = parser.parse_args(argv)
    status = 0
    for name, text in pages().items():
        path = DOCS / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        if args.check:
            print(f"docs/{name} is out of date. Write it again with: make docs", file=sys.stderr)
            status = 1
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"docs/{name} written")
    return status


if __name__ == "__main__":
    sys.exit(main())
