"""Studies: axes, cases, quantities, tables, claims, and what a reproduction of one writes."""

from __future__ import annotations

import csv
import json
import math
import statistics
import time
from pathlib import Path

import numpy as np
import pytest

import nodeb
import nodeb.reproduce
from nodeb import studies
from nodeb.errors import InputError, OutputError, RunError
from nodeb.replication.cells import Replicating
from nodeb.scenario_types import Ftp, HsDsch, UserGroup
from nodeb.stats import Estimate, calculated
from nodeb.storage.store import Store
from nodeb.study import (
    Axis,
    Effort,
    Quick,
    Study,
    at_most,
    between,
    change,
    each,
    falling,
    flat,
    least,
    least_at,
    metric,
    most,
    most_at,
    ordered,
    rising,
    rms,
)
from nodeb.study.campaign import Campaign
from nodeb.study.case import Settings
from nodeb.study.claims import Claim
from nodeb.study.quantity import Quantity, Sample

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
    """A study without tables, of downloads over HS-DSCH."""
    options = {"title": "T", "effort": Effort(runs=8), "quick": Quick(runs=3)} | options
    return Study("/nowhere/small.py", **options)


def download(bler, size="20 kB", users=1):
    phones = [UserGroup(count=users, traffic=Ftp(size=size))]
    return nodeb.Scenario(duration="100 s", radio=HsDsch(channels=3, bler=bler), users=phones)


@pytest.fixture
def study() -> Study:
    return study_of()


@pytest.fixture
def work(study, tmp_path) -> Campaign:
    return campaign(study, tmp_path)


def campaign(study: Study, folder: Path, **options) -> Campaign:
    store = Store(folder / "cells")
    store.open()
    return Campaign(study, store, **{"seed": 1} | options)


@pytest.fixture
def counted(monkeypatch) -> list[range]:
    """The replications that are simulated."""
    calls: list[range] = []
    simulate = Replicating.replicate

    def replicate(self, seed, runs, control):
        calls.append(runs)
        return simulate(self, seed, runs, control)

    monkeypatch.setattr(Replicating, "replicate", replicate)
    return calls


def runs(calls: list[range]) -> int:
    return sum(map(len, calls))


def judge(work: Campaign, *checks):
    return Claim("x", "1", "x", (), lambda: checks).judge(work)


# ---------------------------------------------------------------- axes and cases


def test_points_have_labels_values_and_places():
    assert [str(one) for one in BLER] == ["1 %", "20 %", "40 %"]
    assert (LOW.value, LOW.context, LOW.x) == (0.01, "BLER 1 %", 0.01)
    assert [one.x for one in SIZE] == [0.0, 1.0], "what is no number stands in order"
    assert [one.x for one in Axis({"a": 0.1}, x=lambda share: 100 * share)] == [10.0]
    assert (BLER["20 %"], BLER["40 %", "1 %"]) == (MIDDLE, [HIGH, LOW])
    assert list(each(BLER["1 %", "20 %"], SIZE))[1] == (LOW, LARGE)
    with pytest.raises(InputError, match="did you mean `20 %`"):
        BLER["2 %"]


def test_a_case_is_simulated_once(study, tmp_path, counted):
    cases, work = study.scenario(download), campaign(study, tmp_path)
    work.measure([cases(LOW), cases(LOW, SMALL), cases(0.01, size="20 kB")])
    assert (runs(counted), work.scenarios()) == (8, 1)
    with pytest.raises(InputError, match="download: missing a required argument"):
        cases()
    with pytest.raises(InputError, match="no argument `szie`"):
        cases(LOW).under(szie="50 kB")


def test_one_scenario_has_one_effort(study, work):
    few, many = (study.scenario(download, effort=Effort(runs=n)) for n in (2, 3))
    work.measure([few(LOW)])
    with pytest.raises(InputError, match="are one scenario, of"):
        work.measure([many(LOW)])
    endless = study.scenario(download, effort=Effort(runs=2), endless=True)
    with pytest.raises(InputError, match="one scenario, reduced or ended in two ways"):
        work.measure([endless(LOW)])


