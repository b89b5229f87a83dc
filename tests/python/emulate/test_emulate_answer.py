"""Tests of the headlines of emulations and replays."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

import fake_emulation
from nodeb.answer import text
from nodeb.emulate import check
from nodeb.emulate.answer import emulated, replayed


def said(outcome=None, where=""):
    found = outcome or fake_emulation.outcome()
    answer = emulated(fake_emulation.plan(), fake_emulation.options(), found, where)
    return answer, " ".join(mark.text for mark in answer.marks)


def changed(**values):
    """Returns an artificial outcome of an emulation in which `values` replace entries of the
    report.
    """
    found = fake_emulation.outcome()
    return replace(found, report=found.report | values)


def test_answer_shows_the_link_and_its_delay():
    answer, marks = said(where="out/em has the tables.")
    assert answer.headline == (
        "the link delivered 6.72 MB to 2 phones at 4.89 Mbit/s (median delay 50 ms) and 1.34 MB "
        "from 2 phones at 977 kbit/s (median delay 50 ms). It lost 12 of 5772 packets. It kept "
        "time: 99 of 100 deliveries were at most 90 us late, and none more than 2 ms."
    )
    assert "Lost to phone: 3 no room in a queue." in marks
    assert "2 packets refused: destination not behind the cell" in marks
    assert answer.notes[-1] == "out/em has the tables."
    assert [row[0] for row in answer.table.rows] == [
        *("to phone", "from phone"),
        *("to tablet", "from tablet"),
    ]


def test_late_deliveries_come_first():
    answer, _ = said(fake_emulation.outcome(late_share=0.05))
    assert answer.headline.startswith(
        "it did not keep time: 5.00% of the deliveries were more than 2 ms late; 1.00% are allowed."
    )
    assert "It kept time" not in answer.headline


def test_few_late_deliveries_are_counted():
    answer, _ = said(fake_emulation.outcome(late_share=0.002))
    assert answer.headline.endswith("at most 90 us late, and 0.2 % more than 2 ms.")


def test_suspended_machine_is_reported_as_late():
    answer, _ = said(changed(slept_s=7.0))
    assert answer.headline.startswith("it did not keep time: the machine slept for 7.0 s")


def test_answer_without_packets():
    answer, _ = said(fake_emulation.outcome(empty=True))
    assert answer.headline == (
        "no packet passed the link in 12 s. Nothing was delivered that could be late."
    )
    assert "0 us" not in text(answer, everything=True)
    assert answer.table.rows[0][4].number == "\N{EN DASH}"


def test_packets_in_transit_are_reported():
    outcome = fake_emulation.outcome()
    outcome.report["phones"][0]["down"]["offered_packets"] += 5
    assert "5 packets were still under way when this ended." in said(outcome)[1]


def test_answer_if_all_packets_are_lost():
    outcome = fake_emulation.outcome()
    for phone in outcome.report["phones"]:
        for way in ("down", "up"):
            none = {"count": 0, "p50_s": 0.0, "p99_s": 0.0, "mean_s": 0.0, "max_s": 0.0}
            phone[way] |= {"arrived_packets": 0, "arrived_bytes": 0, "delay": none}
            phone[way]["offered_packets"] = 3
    assert said(outcome)[0].headline.startswith(
        "the link delivered nothing. It lost 12 of 12 packets."
    )


def test_driver_without_priority_is_reported():
    outcome = replace(fake_emulation.outcome(), real_time=False)
    assert "SCHED_FIFO was refused" in said(outcome)[1]


# --- Tests of replays ---


@pytest.fixture
def answer_of():
    """Returns a function that creates the answer of an artificial replay; its arguments replace
    entries of the report.
    """

    def make(**values):
        report = fake_emulation.outcome().report
        report |= {"differs": None, "same": 5772, "complete": True} | values
        scenario = SimpleNamespace(name="a recording")
        recording = SimpleNamespace(scenario=scenario, seed=7, is_same_core=True)
        return replayed(recording, SimpleNamespace(report=report))

    return make


def test_identical_replay_is_reported(answer_of):
    answer = answer_of()
    assert answer.headline.startswith(
        "the same: 5772 packets arrived or were lost as they did, to the nanosecond. The link "
        "delivered 6.72 MB to 2 phones"
    )
    assert "kept time" not in answer.headline


def test_differing_replay_is_reported_first(answer_of):
    answer = answer_of(differs="packet 3 is lost here, and arrived")
    assert answer.headline.startswith("not the same: packet 3 is lost here, and arrived.")


def test_truncated_recording_is_reported(answer_of):
    assert answer_of(complete=False).marks[-1].text.startswith("The log was cut off")


@pytest.mark.parametrize(
    ("packets", "span_s", "mbps"), [(0, 0.0, 0.0), (1, 0.0, 0.0), (1000, 2.0, 5.6)]
)
def test_check_relates_bytes_and_cpu_time_to_their_own_spans(monkeypatch, packets, span_s, mbps):
    """The driver uses CPU time before the first packet arrives and after the last one."""
    found = changed(cpu_s=3.0, lasted_s=6.0)
    down = {"arrived_bytes": 1400 * packets, "arrived_packets": packets, "span_s": span_s}
    found.report["phones"][0]["down"] |= down
    monkeypatch.setattr(check, "check_system", lambda: None)
    monkeypatch.setattr(check, "emulate", lambda *_: found)
    carried = next(check.measure())
    assert (carried.got_mbps, carried.cpu) == (pytest.approx(mbps), 0.5)
