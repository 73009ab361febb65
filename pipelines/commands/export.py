"""`mbw export`: a snapshot of the warehouse that can be published as it is."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.commands.arguments import DONE, add_json, add_warehouse, warehouse_of
from pipelines.errors import UsageError

if TYPE_CHECKING:
    from argparse import _SubParsersAction

HELP = "write a snapshot that can be published: Parquet, CSV or one DuckDB file, with a dataset card"
DESCRIPTION = (
    "Writes the tables and the standard result tables, with a README (a dataset card, with licence and citation), "
    "their schema, checksums and the revision, to a folder that does not exist or is empty, or to an s3:// address. A "
    "folder is there whole or not at all; at an s3:// address latest.json names the new snapshot once all of it is "
    "there."
)
FORMATS = ("parquet", "csv", "duckdb")


def add_parser(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("export", help=HELP, description=DESCRIPTION)
    parser.add_argument("target", metavar="DIR|s3://BUCKET/PREFIX", help="where to write it")
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="what to write (default: parquet)")
    parser.add_argument("--prompts", action="store_true", help="with the prompts, most bytes of the archive")
    parser.add_argument(
        "--partitioned",
        action="store_true",
        help="Parquet as the warehouse has it, a file for each group with the keys in its path, for Spark and other "
        "readers of partitions (default: a few files for each table, with the keys as columns)",
    )
    add_warehouse(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from pipelines.archive.json_reader import dumps
    from pipelines.export.layout import ExportOptions
    from pipelines.export.s3 import PREFIX, export_to_s3
    from pipelines.export.snapshot import export_folder

    if args.partitioned and args.format != "parquet":
        raise UsageError("--partitioned goes with --format parquet.")
    options = ExportOptions(args.format, args.prompts, args.partitioned)
    warehouse = warehouse_of(args)
    if args.target.startswith(PREFIX):
        manifest = export_to_s3(warehouse, args.target, options)
    elif "://" in args.target:
        raise UsageError(f"{args.target}: a folder or an s3:// address is needed.")
    else:
        manifest = {**export_folder(warehouse, Path(args.target), options), "location": args.target}
    if args.json:
        print(dumps(manifest, indent=4))
    else:
        from pipelines.commands.status import size_text

        size = sum(file["bytes"] for file in manifest["files"])
        rows = sum(manifest["rows"].values())
        print(f"exported   {manifest['location']}")
        print(f"source     {manifest['source']} at {manifest['revision']}")
        print(f"content    {rows:,} rows in {len(manifest['files'])} files, {size_text(size)}")
    return DONE