def test_changes_reach_the_scenario(study):
    case = study.scenario(download)(LOW)
    quick, whole = Settings(quick=True), Settings()
    short = Quick(changes={"duration": "7 s"})
    assert case.scenario(quick, short).duration == "7 s"
    assert case.scenario(whole, short).duration == "100 s"
    changed = case.under({"wired.loss": 0.5}, lambda s: s.with_({"uplink.loss": s.wired.loss}))
    found = changed.scenario(quick, short)
    assert (found.wired.loss, found.uplink.loss, found.duration) == (0.5, 0.5, "7 s")
    assert case.under(bler=0.3).scenario(whole, short).radio.bler == 0.3
    assert case.under({"wired.loss": 0.5}) == case.under({"wired.loss": 0.5})


def test_functions_are_given_what_they_ask_for(study, tmp_path):
    seen = []

    def asking(bler, given, quick, warm_up_s):
        seen.append((given["model"], quick, warm_up_s))
        return download(bler)

    cases = study.scenario(asking, effort=lambda bler: Effort(runs=4 if bler < 0.1 else 2))
    settings = Settings(quick=False, warm_up_s=5.0, given={"model": "m"})
    work = campaign(study, tmp_path, settings=settings)
    assert [len(work.log(cases(bler))) for bler in (LOW, HIGH)] == [4, 2]
    assert set(seen) == {("m", False, 5.0)}


def test_a_short_version_has_two_replications_at_least():
    short = Quick(runs=20, cost=200)
    efforts = [short.effort(Effort(runs=400, max_runs=2000, cost=c)) for c in (1, 50, 1000)]
    assert [one.runs for one in efforts] == [20, 4, 2]
    assert short.effort(Effort(runs=400, max_runs=2000, precision=0.01)) == Effort(runs=20)


def test_a_precision_needs_room():
    with pytest.raises(InputError, match="more than its 20 runs"):
        Effort(runs=20, max_runs=20, precision=0.01)


# ---------------------------------------------------------------- quantities


def test_a_rate_is_data_over_the_mean_time(study, work):
    cases = study.scenario(download)
    found = rate.of(cases)(LOW).estimate(work)
    times = work.log(cases(LOW)).stack("transfer_s")
    assert found.value == pytest.approx(160 / times.mean())
    assert found.low < found.value < found.high
    plain = duration.of(cases)(LOW).estimate(work)
    assert plain.low == pytest.approx(nodeb.stats.mean_interval(times).low)


def test_common_random_numbers_cancel(study, work):
    of = duration.of(study.scenario(download))
    here, there = of(LOW), of(LOW).under({"wired.delay": "1 s"})
    gap = (there - here).estimate(work)
    assert gap.half_width < 0.1 * here.estimate(work).half_width
    assert change(here, here).estimate(work).value == 0.0
    assert (here / here).estimate(work).value == 1.0
    assert (here - 1).estimate(work).value == pytest.approx(here.estimate(work).value - 1)
    assert (1 - here).unit == "s"
    assert ((here / 2).unit, change(here, 2).unit) == ("", "%")


def test_the_least_and_the_most_are_those_of_a_case(study, work):
    of = duration.of(study.scenario(download))
    along = {bler: of(bler) for bler in BLER}
    assert least(along).estimate(work) == of(LOW).estimate(work)
    assert most(along.values()).estimate(work) == of(HIGH).estimate(work)
    assert len(list(least(along).cases())) == 3
    with pytest.raises(InputError, match="no quantities"):
        least({})


class Known(Quantity):
    """A quantity of a known estimate."""

    def __init__(self, *estimate: float) -> None:
        self._estimate = Estimate(*estimate)

    def sample(self, work: Campaign, n: int) -> Sample:
        return Sample(self._estimate.value, np.full(n, self._estimate.value))

    def estimate(self, work: Campaign) -> Estimate:
        return self._estimate


def test_the_root_of_the_mean_square_by_hand(work):
    found = rms([Known(3.0, 2.9, 3.1, 4), Known(4.0, 3.8, 4.2, 3)]).estimate(work)
    assert found.value == pytest.approx(math.sqrt(12.5))
    half = math.hypot(3 * 0.1, 4 * 0.2) / (2 * found.value)
    assert (found.half_width, found.runs) == (pytest.approx(half), 3)


def test_what_is_combined_keeps_its_interval(study, work):
    of = duration.of(study.scenario(download))
    low, high = rms([of(LOW), of(MIDDLE)]), rms([of(HIGH), of(MIDDLE)])
    gap = (high - low).estimate(work)
    assert (gap.low < gap.value < gap.high, gap.runs) == (True, 8)
    assert gap.value == pytest.approx(high.estimate(work).value - low.estimate(work).value)
    alone = rms([of(LOW)]) - of(LOW)
    assert alone.estimate(work).half_width == pytest.approx(0, abs=1e-9)


