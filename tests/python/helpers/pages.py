"""Creates pages of every kind that nodeb has, for tests in a browser."""

from __future__ import annotations

import shutil
from pathlib import Path

import fake_emulation
import nodeb
from nodeb.comparison.differences import compare
from nodeb.emulate.page import of_emulation as page_of_emulation
from nodeb.report import run as page_of_run
from nodeb.report.compared import page as page_of_comparison
from nodeb.report.explained import page
from nodeb.report.recording import Recording
from nodeb.reproduce import Summary
from nodeb.reproduce import page as page_of_study
from nodeb.reproduce import run as reproduce
from nodeb.results.metrics import by_run

HEAD = 'name = "a page of {name}"\nruns = 2\nduration = "{duration}"\n'
DOWNLOAD = '[[users]]\ntraffic.ftp.size = "100 kB"\n'
CELL = """
[radio.hsdpa.cell]
[[users]]
name = "near"
traffic.ftp.size = "100 MB"
ue.channel.cell = {{ distance = "100 m", profile = "pedestrian_a", speed = "3 km/h" }}
[[users]]
name = "anywhere"
count = {count}
traffic.ftp.size = "100 MB"
"""
SCENARIOS = {
    "dch": "[radio.dch]\nbler = 0.1\n" + DOWNLOAD,
    "hs_dsch": "[radio.hs_dsch]\n" + DOWNLOAD + "count = 3\n",
    "hsdpa": CELL.format(count=2),
    "many": CELL.format(count=24),
    "wcdma": '[radio.wcdma]\nother_cells = "map"\n' + DOWNLOAD + "count = 4\n",
    "fach_dch": "[radio.fach_dch]\n" + "[[users]]\ncount = 2\ntraffic.web = {}\n",
    "link": '[tcp.linux]\n[radio.link]\nrate = "2 Mbps"\n' + DOWNLOAD,
}
"""Scenario of the run of each kind of page."""
ITEMS = ["Table 1", "Table 2", "Table 8", "Table 13", "Table 19", "Figure 8"]
"""Items with wide tables, claims, curves and bars."""


def of_run(kind: str, folder: Path) -> Path:
    """Creates the page of a short run on the radio `kind`, and returns its file."""
    result = _result(kind)
    return _written(folder / f"{kind}.html", page_of_run.html(result))


def without_series(folder: Path, monkeypatch) -> Path:
    """Creates the page of a run whose series were not recorded for lack of memory."""
    problem = Recording(None, problem="There is not enough memory to record the series.")
    monkeypatch.setattr(page_of_run, "record", lambda *_, **__: problem)
    return _written(folder / "without.html", page_of_run.html(_result("dch")))


def of_explanation(folder: Path) -> Path:
    """Creates the page of an explanation with two users and the effects of changes."""
    scenario = _scenario(HEAD.format(name="explain", duration="60 s") + SCENARIOS["hs_dsch"])
    found = {f"user {user}": nodeb.explain(scenario, user) for user in (0, 2)}
    return _written(folder / "explain.html", page(found, found["user 0"].what_if(), "a.toml"))


def of_comparison(folder: Path) -> Path:
    """Creates the page of a comparison with two scenarios, of which one has a long name."""
    base = _scenario(HEAD.format(name="base", duration="60 s") + SCENARIOS["dch"])
    others = {"radio.dch.a_key_of_a_long_name=0.3": {"radio.dch.bler": 0.3}, "same": {}}
    tables = {"base": base.run(runs=4).tables}
    tables |= {name: base.with_(changes).run(runs=4).tables for name, changes in others.items()}
    found = compare(tables, seed=1)
    metrics = {name: by_run(one) for name, one in tables.items()}
    text = page_of_comparison(found, metrics, (), "nodeb compare")
    return _written(folder / "compare.html", text)


def of_life(folder: Path) -> Path:
    """Creates the page of a packet timeline that ends before the run."""
    scenario = _scenario(HEAD.format(name="life", duration="60 s") + SCENARIOS["dch"])
    return _written(folder / "life.html", scenario.life(end_s=2.0).html())


def of_study(folder: Path) -> Path:
    """Creates the page of a short reproduction of Wang's study, with every kind of item."""
    return reproduce("wang", folder / "wang", ITEMS, quick=True).report


def of_emulation(folder: Path) -> Path:
    """Creates the page of an emulation from artificial results.

    So it does not need real packets.
    """
    outcome = fake_emulation.outcome(late_share=0.05)
    text = page_of_emulation(fake_emulation.plan(), fake_emulation.options(), outcome)
    return _written(folder / "emulation.html", text)


def of_studies(folder: Path, wang: Path) -> Path:
    """Creates the page of several studies, two of them complete."""
    out = folder / "all" / "wang"
    shutil.copytree(wang, out)
    outcome = reproduce("wang", out, quick=True)
    summary = Summary(("wang", "hossain", "prabhu"), 1, True, folder / "all" / "report.html")
    summary.outcomes |= {"wang": outcome, "hossain": outcome}
    return _written(summary.report, page_of_study.of_all(summary))


def _result(kind: str) -> nodeb.Result:
    text = HEAD.format(name=kind, duration="3 s" if kind in ("hsdpa", "many") else "60 s")
    return _scenario(text + SCENARIOS[kind]).run(jobs=1)


def _scenario(text: str) -> nodeb.Scenario:
    import tomllib

    return nodeb.Scenario.from_dict(tomllib.loads(text))


def _written(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file
