"""Tests of the chip-level link in Python: runs, results, files, figures and errors."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from nodeb import _core, link
from nodeb.cli import invoke
from nodeb.errors import InputError, Interrupted, ScenarioError
from nodeb.fit import read_errors
from nodeb.link.result import read_points
from nodeb.plot import link_curves

EXAMPLES = sorted((Path(__file__).parents[3] / "examples/link").glob("*.toml"))
FILE = """
eb_n0_db = [4.0, 5.0]
service = "costamagna_64"
seed = 3

[stop]
bits = 60_000

[air]
profile = "vehicular_a"
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "car.toml"
    path.write_text(FILE)
    return path


@pytest.fixture(scope="module")
def result():
    experiment = link.Experiment(
        service="costamagna_64",
        eb_n0_db=[4, 5],
        seed=3,
        stop={"bits": 60_000},
        air={"profile": "vehicular_a"},
    )
    return experiment.run(jobs=1)


def test_counts_rates_and_sequence_agree(result):
    noisy, better = result
    assert noisy.pdu_errors.dtype == np.uint8
    for point in result:
        blocks = point.pdu_errors.reshape(-1, 4)
        assert point.per.errors == point.pdu_errors.sum()
        assert point.per.trials == point.pdu_errors.size == 4 * point.bler.trials
        assert point.bler.errors == blocks.max(axis=1).sum()
        assert point.ber.trials == 320 * point.per.trials >= 60_000
        assert point.per.ci95_low < point.per.rate < point.per.ci95_high
        assert point.air_s == pytest.approx(point.ber.trials / 64e3)
        assert 1 <= point.iterations <= 3
    assert noisy.bler.rate > better.bler.rate > 0
    table = result.points
    assert table["eb_n0_db"].tolist() == [4.0, 5.0]
    assert table["bler"].tolist() == [point.bler.rate for point in result]
    assert table["pdus_errors"].tolist() == [point.per.errors for point in result]


def test_sequence_depends_on_the_seed_only(result):
    for jobs, portable in ((2, False), (1, True), (2, True)):
        again = result.experiment.run(jobs=jobs, portable=portable)
        for one, other in zip(result, again, strict=True):
            assert np.array_equal(one.pdu_errors, other.pdu_errors)
            assert one.row() == other.row()
    other = result.experiment.with_(seed=4).run(jobs=2)
    assert not np.array_equal(other[0].pdu_errors, result[0].pdu_errors)


def test_defaults_and_changes_are_resolved(result):
    experiment = result.experiment
    assert experiment.pdus_per_block == 4
    assert experiment.rate_bps == 64e3
    assert experiment.name == "64 kbit/s, Vehicular A"
    assert experiment.to_dict()["receiver"]["fingers"] == 3
    changed = experiment.with_(**{"receiver.fingers": 1, "eb_n0_db": 3, "name": "one finger"})
    assert (changed.name, changed.eb_n0_db) == ("one finger", (3.0,))
    assert changed.to_dict()["receiver"] == {**experiment.to_dict()["receiver"], "fingers": 1}
    assert changed.with_(**{"receiver.fingers": None}).to_dict()["receiver"]["fingers"] == 3
    full = experiment.with_(service=experiment.service | {"beta_c": 15})
    assert full.service["beta_c"] == 15


def test_folder_is_self_contained(result, tmp_path):
    folder = result.save(tmp_path / "found")
    name, table = read_points(folder)
    assert name == "64 kbit/s, Vehicular A"
    assert list(table) == list(result.points)
    for point in result:
        errors = read_errors(folder / f"errors_{point.eb_n0_db:g}dB.txt")
        assert np.array_equal(errors.errors, point.pdu_errors)
        assert errors.pdus_per_block == 4
    again = link.load(folder / "experiment.json")
    assert again.to_dict() == result.experiment.to_dict()
    assert json.loads((folder / "provenance.json").read_text())["seed"] == 3
    shorter = link.LinkResult(result.experiment, [result[0]], result.provenance)
    shorter.save(folder)
    assert [path.name for path in folder.glob("errors*")] == ["errors_4dB.txt"]


