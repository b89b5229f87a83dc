"""Tests: the modules and folders of the package import each other in one direction only."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import nodeb

PACKAGE = Path(nodeb.__file__).parent
ORDER = [
    *("base", "answer", "storage", "inputs", "results", "terminal", "formulas", "replication"),
    *("comparison", "explanation", "sweep", "plot", "report", "life", "link", "fit"),
    *("study", "studies", "reproduce", "labs", "play", "emulate", "cli"),
]
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


def module(file):
    parts = ("nodeb", *file.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


FILES = {module(file): file for file in PACKAGE.rglob("*.py")}


def statements(node, depth):
    """Yields the statements of a module down to `depth`, without those for type checkers."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)):
            yield child
            if depth > 1:
                yield from statements(child, depth - 1)


def imports(file, depth):
    """Yields the names of the package's modules that a module imports."""
    for node in statements(ast.parse(file.read_text("utf-8")), depth):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in FILES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("nodeb"):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in FILES else node.module


def folder(name):
    parts = name.split(".")
    place = "inputs" if parts[-1] == "scenario_types" else parts[1] if len(parts) > 1 else ""
    return place if place in ORDER else None


def test_every_folder_has_a_place_in_the_order():
    assert sorted(ORDER) == sorted(file.parent.name for file in PACKAGE.glob("*/__init__.py"))


def test_modules_import_each_other_in_one_direction():
    graph = {name: set(imports(file, 1)) - {"nodeb"} for name, file in FILES.items()}
    assert len(list(TopologicalSorter(graph).static_order())) > 50


def test_folders_import_from_those_below_them():
    arrows = {
        (folder(name), folder(other))
        for name, file in FILES.items()
        for other in imports(file, 99)
        if folder(name) and folder(other)
    }
    assert {(a, b) for a, b in arrows if ORDER.index(b) > ORDER.index(a)} == METHODS
