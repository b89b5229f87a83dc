"""Tests: the named change helps where one known limit bounds the transfer."""

import pytest

import nodeb
from nodeb.explanation.what_if import what_if


def lte(size, channel, *, upload=False, wired=None, **keys):
    """Returns a transfer over a cell of 5 MHz; the uplink is scheduled in an upload."""
    traffic = {"ftp": {"size": size}}
    data = {
        "duration": "60 s",
        "wired": {"delay": "10 ms"} | (wired or {}),
        "radio": {"lte": {"bandwidth": "5 MHz", **keys}},
        "tcp": {"linux": {}},
        "users": [{"upload" if upload else "traffic": traffic, "ue": {"channel": channel}}],
    }
    if not upload:
        data["uplink"] = {"rate": "5 Mbps", "delay": "5 ms"}
    return nodeb.Scenario.from_dict(data)


FAST = {"mean_snr_db": 8.0, "speed": "120 km/h", "profile": "extended_vehicular_a"}
BAD_BLOCKS = lte("200 kB", {"fading": FAST}, ack_error=0.0001)
SHORT_QUEUE = lte(
    "200 kB",
    {"constant": {"snr_db": 10.0}},
    wired={"rate": "1 Gbps", "delay": "40 ms"},
    queue={"drop_tail": {"limit": 10}},
)
NARROW = lte("2 MB", {"constant": {"snr_db": 10.0}})
SMALL_BUFFER = nodeb.Scenario.from_dict(
    {
        "duration": "60 s",
        "wired": {"rate": "1 Gbps", "delay": "50 ms"},
        "uplink": {"rate": "100 Mbps", "delay": "0 s"},
        "radio": {"link": {"rate": "100 Mbps"}},
        "tcp": {"linux": {"send_buffer": "128 KiB"}},
        "users": [{"traffic": {"ftp": {"size": "10 MB"}}}],
    }
)


def explained(scenario):
    found = nodeb.explain(scenario, runs=4)
    return found, {one.name: one.won.mean for one in what_if(found)}


def keys(scenario, **changes):
    """Returns the mean duration of the transfer in a scenario with other values."""
    return nodeb.explain(scenario.with_(changes), runs=4).time.mean


@pytest.mark.parametrize(
    ("scenario", "names"),
    [
        (BAD_BLOCKS, {"no block errors"}),
        (SHORT_QUEUE, {"queues that never fill"}),
        (NARROW, {"a wider band", "a second layer", "3 dB more signal"}),
        (SMALL_BUFFER, {"a large send buffer"}),
    ],
    ids=["block errors", "short queue", "narrow band", "small send buffer"],
)
def test_the_limit_is_named_and_its_removal_helps(scenario, names):
    found, won = explained(scenario)
    named = found.levers()[0]
    assert named.name in names
    assert won[named.name] > 0.5 * named.path_s
    assert won[named.name] > 0.5 * max(won.values())


def test_gain_of_an_unlimited_queue_is_that_of_its_key():
    found, won = explained(SHORT_QUEUE)
    longer = keys(SHORT_QUEUE, **{"radio.lte.queue": {"drop_tail": {"limit": 10_000}}})
    assert won["queues that never fill"] == pytest.approx(found.time.mean - longer)


def test_full_send_buffer_is_no_lack_of_data():
    found, won = explained(SMALL_BUFFER)
    assert found.causes[0] == "window: send buffer"
    assert "application" not in found.causes
    large = keys(SMALL_BUFFER, **{"tcp.linux.send_buffer": "16 MB"})
    assert won["a large send buffer"] == pytest.approx(found.time.mean - large, rel=1e-3)
    assert won["a large send buffer"] > 6.8


def test_queue_of_a_scheduled_uplink_is_lengthened():
    uplink = {"scheduled": {"queue": {"drop_tail": {"limit": 10}}}}
    wired = {"rate": "1 Gbps", "delay": "40 ms"}
    up = lte("200 kB", {"constant": {"snr_db": 10.0}}, upload=True, wired=wired, uplink=uplink)
    found, won = explained(up)
    assert sum(path.lost.queues for path in found.paths) > 0
    assert won["queues that never fill"] > 0.1 * found.time.mean


def test_first_grant_for_all_data_saves_the_second_one():
    uplink = {"scheduled": {"request_period": "1 ms"}}
    up = lte("400 B", {"constant": {"snr_db": 10.0}}, upload=True, uplink=uplink)
    found, won = explained(up)
    # A grant follows the report in the first block after 4 subframes, and a block after 4 more.
    assert won["a large first grant"] == pytest.approx(0.008)
    further = found.mean_s(lambda share: share.step == "further grant awaited")
    assert further == pytest.approx(0.007, abs=1e-3)


def test_pacing_is_not_named_while_the_link_is_busy():
    data = NARROW.with_({"tcp.linux.pacing": True, "users.0.traffic.ftp.size": "4 MB"})
    found, won = explained(data)
    paced = next((one.path_s for one in found.levers() if one.name == "no pacing"), 0.0)
    assert paced <= max(won.get("no pacing", 0.0), 0.0) + 0.02 * found.time.mean