def test_a_fact_is_no_quantity(study, work):
    """It has no replications to be paired: it is shown and judged by itself."""
    work.facts["delay"] = Estimate(2.0, 1.0, 3.0, 5)
    fact = study.fact("delay", "s")
    for combine in (
        lambda: fact - 1.5,
        lambda: 1.5 - fact,
        lambda: 2 * fact,
        lambda: 1 / fact,
        lambda: change(fact, 2),
        lambda: rms([fact]),
        lambda: least([fact]),
        lambda: rising({LOW: fact, HIGH: fact}),
        lambda: ordered({"a": fact, "b": 1}),
    ):
        with pytest.raises(InputError, match="judged by itself"):
            combine()
    assert judge(work, at_most(fact, 2.5)).effort == ""
    grid = study.table("Table 1", "x", {"delay": {"found": fact}}).measure(work)
    assert [(cell.measured, cell.unit) for cell in grid] == [(work.facts["delay"], "s")]


def test_what_is_not_known_is_neither_least_nor_most(study, work):
    never = metric("s")(lambda m: m.transfer_s.mean(axis=-1) * math.nan)
    cases = study.scenario(download)
    known, unknown = duration.of(cases)(LOW), never.of(cases)(LOW)
    for series in ([unknown, known], [known, unknown]):
        assert least(series).estimate(work) == most(series).estimate(work) == known.estimate(work)
    along = {LOW: unknown, MIDDLE: known, HIGH: unknown}
    assert "least at BLER 20 %, " in judge(work, least_at(along, [HIGH])).evidence


def test_quantities_have_no_order_and_no_truth(study):
    of = rate.of(study.scenario(download))
    with pytest.raises(TypeError, match="claim yields"):
        assert of(LOW) > of(HIGH)
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(of(LOW))


def test_metrics_take_columns_of_all_tables_and_functions_of_one_run(study, work):
    def last_end(tables):
        flows = tables["flows"]
        return np.max(flows["start_s"] + flows["transfer_s"])

    @metric()
    def of_all(m, user):
        return m[last_end][..., 0] + m["bearers.bler"][..., 0] + m.transfer_s[..., user]

    cases = study.scenario(lambda bler: download(bler, users=2))
    log = work.log(cases(LOW))
    ends = (log.stack("start_s") + log.stack("transfer_s")).max(axis=1)
    wanted = ends.mean() + 0.01 + log.stack("transfer_s")[:, 1].mean()
    assert of_all(user=1).of(cases)(LOW).estimate(work).value == pytest.approx(wanted)
    assert log.stack("transfer_s").shape == (8, 2)
    with pytest.raises(InputError, match="did you mean `transfer_s`"):
        log.stack("transfers_s")


def test_replications_go_on_until_the_precision_is_reached(study, work):
    exact = Effort(runs=4, max_runs=300, precision=0.02)
    cases = study.scenario(download, effort=exact)
    times = work.log(cases(HIGH)).stack("transfer_s").mean(axis=1)
    assert 4 < len(times) <= 300
    assert nodeb.stats.mean_interval(times).relative_half_width <= 0.02
    loose = study.scenario(download, effort=Effort(runs=5, max_runs=300, precision=9.0))
    assert len(work.log(loose(MIDDLE))) == 5


def test_threads_do_not_change_results(study, tmp_path):
    cases = study.scenario(download, effort=Effort(runs=9, max_runs=60, precision=0.03))

    def measured(jobs):
        work = campaign(study, tmp_path / str(jobs), jobs=jobs)
        work.measure([cases(bler) for bler in BLER])
        return [rate.of(cases)(bler).estimate(work) for bler in BLER]

    (tmp_path / "1").mkdir(), (tmp_path / "5").mkdir()
    assert measured(1) == measured(5)


def test_failures_say_where(study, work, monkeypatch):
    wrong = study.scenario(lambda bler: download(bler).with_({"wired.dealy": "1 s"}))
    with pytest.raises(InputError, match=r"line \d+: the scenario of 1 %: .*dealy"):
        work.log(wrong(LOW))
    monkeypatch.setattr(Replicating, "replicate", lambda *_: 1 / 0)
    with pytest.raises(RunError, match=r"the scenario of 40 %, 20 kB.*failed: division"):
        work.log(study.scenario(download)(HIGH, SMALL))


