"""Tests: the modules and folders of the package import each other in one direction only."""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import nodeb

PACKAGE = Path(nodeb.__file__).parent
DESIGN = Path(__file__).parents[2] / "DESIGN.md"
FILES = {
    ".".join(("nodeb", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): file
    for file in PACKAGE.rglob("*.py")
}
ORDER = re.findall(r"^\| `python/nodeb/(\w+)` \|", DESIGN.read_text("utf-8"), re.M)
"""Folders, each of which may import from those before it."""
METHODS = {
    ("results", "plot"),
    ("results", "comparison"),
    ("results", "explanation"),
    ("answer", "report"),
    ("inputs", "replication"),
    ("inputs", "life"),
}
"""Pairs of folders: methods in the first, when called, import from the second, a higher one."""


def at_once(tree):
    """Yields the statements that are executed when a module is imported."""
    yield from tree.body


def ever(node):
    """Yields all statements of a module at any depth.

    Those that only type checkers read are excluded.
    """
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)):
            yield child
            yield from ever(child)


def imported(file, look):
    """Yields the names of the package's modules that a module imports."""
    for node in look(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in FILES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("nodeb"):
            for one in node.names:
                full = f"{node.module}.{one.name}"
                yield full if full in FILES else node.module


def folder(module):
    """Returns the folder to which a module belongs, or `None`.

    The scenario's types belong to `inputs`.
    """
    parts = module.split(".")
    name = "inputs" if parts[-1] == "scenario_types" else parts[1] if len(parts) > 1 else ""
    return name if name in ORDER else None


def test_every_folder_is_in_the_layering():
    folders = {file.parent.name for file in PACKAGE.glob("*/__init__.py")}
    assert sorted(ORDER) == sorted(folders)


def test_modules_import_each_other_in_one_direction():
    graph = {name: set(imported(file, at_once)) - {"nodeb"} for name, file in FILES.items()}
    try:
        assert len(list(TopologicalSorter(graph).static_order())) > 100
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_folders_import_from_those_below_them():
    upwards = {
        (folder(name), folder(other)): name
        for name, file in FILES.items()
        for other in imported(file, ever)
        if folder(name) and folder(other) and ORDER.index(folder(other)) > ORDER.index(folder(name))
    }
    assert set(upwards) == METHODS, upwards
