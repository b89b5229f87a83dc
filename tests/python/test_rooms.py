"""The package's modules import each other in one direction, and so do its folders."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import nodeb

PACKAGE = Path(nodeb.__file__).parent
FILES = {
    ".".join(("nodeb", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): file
    for file in PACKAGE.rglob("*.py")
}


def imported(file):
    """The modules of the package that a module imports when it is itself imported."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in FILES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("nodeb"):
            for one in node.names:
                full = f"{node.module}.{one.name}"
                yield full if full in FILES else node.module


def room(module):
    """The folder of a module; what lies in none is its own, and the scenario's types are inputs."""
    parts = module.split(".")
    return "inputs" if parts[-1] == "scenario_types" else parts[1] if len(parts) > 1 else "nodeb"


GRAPH = {name: set(imported(file)) - {"nodeb"} for name, file in FILES.items()}


def rooms():
    found = {}
    for name, others in GRAPH.items():
        here = found.setdefault(room(name), set())
        here |= {room(other) for other in others} - {room(name)}
    return found


@pytest.mark.parametrize("graph", [GRAPH, rooms()], ids=["modules", "rooms"])
def test_imports_go_one_way(graph):
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))
    assert len(order) >= 15
