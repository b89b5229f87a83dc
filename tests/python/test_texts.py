"""All texts of the commands on small inputs are those of the reviewed snapshot `texts/answers.txt`.

    NODEB_TEXTS=write python -m pytest tests/python/test_texts.py

writes the snapshot anew: a line `$ ...` is a command, `>>> ...` an answer of artificial results.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import explanations
import fake_emulation
from nodeb import cli
from nodeb.answer import text

FOLDER = Path(__file__).parent / "texts"
SNAPSHOT = FOLDER / "answers.txt"
CASES = re.split(r"^(?=\$ |>>> )", SNAPSHOT.read_text("utf-8"), flags=re.M)[1:]
NAMES = [case.partition("\n")[0] for case in CASES]


@pytest.fixture(scope="module")
def written():
    texts = {}
    yield texts
    if os.environ.get("NODEB_TEXTS") == "write":
        current = dict(zip(NAMES, CASES, strict=True)) | texts
        SNAPSHOT.write_text("".join(current.values()), "utf-8")


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_text_is_that_of_the_snapshot(case, written, tmp_path, monkeypatch, capsys):
    name, _, expected = case.partition("\n")
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    if name.startswith(">>> "):
        printed = f"{eval(name.removeprefix('>>> '))}\n"
    else:
        printed = "".join(command(line, capsys) for line in name.removeprefix("$ ").split(" && "))
    printed = printed.replace(str(tmp_path), "HERE")
    printed = re.sub(r"(?m)(, seed \d+, )[\d.]+ m?s\.$", r"\1(time).", printed)
    printed = re.sub(r"(?m) +$", "", printed).strip() + "\n"
    if os.environ.get("NODEB_TEXTS") == "write":
        written[name] = f"{name}\n{printed}\n"
    else:
        assert printed == expected.strip() + "\n"


def command(line, capsys):
    status = cli.invoke(shlex.split(line)[1:])
    out, err = capsys.readouterr()
    return out + err + (f"(status {status})\n" if status else "")


def shown(answer):
    return text(answer, everything=True)


def link_result(*points):
    """Answer of a link experiment with points (Eb/N0 in dB, block errors of 100)."""
    from nodeb.link.answer import answer
    from nodeb.link.result import LinkResult, Point, Rate

    def point(eb_n0_db, errors):
        share = errors / 100
        rate = Rate(100, errors, share, max(share - 0.05, 0.0), min(share + 0.05, 1.0))
        rates = dict.fromkeys(("bits", "pdus", "blocks", "raw", "signalling"), rate)
        return Point(eb_n0_db, 1, np.zeros(100, np.uint8), rates, 0, 1.0, 0.01)

    about = SimpleNamespace(seed=1, wall_time_s=0.5)
    result = LinkResult(SimpleNamespace(name="a link"), [point(*one) for one in points], about)
    return shown(answer(result, "out/l"))


def compared(covered=1.0, **shifts):
    """Answer of a comparison whose metrics are shifted by a share, or drawn anew if it is None."""
    from dataclasses import replace

    from nodeb.comparison.answer import answers
    from nodeb.comparison.differences import Comparison, Tried, difference
    from nodeb.results.metrics import METRICS

    rng = np.random.default_rng(1)
    rows = []
    for name, shift in shifts.items():
        base = rng.uniform(99.0, 101.0, 20)
        other = rng.normal(100.0, 30.0, 20) if shift is None else base * (1 + shift)
        if shift:
            other = other + np.tile([0.1, -0.1], 10)
        row = difference("all", METRICS[name], base, other, 0.02, 0.95)
        rows.append(replace(row, covered=covered))
    comparison = Comparison("plain", [Tried("other", rows, [], {})], 20, 1, 0.02)
    return shown(answers(comparison)[0])


def tried(plain_s, changed_s):
    """Explanation and gain of a change, from times with and without it; 10 s: not complete."""
    import nodeb
    from nodeb.explanation import Explanation
    from nodeb.explanation.answer import answer
    from nodeb.explanation.replications import Path, Share
    from nodeb.explanation.what_if import _compared

    def explanation(times_s):
        paths = []
        for run, time_s in enumerate(times_s):
            rest = round(time_s * 1e9) - 10**8
            shares = {Share("delayed ACK", place="phone"): 10**8, Share("transmission"): rest}
            paths.append(Path(run, 0.0, time_s, 1000, time_s < 10.0, shares, {}))
        return Explanation(nodeb.load("dch.toml"), 0, 0, paths)

    plain = explanation(plain_s)
    remedy = explanations.change(plain.scenario, "ACKs at once")
    return shown(answer(plain, [_compared(plain, explanation(changed_s), remedy)]))


def emulated(slept_s=0.0, **options):
    from nodeb.emulate.results import emulated

    outcome = fake_emulation.outcome(**options)
    outcome.report["slept_s"] = slept_s
    answer = emulated(fake_emulation.plan(), fake_emulation.options(), outcome, "out/em")
    return text(answer) if options or slept_s else shown(answer)


def replayed(**entries):
    from nodeb.emulate.results import replayed

    report = fake_emulation.outcome().report | {"differs": None, "same": 5772, "complete": True}
    scenario = SimpleNamespace(name="a recording")
    recording = SimpleNamespace(scenario=scenario, seed=7, is_same_core=True)
    return text(replayed(recording, SimpleNamespace(report=report | entries)))


def reproduction(verdicts, near=0, far=0, **more):
    from nodeb.reproduce import ReproduceOutcome
    from nodeb.stats import Estimate
    from nodeb.study.items import Cell, Cells, Table
    from nodeb.study.verdicts import Verdict

    claims = [
        Verdict(str(n), "1", f"claim {n}", kind, Counter(), "", ())
        for n, kind in enumerate(verdicts.split())
    ]
    values = [Estimate(value, value - 1, value + 1, 9) for value in [10] * near + [20] * far]
    rows = [
        (Cell("Table 1", f"row {n}", "rate", "", 10, one, 1, 2),) for n, one in enumerate(values)
    ]
    cells = Cells(Table("Table 1", "Rates", {"a": {"rate": 1}}), tuple(rows))
    study = SimpleNamespace(title="A study", headline=None, items=lambda: ["Table 1"])
    return ReproduceOutcome(
        study, ["Table 1"], 1, False, Path("out/a"), {"Table 1": cells} if rows else {},
        claims=claims, replications=30, scenarios=3, wall_s=1.0, **more,
    )  # fmt: skip


def reproduced(verdicts, **more):
    return shown(reproduction(verdicts, unfinished=["3 downloads did not end."], **more).answer)


def all_reproduced():
    from nodeb.reproduce import Summary

    summary = Summary(["one", "two", "three"], 1, False, Path("out/all/report.html"))
    summary.outcomes["one"] = reproduction("holds", near=8, far=1)
    summary.outcomes["two"] = reproduction("contradicted", near=1, far=1)
    return shown(summary.answer)
