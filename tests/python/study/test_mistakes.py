"""Tests: errors in studies are reported with file, line, function and remedy."""

from __future__ import annotations

import sys
import textwrap

import numpy as np
import pytest

import nodeb
import nodeb.reproduce
from nodeb.errors import InputError, RunError
from nodeb.replication.reduction import Reduction
from nodeb.results import metrics
from nodeb.study import Axis, Effort, Quick, Study, between, flat, rising, rms
from nodeb.study.items import Table

FILE = '''
import nodeb
from nodeb.scenario_types import Ftp, HsDsch, UserGroup
from nodeb.study import Axis, Effort, Quick, Study, at_least, metric

study = Study(__file__, title="T", effort=Effort(runs=3), quick=Quick(runs=3))
BLER = Axis({"1 %": 0.01, "20 %": 0.2}, label="BLER")

def reduce(tables):
    return {"x": [1.0]}

@study.scenario
def download(bler):
    phones = [UserGroup(count=2, traffic=Ftp(size="20 kB"))]
    return nodeb.Scenario(duration="20 s", radio=HsDsch(bler=bler), users=phones)

def of_one(tables):
    return tables["flows"]["transfer_s"]

@metric("s")
def time(m):
    return m[of_one][..., 0]

CELLS = {b: {"time": time.of(download)(b)} for b in BLER}
study.table("Table 1", "Title", CELLS)

@study.claim("2", "Table 1")
def positive():
    """It is positive."""
    yield at_least(CELLS[BLER["1 %"]]["time"], 0)
'''
TIME = "return m[of_one][..., 0]"
DOWNLOAD = "phones = [UserGroup(count=2"
YIELD = 'yield at_least(CELLS[BLER["1 %"]]["time"], 0)'
ONE = 'return tables["flows"]["transfer_s"]'
TABLE = 'study.table("Table 1", "Title", CELLS)'
SCENARIO = "@study.scenario"


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "modules", sys.modules)
    yield
    for name in [one for one in sys.modules if one.startswith("study-")]:
        del sys.modules[name]


def reproduced(folder, *changes, text=FILE, name="own.py"):
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    (folder / name).write_text(text, encoding="utf-8")
    return nodeb.reproduce.run(folder / name, folder / "out", quick=True, jobs=1)


def line_with(text):
    return FILE.splitlines().index(next(x for x in FILE.splitlines() if text in x)) + 1


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (TIME, "raise ValueError('boom')", "ValueError: boom"),
        (TIME, "import sys; sys.exit(0)", "SystemExit"),
        (TIME, "return m.transfer_[..., 0]", "`transfer_s`"),
        (DOWNLOAD, f"1 / 0; {DOWNLOAD}", "ZeroDivisionError"),
        (ONE, "return tables['flow']", "KeyError"),
        (YIELD, "yield CELLS[0]", "KeyError: 0"),
    ],
)
def test_exception_of_a_function_is_reported_with_its_line(tmp_path, old, new, what):
    with pytest.raises(InputError, match=rf"own\.py, line {line_with(old)}: .*{what}"):
        reproduced(tmp_path, (old, new))


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (TIME, "pass", "`time` .*None"),
        (TIME, "return 'fast'", "`time` .*'fast'"),
        (TIME, "return m.transfer_s", r"`time` .*\(2,\)"),
        (TIME, "return m.transfer_s.mean()", r"`time` .*`\.mean\(axis=-1\)`"),
        (DOWNLOAD, f"return {{}}; {DOWNLOAD}", "download .*{}"),
        (ONE, "return 'x'", "`of_one` .*'x'"),
        (YIELD, "yield 5", r"`positive` .*\[5\]"),
        (YIELD, "pass", "`positive`"),
        (TABLE, 'study.table("Table 1", "T", {"a": 1})', "Table 1: "),
        (SCENARIO, f"{SCENARIO}(effort=lambda bler: 3)", "effort of 1 % .*3"),
    ],
)
def test_return_values_of_functions_are_checked(tmp_path, old, new, what):
    with pytest.raises(InputError, match=what):
        reproduced(tmp_path, (old, new))


@pytest.mark.parametrize("found", ["None", "{'x': 'text'}", "1 / 0"])
def test_mistake_in_a_reduction_is_reported(tmp_path, found):
    changes = [('{"x": [1.0]}', found), (SCENARIO, f"{SCENARIO}(reduce=reduce)")]
    with pytest.raises(RunError, match=r"own\.py, line \d+: .*`reduce`"):
        reproduced(tmp_path, *changes, (TIME, "return m.x[..., 0]"))


