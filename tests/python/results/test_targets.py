"""Tests of the targets of outer loops that the answer of a run names as missed."""

import pytest

import nodeb
from nodeb.results.answer import answer

SCENARIO = """
duration = "20 s"
wired = {{ rate = "100 Mbps", delay = "1 ms" }}
{uplink}
[radio]
{radio}
[tcp.linux]
[[users]]
{traffic}.ftp.size = "100 MB"
ue.channel.fading = {{ mean_snr_db = {snr_db}, speed = "30 km/h" }}
"""

PLAIN = 'uplink = { rate = "10 Mbps", delay = "1 ms" }'
DOWN = 'lte = {{ bandwidth = "1.4 MHz", cqi.outer_loop = {loop} }}'
UP = 'lte = {{ bandwidth = "1.4 MHz", uplink.scheduled.outer_loop = {loop} }}'
HSDPA = "hsdpa.link_adaptation.cqi.outer_loop = {loop}"


def run(radio, runs, snr_db=12, traffic="traffic", uplink=PLAIN):
    text = SCENARIO.format(radio=radio, snr_db=snr_db, traffic=traffic, uplink=uplink)
    return nodeb.Scenario.from_toml(text).run(runs=runs)


def missed(radio, loop, runs=2, **more):
    notes = answer(run(radio.format(loop=loop), runs, **more)).notes
    return [note for note in notes if "outer loop" in note]


@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize(
    ("radio", "key"),
    [(DOWN, "radio.lte.cqi"), (HSDPA, "radio.hsdpa.link_adaptation.cqi")],
)
def test_a_limit_that_misses_the_target_is_named(radio, key, runs):
    # 1 dB below the reports, more than 30 % of the blocks fail if reports say little about the SNR.
    (sentence,) = missed(radio, "{ target_bler = 0.05, limit_db = 1.0 }", runs)
    assert f"{key}.outer_loop.limit_db" in sentence
    assert "5 %" in sentence


@pytest.mark.parametrize("radio", [DOWN, HSDPA])
def test_a_target_that_is_met_is_not_named(radio):
    assert missed(radio, "{ target_bler = 0.1 }") == []


def test_a_loop_whose_blocks_fail_too_seldom_is_not_named():
    assert missed(DOWN, "{ target_bler = 0.5, limit_db = 0.5 }", snr_db=40) == []


def test_the_uplink_has_its_own_target():
    # The base station knows the SNR 4 subframes before a block.
    loop = "{ target_bler = 0.01, limit_db = 0.1 }"
    (sentence,) = missed(UP, loop, traffic="upload", uplink="")
    assert "radio.lte.uplink.scheduled.outer_loop.limit_db" in sentence


def test_runs_without_a_loop_have_no_target():
    assert missed("lte = {{}}", "") == []
