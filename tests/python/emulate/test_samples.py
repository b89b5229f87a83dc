"""Tests of repeated emulations: metrics of each, means, pairs, and the commands that show them."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import fake_emulation
from emulations import DOWNLOAD, DOWNLOAD_SERVER, LINK, PATIENT, forbidden, nodeb, python, server
from nodeb.base.table import Table
from nodeb.cli import invoke
from nodeb.emulate import samples
from nodeb.errors import InputError
from nodeb.stats import mean_interval


def one(seed, **values):
    row = {"run": 0, "seed": seed, "group": "all"} | dict.fromkeys(samples.METRICS, float("nan"))
    return Table.of_rows([row | values])


def several(first_seed, times, delays=()):
    delays = delays or [float("nan")] * len(times)
    each = zip(times, delays, strict=True)
    return Table.concat(
        one(first_seed + at, command_s=time, down_delay_p99_s=delay)
        for at, (time, delay) in enumerate(each)
    )


def test_metrics_of_a_phone_are_those_of_its_packets():
    report = fake_emulation.outcome().report
    both = samples.sample(report, 7, 3.0)
    assert both["group"].tolist() == ["all", "phone", "tablet"]
    np.testing.assert_equal(both["command_s"], [3.0, np.nan, np.nan])
    flow = report["phones"][0]["down"]
    assert both["down_bps"][1] == 8 * flow["arrived_bytes"] / flow["span_s"]
    assert both["down_lost"][1] == flow["lost_overflow"] / flow["offered_packets"]
    assert np.isnan(both["down_bps"][0])
    alone = samples.sample(report | {"phones": report["phones"][:1]}, 7, 3.0)
    assert alone["group"].tolist() == ["all"]
    assert alone["down_bps"][0] == both["down_bps"][1]


def test_mean_has_the_interval_of_the_emulations_that_succeeded():
    times = [1.0, 2.0, 4.0]
    mean = samples.mean_of(several(1, [*times, float("nan")]), "command_s")
    assert (mean.mean, mean.low) == (mean_interval(times).mean, max(0, mean_interval(times).low))
    with pytest.raises(InputError, match="did you mean"):
        samples.mean_of(several(1, times), "comand_s")


def test_pairs_are_those_of_the_same_seeds():
    first, second = several(1, [1.0, 2.0, 3.0, 4.0]), several(3, [3.5, 4.5, 9.0])
    comparison = samples.compare({"a": first, "b": second})
    (difference,) = comparison.tried[0].differences
    assert (comparison.runs, comparison.seed) == (2, 3)
    assert difference.difference.mean == 0.5
    assert difference.verdict.kind == "worse"
    with pytest.raises(InputError, match="no seed in common"):
        samples.compare({"a": first, "b": several(9, [1.0])})
    with pytest.raises(InputError, match="no metric"):
        samples.compare({"a": first, "b": second}, metrics=["rtt"])


@pytest.fixture(scope="module")
def repeated(tmp_path_factory):
    """Two emulations of one download, stored and recorded, above the limit of the command."""
    if why := forbidden():
        pytest.skip(f"real packets are not let through here: {why}")
    folder = tmp_path_factory.mktemp("repeated")
    (folder / "link.toml").write_text(LINK)
    options = (*PATIENT, "--runs", "2", "--out", "out", "--record", "rec.log")
    limits = ("--at-most", "command_s=0.01", "--at-most", "down_lost=1")
    ends = (*server(DOWNLOAD_SERVER), "--", *python(DOWNLOAD))
    return folder, nodeb("link.toml", *options, *limits, *ends, cwd=folder)


def test_repeated_emulations_have_means_and_fail_above_a_limit(repeated):
    folder, done = repeated
    assert done.returncode == 1
    assert "command_s" in done.stderr
    assert "down_lost is" not in done.stderr
    assert done.stdout.count("150000") == 2
    stored = samples.read(folder / "out")
    assert stored["seed"].tolist() == [1, 2]
    assert (stored["command_s"] > 150_000 * 8 / 2e6).all()
    about = json.loads((folder / "out/provenance.json").read_text())
    assert [one["exits"] for one in about["emulation"]] == [{"phone": 0}] * 2


def test_recordings_are_compared_with_what_was_stored(repeated, capsys, monkeypatch):
    folder, _ = repeated
    monkeypatch.chdir(folder)
    assert invoke(["compare", "out", ".", "--json", "--report", "page.html"]) == 0
    said = json.loads(capsys.readouterr().out)
    rates = [row for row in said["rows"] if row["metric"] == "down_bps"]
    assert (rates[0]["pairs"], rates[0]["verdict"]) == (2, "equal")
    assert "nodeb compare out ." in (folder / "page.html").read_text()


def test_two_commands_are_compared_with_the_same_seeds(repeated):
    folder, _ = repeated
    (folder / "one.py").write_text(DOWNLOAD)
    (folder / "two.py").write_text(DOWNLOAD.replace("150000", "30000"))
    words = [sys.executable, "-m", "nodeb", "compare", "link.toml", *PATIENT, "--runs", "2"]
    words += server(DOWNLOAD_SERVER)
    for name in ("one.py", "two.py"):
        words += ["--emulate", f"{sys.executable} {name}"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    assert "two.py is better" in done.stdout.replace("\n", " ")
    assert "2 pairs" in done.stdout
