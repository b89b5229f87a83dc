"""Notes on stderr: keys without effect, missing metrics, and groups or cells without data."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from nodeb.base.streams import printable

if TYPE_CHECKING:
    from nodeb import _core
    from nodeb.results.result import Result
    from nodeb.sweep import Outcome, Sweep

__all__ = [
    "print_empty_cells",
    "print_idle_axes",
    "print_missing_metric",
    "print_nothing_arrived",
    "print_superfluous",
]


def print_superfluous(scenario: _core.CompiledScenario) -> None:
    """Prints keys of a scenario file that can be omitted, each with the reason.

    Such a key repeats its default and has no effect in the scenario.
    """
    _print(scenario.superfluous())


def print_nothing_arrived(result: Result) -> None:
    """Prints the groups of users for whom no byte was delivered in any replication.

    Prints nothing if no byte was delivered for any group.
    """
    flows = result.flows
    groups = flows.distinct("group")
    empty = [one for one in groups if not flows["delivered_bytes"][flows["group"] == one].any()]
    if empty and empty != groups:
        from nodeb.answer.words import joined
        from nodeb.results.survivors import no_arrival_hint

        whose = f"group{'s' if len(empty) > 1 else ''} {joined(empty)}"
        why = no_arrival_hint(float(result.bearers["end_s"].max()))
        _print([f"no data of {whose} arrived in {result.scenario.duration}; {why}"])


def print_empty_cells(outcome: Outcome) -> None:
    """Prints the number of rows of a sweep's table in which nothing arrived.

    Prints nothing if there are no such rows, or if all rows are such.
    """
    rates = outcome.table["received_bps"]
    if (rates == 0).any() and rates.any():
        from nodeb.answer.words import counted
        from nodeb.results.survivors import no_arrival_hint

        rows = f"{(rates == 0).sum()} of {counted(len(rates), 'row')} of the table"
        _print([f"nothing arrived in {rows}; {no_arrival_hint(outcome.duration_s)}"])


def print_missing_metric(outcome: Outcome, metric: str) -> None:
    """Prints a note if no row of a sweep's table has a value of `metric`.

    The note suggests the first metric of `METRICS` that has a value in all rows, if there is one.
    """
    import numpy as np

    from nodeb.results.metrics import METRICS

    table = outcome.table
    known = {name for name in METRICS if name in table.columns and np.isfinite(table[name]).any()}
    if metric in known:
        return
    whole = [name for name in METRICS if name in known and np.isfinite(table[name]).all()]
    hint = f"; `--metric {whole[0]}` has a value in each" if whole else ""
    _print([f"no row has a value of {metric} ({METRICS[metric].label}){hint}"])


def print_idle_axes(sweep: Sweep, outcome: Outcome) -> None:
    """Prints each swept key of which all values gave the same results; nothing if no data arrived.

    Keys that are swept together are printed together.
    """
    from nodeb.sweep.effects import without_effect

    if not outcome.table["received_bps"].any():
        return
    for keys in without_effect(outcome.table, sweep.axes):
        _print([f"{keys}: no effect; all values gave the same results"])


def _print(notes: Iterable[str]) -> None:
    for note in notes:
        print(f"note: {printable(note)}", file=sys.stderr)
