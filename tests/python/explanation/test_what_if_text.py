"""Tests of texts about the gain of a change, which must agree with the numbers next to them."""

import math
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nodeb
from nodeb.answer import text as text_of
from nodeb.explanation import Explanation
from nodeb.explanation.answer import answer, savings
from nodeb.explanation.changes import CHANGES
from nodeb.explanation.differences import Part
from nodeb.explanation.replications import Path, Share
from nodeb.explanation.verdict import verdict
from nodeb.explanation.what_if import _compared, what_if
from nodeb.report.explained import page
from nodeb.scenario_types import Dch, Ftp, UserGroup
from nodeb.stats import Interval

(AT_ONCE,) = (change for change in CHANGES if change.name == "ACKs at once")
RUN_S = 10.0


def in_words(found, tried):
    """Returns the text that `--all` prints in a terminal."""
    return text_of(answer(found, tried), everything=True)


def interval(low, high):
    return Interval((low + high) / 2, low, high, 1.0, 4)


def outcome(path_s, low, high, whole_s=3.0, others=()):
    gain = interval(low, high)
    own = Part("delayed ACK", path_s, 0.0, interval(-path_s, -path_s))
    return verdict(gain, path_s, [own, *others, Part("", whole_s, 0.0, gain)], ("delayed ACK",))


SURE_GAIN = "a gain of undecided size: more replications are needed"
UNDECIDED = "undecided: more replications are needed"
LITTLE = "undecided, but little: within 2 % of the time"


@pytest.mark.parametrize(
    ("path_s", "low", "high", "expected"),
    [
        (55.38, 17.56, 83.87, SURE_GAIN),
        (0.030, -0.4425, 0.2025, UNDECIDED),
        (0.150, -13.5, 10.5, UNDECIDED),
        (0.0, -3.3, 6.7, UNDECIDED),
        (0.030, -0.05, 0.04, LITTLE),
        (0.150, 0.120, 0.160, "as the path says"),
        (0.150, 0.149, 0.149, "as the path says"),
        (0.0, -0.019, 0.021, "as the path says"),
        (0.0, 0.0, 0.0, "as the path says"),
        (0.150, 0.0, 0.0, "no effect here"),
        (0.150, 0.030, 0.070, "less than the path says"),
        (0.150, -0.030, 0.070, "less, if anything"),
        (0.150, -0.070, -0.030, "a loss"),
        (0.0, -0.070, -0.030, "a loss"),
        (0.150, 0.230, 0.270, "more than the path says"),
        (0.0, 0.030, 0.070, "more than the path says"),
    ],
)
def test_effect_is_denied_only_outside_the_interval(path_s, low, high, expected):
    assert outcome(path_s, low, high) == expected


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
    assert outcome(0.5, 0.2, 0.3, others=[sure, unsure]) == "less: transmission grows by 200 ms"
    assert outcome(0.5, 0.2, 0.3, others=[unsure]) == "less than the path says"
    assert outcome(0.5, -0.3, -0.2, others=[sure]) == "a loss: transmission grows by 200 ms"
    shrinks = Part("transmission", 30000.0, 2643.0, interval(-27358.0, -27356.0))
    assert outcome(0.5, 2.0, 3.0, others=[shrinks]) == "more: transmission shrinks by 27357 s"


def test_partially_removed_causes_are_marked():
    gain = interval(0.1, 0.2)
    own = Part("delayed ACK", 0.5, 0.35, interval(-0.2, -0.1))
    parts = [own, Part("", 3.0, 2.85, gain)]
    assert verdict(gain, 0.5, parts, ("delayed ACK",)) == "less: the cause shrinks only in part"


