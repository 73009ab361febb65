"""Measurements against the targets, apart from the tests: each figure beside a peer's from the same run."""
