"""Tests of traces of delivery opportunities: mahimahi's rule, conserved bytes, rejected traces."""

from bisect import bisect_left, bisect_right
from collections import deque
from itertools import count

import pytest

import nodeb
from scenarios import EXAMPLES

MS = 1_000_000
OPPORTUNITY, HEADER = 1504, 4

SCENARIO = """
name = "opportunities"
runs = 1
duration = "{duration}"
[wired]
rate = "1 Gbps"
delay = "7 ms"
[uplink]
delay = "11 ms"
queue.drop_tail.limit = {limit}
[radio.trace]
down.file = "{down}"
up.file = "{up}"
queue.drop_tail.limit = {limit}
[tcp.linux]
control = "cubic"
[[users]]
traffic.ftp.size = "{size}"
"""
DOWN = [3, 3, 3, 9, 10, 10, 24, 30, 31, 31, 31, 32, 45, 47, 70]
UP = [0, 5, 12, 12, 19, 26, 40, 41, 60]


def departures(times_ms, arrivals):
    """Returns the times in ns at which packets leave by mahimahi's rule (link_queue.cc).

    Args:
        times_ms: the lines of a trace.
        arrivals: time in ns and IP bytes of each packet, in order.
    """
    gone, waiting, coming = [], deque(), deque(enumerate(arrivals))
    for round_ in count():
        for at in ((round_ * times_ms[-1] + ms) * MS for ms in times_ms):
            # A packet that arrives exactly at the time of an opportunity cannot use it.
            while coming and coming[0][1][0] < at:
                number, (_, size) = coming.popleft()
                waiting.append([number, size + HEADER])
            room = OPPORTUNITY
            while room and waiting:
                sent = min(room, waiting[0][1])
                room, waiting[0][1] = room - sent, waiting[0][1] - sent
                if not waiting[0][1]:
                    waiting.popleft()
                    gone.append(at)
            if len(gone) == len(arrivals):
                return gone


def opportunities_until(times_ms, end_ns, *, included):
    """Returns the number of opportunities before `end_ns`.

    Those at `end_ns` are included if `included` is true.
    """
    rounds, rest = divmod(end_ns, times_ms[-1] * MS)
    bisect = bisect_right if included else bisect_left
    here = bisect([ms * MS for ms in times_ms], rest)
    # At the end of a round, the last opportunities of the round are at `end_ns` itself, so they are
    # subtracted.
    if not included and rest == 0 and rounds:
        return rounds * len(times_ms) - times_ms.count(times_ms[-1])
    return rounds * len(times_ms) + here


def lines(path):
    return [int(line) for line in path.read_text().split()]


def write(folder, down=DOWN, up=UP, *, duration="1000 s", limit=2000, size="300 kB"):
    """Writes a scenario and its two traces to a folder. Returns the file of the scenario."""
    for name, times in (("down", down), ("up", up)):
        (folder / name).write_text("".join(f"{ms}\n" for ms in times))
    text = SCENARIO.format(duration=duration, limit=limit, size=size, down="down", up="up")
    (folder / "trace.toml").write_text(text)
    return folder / "trace.toml"


def stays(life, place):
    """Returns arrival, departure and bytes of all packets that passed `place`, in order."""
    names = life.hops["place"].to_pylist()
    sizes = dict(
        zip(life.packets["packet"].to_pylist(), life.packets["bytes"].to_pylist(), strict=True)
    )
    rows = zip(
        life.hops["entered_ns"].to_pylist(),
        life.hops["packet"].to_pylist(),
        life.hops["left_ns"].to_pylist(),
        life.hops["end"].to_pylist(),
        names,
        strict=True,
    )
    found = sorted(row for row in rows if str(row[4]) == place and str(row[3]) == "received")
    return [(entered, left, sizes[packet]) for entered, packet, left, _, _ in found]


def agree(file, down, up, **window):
    """Checks that all packets leave both links at the times of mahimahi's rule.

    Returns their number.
    """
    life = nodeb.load(file).life(**window)
    found = 0
    for place, times, delay in (("bearer", down, 0), ("uplink", up, 11 * MS)):
        through = stays(life, place)
        arrivals = [(entered, size) for entered, _, size in through]
        wanted = [at + delay for at in departures(times, arrivals)]
        assert [left for _, left, _ in through] == wanted, place
        found += len(through)
    return found


def accounted(result, down, up):
    """Checks that used and wasted opportunities and bytes add up to those of the traces."""
    table = result.opportunities
    end_ns = round(result.bearers["end_s"][0] * 1e9)
    for row, times in enumerate((down, up)):
        cell = {name: table[name][row] for name in table.columns}
        assert cell["used"] + cell["wasted"] == cell["offered"]
        assert cell["used_bytes"] + cell["wasted_bytes"] == cell["offered_bytes"]
        assert cell["offered_bytes"] == cell["offered"] * OPPORTUNITY
        least = opportunities_until(times, end_ns, included=False)
        most = opportunities_until(times, end_ns, included=True)
        assert least <= cell["offered"] <= most
    assert list(table["way"]) == ["down", "up"]


def test_packets_leave_at_the_times_of_mahimahi(tmp_path):
    assert agree(write(tmp_path), DOWN, UP) > 250