def test_a_reduction_is_kept_in_place_of_series(study, tmp_path, counted):
    from reductions import moments

    cases = study.scenario(lambda bler: download(bler).with_({"record.cwnd": True}), reduce=moments)
    largest = metric("packets")(lambda m: m.windows[..., 1])

    def measured():
        work = campaign(study, tmp_path, settings=Settings(warm_up_s=0.5))
        return largest.of(cases)(LOW).estimate(work), work

    found, work = measured()
    assert found.value > 2
    assert "cwnd" not in work.log(cases(LOW))._tables
    assert (measured()[0], runs(counted)) == (found, 8), "the second was kept"


# ---------------------------------------------------------------- claims


def test_a_claim_can_come_out_either_way(study, work):
    of = rate.of(study.scenario(download))
    series = {bler: of(bler) for bler in BLER}
    verdict = judge(work, falling(series, SMALL))
    assert verdict.holds
    assert verdict.evidence.startswith("20 kB: ")
    assert verdict.evidence.endswith(" kb/s")
    assert verdict.asked == "each step falling"
    opposite = judge(work, rising(series))
    assert opposite.judgement == "contradicted"
    assert "(contradicted: 1 %" in opposite.evidence
    assert judge(work, flat(series, 0.9)).holds
    assert not judge(work, flat(series, 0.001)).holds


def test_what_is_undecided_neither_holds_nor_is_contradicted(study, work):
    of = rate.of(study.scenario(download))
    verdict = judge(work, ordered({"a": of(LOW), "b": of(LOW).under({"runs": 99})}))
    assert verdict.judgement == "undecided"
    assert "practically the margin" in verdict.effort


def test_every_check_must_hold_and_there_must_be_one(work):
    true, false = at_most(5, 5, name="five"), at_most(5, 4, unit="s")
    assert judge(work, true).holds
    assert judge(work, true).evidence == "five 5.0"
    both = judge(work, true, false)
    assert (both.judgement, both.asked) == ("contradicted", "at most 5, at most 4 s")
    with pytest.raises(InputError, match="claim `x` checks nothing"):
        judge(work)


def test_an_extreme_is_named_by_labels(study, work):
    of = rate.of(study.scenario(download))
    series = {bler: of(bler) for bler in BLER}
    verdict = judge(work, most_at(series, [LOW], LARGE))
    assert verdict.holds
    assert verdict.evidence.startswith("50 kB: most at BLER 1 %, ")
    assert verdict.asked == "most at 1 %, others worse"
    between_ends = judge(work, least_at(series, None))
    assert between_ends.judgement == "contradicted"
    assert "BLER 1 % worse by" in between_ends.evidence
    with pytest.raises(InputError, match="others beside them"):
        most_at(series, list(BLER))


def test_ordered_names_both_and_their_difference(study, work):
    of = rate.of(study.scenario(download))
    verdict = judge(work, ordered({LOW: of(LOW), HIGH: of(HIGH)}, margin=1, unit="kb/s"))
    assert verdict.holds
    assert verdict.evidence.startswith("1 % ")
    assert (", 40 % " in verdict.evidence, ", difference " in verdict.evidence) == (True, True)
    assert verdict.asked == "differences above 1 kb/s"


def test_few_equal_replications_decide_only_what_is_certain(study, tmp_path):
    equal = metric()(lambda m: m.app_bytes[..., 0] / 1000)
    of = equal.of(study.scenario(download, effort=Effort(runs=3)))
    for quick, certain, holds in ((0, 0, False), (0, 1, True), (1, 1, False)):
        work = campaign(study, tmp_path, settings=Settings(quick=bool(quick)))
        assert judge(work, at_most(of(LOW), 20, certain=bool(certain))).holds is holds


def test_facts_are_judged_by_themselves(work):
    work.facts |= {"ber": Estimate(0.0123456, 0.012, 0.013, 10**6), "states": calculated(5)}
    verdict = judge(work, between(work.study.fact("ber", "errors"), 0.01, 0.02, name="rate"))
    assert verdict.evidence == "rate 0.0123 [0.012, 0.013] errors"
    assert judge(work, at_most(work.study.fact("states"), 4)).judgement == "contradicted"
    with pytest.raises(InputError, match="did you mean `states`"):
        judge(work, at_most(work.study.fact("state"), 4))


