"""Tests: calls of the Python API with invalid values raise errors that name the remedy."""

import numpy as np
import pytest

import nodeb
from nodeb import Scenario, Table
from nodeb.scenario_types import Ftp, HsDsch, UserGroup
from nodeb.stats import Precision, batch_means, mean_interval
from nodeb.sweep import Sweep


@pytest.fixture(scope="module")
def result():
    return Scenario(users=[UserGroup(traffic=Ftp(size="5 kB"))]).run(runs=1)


WRONG = {
    "runs is 'x'; expected a whole number": lambda s: s.run(runs="x"),
    "runs is True": lambda s: s.run(runs=True),
    "precision is 'x'; expected a number": lambda s: s.run(precision="x"),
    f"run is {2**64}; expected at most {2**63 - 1}": lambda s: s.life(run=2**64),
    f"most is {10**20}; expected at most {2**63 - 1}": lambda s: s.life(most=10**20),
    f"runs is {10**20}; expected at most 1000000": lambda s: nodeb.explain(s, runs=10**20),
    "seed is 1.5": lambda s: s.run(seed=1.5),
    "jobs is 'x'": lambda s: s.run(jobs="x"),
    "progress is 5": lambda s: s.run(progress=5),
    "pcap is 5; expected a path": lambda s: s.run(pcap=5),
    "path is None": lambda s: s.capture(None),
    "pcap_at is 'server'; expected a list": lambda s: s.capture("x.pcapng", at="server"),
    "snap_length is 'a'": lambda s: s.capture("x.pcapng", snap_length="a"),
    "with_: 5 is not a mapping": lambda s: s.with_(5),
    "radio: this is the class HsDsch; write": lambda s: s.with_(radio=HsDsch),
    "runs: {1} is no value for a scenario": lambda s: s.with_(runs={1}),
    "users.0.count: nan is no value": lambda s: s.with_(users=[{"count": float("nan")}]),
    "cannot be written as UTF-8": lambda s: s.with_(name="\ud800"),
    "users: invalid type: integer `5`": lambda _: Scenario(users=5).run(),
    "users.0: invalid type: integer `5`": lambda _: Scenario(users=[5]).run(),
    "did you mean `users`": lambda _: Scenario(usres=[]),
    "'50 kB' has no name": lambda _: Ftp("50 kB"),
    "`size` is missing": lambda _: Ftp(),
    "did you mean `duration`": lambda s: s.durtion,
    "expected a table of keys, not 5": lambda _: Scenario.from_dict(5),
    "path is None; expected a path": lambda _: nodeb.load(None),
    "overrides is 'runs=3'; expected a list": lambda _: nodeb.load("x.toml", "runs=3"),
    "side is 'x'": lambda s: s.cell_map(side="x"),
    "side is 0; expected 1 to": lambda s: s.cell_map(side=0),
    "path is 5": lambda _: Sweep.load(5),
    "a table was given 5": lambda _: Table(5),
    "column `a` is one value": lambda _: Table({"a": 5}),
    "the values 'x' are invalid": lambda _: mean_interval("x"),
    "confidence is 'x'": lambda _: mean_interval([1.0, 2.0], confidence="x"),
    "batches is 'x'": lambda _: batch_means([1.0, 2.0], "x"),
    "min_runs is 'x'": lambda _: Precision(0.1, min_runs="x"),
    "expected results by name, such as {'dch': one, 'hs-dsch'": lambda s: nodeb.compare(s),
    "nodeb has no `lod`; did you mean `load`": lambda _: nodeb.lod,
}


@pytest.mark.parametrize("message", WRONG)
def test_invalid_arguments_raise_input_error(message, small):
    with pytest.raises(nodeb.InputError) as error:
        WRONG[message](small)
    assert message in str(error.value)


def test_invalid_arguments_of_result_methods_raise_input_error(result):
    with pytest.raises(nodeb.InputError, match="folder is None; expected a path"):
        result.save(None)
    with pytest.raises(nodeb.InputError, match="no column `slice"):
        _ = result.flows[0:2]
    for keep in ([True, True], "x", None):
        with pytest.raises(nodeb.InputError, match="for each of 1 rows"):
            result.flows.where(keep)


def test_numpy_numbers_and_a_dict_of_changes_are_accepted(small):
    changed = small.with_({"runs": np.int64(3), "radio": HsDsch(channels=2)}, seed=np.int32(7))
    assert (changed.runs, changed.seed, changed.radio.channels) == (3, 7, 2)
    assert changed.with_({"users.0.count": None}).users[0].count == 1
    assert changed.run(runs=np.int64(1), jobs=np.int64(1)).provenance.runs == 1
