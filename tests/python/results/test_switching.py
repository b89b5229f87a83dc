"""Tests of the table with the costs of channel switching."""

from pathlib import Path

import numpy as np
import pytest

import nodeb
from nodeb.cli import invoke
from nodeb.scenario_types import FachDch, LongestQueue, NonPreemptive

EXAMPLE = Path(__file__).parents[3] / "examples/switching.toml"


@pytest.fixture(scope="module")
def scenario():
    return nodeb.load(EXAMPLE).with_(runs=2, duration="500 s")


def test_times_in_states_add_up_to_the_run(scenario):
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
    # The mean power of a user is between 0.35 W, the power on the FACH, and 0.7 W, the power on a
    # DCH.
    watts = table["energy_j"].reshape(2, 8) / per_run
    assert (watts >= 0.35).all()
    assert (watts <= 0.7).all()


def test_policy_can_be_given_as_an_object(scenario):
    radio = FachDch(policy=NonPreemptive(high=0, timeout="250 ms"))
    waiting = scenario.with_(radio=radio).run().channels
    eager = scenario.with_(radio=FachDch(policy=LongestQueue(timeout="2 s"))).run().channels
    assert waiting["set_ups"].sum() > eager["set_ups"].sum() > 0


def test_other_radios_have_no_switching_table(scenario):
    result = scenario.with_(radio="dch", duration="20 s").run(runs=1)
    with pytest.raises(nodeb.InputError, match='`radio = "fach_dch"`'):
        result.channels  # noqa: B018


def test_summary_contains_switching_costs(scenario):
    result = scenario.run()
    costs, channels, flows = (
        {row["metric"]: row["mean"] for row in result.summary if row["group"] == "all"},
        result.channels,
        result.flows,
    )
    switches = channels["set_ups"] + channels["releases"]
    held = channels["setting_up_s"] + channels["dch_s"] + channels["releasing_s"]
    assert costs["switches_per_s"] == pytest.approx(switches.mean() / 500, rel=1e-3)
    per_transfer = (switches / flows["transfers"]).reshape(2, 8).mean()
    assert costs["switches_per_transfer"] == pytest.approx(per_transfer)
    assert costs["dch_share"] == pytest.approx(held.mean() / 500, rel=1e-3)
    assert costs["power_w"] == pytest.approx(channels["energy_j"].mean() / 500, rel=1e-3)


def test_signalling_that_fills_the_fach_causes_a_warning(scenario, tmp_path, capsys):
    assert scenario.warnings() == []
    radio = FachDch(fach_rate="33 kbps", signalling_rate="34 kbps", policy="always_fach")
    starved = scenario.with_(radio=radio, duration="50 s")
    (warning,) = starved.warnings()
    assert warning.startswith(
        "radio.fach_dch.signalling_rate: signalling of 34 kbps takes the whole FACH"
    )
    assert starved.run().flows["delivered_bytes"].sum() == 0
    file = tmp_path / "starved.toml"
    rates = '\n[sweep]\n"radio.fach_dch.signalling_rate" = ["24 kbps", "34 kbps"]\n'
    file.write_text(starved.to_toml() + rates)
    assert invoke(["validate", str(file)]) == 0
    assert "of 34 kbps takes the whole FACH" in (errors := capsys.readouterr().err)
    assert errors.endswith("(cells: 1 of 2)\n")
