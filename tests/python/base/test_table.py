"""Tests: arrays that tables return are read-only and are not copied."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping

import numpy as np
import pytest

import fake_emulation
import nodeb
from nodeb import link
from nodeb.base.table import Table
from nodeb.comparison.experiment import Experiment
from nodeb.explanation.compared import all_differences
from nodeb.results.result import Result
from nodeb.sweep import Sweep
from result_folders import SWEEP
from scenarios import SMALL


def refused(column: np.ndarray) -> None:
    with pytest.raises(ValueError, match="read-only"):
        column[...] = column.copy()
    with pytest.raises(ValueError, match="read-only"):
        column.sort()


def everything(found: object, seen: set[int]) -> Iterator[object]:
    """Yields all objects that are reachable from an object by public names, keys and indices."""
    if id(found) in seen:
        return
    seen.add(id(found))
    yield found
    if isinstance(found, Mapping):
        parts = list(found.values())
    elif isinstance(found, list | tuple):
        parts = list(found)
    elif type(found).__module__.startswith("nodeb.") and not isinstance(found, Table):
        # The arrays in `columns` of a critical path belong to the core, which builds the table of
        # spans from them, so they are not examined.
        names = {n for n in dir(type(found)) if not n.startswith("_")} - {"columns"}
        of_class = [n for n in names if isinstance(getattr(type(found), n), property)]
        own = getattr(found, "__dict__", {}).keys() - {"columns"}
        made = [getattr(found, name, None) for name in of_class]
        # Properties that create a new array for each access may return a writable one, because it
        # is not shared.
        parts = [one for one in made if not isinstance(one, np.ndarray)]
        parts += [getattr(found, name, None) for name in own]
    else:
        parts = []
    for part in parts:
        yield from everything(part, seen)


def of_run(folder):
    every = "cwnd = true, segments = true, rtt = true, queue = true"
    found = nodeb.Scenario.from_toml(f"record = {{ {every} }}\n{SMALL}").run(runs=3)
    return found, found.summary, pickle.loads(pickle.dumps(found.tables))


def of_sweep(folder):
    return sweep(folder).run(folder / "swept", ["radio.dch.bler=0.1"])


def sweep(folder):
    (folder / "s.toml").write_text(SMALL + SWEEP)
    return Sweep.load(folder / "s.toml")


def of_comparison(folder):
    (folder / "s.toml").write_text(SMALL)
    plan = Experiment.read([folder / "s.toml"], ["radio.dch.bler=0.3"], runs=3)
    found = plan.run(folder / "compared")
    return found, found.comparison.table, all_differences(plan, 0, 1).table


def of_explanation(folder):
    found = nodeb.Scenario.from_toml(SMALL).run(runs=3).explain()
    return found, found.table, found.spans, found.what_if()


def of_link(folder):
    found = link.Experiment(service="costamagna_64", eb_n0_db=[5], stop={"bits": 3000}).run(jobs=1)
    return found, found.points


def of_emulation(folder):
    found, plan = fake_emulation.outcome(), fake_emulation.plan()
    about = nodeb.Scenario.from_toml(SMALL).run(runs=1).provenance
    return Result.from_replications(plan.scenario, [found.tables], about)


@pytest.mark.parametrize(
    "of", [of_run, of_sweep, of_comparison, of_explanation, of_link, of_emulation]
)
def test_returned_arrays_are_read_only(of, tmp_path):
    found = list(everything(of(tmp_path), set()))
    tables = [one for one in found if isinstance(one, Table)]
    assert tables
    for table in [*tables, *(one.where(np.ones(len(one), bool)) for one in tables)]:
        for name in table.columns:
            refused(table[name])
    for array in (one for one in found if isinstance(one, np.ndarray)):
        refused(array)


def test_changing_a_column_changes_no_result():
    found = nodeb.Scenario.from_toml(SMALL).run(runs=3)
    times = found.flows["download_s"]
    with pytest.raises(ValueError, match="read-only"):
        times *= 1000
    assert max(row["mean"] for row in found.summary if row["metric"] == "download_s") < 100
    own = found.flows["download_s"].copy()
    own *= 1000
    assert own[0] == 1000 * found.flows["download_s"][0]
    frame = found.flows.to_pandas()
    frame.loc[0, "download_s"] = 1.0


def test_protection_copies_no_array():
    mine = np.arange(5.0)
    table = Table({"a": mine})
    assert np.shares_memory(table["a"], mine)
    assert mine.flags.writeable
    data = pickle.dumps(table)
    assert not pickle.loads(data)["a"].flags.owndata