# ---------------------------------------------------------------- what a study names


def test_shapes_and_names_are_checked(study, work):
    of = rate.of(study.scenario(download))
    table = study.table("Table 1", "x", {LOW: {"a": of(LOW), "b": 5}}, "1\n2")
    with pytest.raises(InputError, match=r"Table 1 is 1 by 2, but .* \[1, 1\]"):
        table.measure(work)
    with pytest.raises(InputError, match="two items `Table 1`"):
        study.figure("Table 1", "x", {"c": {LOW: 1}}, "y")
    with pytest.raises(InputError, match="Table 2 has no cells"):
        study.table("Table 2", "x", {})
    with pytest.raises(InputError, match="different columns"):
        study.table("Table 3", "x", {LOW: {"a": 1}, HIGH: {"b": 1}})
    points = study.figure("Figure 1", "x", {"c": {LOW: of(LOW)}}, "y", printed={"d": {LOW: 1}})
    with pytest.raises(InputError, match="no point"):
        points.measure(work)

    @study.claim("1", "Table 4")
    def a_claim():
        """Something."""

    with pytest.raises(InputError, match="claim `a-claim` names no item, `Table 4`"):
        study.check()
    with pytest.raises(InputError, match="two claims `a-claim`"):
        study.claim("1", name="a-claim", text="x")(lambda: [])
    with pytest.raises(InputError, match="no statement"):
        study.claim("1")(lambda: [])


def test_what_a_terminal_shows_is_checked(study):
    study.table("Table 1", "x", {LOW: {"a": 1, "b": 5}})
    study.show("x", "Table 1", ["b"])
    study.check()
    study.show("x", "Table 1", ["b", "bb"])
    with pytest.raises(InputError, match="names no column, `bb`; did you mean `b`"):
        study.check()
    study.show("x", "Table 2", [])
    with pytest.raises(InputError, match="names no table, `Table 2`; did you mean `Table 1`"):
        study.check()


def test_a_study_without_items_is_refused_before_it_is_measured(study, tmp_path):
    study.claim("1", text="x", name="x")(lambda: [at_most(1, 2)])
    with pytest.raises(InputError, match="no table and no figure"):
        nodeb.reproduce.run(study, tmp_path / "out")


def test_the_files_of_a_study_are_those_of_its_name(tmp_path):
    for name in ("my.py", "my.toml", "my_base.toml", "mysql.dump", "other_my.py"):
        (tmp_path / name).touch()
    found = Study(str(tmp_path / "my.py"), title="x").files()
    assert [one.name for one in found] == ["my.py", "my.toml", "my_base.toml"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ('each = 20\nunti = "kb/s"', "target `near`: unknown key `unti`; did you mean `unit`"),
        ("unit = 1", "target `near` needs exactly one of `each`"),
        ("each = 20\nleast = 3", "target `near` needs exactly one of `each`"),
        ('claims = ["fall"]', "target `near` names no claim, `fall`; did you mean `falls`"),
    ],
)
def test_targets_are_checked_before_anything_is_measured(file, counted, wrong, told):
    text = TARGET.replace('each = 20\nunit = "kb/s"', wrong)
    Path(file).with_suffix(".toml").write_text(text)
    with pytest.raises(InputError, match=told):
        nodeb.reproduce.run(file, Path(file).parent / "out")
    assert counted == []


def test_a_cell_has_the_unit_of_its_quantity(study, work):
    of = rate.of(study.scenario(download))
    rows = {LOW: {"rate": of(LOW), "change": change(of(LOW), of(HIGH))}}
    grid = study.table("Table 1", "x", rows, "100 -", near=5, runs=10).measure(work)
    first, second = grid
    assert (first.unit, second.unit, second.published) == ("kb/s", "%", None)
    assert first.tolerance.absolute == 5
    assert second.tolerance.absolute is None, "a tolerance is in the table's own unit"
    assert (first.expected.of, second.expected) == (10, None)
    assert (grid.corner, grid.rows, grid.columns) == ("BLER", ("1 %",), ("rate", "change"))


# ---------------------------------------------------------------- a whole study

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

TARGET = """
[[targets]]
id = "near"
text = "Table 1 is near"
items = ["Table 1"]
each = 20
unit = "kb/s"
"""


