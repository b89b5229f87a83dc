"""Tests from chips to TCP: errors of a link, models of these errors, and downloads over both."""

import numpy as np
import pytest

import nodeb
from nodeb import fit, link
from nodeb.fit.folder import save
from nodeb.storage.folders import MARK

SCENARIO = """
duration = "60 s"
runs = 4

[radio.dch]
channels = 1
tti = "10 ms"
pdu_size = "40 B"
pdus_per_tti = 12
rlc = "am"
errors.file = "FILE"

[[users]]
traffic.ftp.size = "100 MB"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Fits error models to a chip-level link of 384 kbit/s on which one block in twenty fails.
    Returns the folder of model files.
    """
    experiment = link.Experiment(
        service="costamagna_384",
        eb_n0_db=6,
        air={"profile": "vehicular_a"},
        stop={"bits": 8_000_000},
    )
    (point,) = experiment.run()
    errors = fit.ErrorSequence(point.pdu_errors, point.pdus_per_block, "the car")
    comparison = fit.compare(errors, [2, 3], starts=2)
    return save(comparison, tmp_path_factory.mktemp("car"), 1)


def rate_bps(folder, model):
    """Runs the scenario with a model file. Returns the application bit rate in bit/s, averaged over
    flows and replications.
    """
    file = folder / f"{model}.toml"
    file.write_text(SCENARIO.replace("FILE", f"{model}.json"), encoding="utf-8")
    flows = nodeb.load(file).run().flows
    return float(np.mean(flows["delivered_bytes"])) * 8 / 60


def test_scenarios_accept_every_model_file(folder):
    models = sorted(path.stem for path in folder.glob("*.json") if path.name != MARK)
    assert {"best", "recorded", "pdu_bsc", "pdu_hmm3", "block_gilbert", "block_hmm2"} <= set(models)
    for model in models:
        file = folder / "any.toml"
        file.write_text(SCENARIO.replace("FILE", f"{model}.json"), encoding="utf-8")
        assert nodeb.load(file).resolved()


def test_tcp_is_as_fast_over_the_model_as_over_the_recording(folder):
    recorded, fitted = rate_bps(folder, "recorded"), rate_bps(folder, "best")
    assert fitted == pytest.approx(recorded, rel=0.03)
    assert recorded < 0.97 * 384e3
