"""A small study for tests: downloads over HS-DSCH, with metrics and a campaign."""

from __future__ import annotations

import json
from pathlib import Path

import nodeb
from nodeb import _core
from nodeb.scenario_types import Ftp, HsDsch, UserGroup
from nodeb.storage.cells import Store
from nodeb.study import Axis, Effort, Quick, Study, metric
from nodeb.study.campaign import Campaign
from nodeb.study.case import Settings
from nodeb.study.claims import Claim

BLER = Axis({"1 %": 0.01, "20 %": 0.20, "40 %": 0.40}, label="BLER", short="BLER")
LOW, MIDDLE, HIGH = BLER
SIZE = Axis(["20 kB", "50 kB"], label="File size")
SMALL, LARGE = SIZE


@metric("kb/s")
def rate(m):
    return (m.app_bytes / m.transfer_s * 8 / 1000).mean(axis=-1)


@metric("s")
def duration(m):
    return m.transfer_s.mean(axis=-1)


def study_of(**options) -> Study:
    """Creates a study of downloads over HS-DSCH that has no tables yet."""
    options = {"title": "T", "effort": Effort(runs=8), "quick": Quick(runs=3)} | options
    return Study("/nowhere/small.py", **options)


def download(bler, size="20 kB", users=1):
    phones = [UserGroup(count=users, traffic=Ftp(size=size))]
    return nodeb.Scenario(duration="100 s", radio=HsDsch(channels=3, bler=bler), users=phones)


STORES: dict[Path, Store] = {}


def campaign(study: Study, folder: Path, **options) -> Campaign:
    folder.mkdir(exist_ok=True)
    if folder in STORES:
        STORES.pop(folder).close()
    store = STORES[folder] = Store(folder)
    store.open()
    return Campaign(study, store, **{"seed": 1} | options)


def scenario(case, **given) -> nodeb.Scenario:
    return case.scenario(Settings(given=given), Quick())


def resolved(case, **given) -> str:
    """Returns the scenario of a case as the core resolves it, which checks it."""
    data, _ = scenario(case, **given).without_recordings()
    return _core.resolve(json.dumps(data))


def runs(calls: list[range]) -> int:
    return sum(map(len, calls))


def judge(work: Campaign, *checks):
    return Claim("x", "1", "x", (), lambda: checks).judge(work)


FILE = '''
import nodeb
from nodeb.scenario_types import Ftp, HsDsch, UserGroup
from nodeb.study import Axis, Effort, Quick, Study, falling, metric

study = Study(__file__, title="Small", effort=Effort(runs=6), quick=Quick(runs=3))
BLER = Axis({"1 %": 0.01, "20 %": 0.2})
SIZE = Axis(["20 kB", "50 kB"])

@study.scenario
def download(bler, size):
    phones = [UserGroup(traffic=Ftp(size=size))]
    return nodeb.Scenario(duration="DURATION", radio=HsDsch(bler=bler), users=phones)

@metric("kb/s")
def rate(m):
    return (m.app_bytes / m.transfer_s * 8 / 1000).mean(axis=-1)

of = rate.of(download)
for number, size in enumerate(SIZE, 1):
    study.table(f"Table {number}", f"Rates of {size}", {size: {b: of(b, size) for b in BLER}},
                "100 90", near=20)
study.figure("Figure 1", "Rates", {s: {b: of(b, s) for b in BLER} for s in SIZE}, "Rate (kb/s)")

@study.claim("1", "Table 1")
def falls():
    """Rates fall."""
    yield falling({b: of(b, SIZE["20 kB"]) for b in BLER})

@study.claim("2")
def falls_too():
    """Rates of larger files fall."""
    yield falling({b: of(b, SIZE["50 kB"]) for b in BLER})

@study.stage()
def counting(at):
    timeouts = at.campaign.log(download(0.01, "20 kB")).stack("timeouts")
    at.facts["cases"] = nodeb.stats.calculated(timeouts.sum())
'''
