"""Tests: the gain of a change agrees with the critical path, and is zero if the path has none of
the change's causes.
"""

import random
from functools import cache
from pathlib import Path

import pytest

import nodeb
from nodeb.answer import text as text_of
from nodeb.errors import InputError
from nodeb.explanation.answer import answer
from nodeb.explanation.what_if import what_if
from nodeb.scenario_types import Dch, Ftp, Hsdpa, Iub, UserGroup, Wcdma

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.toml"))
RUNS = 3
REACTS = {
    ("bler-sweep", "ACKs at once"): "twice as many ACKs let slow start grow twice as fast",
    ("hs-dsch-50k", "ACKs at once"): "twice as many ACKs let slow start grow twice as fast",
    ("lte-sleep", "ACKs at once"): "twice as many ACKs let slow start grow twice as fast",
    ("lte-sleep", "ACKs held back half as long"): "the timer of one ACK expires before the next "
    "segment arrives; later pairs of segments shift, and the ACK that releases the last one waits",
    ("lte-upload", "ACKs at once"): "twice as many ACKs let slow start grow twice as fast",
    ("lte-upload", "ACKs held back half as long"): "later segments shift against the TTIs, whose "
    "groups the phones share",
    ("lte-upload", "a large receive window"): "it held back packets off the path, and the phones "
    "share the uplink",
    ("proxies", "a large receive window"): "it held back packets off the path, and losses are "
    "drawn in the order of packets",
    ("tcp-schedulers", "a window that is open at once"): "the others' windows open too",
    ("trace", "ACKs at once"): "the window grows otherwise, and the queue overflows elsewhere",
    ("trace", "a large receive window"): "it held back packets off the path, which meet the queue",
}
"""Changes without a span on the path that change the times nevertheless, with the reason."""


@cache
def explained(example):
    return nodeb.explain(nodeb.load(example), runs=RUNS, jobs=1)


def in_words(found, tried):
    """Returns the text that `--all` prints in a terminal."""
    return text_of(answer(found, tried), everything=True)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_changes_modify_the_scenario(example):
    scenario = nodeb.load(example)
    for remedy in scenario.compiled().remedies(0):
        changed = nodeb.Scenario.of(remedy.scenario).to_dict()
        assert changed != scenario.resolved().to_dict()
        assert nodeb.Scenario.from_dict(changed).to_dict() == changed


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_removing_a_cause_without_a_span_changes_nothing(example):
    found = explained(example)
    assert moved_by(found) == {name for stem, name in REACTS if stem == example.stem}


TCP_REACTS = {
    *("ACKs at once", "ACKs held back half as long"),
    *("a window that is open at once", "a large receive window"),
}
"""Changes of TCP also affect packets off the path, and with them queues and the order of losses."""


@pytest.mark.slow
@pytest.mark.parametrize("number", range(40))
def test_changes_move_only_their_cause_and_tcp_reactions_in_random_scenarios(number):
    """A change without a cause on the path has no effect, unless TCP reacts to it or it affects
    shared resources.

    Shared resources are the power on `wcdma` and the order of losses on the wired link. On `wcdma`,
    retransmitted frames in a slot with new ones are part of its transmission.
    """
    found = nodeb.explain(random_scenario(number), runs=2, jobs=1)
    data = found.scenario.to_dict()
    is_shared = "wcdma" in data["radio"] or data["wired"]["loss"] > 0
    untold = {"no block errors"} if "wcdma" in data["radio"] else set()
    alone = {"alone in the cell"} if is_shared else set()
    assert moved_by(found) <= TCP_REACTS | alone | untold


def random_scenario(number):
    draw = random.Random(number).choice
    bler = draw([0.0, 0.05, 0.2])
    radio = draw(
        [
            *({"dch": {"bler": bler}}, {"dch": {"bler": bler, "rlc": {"am": {}}}}),
            *({"hsdpa": {}}, {"hsdpa": {"iub": {}, "rlc": {"am": {}}}}),
            *({"hs_dsch": {"bler": bler}}, {"fach_dch": {}}, {"wcdma": {}}),
            {"link": {"rate": draw(["384 kbps", "2 Mbps"]), "loss": draw([0.0, 0.01])}},
        ]
    )
    classic = {"delayed_ack": draw(["0 s", "100 ms"]), "max_window": draw([8, 42])}
    size = draw(["5 kB", "50 kB", "300 kB"])
    return nodeb.Scenario.from_dict(
        {
            "seed": number,
            "duration": "300 s",
            "radio": radio,
            "tcp": draw([{"classic": classic}, {"linux": {}}, {"linux": {"pacing": True}}]),
            "wired": {"delay": draw(["10 ms", "110 ms"]), "loss": draw([0.0, 0.0, 0.02])},
            "users": [{"count": draw([1, 1, 3]), "traffic": {"ftp": {"size": size}}}],
        }
    )


