"""Tests of explanations of transfers over LTE's scheduled uplink."""

import pytest

import nodeb
from nodeb.errors import InputError
from nodeb.explanation.what_if import what_if


def scenario(period="10 ms", **uplink):
    """Returns a download of 20 kB over an idle LTE cell whose uplink is scheduled."""
    radio = {"rlc": "um", "uplink": {"scheduled": {"request_period": period, **uplink}}}
    user = {
        "traffic": {"ftp": {"size": "20 kB"}},
        "ue": {"channel": {"constant": {"snr_db": 25.0}}, "category": 4},
    }
    return nodeb.Scenario.from_dict(
        {
            "duration": "10 s",
            "wired": {"rate": "1 Gbps", "delay": "10 ms"},
            "radio": {"lte": radio},
            "users": [user],
        }
    )


def test_waits_for_requests_and_grants_are_a_cause():
    found = nodeb.explain(scenario(), runs=2)
    assert "uplink grant" in found.causes
    of_grant = found.spans["cause"] == "uplink grant"
    assert set(found.spans["step"][of_grant]) == {"request awaited", "grant awaited"}
    assert set(found.spans["place"][of_grant]) == {"uplink"}


def test_frequent_requests_are_suggested_and_help():
    tried = {one.name: one for one in what_if(nodeb.explain(scenario(period="80 ms"), runs=2))}
    assert tried["requests in every subframe"].gain.mean > 0.03
    assert "uplink twice as fast" not in tried


def test_grants_ahead_shorten_the_download():
    asked, ahead = (
        one.run(runs=2).flows["download_s"].mean()
        for one in (scenario(), scenario(grants={"ahead": {"interval": "1 ms"}}))
    )
    assert ahead < asked - 0.01


def test_keys_of_links_have_no_effect():
    with pytest.raises(InputError, match=r"uplink\.rate: this has no effect"):
        scenario().with_({"uplink.rate": "1 Mbps"}).run(runs=1)


def test_wait_for_a_sleeping_phone_is_a_cause():
    drx = {"on_duration": "10 ms", "inactivity": "10 ms", "long_cycle": "640 ms"}
    sleepy = scenario().with_(
        {
            "radio.lte.drx": drx,
            "duration": "60 s",
            "users.0.traffic": {"on_off": {"burst": {"constant": {"value": "5 kB"}}}},
        }
    )
    found = nodeb.explain(sleepy, runs=4, transfer=2)
    assert found.causes[0] == "DRX"
    tried = {one.name: one for one in what_if(found)}
    assert tried["phones that always listen"].gain.mean > 0.1


def test_wait_for_a_configured_grant_is_named():
    keys = {"interval": "40 ms", "release_after": 8}
    found = nodeb.explain(scenario(grants={"configured": keys}), runs=2)
    steps = set(found.spans["step"][found.spans["cause"] == "uplink grant"])
    assert "reserved block awaited" in steps
    result = scenario(grants={"configured": keys}).run(runs=1)
    assert result.configured_grants["activations"][0] > 0


def test_promotion_of_an_idle_phone_is_a_cause():
    idle = scenario().with_({"radio.lte.rrc": {"inactivity": "1 s"}})
    found = nodeb.explain(idle, runs=2)
    assert found.causes[0] == "channel set-up and release"
    assert "connection set up" in set(found.spans["step"])
    # Random access takes up to 10 ms, and the set-up 83 ms.
    is_set_up = found.spans["step"] == "connection set up"
    lasts = (found.spans["end_ns"] - found.spans["begin_ns"])[is_set_up].sum()
    assert 83e6 <= lasts <= 94e6
    tried = {one.name: one for one in what_if(found)}
    assert tried["phones that are always connected"].gain.mean > 0.08
    table = idle.run(runs=1).connections
    assert table["promotions"][0] == 1
    assert table["connected_s"][0] > 0
    assert table["energy_j"][0] > 0


def test_idle_phones_need_a_scheduled_uplink():
    with pytest.raises(InputError, match=r"radio\.lte\.rrc: .*expected `uplink\.scheduled`"):
        nodeb.Scenario.from_dict(
            {"radio": {"lte": {"rrc": {}, "uplink": "plain"}}, "users": [{}]}
        ).run(runs=1)


def test_a_bad_interval_names_the_clause():
    with pytest.raises(
        InputError, match=r"expected 20 ms or 32 ms .*TS 36\.331, 6\.3\.2, SPS-Config"
    ):
        scenario(grants={"configured": {"interval": "30 ms"}}).run(runs=1)
