"""Tests of the suggested change, which is chosen from the critical path alone and checked by
simulation.
"""

import itertools
import math
import random

import pytest

import nodeb
from explanations import advice, change
from nodeb.explanation.answer import answer
from nodeb.explanation.what_if import what_if
from nodeb.results.causes import cause_name
from nodeb.scenario_types import (
    Dch,
    DropTail,
    FachDch,
    Ftp,
    Hsdpa,
    HsDsch,
    Iub,
    LinkBearer,
    Linux,
    Opportunities,
    TraceBearer,
    UserGroup,
    Wcdma,
    Wired,
)


def download(radio, size="200 kB", count=1, **more):
    users = [UserGroup(count=count, traffic=Ftp(size=size))]
    return nodeb.Scenario(radio=radio, users=users, **more)


def named(found):
    """Returns the name of the change that targets most of the time on the path."""
    return found.levers()[0].name


def gains(found):
    return {one.name: one.won.mean for one in what_if(found, jobs=1)}


def random_scenario(number):
    """Returns a random scenario in which one to four users download or upload a file each."""
    rng = random.Random(number)
    draw = rng.choice
    radio = draw([_lte_radio, _lte_radio, _older_radio])(rng)
    is_lte = "lte" in radio
    is_plain = not is_lte or radio["lte"]["uplink"] == "plain"
    classic = {"delayed_ack": draw(["0 s", "100 ms"]), "max_window": draw([8, 42, 100])}
    linux = {
        "control": draw(["cubic", "reno", "bbr"] if is_lte else ["cubic", "reno"]),
        "pacing": draw([False, False, True]),
        "send_buffer": draw(["4 MB", "4 MB", "4 MB", "64 KiB"]),
    }
    sizes = ["5 kB", "20 kB", "50 kB", "150 kB", "400 kB"]
    ftp = {"size": draw([*sizes, "2 MB"] if is_lte else sizes)}
    down = {"traffic": {"ftp": {**ftp, "server_delay": draw(["0 s", "0 s", "0 s", "500 ms"])}}}
    traffic = draw([*[down] * 4, {"upload": {"ftp": ftp}}])
    rates = ["10 Mbps", "100 Mbps", "1 Gbps"] if is_lte else ["300 kbps", "2 Mbps", "10 Mbps"]
    data = {
        "seed": rng.randrange(1, 2**31),
        "duration": "600 s",
        "radio": radio,
        "tcp": {"linux": linux} if is_lte else draw([{"classic": classic}, {"linux": linux}]),
        "wired": {
            "rate": draw([*rates, rates[-1]]),
            "delay": draw(["5 ms", "30 ms", "110 ms", "300 ms"][: 3 if is_lte else 4]),
            "loss": draw([0.0, 0.0, 0.0, 0.01, 0.03]),
            "queue": {"drop_tail": {"limit": draw([10, 50, 1000])}},
        },
        "users": [{"count": draw([1, 1, 1, 2, 4]), "stagger": "50 ms", **traffic}],
    }
    if is_lte:
        data["users"][0]["ue"] = {"category": draw([1, 4, 6]), "channel": _lte_channel(rng)}
    if is_plain:
        up = ["500 kbps", "5 Mbps", "50 Mbps"] if is_lte else ["64 kbps", "384 kbps"]
        data["uplink"] = {"rate": draw(up), "delay": draw(["0 s", "20 ms", "60 ms"])}
    return nodeb.Scenario.from_dict(data)


def _older_radio(rng):
    draw = rng.choice
    bler, buffer = draw([0.0, 0.01, 0.1, 0.3]), draw([10, 50, 1000])
    iub = {"room": draw(["2 kB", "10 kB"]), "delay": draw(["5 ms", "15 ms", "40 ms"])}
    rate = draw(["64 kbps", "384 kbps", "2 Mbps", "10 Mbps"])
    gaps = [draw([0, 1, 1, 2, 5, 40]) for _ in range(200)]
    radios = [
        {"dch": {"bler": bler, "buffer": buffer}},
        {"dch": {"bler": bler, "buffer": buffer, "rlc": {"am": {}}}},
        {"hs_dsch": {"bler": bler, "buffer": buffer}},
        {"hsdpa": {"buffer": buffer}},
        {"hsdpa": {"buffer": buffer, "iub": iub}},
        {"fach_dch": {"dch_channels": draw([1, 2]), "switch_time": draw(["250 ms", "1 s"])}},
        {"wcdma": {"eb_n0_db": draw([8.0, 20.0])}},
        {"link": {"rate": rate, "loss": draw([0.0, 0.0, 0.01])}},
        {"trace": {"down": {"times_ms": list(itertools.accumulate(gaps, initial=1))}}},
    ]
    return draw(radios)


