"""Tests: what is said of the gain of a change follows from its interval."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nodeb
from explanations import change
from nodeb.explanation import Explanation
from nodeb.explanation.answer import answer
from nodeb.explanation.differences import Part
from nodeb.explanation.replications import Path, Share
from nodeb.explanation.what_if import Pairs, WhatIf, _compared, what_if
from nodeb.scenario_types import Dch, Ftp, HsDsch, UserGroup
from nodeb.stats import Interval

RUN_S = 10.0


def interval(low, high):
    return Interval((low + high) / 2, low, high, 1.0, 4)


def effect(path_s, gain, parts):
    causes, targets = ("delayed ACK",), {"delayed ACK": path_s}
    return WhatIf("ACKs at once", gain, parts, causes, Pairs(4, 4, 0, 0), targets)


def outcome(path_s, low, high, whole_s=3.0, others=()):
    gain = interval(low, high)
    own = Part("delayed ACK", path_s, 0.0, interval(-path_s, -path_s))
    return effect(path_s, gain, [own, *others, Part("", whole_s, 0.0, gain)]).outcome


@pytest.mark.parametrize(
    ("path_s", "low", "high", "begins"),
    [
        (55.38, 17.56, 83.87, "a gain of undecided size"),
        (0.030, -0.4425, 0.2025, "undecided:"),
        (0.0, -3.3, 6.7, "undecided:"),
        (0.030, -0.05, 0.04, "undecided, but little"),
        (0.150, 0.120, 0.160, "as the path says"),
        (0.0, -0.019, 0.021, "as the path says"),
        (0.150, 0.0, 0.0, "no effect here"),
        (0.150, 0.030, 0.070, "less than the path says"),
        (0.150, -0.030, 0.070, "less, if anything"),
        (0.150, -0.070, -0.030, "a loss"),
        (0.0, -0.070, -0.030, "a loss"),
        (0.150, 0.230, 0.270, "more than the path says"),
    ],
)
def test_effect_is_denied_only_outside_the_interval(path_s, low, high, begins):
    assert outcome(path_s, low, high).startswith(begins)


@given(st.just(0.0) | st.floats(0.001, 1.0), st.floats(-1.0, 1.0), st.floats(0.0, 1.0))
def test_labels_agree_with_their_intervals(path_s, low, width):
    high = low + width
    text = outcome(path_s, low, high)
    if text.startswith(("less", "a loss")):
        assert high < path_s
    if text.startswith("more"):
        assert low > path_s
    if text.startswith("undecided"):
        assert low <= 0 <= high
    if text.startswith("a gain"):
        assert low > 0
    if text.startswith("a loss"):
        assert high < 0
    if low > 0:
        assert not text.startswith(("undecided", "a loss", "less, if"))


def test_reason_is_a_cause_with_a_significant_change():
    sure = Part("transmission", 1.0, 1.2, interval(0.1, 0.3))
    unsure = Part("timeout", 1.0, 1.5, interval(-0.5, 1.5))
    assert outcome(0.5, 0.2, 0.3, others=[sure, unsure]).endswith("transmission grows by 200 ms")
    assert "timeout" not in outcome(0.5, 0.2, 0.3, others=[unsure])
    shrinks = Part("transmission", 30000.0, 2643.0, interval(-27358.0, -27356.0))
    assert outcome(0.5, 2.0, 3.0, others=[shrinks]) == "more: transmission shrinks by 27357 s"


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.2, -0.1, "delayed ACK shrinks by 150 ms instead of 500 ms"),
        (0.1, 0.3, "delayed ACK grows by 200 ms instead of shrinking by 500 ms"),
        (0.0, 0.0, "delayed ACK stays instead of shrinking by 500 ms"),
    ],
)
def test_partially_removed_causes_are_the_reason(low, high, expected):
    own = Part("delayed ACK", 0.5, 0.5 + (low + high) / 2, interval(low, high))
    parts = [own, Part("", 3.0, 2.85, interval(-high, -low))]
    assert effect(0.5, interval(0.1, 0.2), parts).why == expected


def explanation(*times_s):
    """Explanation of transfers that take `times_s`; one that takes `RUN_S` is unfinished."""
    paths = []
    for run, taken in enumerate(times_s):
        rest = round(taken * 1e9) - 10**8
        shares = {Share("delayed ACK", place="phone"): 10**8, Share("transmission"): rest}
        paths.append(Path(run, 0.0, taken, 1000, taken < RUN_S, shares, {}))
    users = [UserGroup(traffic=Ftp(size="20 kB"))]
    return Explanation(nodeb.Scenario(radio=Dch(), users=users), 0, 0, paths)


def compared(plain, changed):
    return effect_of(explanation(*plain), explanation(*changed))


def effect_of(plain, changed):
    return _compared(plain, changed, change(plain.scenario, "ACKs at once"))


def test_gain_is_computed_from_complete_pairs():
    one = compared((3.0, 4.0, RUN_S, 6.0, 5.0), (2.9, 3.8, 9.0, RUN_S, 4.9))
    assert one.gain.n == one.pairs.both == 3
    assert one.gain.mean == pytest.approx(0.4 / 3)
    assert one.parts[-1].baseline_s == pytest.approx(4.0)
    assert one.path_s == pytest.approx(0.1)
    assert not one.complete
    assert compared((3.0, 4.0), (2.9, 3.8)).complete


def test_path_is_computed_from_the_same_pairs():
    plain, changed = explanation(3.0, 4.0, RUN_S), explanation(2.9, 3.8, RUN_S)
    plain.paths[2].shares[Share("delayed ACK", place="phone")] = 5 * 10**9
    assert effect_of(plain, changed).path_s == pytest.approx(0.1)


def test_transfer_completed_only_by_the_change_gains_at_least_the_remaining_run():
    one = compared((RUN_S, RUN_S, RUN_S), (4.0, 5.0, RUN_S))
    assert (one.gain.n, one.at_least.n) == (0, 2)
    assert math.isnan(one.path_s)
    assert (one.at_least.mean, one.changed.mean) == (5.5, 4.5)
    assert one.at_least.low >= 0


def test_user_cut_off_by_the_others_gains_at_least_the_remaining_run():
    users = [UserGroup(count=4, traffic=Ftp(size="200 kB"))]
    found = nodeb.explain(nodeb.Scenario(radio=HsDsch(), users=users, duration="10 s"), runs=3)
    assert not any(path.complete for path in found.paths)
    alone = next(one for one in what_if(found, jobs=1) if one.name == "alone in the cell")
    assert alone.at_least.n == 3
    assert alone.at_least.mean == pytest.approx(10.0 - alone.changed.mean)


def test_transfer_unfinished_in_some_replications_still_has_a_gain():
    data = {"duration": "10 s", "radio": {"hsdpa": {}}}
    data["users"] = [{"traffic": {"ftp": {"size": "200 kB"}}}]
    found = nodeb.explain(nodeb.Scenario.from_dict(data), runs=6, jobs=1)
    assert 1 < sum(path.complete for path in found.paths) < 6
    for one in what_if(found, jobs=1):
        assert one.gain.n == one.pairs.both > 1
        assert one.gain.low <= one.gain.mean <= one.gain.high


def test_a_saving_whose_interval_contains_zero_is_marked():
    users = [UserGroup(traffic=Ftp(size="60 kB"))]
    found = nodeb.explain(nodeb.Scenario(radio=Dch(bler=0.1), users=users), runs=4)
    tried = found.what_if()
    undecided = {one.name for one in tried if one.complete and one.won.low < 0 < one.won.high}
    marked = {row[0] for row in answer(found, tried).table.rows if row[1].unit.endswith("?")}
    assert undecided
    assert undecided <= marked
