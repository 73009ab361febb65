"""Partitions of `result_group`: one for each group, its key the group_id.

The set follows the archive: whatever lists the archive adds what is new, and a refresh deletes what is gone from the
archive and from the warehouse. Keys are matched with the archive's groups each time; a key out of date harms nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import dagster as dg

from pipelines.archive.groups import GroupKey
from schemas.model import KEYS

GROUPS = dg.DynamicPartitionsDefinition(name="result_groups")
_NAME = "result_groups"

#: Dagster refuses partition keys with these; a group whose key holds one loads, but has no partition of its own.
_REFUSED = ("...", *"\a\b\f\n\r\t\v\0")

_PARTITION_TAG = "dagster/partition"
_RANGE_START_TAG = "dagster/asset_partition_range_start"
_RANGE_END_TAG = "dagster/asset_partition_range_end"


def partition_keys(group_ids: Iterable[str]) -> list[str]:
    """Those of the group ids that can be partition keys."""
    return [group_id for group_id in group_ids if not any(text in group_id for text in _REFUSED)]


def existing(instance: dg.DagsterInstance) -> list[str]:
    """The partitions that Dagster knows, in the order in which they were added."""
    return list(instance.get_dynamic_partitions(_NAME))


def add_partitions(instance: dg.DagsterInstance, group_ids: Iterable[str]) -> list[str]:
    """Add the groups that have no partition yet; returns them."""
    known = set(existing(instance))
    new = [key for key in partition_keys(group_ids) if key not in known]
    if new:
        instance.add_dynamic_partitions(_NAME, new)
    return new


def delete_partitions(instance: dg.DagsterInstance, kept: Iterable[str]) -> list[str]:
    """Delete the partitions of groups that are not among `kept`; returns them."""
    wanted = set(kept)
    gone = [key for key in existing(instance) if key not in wanted]
    for key in gone:
        instance.delete_dynamic_partition(_NAME, key)
    return gone


def group_key(group_id: str) -> GroupKey:
    """The five keys of a group id.

    Raises:
        ValueError: it is none.
    """
    parts = [part.replace("%2F", "/").replace("%25", "%") for part in group_id.split("/")]
    if len(parts) != len(KEYS):
        raise ValueError(f"{group_id!r} does not have the form {'/'.join(KEYS)}")
    return GroupKey(*parts)


def chosen_partitions(tags: Mapping[str, str], instance: dg.DagsterInstance) -> list[str] | None:
    """The partitions that a run was launched for, or None where it is for whatever changed.

    A run over all partitions is such a one too: it has to load groups that have no partition yet, and to forget those
    that are gone.
    """
    if _PARTITION_TAG in tags:
        return [tags[_PARTITION_TAG]]
    if _RANGE_START_TAG not in tags:
        return None
    keys = existing(instance)
    first, last = keys.index(tags[_RANGE_START_TAG]), keys.index(tags[_RANGE_END_TAG])
    chosen = keys[first : last + 1]
    return None if len(chosen) == len(keys) else chosen


def selection(chosen: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """`BuildOptions.select` for these groups: exact for one group; for several, every group whose five keys all occur
    among theirs."""
    values = dict.fromkeys(pair for key in chosen for pair in zip(KEYS, group_key(key), strict=True))
    return tuple(values)
