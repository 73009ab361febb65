"""Which part of the program imports which: data flows one way, and so do the imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import pipelines

ROOT = Path(pipelines.__file__).parent


def part(module: str) -> str:
    """The folder or file directly below pipelines/ that a module belongs to."""
    return module.split(".")[1]


def imported(path: Path) -> Iterator[str]:
    """The modules of this program that a file imports, those inside of functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names):
                found = [alias.name for alias in names]
            case ast.ImportFrom(module="pipelines", names=names):
                found = [f"pipelines.{alias.name}" for alias in names]
            case ast.ImportFrom(module=str(module), level=0):
                found = [module]
            case _:
                continue
        yield from (name for name in found if name.startswith("pipelines."))


def test_no_part_imports_what_imports_it() -> None:
    parts: dict[str, set[str]] = {}
    for path in ROOT.glob("*/**/*.py"):
        own = path.relative_to(ROOT).parts[0]
        parts.setdefault(own, set()).update({part(module) for module in imported(path)} - {own})
    for path in ROOT.glob("*.py"):
        parts.setdefault(path.stem, set()).update({part(module) for module in imported(path)} - {path.stem})
    assert parts["load"] >= {"normalize", "archive"}
    try:
        TopologicalSorter(parts).prepare()
    except CycleError as error:
        pytest.fail(f"these import each other in a circle: {' <- '.join(error.args[1])}")
