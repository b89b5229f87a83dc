"""nodeb: what does a cellular radio link do to TCP?

    import nodeb
    result = nodeb.load("scenario.toml").run()
    result.summary.to_pandas()

Names are imported when they are first used, so that the command line starts quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str

    from nodeb import fit, link, plot, scenario_types, stats
    from nodeb.errors import (
        InputError,
        Interrupted,
        NodebError,
        OutputError,
        RunError,
        ScenarioError,
    )
    from nodeb.inputs.scenario import Scenario, load
    from nodeb.results.result import Result
    from nodeb.table import Table

_HOMES = {
    "InputError": "errors",
    "Interrupted": "errors",
    "NodebError": "errors",
    "OutputError": "errors",
    "RunError": "errors",
    "ScenarioError": "errors",
    "Result": "results.result",
    "Scenario": "inputs.scenario",
    "load": "inputs.scenario",
    "Table": "table",
}

_MODULES = ("fit", "link", "plot", "scenario_types", "stats")

__all__ = [
    "InputError",
    "Interrupted",
    "NodebError",
    "OutputError",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Table",
    "__version__",
    "fit",
    "link",
    "load",
    "plot",
    "scenario_types",
    "stats",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from nodeb import _core

        return _core.version()
    if name in _MODULES:
        return import_module(f"nodeb.{name}")
    if name in _HOMES:
        return getattr(import_module(f"nodeb.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'nodeb' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *globals()]