def test_idle_hours_are_counted_at_no_cost(tmp_path):
    file = write(tmp_path, size="30 kB", duration="100 h")
    text = file.read_text().replace("traffic.ftp", 'start = "99 h"\ntraffic.ftp')
    file.write_text(text)
    result = nodeb.load(file).run()
    accounted(result, DOWN, UP)
    assert result.opportunities["offered"][0] > 99 * 3600 * 1000 / 70 * 15
    assert result.flows["complete"][0]


def test_every_byte_is_accounted_for(tmp_path):
    result = nodeb.load(write(tmp_path)).run()
    accounted(result, DOWN, UP)
    table, links, down = result.opportunities, result.links, result.bearers
    sent = down["bytes_delivered"][0] + HEADER * down["packets_delivered"][0]
    assert table["used_bytes"][0] == sent
    place = list(links["link"]).index("uplink_0")
    acks = links["bytes"][place] + HEADER * links["packets"][place]
    assert acks - 60 * 2 <= table["used_bytes"][1] <= acks


def test_saturating_sender_uses_all_opportunities(tmp_path):
    """From the first data packet to the last, every opportunity carries a packet."""
    file = write(tmp_path, size="1 MB")
    text = file.read_text().replace(
        '[tcp.linux]\ncontrol = "cubic"', "[tcp.classic]\ninitial_window = 1000\nmax_window = 1000"
    )
    file.write_text(text)
    life = nodeb.load(file).life()
    full = [left for _, left, size in stays(life, "bearer") if size == 1500]
    first, last = full[0], full[-1]
    offered = opportunities_until(DOWN, last, included=True) - opportunities_until(
        DOWN, first, included=False
    )
    assert len(full) >= 680
    # The first and the last millisecond may have further opportunities, together at most two.
    assert 0 <= offered - len(full) <= 2


def test_trace_may_stop(tmp_path):
    file = write(tmp_path, duration="10 s")
    file.write_text(file.read_text().replace("[tcp.linux]", 'at_end = "stop"\n[tcp.linux]', 1))
    result = nodeb.load(file).run()
    assert list(result.opportunities["offered"]) == [len(DOWN), len(UP)]
    assert not result.flows["complete"][0]


def test_uplink_without_a_trace_has_its_rate(tmp_path):
    file = write(tmp_path)
    text = file.read_text().replace('up.file = "up"\n', "")
    file.write_text(text.replace('delay = "11 ms"', 'delay = "11 ms"\nrate = "384 kbps"'))
    assert list(nodeb.load(file).run().opportunities["way"]) == ["down"]


@pytest.mark.parametrize(
    "content",
    [b"3\r\n3\r\n9\r\n", b"3\n3\n\n9", b"\xef\xbb\xbf# by hand\n3\n3\n9\n", b" 3\n3 \n9\n"],
)
def test_any_line_ending_is_accepted(tmp_path, content):
    file = write(tmp_path)
    (tmp_path / "down").write_bytes(content)
    radio = nodeb.load(file).to_dict()["radio"]["trace"]
    assert radio["down"]["times_ms"] == [3, 3, 9]


def test_saved_result_does_not_need_the_trace_files(tmp_path):
    scenario = nodeb.load(write(tmp_path, size="20 kB"))
    again = tmp_path / "again.toml"
    again.write_text(scenario.to_toml())
    changed = scenario.with_({"radio.trace.delay": "5 ms"})
    for name in ("down", "up"):
        (tmp_path / name).unlink()
    wanted = scenario.run().flows["download_s"][0]
    text = again.read_text()
    assert "times_ms" in text
    assert nodeb.Scenario.from_dict(scenario.to_dict()).run().flows["download_s"][0] == wanted
    assert changed.to_dict()["radio"]["trace"]["up"]["times_ms"] == UP
    assert changed.run().flows["download_s"][0] > wanted


def test_commands_accept_trace_driven_links(tmp_path, call):
    """The commands run, explain, life and sweep, and captures, accept trace-driven links."""
    file = write(tmp_path, size="40 kB")
    (tmp_path / "slow").write_text("".join(f"{ms}\n" for ms in range(20, 2000, 20)))
    assert call("validate", file)[0] == 0
    assert call("run", file, "--out", "a", "--pcap", "a.pcapng")[0] == 0
    status, out, err = call("explain", file, "--report", "why.html")
    assert status == 0, err
    assert "waiting for the scheduler" in out
    assert call("life", file, "--out", "life")[0] == 0
    swept = file.with_name("swept.toml")
    swept.write_text(file.read_text() + '[sweep]\n"radio.trace.down.file" = ["down", "slow"]\n')
    status, out, err = call("sweep", swept, "--out", "sweep")
    assert status == 0, err


def test_time_without_opportunities_is_a_separate_cause(tmp_path):
    """With one opportunity per ms, a packet never waits for an opportunity.

    With one per 20 ms, packets wait for most of the time.
    """
    for times, share in (([*range(1, 101)], 0.0), ([*range(20, 2001, 20)], 0.7)):
        found = nodeb.explain(nodeb.load(write(tmp_path, times, [*range(1, 101)])), runs=1)
        part = found.seconds("waiting for the scheduler")[0] / found.times[0]
        assert part == 0.0 if share == 0.0 else share < part < 1.0


def test_example_has_a_trace_driven_link():
    (file,) = (path for path in EXAMPLES if path.stem == "trace")
    traces = file.parent / "traces"
    down, up = lines(traces / "hand-made.down"), lines(traces / "hand-made.up")
    accounted(nodeb.load(file).run(), down, up)
