"""Tests of the first lines of a packet timeline in different cases."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow.compute as pc
import pytest

import nodeb
from nodeb import cli
from nodeb.answer import number
from nodeb.life import Life
from nodeb.life.answer import answer

CALM = 'name = "calm"\nradio.dch = {}\n[[users]]\ntraffic.ftp.size = "50 kB"\n'
LOSSY = CALM.replace("radio.dch = {}", "wired.loss = 0.05\nradio.hs_dsch.bler = 0.2")
LATE = CALM.replace("radio.dch = {}", "radio.dch = { bler = 0.6, rlc.am = {} }")


def lived(text, **window):
    return nodeb.Scenario.from_toml(text).life(**window)


def cut(life: Life, **rows) -> Life:
    """Returns the timeline `life` in which the tables `rows` replace its own."""
    return Life(life.about, life.tables | rows)


def test_answer_without_losses_or_late_packets():
    life = lived(CALM.replace("{}", "{ bler = 0.0 }"))
    found = answer(life, "calm.toml", "out/calm-life")
    median = 1e3 * np.median(times(life))
    assert found.headline == (
        f"none of {len(life.packets)} packets was lost. No data packet was late: half took "
        f"{median:.0f} ms or less, none more than twice that."
    )
    assert not found.marks
    assert found.notes[-1] == "Why it took so long: nodeb explain calm.toml"


def times(life):
    packets = life.packets.filter(
        pc.and_(
            pc.equal(life.packets["purpose"].cast("string"), "data"),
            pc.equal(life.packets["end"].cast("string"), "received"),
        )
    )
    return (packets["ended_ns"].to_numpy() - packets["sent_ns"].to_numpy()) / 1e9


def test_losses_are_counted_by_place_and_cause():
    life = lived(LOSSY)
    lost = [row for row in life.packets.to_pylist() if row["end"] == "lost"]
    assert lost
    found = answer(life)
    assert found.headline.startswith(f"{len(lost)} of {len(life.packets)} packets ")
    for (place, cause), count in Counter((one["place"], one["cause"]) for one in lost).items():
        assert f"{count} at {place} ({cause})" in found.headline


def test_late_packets_are_counted_with_the_place_of_most_delay():
    life = lived(LATE)
    took = times(life)
    late = took[took > 2 * np.median(took)]
    assert late.size
    found = answer(life).headline
    assert f"{late.size} of {took.size} data packets " in found
    assert "late, mostly at bearer" in found
    assert f"the longest {took.max():.3g} s." in found
    assert "Late: a delay of more than twice the median" in " ".join(answer(life).notes)


def test_lateness_is_relative_to_the_users_own_median():
    """A packet is late only compared with the median of its own user.

    So the packets of a slow phone do not make others late, nor are they late.
    """
    life = lived(CALM.replace("{}", "{ bler = 0.0 }").replace("[[users]]", "[[users]]\ncount = 2"))
    sent = life.packets["sent_ns"].to_numpy().astype(np.int64)
    took = life.packets["ended_ns"].to_numpy().astype(np.int64) - sent
    slow = np.where(life.packets["user"].to_numpy() == 1, 10 * took, took)
    at = life.packets.column_names.index("ended_ns")
    packets = life.packets.set_column(at, "ended_ns", [(sent + slow).astype(np.uint64)])
    assert "No data packet was late" in answer(life).headline
    assert "No data packet was late" in answer(cut(life, packets=packets)).headline


def test_packets_in_transit_are_reported():
    life = lived(CALM.replace("name", 'duration = "1 s"\nname', 1))
    count = pc.sum(pc.equal(life.packets["end"].cast("string"), "under way")).as_py()
    assert count > 1
    (mark,) = answer(life).marks
    assert mark.text == f"{count} packets were still under way when this ended."


def test_answer_if_nothing_arrived_or_nothing_was_sent():
    life = lived(CALM)
    requests = life.packets.filter(pc.equal(life.packets["purpose"].cast("string"), "ack"))
    only = cut(life, packets=requests, hops=life.hops.slice(0, 0))
    assert answer(only).headline.endswith("No data packet arrived.")
    assert answer(only).picture is None
    none = cut(life, packets=life.packets.slice(0, 0), hops=life.hops.slice(0, 0))
    assert answer(none).headline == "no packet was sent."


def test_picture_adds_up_to_the_mean_packet_time():
    life = lived(CALM)
    (packets,) = [row for row in answer(life).everything[0].rows if row[0] == "data"]
    bars = answer(life).picture.bars
    assert sum(bar.size for bar in bars) == pytest.approx(times(life).mean())
    assert packets[1].number == str(len(times(life)))
    mean = number(float(times(life).mean()), "s")
    assert answer(life).picture.head == f"mean time of a data packet at each place, {mean} in all"


def test_several_users_have_rows():
    text = CALM.replace("[[users]]", "[[users]]\ncount = 2")
    titles = [one.title for one in answer(lived(text)).everything]
    assert titles == ["Packets by purpose", "Packets by user"]
    assert [one.title for one in answer(lived(CALM)).everything] == titles[:1]


def test_page_text_and_command_agree(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calm.toml").write_text(CALM)
    assert cli.invoke(["life", "calm.toml", "--all"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("calm: none of ")
    assert "Packets by purpose" in printed
    assert "On the page: the critical path of user 0's transfer 0." in printed
    page = (tmp_path / "out/calm-life/life.html").read_text()
    assert "<h1>None of " in page
    assert str(lived(CALM)).startswith("calm: none of ")


def test_hint_repeats_user_and_settings(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.toml").write_text(CALM.replace("[[users]]", "[[users]]\ncount = 2"))
    asked = ["two.toml", "--set", "wired.delay=50 ms", "--user", "1", "--seed", "3"]
    assert cli.invoke(["life", *asked]) == 0
    hint = "nodeb explain two.toml --set 'wired.delay=50 ms' --user 1 --seed 3"
    assert hint in capsys.readouterr().out


def test_failed_slots_of_wcdma_are_not_called_blocks():
    text = "duration = '5 s'\nradio.wcdma = {}\n[[users]]\ntraffic.ftp.size = '20 kB'\n"
    assert "slots with failed frames" in [one.name for one in answer(lived(text)).facts]
    assert "blocks that failed" in [one.name for one in answer(lived(CALM)).facts]


def test_singular_is_used_for_one():
    life = lived(CALM)
    one = cut(life, packets=life.packets.slice(0, 1), hops=life.hops.slice(0, 1))
    said = " ".join(answer(one, "calm.toml").notes)
    assert " 1 packet," in said
    assert " 1 hop," in said