@pytest.fixture
def file(tmp_path) -> str:
    path = tmp_path / "tiny.py"
    path.write_text(FILE.replace("DURATION", "100 s"))
    path.with_suffix(".toml").write_text(TARGET)
    return str(path)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def files(folder: Path) -> dict[str, bytes]:
    """What a reproduction found, and what it kept."""
    names = [folder / "cells.csv", folder / "claims.csv", *sorted((folder / "cells").iterdir())]
    return {one.name: one.read_bytes() for one in names}


def test_a_study_in_a_file_of_one_s_own(file, tmp_path, call):
    status, out, err = call("reproduce", file, "--quick", "--out", tmp_path / "out")
    assert (status, err) == (0, "")
    assert "Claims: 2 of 2 hold" in out
    assert {row["study"] for row in rows(tmp_path / "out" / "cells.csv")} == {"tiny"}
    status, _, err = call("reproduce", str(tmp_path / "none.py"))
    assert (status, "there is no file" in err) == (2, True)
    (tmp_path / "empty.py").write_text("x = 1\n")
    status, _, err = call("reproduce", str(tmp_path / "empty.py"))
    assert (status, "makes no study" in err) == (2, True)
    (tmp_path / "beside_it.py").write_text("import nodeb.study\n")
    text = "from beside_it import nodeb\nstudy = nodeb.study.Study(__file__, title='T')\n"
    (tmp_path / "statistics.py").write_text(text)
    with pytest.raises(InputError, match="statistics has no table and no figure"):
        studies.load(str(tmp_path / "statistics.py"))
    assert statistics.mean([1, 3]) == 2
    (tmp_path / "wrong.py").write_text("x = 1\ny = 1 / 0\n")
    status, _, err = call("reproduce", str(tmp_path / "wrong.py"))
    assert (status, "wrong.py, line 2: ZeroDivisionError: division by zero" in err) == (2, True)
    (tmp_path / "wrong.py").write_text("x = 1\ny = = 1\n")
    status, _, err = call("reproduce", str(tmp_path / "wrong.py"))
    assert (status, "wrong.py, line 2: SyntaxError" in err) == (2, True)


def test_the_example_of_the_docs(tmp_path):
    """Sixty lines, and the law that they measure again."""
    example = Path(__file__).parents[3] / "examples" / "mathis.py"
    assert len(example.read_text("utf-8").splitlines()) <= 60
    outcome = nodeb.reproduce.run(str(example), tmp_path / "out", quick=True)
    assert all(cell.grade in ("near", "off") for cell in outcome.cells[:2])
    bound, share = outcome.claims
    assert bound.holds
    assert share.judgement != "contradicted"


def test_what_a_whole_study_writes(file, tmp_path):
    shares = []
    outcome = nodeb.reproduce.run(file, tmp_path / "out", progress=lambda s, _: shares.append(s))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    found = rows(tmp_path / "out" / "cells.csv")
    places = [(row["item"], row["row"], row["column"]) for row in found]
    assert places[:3] == [
        ("Table 1", "20 kB", "1 %"),
        ("Table 1", "20 kB", "20 %"),
        ("Table 2", "50 kB", "1 %"),
    ]
    assert places[4] == ("Figure 1", "1 %", "20 kB")
    assert {row["replications"] for row in found} == {"6"}
    assert [row["id"] for row in rows(tmp_path / "out" / "claims.csv")] == ["falls", "falls-too"]
    assert rows(tmp_path / "out" / "facts.csv")[0]["fact"] == "cases"
    assert [one.met for one in outcome.targets] != [None]
    assert outcome.headline[0] == "Table 1: Rates of 20 kB"
    assert (tmp_path / "out" / "figures" / "figure-1.svg").is_file()
    page = outcome.report.read_text("utf-8")
    assert "Rates of larger files fall." in page
    assert "nodeb reproduce tiny.py --seed 1" in page


def test_items_alone_have_the_same_cells(file, tmp_path):
    nodeb.reproduce.run(file, tmp_path / "whole")
    nodeb.reproduce.run(file, tmp_path / "one", ["table 1"])
    part, whole = (rows(tmp_path / name / "cells.csv") for name in ("one", "whole"))
    assert part == whole[:2]
    assert [row["id"] for row in rows(tmp_path / "one" / "claims.csv")] == ["falls"]
    assert not (tmp_path / "one" / "facts.csv").exists()
    with pytest.raises(InputError, match="did you mean `Table 1`"):
        nodeb.reproduce.run(file, tmp_path / "no", ["Tabel 1"])
    with pytest.raises(InputError, match="no item"):
        nodeb.reproduce.run(file, tmp_path / "no", [])