def test_mistake_in_a_stage_is_reported(tmp_path):
    stage = "\n@study.stage\ndef look(at):\n    at.facts['n'] = 3.0\n"
    with pytest.raises(InputError, match=r"`look` .*`n`"):
        reproduced(tmp_path, text=FILE + stage)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("x = ", ""),
        ("summery = []", "`summery`.*`summary`"),
        ("question = 3", "`question`"),
        ("summary = 'x'", "`summary`"),
        ("notes = ['Table 1']", "`notes`"),
    ],
)
def test_mistakes_in_texts_name_file_and_key(tmp_path, text, key):
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(InputError, match=rf"own\.toml: .*{key}"):
        reproduced(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("bler=bler", "bler=2.0", "bler"),
        ('duration="20 s"', 'duration="20 parsecs"', "duration"),
        ("quick=Quick(runs=3)", "quick=Quick(runs=3, warm_up_s=20)", "warm-up"),
    ],
)
def test_scenario_that_cannot_be_simulated_is_named(tmp_path, old, new, key):
    with pytest.raises(InputError, match=rf"the scenario of 1 %.*{key}"):
        reproduced(tmp_path, (old, new))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('study.table("table-1", "T", CELLS)', "`table-1`, `Table 1`"),
        ('study.figure("", "T", CELLS, "y")', "``"),
        ('study.table("Table 2", "T", CELLS, "1\\ninf")', "Table 2: .*`inf`"),
        ('study.table("Table 2", "T", CELLS, near=1, near_percent=2)', ""),
        ("study.scenario(download, reduce=lambda x: x)", "`def`"),
        ("Axis([1, 1], label='n')", "`n` .*`1`"),
    ],
)
def test_invalid_declarations_are_rejected_with_their_line(tmp_path, more, said):
    with pytest.raises(InputError, match=rf"own\.py, line {len(FILE.splitlines()) + 1}: .*{said}"):
        reproduced(tmp_path, text=FILE + more + "\n")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Effort(runs=1),
        lambda: Effort(runs=2.5),
        lambda: Effort(runs=5, max_runs=3),
        lambda: Effort(runs=5, max_runs=9, precision=0),
        lambda: Effort(runs=5, max_runs=9, precision=float("nan")),
        lambda: Quick(runs=1),
        lambda: Quick(warm_up_s=-1),
        lambda: Study("x.py", title="T", warm_up_s=-5),
        lambda: between(5, 3, 1),
        lambda: between(5, float("nan"), 1),
        lambda: between(5, "1", "2"),
        lambda: flat({"a": 1, "b": 2}, -0.5),
        lambda: rising({"a": "x", "b": 2}),
        lambda: Table("Table 1", "T", {"a": {"b": 1}}, "1 two"),
        lambda: Table("Table 1", "T", {"a": {"b": 1}}, near=-1),
        lambda: Axis(None),
        lambda: rms(["5"]),
    ],
)
def test_invalid_numbers_are_rejected(make):
    with pytest.raises(InputError):
        make()


def test_reduction_is_found_by_file_if_it_cannot_be_imported(tmp_path, monkeypatch):
    import pickle

    (tmp_path / "beside.py").write_text("N = 7.0\n")
    (tmp_path / "far.py").write_text(
        textwrap.dedent("""
        from beside import N
        def reduce(tables):
            return {"x": [N]}
        """)
    )
    monkeypatch.syspath_prepend(tmp_path)
    from far import reduce

    sent = pickle.dumps(Reduction(reduce))
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one != str(tmp_path)])
    del sys.modules["far"], sys.modules["beside"]
    assert pickle.loads(sent).function({}) == {"x": [7.0]}
    del sys.modules["far"], sys.modules["beside"]


@pytest.fixture
def result():
    return nodeb.Scenario(
        duration="20 s",
        radio={"hs_dsch": {}},
        users=[{"traffic": {"ftp": {"size": "20 kB"}}}],
    ).run(runs=3)


@pytest.mark.parametrize(
    "of",
    [
        lambda group: 5.0,
        lambda group: np.zeros((3, 2)),
        lambda group: 1 / 0,
        lambda group: np.array(["a", "b", "c"]),
        lambda group: group.each("flows", group.column("flows", "transfer_s"), lambda x: x.max()),
    ],
)
def test_wrong_custom_metric_is_named(result, monkeypatch, of):
    monkeypatch.setattr(metrics, "METRICS", {**metrics.METRICS})
    metrics.add(metrics.Metric("mine", "s", "Mine.", "mine", of))
    with pytest.raises(InputError, match="metric `mine`"):
        _ = result.summary


def test_non_metrics_cannot_be_added():
    of = metrics.METRICS["transfer_s"].of
    for wrong in (
        None,
        metrics.Metric("", "s", "Mine.", "mine", of),
        metrics.Metric("mine", "s", "Mine.", "mine", 3),
        metrics.Metric("mine", "s", "Mine.", "mine", of, "best"),
        metrics.Metric("mine", "s", "Mine.", "mine", of, low=2, high=1),
    ):
        with pytest.raises(InputError, match="metric"):
            metrics.add(wrong)
