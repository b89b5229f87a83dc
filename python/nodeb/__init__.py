"""Simulator of TCP over UMTS, HSDPA and LTE radio access.

Run a scenario file; get tables, figures and a folder of results:

    import nodeb

    scenario = nodeb.load("cell:umts-2004").with_({"record.cwnd": True})
    result = scenario.run(runs=20)
    print(result.summary)  # means with 95 % intervals, by group of phones
    result.plot.cwnd(user=0).savefig("cwnd.svg")  # displayed inline in a notebook
    result.save("out/dch")
    scenario.life().packet(17)  # everything that happened to one packet

Change values and compare; None resets a key to its default:

    worse = scenario.with_({"radio.dch.bler": 0.2, "wired.delay": "50 ms"})
    print(result.compare(worse.run(runs=20)))  # paired, with verdicts

Read a key; run and compare scenarios; sweep keys:

    print(scenario["radio.dch.bler"])
    print(nodeb.compare({"10 %": scenario, "20 %": worse}, runs=20))
    sweep = nodeb.sweep.Sweep.of(scenario, {"radio.dch.bler": [0, 0.1], "wired.delay": ["20 ms"]})
    print(sweep.run("out/bler").table)

Every table of a result is an attribute (`result.flows`, `result.bearers`, ...), and
`table["download_s"]` is a NumPy array. `table.to_pandas()` and `table.to_polars()` need pandas or
polars installed; neither is needed otherwise. Invalid input raises `nodeb.InputError`; the other
errors are in `nodeb.errors`.

Further help:

    help(nodeb.Scenario)         load, change, run; scenario_types has the types of its parts
    help(nodeb.Result)           tables, summary, plot, save
    nodeb scenario file          `nodeb list`, `nodeb schema`, and the reference in docs/
    every table and column       nodeb.results.glossary: tables()
    statistics, figures          help(nodeb.stats), help(nodeb.plot)
    the radio link by itself     help(nodeb.link), help(nodeb.fit)
    published studies            help(nodeb.reproduce)
"""

# Names are imported on first use, so that the command line starts quickly.

from __future__ import annotations

TYPE_CHECKING = False  # Type checkers take it as true. Importing it from `typing` would be slow.
if TYPE_CHECKING:
    from typing import Any

    __version__: str

    from nodeb import fit, life, link, plot, reproduce, scenario_types, stats, sweep
    from nodeb.base.table import Table
    from nodeb.comparison import compare
    from nodeb.errors import (
        FullError,
        InputError,
        Interrupted,
        NodebError,
        OutputError,
        RunError,
        ScenarioError,
    )
    from nodeb.explanation import Explanation, explain
    from nodeb.inputs.scenario import Scenario, load
    from nodeb.replication.pool import cluster
    from nodeb.results.result import Result

_HOMES = {
    "cluster": "replication.pool",
    "FullError": "errors",
    "InputError": "errors",
    "Interrupted": "errors",
    "NodebError": "errors",
    "OutputError": "errors",
    "RunError": "errors",
    "ScenarioError": "errors",
    "Result": "results.result",
    "Scenario": "inputs.scenario",
    "Explanation": "explanation",
    "explain": "explanation",
    "compare": "comparison",
    "load": "inputs.scenario",
    "Table": "base.table",
}

_MODULES = (
    "fit",
    "life",
    "link",
    "plot",
    "reproduce",
    "scenario_types",
    "stats",
    "study",
    "sweep",
)

__all__ = [
    "Explanation",
    "FullError",
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
    "cluster",
    "compare",
    "explain",
    "fit",
    "life",
    "link",
    "load",
    "plot",
    "reproduce",
    "scenario_types",
    "stats",
    "study",
    "sweep",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "__version__":
        from nodeb import _core

        return _core.version()
    if name in _MODULES:
        return import_module(f"nodeb.{name}")
    if name in _HOMES:
        return getattr(import_module(f"nodeb.{_HOMES[name]}"), name)
    if name.startswith("_"):
        raise AttributeError(f"module 'nodeb' has no attribute {name!r}")
    from nodeb.errors import MissingError, nearest

    raise MissingError(f"nodeb has no `{name}`{nearest(name, __all__)}")


def __dir__() -> list[str]:
    return __all__