def test_a_study_goes_on_from_what_is_there(file, tmp_path, counted, monkeypatch):
    nodeb.reproduce.run(file, tmp_path / "whole", jobs=1)
    everything, simulate = runs(counted), Replicating.replicate

    def stopped(self, seed, of, control):
        if runs(counted) >= everything + 14:
            raise KeyboardInterrupt
        return simulate(self, seed, of, control)

    monkeypatch.setattr(Replicating, "replicate", stopped)
    with pytest.raises(KeyboardInterrupt):
        nodeb.reproduce.run(file, tmp_path / "cut", jobs=1)
    assert rows(tmp_path / "cut" / "cells.csv"), "what was measured is there"
    assert "interrupted" in (tmp_path / "cut" / "report.html").read_text("utf-8")
    monkeypatch.setattr(Replicating, "replicate", simulate)
    counted.clear()
    nodeb.reproduce.run(file, tmp_path / "cut", jobs=1)
    assert 0 < runs(counted) < everything
    assert files(tmp_path / "cut") == files(tmp_path / "whole")
    counted.clear()
    nodeb.reproduce.run(file, tmp_path / "cut", jobs=1)
    assert counted == []


def test_a_longer_study_goes_on_from_a_quick_one_and_back(file, tmp_path, counted):
    folder = tmp_path / "out"
    nodeb.reproduce.run(file, folder, quick=True)
    found, quick = (folder / "cells.csv").read_bytes(), runs(counted)
    nodeb.reproduce.run(file, folder)
    assert runs(counted) == 2 * quick
    nodeb.reproduce.run(file, folder, quick=True)
    assert (runs(counted), (folder / "cells.csv").read_bytes()) == (2 * quick, found)


def test_damaged_replications_are_simulated_again_and_told(file, tmp_path, counted):
    nodeb.reproduce.run(file, tmp_path / "out")
    before = files(tmp_path / "out")
    broken = sorted((tmp_path / "out" / "cells").iterdir())[0]
    broken.write_bytes(broken.read_bytes()[:-40])
    counted.clear()
    outcome = nodeb.reproduce.run(file, tmp_path / "out")
    assert (outcome.damaged, runs(counted)) == ([broken], 6)
    assert files(tmp_path / "out") == before


def test_a_new_metric_needs_no_new_simulation(file, tmp_path, counted):
    nodeb.reproduce.run(file, tmp_path / "out")
    counted.clear()
    text = Path(file).read_text().replace("m.app_bytes / m.transfer_s * 8 / 1000", "m.start_s - 7")
    Path(file).write_text(text)
    outcome = nodeb.reproduce.run(file, tmp_path / "out")
    assert counted == []
    assert max(cell.measured.value for cell in outcome.cells) < 0


def test_a_download_that_never_ends_is_reported(tmp_path):
    path = tmp_path / "cut.py"
    path.write_text(FILE.replace("DURATION", "0.5 s"))
    outcome = nodeb.reproduce.run(str(path), tmp_path / "out", quick=True)
    page = outcome.report.read_text("utf-8")
    assert "downloads did not end in 3 replications" in page
    assert not any(cell.measured.known for cell in outcome.cells)


def test_nothing_is_run_for_a_folder_that_cannot_be_written(file, tmp_path, counted):
    (tmp_path / "there").write_text("a file")
    with pytest.raises(OutputError):
        nodeb.reproduce.run(file, tmp_path / "there")
    assert counted == []


def test_a_study_is_built_quickly():
    """Cases are made when they are measured: naming hundreds takes no time."""
    begin = time.monotonic()
    for name in studies.names():
        studies.load(name)
    assert time.monotonic() - begin < 5


def test_the_mark_of_a_folder_tells_what_it_holds(file, tmp_path):
    nodeb.reproduce.run(file, tmp_path / "out", ["Table 1"], quick=True, seed=7)
    about = json.loads((tmp_path / "out" / "provenance.json").read_text())
    assert (about["seed"], about["quick"], about["items"]) == (7, True, ["Table 1"])