def _lte_radio(rng):
    draw = rng.choice
    queues = [{"drop_tail": {"limit": draw([10, 50, 1000, 1000])}}, {"codel": {}}]
    scheduled = {
        "request_period": draw(["1 ms", "10 ms", "80 ms"]),
        "first_grant": draw(["96 B", "96 B", "1.5 kB"]),
        "queue": draw(queues),
    }
    radio = {
        "bandwidth": draw(["1.4 MHz", "3 MHz", "5 MHz", "10 MHz", "15 MHz", "20 MHz"]),
        "antenna_ports": 2,
        "layers": draw([1, 1, 2]),
        "scheduler": draw(["round_robin", "proportional_fair"]),
        "rlc": draw(["am", "um"]),
        "queue": draw(queues),
        "ack_error": draw([0.0, 0.0001]),
        "uplink": draw(["plain", {"scheduled": scheduled}, {"scheduled": scheduled}]),
    }
    if draw([True, False, False]):
        cycle, inactivity = draw(["80 ms", "320 ms"]), draw(["10 ms", "100 ms"])
        radio["drx"] = {"long_cycle": cycle, "inactivity": inactivity}
    if radio["uplink"] != "plain" and draw([True, False, False]):
        radio["rrc"] = {}
    return {"lte": radio}


def _lte_channel(rng):
    draw = rng.choice
    snr_db, speed = draw([0.0, 5.0, 10.0, 20.0]), draw(["3 km/h", "120 km/h"])
    profile = draw(["extended_pedestrian_a", "extended_vehicular_a"])
    fading = {"mean_snr_db": snr_db, "speed": speed, "profile": profile}
    cell = {"distance": draw(["50 m", "150 m", "250 m"])}
    return draw([{"constant": {"snr_db": snr_db}}, {"fading": fading}, {"cell": cell}])


LITTLE = 0.02
"""Gains that differ by at most this fraction of the transfer time count as equal."""


def is_good(number):
    """Returns true if the lever named from the path alone is good, None if nothing gains.

    It is good if at most one other change gains more, and if it gains half of the best gain.
    """
    found = nodeb.explain(random_scenario(number), runs=4, jobs=1)
    if not found.complete:
        return None
    won = {one.name: one.gain.mean for one in what_if(found, jobs=1) if one.pairs.both == 4}
    slack = LITTLE * found.time.mean
    if not won or max(won.values()) <= slack:
        return None
    of_lever = won.get(next((one.name for one in found.levers()), ""), 0.0)
    better = sum(gain > of_lever + slack for gain in won.values())
    return better < 2 and of_lever >= max(won.values()) / 2 - slack


def least_good(count):
    """Returns the 0.1 % quantile of the number of good levers of `count`, if 90 % are good."""
    good = below = 0
    while 1000 * (below + math.comb(count, good) * 9**good) < 10**count:
        below += math.comb(count, good) * 9**good
        good += 1
    return good


@pytest.mark.parametrize("count", [8, pytest.param(400, marks=pytest.mark.slow)])
def test_lever_named_by_the_path_is_among_the_best_two(count):
    """The limit exceeds the 70 to 75 % that the largest cause would reach: 340 of 400."""
    goods = [good for good in map(is_good, range(count)) if good is not None]
    assert sum(goods) >= least_good(len(goods))
    assert least_good(400) == 340


NO_REMEDY = {
    "waiting for the scheduler": "a recording keeps the times of its opportunities",
    "pacing": "BBR paces in any case",
}


@pytest.mark.parametrize("number", range(40))
def test_every_large_cause_has_a_remedy(number):
    found = nodeb.explain(random_scenario(number), runs=1, jobs=1)
    targeted = {cause for remedy in found.remedies() for cause in remedy.targets(found.core)}
    large = {row["cause"] for row in found.table if row["share"] >= 0.2}
    assert large <= targeted | set(NO_REMEDY)


def test_bottleneck_link_is_named():
    """Regression test: packets that arrived during a TTI were charged to the radio instead of to
    the bottleneck link.
    """
    wired = Wired(rate="305 kbps", delay="60 ms")
    found = nodeb.explain(download(Dch(bler=0.0), "1 MB", wired=wired), runs=1)
    assert found.place("transmission") == "wired down"
    assert named(found) == "wired link twice as fast"
    won = gains(found)
    assert won["wired link twice as fast"] > 5 > 0.5 > won["radio twice as fast"]


def test_losses_that_reduce_the_window_are_the_lever():
    radio = LinkBearer(rate="5 Mbps", loss=0.01)
    found = nodeb.explain(download(radio, "2 MB", tcp=Linux(control="reno")), runs=4)
    assert found.causes[0] == "window: congestion avoidance"
    assert named(found) == "no packet losses"
    tried = what_if(found, jobs=1)
    assert tried[0].name == "no packet losses"
    assert tried[0].won.mean > found.time.mean / 2
    for text in (advice(found), found.answer.headline, answer(found, tried).headline):
        assert "no packet losses" in text


def test_largest_gain_comes_first():
    found = nodeb.explain(download(Dch(bler=0.1), "50 kB"), runs=4)
    won = [one.won.mean for one in what_if(found, jobs=1)]
    assert won == sorted(won, reverse=True)
    assert won[0] > won[-1]


