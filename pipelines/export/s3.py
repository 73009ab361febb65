"""Exports in an object store that speaks S3.

    s3://bucket/prefix/snapshots/<revision>-<time>-<number>/   an export, never changed once it is there
    s3://bucket/prefix/latest.json                             {"snapshot": "snapshots/…", "revision": …}

Everything of a snapshot is stored under a name that nobody knows yet, and compared with what was sent; then one object,
latest.json, is replaced, which a store does whole or not at all. Who follows it sees the old snapshot or the new one.
Old snapshots stay, for readers that are still at them; deleting them is left to whoever runs the store.

Credentials, region and endpoint come from the standard places: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
AWS_SESSION_TOKEN, AWS_PROFILE, AWS_REGION or AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

from pipelines.archive.json_reader import dumps, loads
from pipelines.errors import BadRecord, MemoryBenchWarehouseError, UsageError, WarehouseError
from pipelines.export.layout import MANIFEST, ExportOptions

if TYPE_CHECKING:
    import pyarrow.fs

PREFIX = "s3://"
POINTER = "latest.json"
SNAPSHOTS = "snapshots"
_CHUNK = 8 << 20


def export_to_s3(warehouse: Path, url: str, options: ExportOptions) -> dict[str, Any]:
    """Write the current snapshot of a warehouse below an s3:// address and make it the latest there. It is made in a
    temporary folder first. Returns what snapshot.json says, and `location`, where it is.

    Raises:
        UsageError: the address is none.
        WarehouseError: there is no warehouse.
        MemoryBenchWarehouseError: the store cannot be written; what was the latest snapshot still is.
    """
    from pipelines.export.snapshot import temporary_folder, write_snapshot

    filesystem, root = open_s3(url)
    with temporary_folder() as folder:
        manifest = write_snapshot(warehouse, folder, options)
        number = uuid4().hex[:8]
        name = f"{manifest['revision'][:24]}-{datetime.now(UTC).strftime('%Y%m%dT%H%M%SZ')}-{number}"
        try:
            publish(filesystem, root, folder, name, {"revision": manifest["revision"]})
        except OSError as error:
            raise MemoryBenchWarehouseError(
                f"{url} cannot be written: {error}. What was the latest snapshot there still is. Run the command again "
                "once that is mended."
            ) from error
    return {**manifest, "location": f"{PREFIX}{root}/{SNAPSHOTS}/{name}"}


def publish(
    filesystem: pyarrow.fs.FileSystem, root: str, folder: Path, name: str, told: dict[str, str] | None = None
) -> None:
    """Store a folder as the snapshot `name`, snapshot.json last, and then replace the pointer.

    Raises:
        OSError: something could not be stored, or is not there as it was sent; the pointer is then as it was.
    """
    from pyarrow.fs import FileSelector

    target = f"{root}/{SNAPSHOTS}/{name}"
    paths = sorted((p for p in folder.rglob("*") if p.is_file()), key=lambda p: (p == folder / MANIFEST, p))
    for path in paths:
        with (
            open(path, "rb") as source,
            filesystem.open_output_stream(f"{target}/{path.relative_to(folder).as_posix()}") as sink,
        ):
            while chunk := source.read(_CHUNK):
                sink.write(chunk)
    stored = {info.path: info.size for info in filesystem.get_file_info(FileSelector(target, recursive=True))}
    for path in paths:
        place = f"{target}/{path.relative_to(folder).as_posix()}"
        if stored.get(place) != path.stat().st_size:
            raise OSError(f"{place} has {stored.get(place)} bytes there and {path.stat().st_size} here")
    with filesystem.open_output_stream(f"{root}/{POINTER}") as sink:
        sink.write(dumps({"snapshot": f"{SNAPSHOTS}/{name}", **(told or {})}).encode())


def latest_snapshot(url: str) -> str:
    """The s3:// address of the latest snapshot below an address that was exported to. Read everything below it, and
    it is of one snapshot, whatever is exported meanwhile.

    Raises:
        UsageError: the address is none.
        WarehouseError: nothing was exported there, or the store does not answer.
    """
    filesystem, root = open_s3(url)
    try:
        with filesystem.open_input_stream(f"{root}/{POINTER}") as stream:
            pointer = loads(stream.read())
        return f"{PREFIX}{root}/{pointer['snapshot']}"
    except (OSError, BadRecord, KeyError, TypeError) as error:
        raise WarehouseError(
            f"{url} has no {POINTER} that names a snapshot: {error}. Export one with: mbw export"
        ) from (error)


def open_s3(url: str) -> tuple[pyarrow.fs.FileSystem, str]:
    """The store of an s3:// address, and the address as a path in it.

    Raises:
        UsageError: the address is none.
    """
    from pyarrow.fs import S3FileSystem

    parts = urlsplit(url)
    if parts.scheme != "s3" or not parts.netloc or parts.query or parts.fragment:
        raise UsageError(f"{url} is not of the form s3://BUCKET/PREFIX.")
    endpoint = urlsplit(os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or "")
    options: dict[str, str] = {}
    if endpoint.netloc:
        options |= {"endpoint_override": endpoint.netloc, "scheme": endpoint.scheme}
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if region:
        options["region"] = region
    return S3FileSystem(**options), f"{parts.netloc}{parts.path}".rstrip("/")