def test_run_shows_progress_and_can_be_stopped(result):
    experiment, seen = result.experiment, []

    def stop(fraction, text):
        seen.append((fraction, text))
        if fraction > 0.7:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="after 1 of 2 points") as stopped:
        experiment.with_(**{"stop.bits": 200_000}).run(jobs=1, progress=stop)
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions)
    assert "Eb/N0 4 dB: 0.1 Mbit" in seen[0][1]
    first, begun = stopped.value.result
    assert not first.interrupted
    assert begun.interrupted
    size = min(begun.pdu_errors.size, result[1].pdu_errors.size)
    assert np.array_equal(begun.pdu_errors[:size], result[1].pdu_errors[:size])

    def fail(fraction, text):
        raise RuntimeError("the watcher's own")

    with pytest.raises(RuntimeError, match="the watcher's own"):
        experiment.run(jobs=1, progress=fail)


def test_run_stops_at_the_requested_number_of_errors(result):
    (point,) = result.experiment.with_(eb_n0_db=-3, **{"stop.block_errors": 20}).run(jobs=2)
    assert 20 <= point.bler.errors < 40


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("[air]", "[air]\nspeed = 3", ":10: air.speed: .*`speed_kmh`"),
        ('"vehicular_a"', '"vehicular"', ":10: air.profile: "),
        ('"costamagna_64"', '"umts"', ":3: service: "),
        ('service = "costamagna_64"', "", "toml: .*`service`"),
        *(("60_000", value, ":7: stop.bits: ") for value in ("6e4", "0", "nan", "-5")),
        ("[4.0, 5.0]", "[4.0, inf]", ":2: eb_n0_db.1: "),
        *(
            ("[4.0, 5.0]", value, ":2: eb_n0_db: ")
            for value in ('"3 dB"', "[]", "[2, 3, 2.0]", "[1000]")
        ),
        ("seed = 3", "seed = ", ":4: "),
        ("[air]", "[receiver]\nfingers = 0\n[air]", ":10: receiver.fingers: "),
        ('"vehicular_a"', '"vehicular_b"\n[receiver]\nwindow_chips = 20', "77"),
        ('"vehicular_a"', "{ taps = [{ delay_ns = 0, power = 0 }] }", "`power`"),
    ],
)
def test_mistakes_in_a_file_are_reported(file, old, new, place):
    assert old in FILE
    file.write_text(FILE.replace(old, new))
    with pytest.raises(ScenarioError, match=place) as error:
        link.load(file)
    assert str(file) in str(error.value)


def service(**changes):
    full = link.Experiment(service="costamagna_384", eb_n0_db=3).service
    for key, value in changes.items():
        table, _, name = key.rpartition("__")
        (full[table] if table else full)[name or key] = value
    return {"service": full, "eb_n0_db": 3}


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"dtch__pdu_bits": 3200}, "service"),
        ({"dtch__pdu_bits": 0}, "service.dtch"),
        ({"dtch__pdus": 0}, "service.dtch.pdus: "),
        ({"dtch__tti_ms": 15}, "service.dtch.tti_ms: "),
        ({"spreading_factor": 5}, "service.spreading_factor: "),
        ({"dtch__coding": "turbo"}, "service.dtch.coding: .*turbo_1/3"),
    ],
)
def test_pdus_that_do_not_fit_are_reported(changes, key):
    with pytest.raises(ScenarioError, match=key):
        link.Experiment(**service(**changes))


def test_settings_override_a_file(file):
    settings = ["eb_n0_db=[2]", "air.profile=static", "receiver.antennas=2"]
    experiment = link.load(file, settings)
    assert (experiment.eb_n0_db, experiment.profile) == ((2.0,), "Static")
    again = link.load(file, [*settings, "receiver.antennas="])
    assert again.to_dict() == link.load(file, settings[:2]).to_dict()
    for setting, place in (
        ("seed", "key=value"),
        ("receiver.antennas=3", f"{file}: receiver.antennas: "),
        ("seed.x=3", "`seed`"),
        ("receiver.fingres=", "`fingres`"),
        ("stop.block_errors=nan", "stop.block_errors: "),
    ):
        with pytest.raises(InputError, match=re.escape(place)):
            link.load(file, [setting])


