"""Tests of the headlines and the tables of explanations."""

import nodeb
from nodeb.answer import number, text
from nodeb.explanation.answer import answer
from nodeb.explanation.what_if import what_if
from nodeb.results.causes import cause_bars
from nodeb.scenario_types import Dch, Ftp, UserGroup


def explained(runs, size="50 kB"):
    users = [UserGroup(traffic=Ftp(size=size))]
    return nodeb.explain(nodeb.Scenario(radio=Dch(bler=0.1), users=users), runs=runs)


def test_single_best_change_is_named():
    said = " ".join(str(explained(4)).split("\n\n")[0].split())
    assert said.count("most") == 1
    assert "The change that targets most of the time: " in said


def test_times_and_shares_add_up_to_the_headline():
    for runs in (1, 4, 20):
        found = explained(runs)
        bars = cause_bars(found).bars
        units = {bar.value.split()[1] for bar in bars}
        assert len(units) == 1
        times = [float(bar.value.split()[0]) for bar in bars]
        assert f"{sum(times):.2f} s" == number(found.time.mean, "s")
        assert sum(int(bar.note.removesuffix(" %")) for bar in bars) == 100


def test_single_replication_has_no_intervals_and_says_why():
    found = explained(1)
    shown = text(answer(found, what_if(found, jobs=1)), everything=True)
    assert "interval  " not in shown
    assert "One replication has no interval: --runs 20 gives one." in shown
    found = explained(4)
    shown = text(answer(found, what_if(found, jobs=1)))
    assert "95 % interval" in shown
    assert "One replication" not in shown


def test_size_of_one_byte_is_singular():
    assert "(1 byte)" in str(explained(1, "1 B"))


def test_outage_is_named_as_cause():
    text_ = (
        'radio.link = { rate = "1 Mbps", outages = [{ start = "1 s", length = "1 h" }] }\n'
        '[[users]]\ntraffic.ftp.size = "200 kB"\n'
    )
    said = " ".join(str(nodeb.explain(nodeb.Scenario.from_toml(text_), runs=2)).split())
    assert "transmission (an outage)" in said
    assert "What would help most: no outage of the link" in said
    assert "faster channel" not in said
    assert "100 %" not in said


def test_interval_of_a_time_is_limited_by_the_run():
    text_ = (
        'duration = "100000 s"\nradio.hs_dsch = { bler = 0.1, max_transmissions = 1 }\n'
        '[[users]]\ntraffic.ftp.size = "20 kB"\n'
    )
    found = nodeb.explain(nodeb.Scenario.from_toml(text_), runs=2)
    assert found.time.high > 100_000
    said = " ".join(str(found).split("\n\n")[0].split())
    assert " s (95 %: 0 to 100000 s)" in said
