"""Tests of axes and cases: each scenario occurs once, with the arguments of its function."""

from __future__ import annotations

import pytest

from nodeb.errors import InputError
from nodeb.study import Axis, Effort, Quick, each
from nodeb.study.case import Settings
from small_study import BLER, HIGH, LARGE, LOW, MIDDLE, SIZE, SMALL, campaign, download, runs


def test_points_have_labels_values_and_places():
    assert [str(one) for one in BLER] == ["1 %", "20 %", "40 %"]
    assert (LOW.value, LOW.context, LOW.x) == (0.01, "BLER 1 %", 0.01)
    assert [one.x for one in SIZE] == [0.0, 1.0], "what is no number stands in order"
    assert [one.x for one in Axis({"a": 0.1}, x=lambda share: 100 * share)] == [10.0]
    assert (BLER["20 %"], BLER["40 %", "1 %"]) == (MIDDLE, [HIGH, LOW])
    assert list(each(BLER["1 %", "20 %"], SIZE))[1] == (LOW, LARGE)
    with pytest.raises(InputError, match="did you mean `20 %`"):
        BLER["2 %"]


def test_each_case_is_simulated_once(study, tmp_path, counted):
    cases, work = study.scenario(download), campaign(study, tmp_path)
    work.measure([cases(LOW), cases(LOW, SMALL), cases(0.01, size="20 kB")])
    assert (runs(counted), work.scenarios) == (8, 1)
    with pytest.raises(InputError, match="download: missing a required argument"):
        cases()
    with pytest.raises(InputError, match="no argument `szie`"):
        cases(LOW).under(szie="50 kB")


def test_conflicting_efforts_of_a_scenario_are_rejected(study, work):
    few, many = (study.scenario(download, effort=Effort(runs=n)) for n in (2, 3))
    work.measure([few(LOW)])
    with pytest.raises(InputError, match="are one scenario, but differ"):
        work.measure([many(LOW)])
    endless = study.scenario(download, effort=Effort(runs=2), endless=True)
    with pytest.raises(InputError, match="are one scenario, but differ"):
        work.measure([endless(LOW)])


def test_changes_are_applied_to_the_scenario(study):
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


def test_functions_receive_the_arguments_they_name(study, tmp_path):
    seen = []

    def asking(bler, given, quick, warm_up_s):
        seen.append((given["model"], quick, warm_up_s))
        return download(bler)

    cases = study.scenario(asking, effort=lambda bler: Effort(runs=4 if bler < 0.1 else 2))
    settings = Settings(quick=False, warm_up_s=5.0, given={"model": "m"})
    work = campaign(study, tmp_path, settings=settings)
    assert [len(work.log(cases(bler))) for bler in (LOW, HIGH)] == [4, 2]
    assert set(seen) == {("m", False, 5.0)}


def test_short_version_has_at_least_two_replications():
    short = Quick(runs=20, cost=200)
    efforts = [short.effort(Effort(runs=400, max_runs=2000, cost=c)) for c in (1, 50, 1000)]
    assert [one.runs for one in efforts] == [20, 4, 2]
    assert short.effort(Effort(runs=400, max_runs=2000, precision=0.01)) == Effort(runs=20)


def test_precision_needs_more_runs_than_the_minimum():
    with pytest.raises(InputError, match="more than its 20 runs"):
        Effort(runs=20, max_runs=20, precision=0.01)