def test_iub_credits_are_named_and_their_removal_gains():
    """Regression test: transmission over the Iub within a credit round trip was counted as
    propagation.
    """
    ue = {"channel": {"constant": {"snr_db": 20.0}}, "category": 10}
    group = {"traffic": {"ftp": {"size": "1 MB"}}, "ue": ue}
    data = {"radio": {"hsdpa": {"iub": {}}}, "users": [group]}
    found = nodeb.explain(nodeb.Scenario.from_dict(data), runs=2)
    assert named(found) == "credits for everything"
    assert "propagation" not in found.causes[:2]
    won = gains(found)
    assert "credits for everything" in list(won)[:2]
    assert won["credits for everything"] > 1.5


def test_halved_propagation_includes_the_iub():
    scenario = download(Hsdpa(iub=Iub(delay="40 ms")))
    nearer = nodeb.Scenario.of(change(scenario, "half the propagation delays").scenario)
    assert nearer.radio.iub.delay == "20 ms"
    found = nodeb.explain(download(Hsdpa(iub=Iub(delay="40 ms")), "5 kB"), runs=2)
    crosses = found.mean_s(lambda share: share.step == "crosses the Iub")
    assert crosses >= 0.04
    (half,) = (one for one in found.levers() if one.name == "half the propagation delays")
    assert half.path_s == pytest.approx(
        0.5 * (crosses + found.mean_s(lambda share: share.step == "propagates"))
    )


def test_unlimited_queues_are_offered_after_an_overflow():
    def offered(found):
        return {remedy.name for remedy in found.remedies()}

    lossy = nodeb.explain(download(LinkBearer(loss=0.02)), runs=3)
    assert "recovery" in lossy.causes
    assert "queues that never fill" not in offered(lossy)
    short = LinkBearer(queue=DropTail(limit=5))
    full = nodeb.explain(download(short, tcp=Linux()), runs=3)
    assert sum(path.lost.queues for path in full.paths) > 0
    assert "queues that never fill" in offered(full)
    assert all(path.lost.links == 0 for path in full.paths)
    assert "no packet losses" not in offered(full)


def test_fach_queue_suggests_a_dedicated_channel():
    """On a FACH, signalling has priority, and the queue of a single user stays below the switching
    threshold. So a dedicated channel gains more than being alone.
    """
    found = nodeb.explain(download(FachDch(), "20 kB", count=2), runs=2)
    assert found.causes[0] == "queue behind others"
    assert named(found) in ("a dedicated channel from the start", "a window that is open at once")
    assert "a dedicated channel earlier" in advice(found)
    won = gains(found)
    assert won[named(found)] > max(0.0, won["alone in the cell"])


@pytest.mark.parametrize(
    "radio",
    [
        *(Dch(bler=0.0), HsDsch(bler=0.0), Hsdpa(), Wcdma(), LinkBearer(rate="100 kbps")),
        TraceBearer(down=Opportunities(times_ms=[0, 40, 80])),
    ],
    ids=lambda radio: radio.tag,
)
def test_every_radio_can_be_made_twice_as_fast(radio):
    """If only the radio limits a download, a radio twice as fast saves about half of its time."""
    wired, tcp = Wired(rate="100 Mbps", delay="1 ms"), Linux()
    found = nodeb.explain(download(radio, "400 kB", wired=wired, tcp=tcp), runs=2, jobs=1)
    assert 0.3 < gains(found)["radio twice as fast"] / found.time.mean < 0.6


def test_open_window_fits_the_shortest_queue():
    def window(limit, count=1):
        wired = Wired(queue=DropTail(limit=limit))
        open_ = change(download(Dch(), count=count, wired=wired), "a window that is open at once")
        return nodeb.Scenario.of(open_.scenario).tcp.initial_window if open_ else None

    assert [window(20), window(20, 2), window(4), window(10_000)] == [20, 10, None, 1000]


def test_reason_is_what_a_cause_changes_beyond_its_target():
    """The changes of all causes beyond their targets add up to what the gain lacks."""
    found = nodeb.explain(download(Dch(bler=0.1), "60 kB"), runs=20)
    for one in what_if(found):
        changes = {part.cause: part.difference.mean for part in one.parts[:-1]}
        beyond = {name: change + one.targets.get(name, 0.0) for name, change in changes.items()}
        assert sum(beyond.values()) == pytest.approx(one.path_s - one.gain.mean, abs=1e-9)
        if one.why:
            sign = 1 if one.path_s > one.gain.mean else -1
            assert one.why.startswith(cause_name(max(beyond, key=lambda name: sign * beyond[name])))
    (errors,) = (one for one in what_if(found) if one.name == "no block errors")
    assert errors.why.startswith("transmission grows by ")


def test_places_have_the_names_of_the_life_command():
    core = [{"name": "near"}, {"rate": "1 Mbps"}]
    users = [{"traffic": {"ftp": {"size": "20 kB"}}}]
    for links in (core, core[1:]):
        scenario = nodeb.Scenario.from_dict({"core": links, "radio": {"link": {}}, "users": users})
        places = set(nodeb.explain(scenario, runs=1).spans["place"])
        assert places <= set(scenario.life().hops["place"].to_pylist()) | {"phone", "server"}
        assert ("core down" in places) == (len(links) == 1)
