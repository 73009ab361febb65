"""Publishable snapshots of a warehouse: a folder, or a place in an object store, that stands without this program."""
