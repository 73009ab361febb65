"""The errors that the pipeline raises, a small hierarchy. Each message says what happened and what to do."""

from __future__ import annotations

from typing import Self


class MemoryBenchWarehouseError(Exception):
    """Anything that this package reports to its user. The command line prints it and ends with status 1."""


class UsageError(MemoryBenchWarehouseError):
    """What was asked for cannot be: an unknown table, a select key that does not exist. Ends with status 2."""


class SourceError(MemoryBenchWarehouseError):
    """The archive cannot be reached or read as a whole; nothing was published."""


class WarehouseError(MemoryBenchWarehouseError):
    """The warehouse is not there, cannot be written, or is not one of ours."""


class WarehouseLocked(WarehouseError):
    """Another build holds the warehouse; the message says which process."""


class PublicationBlocked(MemoryBenchWarehouseError):
    """A check on a whole table failed, so nothing was published and the old warehouse stays."""


class BadRecord(MemoryBenchWarehouseError):
    """An input of one group breaks the contract: that group is quarantined, the others load.

    Carries `file` (relative to the archive), `record` (place in the file, from 0) and `reason`.
    """

    def __init__(self, reason: str, *, file: str | None = None, record: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.file = file
        self.record = record

    def at(self, *, file: str | None = None, record: int | None = None) -> Self:
        """The same error with its place filled in; a place that is already known is kept."""
        self.file = file if self.file is None else self.file
        self.record = record if self.record is None else self.record
        return self

    def __reduce__(self) -> tuple[object, ...]:  # keyword arguments do not survive the default pickling
        return (_rebuild_bad_record, (self.reason, self.file, self.record))

    def __str__(self) -> str:
        place = self.file or "input"
        if self.record is not None:
            place += f", record {self.record}"
        return f"{place}: {self.reason}"


def _rebuild_bad_record(reason: str, file: str | None, record: int | None) -> BadRecord:
    return BadRecord(reason, file=file, record=record)