def test_curves_have_intervals_on_a_logarithmic_axis(result):
    table = result.points
    figure = link_curves({"car": table, "again": table}, "bler")
    axes = figure.axes[0]
    assert axes.get_yscale() == "log"
    assert len(axes.containers) == 2
    drawn = axes.containers[0].lines[0].get_ydata()
    assert drawn.tolist() == table["bler"].tolist()
    with pytest.raises(InputError, match="there is no rate `blr`; did you mean `bler`"):
        link_curves({"car": table}, "blr")


@pytest.mark.parametrize(
    ("folders", "labels"),
    [
        (("one/out",), ["64 kbit/s, Vehicular A"]),
        (("one", "other"), ["one", "other"]),
        (("one/out", "other/out", "other/out"), ["one/out", "other/out"]),
    ],
)
def test_each_folder_has_a_curve(result, tmp_path, monkeypatch, folders, labels):
    """Results of one experiment are distinguished by their folders, even if these have one name."""
    monkeypatch.chdir(tmp_path)
    for folder in folders:
        result.save(folder)
    drawn = []
    monkeypatch.setattr("nodeb.plot.source.save", lambda figure, file: drawn.append(figure) or file)
    assert invoke(["link", "curve", *folders]) == 0
    assert [curve.get_label() for curve in drawn[0].axes[0].containers] == labels


def test_point_without_errors_has_its_upper_bound_marked():
    fine = link.Experiment(service="costamagna_64", eb_n0_db=8, stop={"bits": 1000}).run(jobs=1)
    assert fine[0].bler.errors == 0
    marks = link_curves({"fine": fine.points}).axes[0].lines[-1]
    assert marks.get_ydata().tolist() == [fine[0].bler.ci95_high]


def test_command_line_leads_from_a_file_to_a_model(file, tmp_path, capsys):
    out = tmp_path / "out"
    assert invoke(["link", "run", str(file), "--jobs", "1", "--out", str(out), "--seed", "5"]) == 0
    assert "blocks failed" in capsys.readouterr().out
    picture = tmp_path / "c.svg"
    drawn = ["link", "curve", str(out), str(out), "--rate", "per", "--out", str(picture)]
    assert invoke(drawn) == 0
    assert "Eb/N0" in picture.read_text()
    fitted = tmp_path / "fitted"
    options = ["--states", "2", "--starts", "1", "--out", str(fitted)]
    assert invoke(["fit", str(out / "errors_4dB.txt"), *options]) == 0
    assert "block hmm2" in capsys.readouterr().out
    best = json.loads((fitted / "best.json").read_text())
    assert (best["format"], best["pdus_per_block"]) == ("nodeb-error-model", 4)
    assert best["provenance"]["errors"].endswith("errors_4dB.txt")
    made = {path.name for path in fitted.iterdir()}
    assert made >= {"gaps.png", "bursts.png", "bic.png", "recorded.json", "pdu_hmm2.json"}


def test_command_line_reports_mistakes(file, tmp_path, capsys):
    assert invoke(["link", "run", str(tmp_path / "none.toml")]) == 2
    assert invoke(["link", "curve", str(tmp_path)]) == 2
    assert "no results of `nodeb link run`" in capsys.readouterr().err
    for states in ("8-2", f"2-{10**20}"):
        assert invoke(["fit", str(file), "--states", states]) == 2
    assert invoke(["fit", str(file), "--unit", "bit"]) == 2
    assert "found `e`" in capsys.readouterr().err


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path):
    quick = link.load(path).with_(stop={"bits": 1}).run()
    assert len(quick) == len(quick.experiment.eb_n0_db)


def test_schema_contains_every_key():
    schema = json.loads(_core.link_schema())
    assert {"service", "eb_n0_db", "air", "receiver", "stop"} <= schema["properties"].keys()
    assert invoke(["link", "schema"]) == 0