def explanation(*times_s):
    """Returns an artificial explanation of transfers that take `times_s` seconds. A transfer that
    takes `RUN_S` is unfinished.
    """
    paths = []
    for run, taken in enumerate(times_s):
        shares = {
            Share("delayed ACK", place="phone"): 10**8,
            Share("transmission"): round(taken * 1e9) - 10**8,
        }
        paths.append(Path(run, 0.0, taken, 1000, taken < RUN_S, shares, {}))
    users = [UserGroup(traffic=Ftp(size="20 kB"))]
    return Explanation(nodeb.Scenario(radio=Dch(), users=users), 0, 0, paths)


def compared(plain, changed):
    return _compared(explanation(*plain), explanation(*changed), AT_ONCE)


def test_gain_is_computed_from_complete_pairs():
    one = compared((3.0, 4.0, RUN_S, 6.0, 5.0), (2.9, 3.8, 9.0, RUN_S, 4.9))
    assert one.gain.n == one.pairs.both == 3
    assert one.gain.mean == pytest.approx(0.4 / 3)
    assert one.parts[-1].baseline_s == pytest.approx(4.0)
    assert one.path_s == pytest.approx(0.1)
    assert one.outcome.endswith(
        "; the transfer finishes with it and without in 3 of 5 pairs, only with it in 1, only "
        "without it in 1"
    )
    assert not one.complete
    whole = compared((3.0, 4.0), (2.9, 3.8))
    assert whole.complete
    assert "pair" not in whole.outcome


def test_path_is_computed_from_the_same_pairs():
    plain, changed = explanation(3.0, 4.0, RUN_S), explanation(2.9, 3.8, RUN_S)
    plain.paths[2].shares[Share("delayed ACK", place="phone")] = 5 * 10**9
    assert _compared(plain, changed, AT_ONCE).path_s == pytest.approx(0.1)


def test_transfer_completed_only_by_the_change_gains_at_least_the_remaining_run():
    one = compared((RUN_S, RUN_S, RUN_S), (4.0, 5.0, RUN_S))
    assert (one.gain.n, one.at_least.n) == (0, 2)
    assert math.isnan(one.path_s)
    assert (one.at_least.mean, one.changed.mean) == (5.5, 4.5)
    assert one.outcome.startswith("a gain: with the change it takes 4 (0 to 11) s, ")
    assert one.outcome.endswith("without it the run ends before; 2 of 3 pairs")
    ((_, saved, ends, path),) = savings([one]).rows
    assert (saved.value, ends[-2:], path) == ("at least 6 s \N{DAGGER}", " s", "")
    assert one.at_least.low >= 0
    alone = compared((RUN_S,), (4.0,))
    assert (
        alone.outcome
        == "a gain: with the change it takes 4 s, without it the run ends before; 1 pair"
    )


def headline_and_text(plain, changed):
    found = explanation(*plain)
    said_ = answer(found, [_compared(found, explanation(*changed), AT_ONCE)])
    return said_.headline, text_of(said_)


def test_insignificant_gain_is_not_in_the_headline():
    headline, said_ = headline_and_text((3.0, 4.0, 5.0), (2.0, 4.5, 4.9))
    assert "no gain differs from 0 significantly; the largest is ACKs at once" in headline
    assert "\N{DAGGER}" not in said_


def test_gain_refers_to_its_own_pairs_and_is_marked():
    plain = (3.0, 4.0, 5.0, 4.0, RUN_S)
    headline, said_ = headline_and_text(plain, (2.0, 3.1, 4.1, 2.9, 3.0))
    line = " ".join(headline.split())
    assert "of the 4 s in the 4 of 5 pairs that finish with it and without" in line
    assert "With ACKs at once, 5 of 5 transfers finish instead of 4." in line
    assert "s \N{DAGGER}" in said_
    assert "\N{DAGGER} Only of pairs" in said_


def test_time_on_the_path_is_explained_only_if_shown():
    _, said_ = headline_and_text((RUN_S, RUN_S), (4.0, 5.0))
    assert "ime on the path" not in said_
    assert "ime on the path" in headline_and_text((3.0, 4.0), (2.0, 3.0))[1]