def moved_by(found):
    """Returns the names of the changes that alter a transfer time although no span has any of their
    causes.
    """
    moved = set()
    for remedy in found.scenario.compiled().remedies(found.user):
        if remedy.causes and not set(remedy.causes) & set(found.causes):
            changed = nodeb.Scenario.of(remedy.scenario)
            other = nodeb.explain(changed, found.user, runs=len(found.paths), jobs=1)
            times = [[path.time_ns for path in one.paths] for one in (found, other)]
            moved |= {remedy.name} if times[0] != times[1] else set()
    return moved


def of(tried, name):
    return next(one for one in tried if one.name == name)


def download(radio, size="40 kB", *, count=1, duration="1000 s"):
    users = [UserGroup(count=count, stagger="50 ms", traffic=Ftp(size=size))]
    return nodeb.Scenario(radio=radio, users=users, duration=duration)


@pytest.mark.parametrize("user", [0, 1, 2])
def test_user_with_a_dedicated_channel_is_already_alone(user):
    """On dedicated channels, the change to be alone in the cell has no effect: putting the other
    users into another group changes nothing.
    """
    found = nodeb.explain(download(Dch(bler=0.1), count=3), user=user, runs=RUNS)
    alone = of(what_if(found, jobs=1), "alone in the cell")
    assert (alone.gain.mean, alone.gain.low, alone.gain.high) == (0.0, 0.0, 0.0)


def test_user_alone_in_a_cell_waits_for_no_other():
    found = nodeb.explain(download(Hsdpa(), count=4, size="200 kB"), user=2, runs=10)
    assert "waiting for the scheduler" in found.causes
    alone = of(what_if(found, jobs=1), "alone in the cell")
    assert alone.gain.low > 0
    (own,) = [part for part in alone.parts if part.cause == "waiting for the scheduler"]
    assert own.other_s < 0.1 * own.baseline_s


def test_wcdma_delivers_the_same_frames_without_frame_errors():
    """The change that removes frame errors must deliver the same frames, without transmitting any
    that fail.
    """
    found = nodeb.explain(download(Wcdma(eb_n0_db=8.0), size="30 kB"), runs=RUNS, jobs=1)
    gain = of(what_if(found, jobs=1), "no block errors").gain
    assert gain.low > 0
    noisy, without = (
        download(Wcdma(eb_n0_db=8.0, frame_errors=errors)).run(runs=1, jobs=1).tables["cell"]
        for errors in (True, False)
    )
    assert noisy["frames_failed"].sum() > 0 == without["frames_failed"].sum()
    arrived = [int((one["frames"] - one["frames_failed"]).sum()) for one in (noisy, without)]
    assert arrived[0] == arrived[1]


def test_hsdpa_block_errors_can_be_removed():
    found = nodeb.explain(download(Hsdpa(), size="200 kB"), runs=RUNS)
    assert "HARQ round trips" in found.causes
    tried = of(what_if(found, jobs=1), "no block errors")
    (harq,) = [part for part in tried.parts if part.cause == "HARQ round trips"]
    assert (harq.baseline_s > 0, harq.other_s) == (True, 0.0)


@pytest.mark.parametrize("snr_db", [-3.0, 0.0, 5.0])
def test_removing_absent_block_errors_changes_nothing(snr_db):
    """On a constant channel no block fails, so removing block errors gains nothing."""
    group = {
        "traffic": {"ftp": {"size": "50 kB"}},
        "ue": {"channel": {"constant": {"snr_db": snr_db}}},
    }
    scenario = nodeb.Scenario.from_dict({"radio": {"hsdpa": {}}, "users": [group]})
    found = nodeb.explain(scenario, runs=RUNS, jobs=1)
    assert found.complete
    assert "HARQ round trips" not in found.causes
    tried = of(what_if(found, jobs=1), "no block errors")
    assert (tried.outcome, tried.gain.low, tried.gain.high) == ("as the path says", 0.0, 0.0)


def test_run_of_hours_can_be_simulated_alone():
    scenario = download(Dch(), size="20 kB", duration="1 h")
    found = nodeb.explain(scenario.with_({"users.0.count": 2}), runs=1, jobs=1)
    assert of(what_if(found, jobs=1), "alone in the cell").complete


def test_credits_can_be_removed():
    found = nodeb.explain(download(Hsdpa(iub=Iub(room="1 kB")), size="200 kB"), runs=RUNS)
    assert "credits" in found.causes
    tried = of(what_if(found, jobs=1), "credits for everything")
    assert tried.gain.mean > 0
    (own,) = [part for part in tried.parts if part.cause == "credits"]
    assert own.other_s == 0.0


def test_transfer_that_no_longer_starts_is_reported(monkeypatch):
    users = [UserGroup(traffic=Ftp(size="20 kB"))]
    found = nodeb.explain(nodeb.Scenario(radio=Dch(bler=0.1), users=users), runs=2)

    def none(*_):
        raise InputError("user 0 has begun no transfer 0")

    monkeypatch.setattr("nodeb.explanation.what_if.paths", none)
    tried = what_if(found, jobs=1)
    assert tried
    assert all("does not start before" in one.outcome for one in tried)
    assert "does not start" in in_words(found, tried)
