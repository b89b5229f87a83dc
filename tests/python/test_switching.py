"""Channels that are switched: the table of what they cost."""

from pathlib import Path

import numpy as np
import pytest

import nodeb
from nodeb.scenario_types import FachDch, LongestQueue, NonPreemptive

EXAMPLE = Path(__file__).parents[2] / "examples/switching.toml"


@pytest.fixture(scope="module")
def scenario():
    return nodeb.load(EXAMPLE).with_(runs=2, duration="500 s")


def test_every_second_is_spent_in_one_state(scenario):
    result = scenario.run()
    table = result.channels
    assert len(table) == 16
    states = ("pch", "paging", "fach", "setting_up", "dch", "releasing")
    per_run = np.sum([table[f"{state}_s"] for state in states], axis=0).reshape(2, 8)
    assert np.ptp(per_run, axis=1).max() < 1e-6
    assert (per_run > 490).all()
    assert (per_run <= 500).all()
    held = table["setting_up_s"] + table["dch_s"] + table["releasing_s"]
    assert (held.reshape(2, 8).sum(axis=1) <= 500).all()
    assert (table["set_ups"] - table["releases"] <= 1).all()
    # Between FACH and DCH all the time, so between their powers.
    watts = table["energy_j"].reshape(2, 8) / per_run
    assert (watts >= 0.35).all()
    assert (watts <= 0.7).all()


def test_a_policy_is_an_object_like_any_other(scenario):
    radio = FachDch(policy=NonPreemptive(high=0, timeout="250 ms"))
    waiting = scenario.with_(radio=radio).run().channels
    eager = scenario.with_(radio=FachDch(policy=LongestQueue(timeout="2 s"))).run().channels
    assert waiting["set_ups"].sum() > eager["set_ups"].sum() > 0


def test_other_radios_have_no_such_table(scenario):
    result = scenario.with_(radio="dch", duration="20 s").run(runs=1)
    with pytest.raises(nodeb.InputError, match="they need the radio `fach_dch`"):
        result.channels  # noqa: B018