def test_unknown_gain_names_the_run_that_ended_too_early():
    ends = "the run ends before the transfer"
    neither = compared((RUN_S, RUN_S), (RUN_S, RUN_S))
    assert neither.outcome == f"unknown: {ends}, with the change and without"
    changed = compared((4.0, RUN_S), (RUN_S, RUN_S))
    assert changed.outcome == f"a loss: with the change {ends}; 1 of 2 pairs"
    mixed = compared((4.0, RUN_S), (RUN_S, 4.0))
    assert mixed.outcome == f"unknown: {ends}, with the change or without"


def test_single_replication_has_no_interval_and_says_so():
    assert compared((3.0,), (2.9,)).outcome == "as the path says; 1 pair, no interval"
    assert compared((3.0, RUN_S), (2.9, 3.0)).outcome == (
        "as the path says; the transfer finishes with it and without in 1 of 2 pairs, no interval, "
        "only with it in 1"
    )


@cache
def cut_off():
    """Returns an explanation of a transfer that finishes only in some replications."""
    group = {"traffic": {"ftp": {"size": "200 kB"}}}
    data = {"duration": "10 s", "radio": {"hsdpa": {}}, "users": [group]}
    return nodeb.explain(nodeb.Scenario.from_dict(data), runs=6, jobs=1)


def test_transfer_unfinished_in_some_replications_still_has_a_gain():
    found = cut_off()
    done = [path.complete for path in found.paths]
    assert 1 < sum(done) < 6
    tried = what_if(found, jobs=1)
    for one in tried:
        assert one.gain.n == one.pairs.both > 1
        assert f"{one.pairs.both} of 6 pairs" in one.outcome
        assert one.gain.low <= one.gain.mean <= one.gain.high
    shown = page({"user 0": found, "user 1": found}, tried).replace("\u00a0", " ")
    text = " ".join(in_words(found, tried).split())
    assert "user 0's first transfer" in text
    assert "What would help" in shown
    for one in tried:
        assert one.outcome in shown
        assert one.outcome in text


def test_run_without_any_finished_transfer_has_no_gain():
    users = [UserGroup(traffic=Ftp(size="10 MB"))]
    found = nodeb.explain(nodeb.Scenario(radio=Dch(bler=0.1), users=users, duration="5 s"), runs=3)
    simulated = what_if(found, jobs=1)
    tried = {one.name: one for one in simulated}
    assert tried["no block errors"].outcome.startswith("unknown: the run ends before the transfer")
    headline = answer(found, simulated).headline
    assert headline.endswith("(its gain is unknown).")
    assert answer(found).headline.endswith("(not simulated).")


def test_user_cut_off_by_the_others_gains_at_least_the_remaining_run():
    users = [UserGroup(count=4, traffic=Ftp(size="200 kB"))]
    scenario = nodeb.Scenario(radio=nodeb.scenario_types.HsDsch(), users=users, duration="10 s")
    found = nodeb.explain(scenario, runs=3, jobs=1)
    assert not any(path.complete for path in found.paths)
    alone = next(one for one in what_if(found, jobs=1) if one.name == "alone in the cell")
    assert alone.at_least.n == 3
    assert alone.at_least.mean == pytest.approx(10.0 - alone.changed.mean)
    assert "at least" in in_words(found, [alone])


def test_a_saving_whose_interval_contains_zero_is_marked():
    users = [UserGroup(traffic=Ftp(size="60 kB"))]
    scenario = nodeb.Scenario(name="marked", radio=Dch(bler=0.1), users=users)
    found = nodeb.explain(scenario, runs=4)
    tried = found.what_if()
    undecided = {one.name for one in tried if one.complete and one.won.low < 0 < one.won.high}
    marked = {row[0] for row in savings(tried).rows if row[1].unit.endswith("?")}
    assert undecided
    assert undecided <= marked
    assert "? It may save nothing: its interval contains 0." in in_words(found, tried)
