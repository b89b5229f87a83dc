"""Tests: a scenario key is refused, has an effect, or has none for a reason in `NOT_REACHED`.

Every value of some small scenarios is changed, one at a time, and all tables are compared; see
`helpers/effects.py`.
"""

import json
import re

import pytest

import effects
from nodeb import _core

FTP, WEB = 'traffic.ftp.size = "100 kB"', "traffic.web = {}"
MB = 'traffic.ftp.size = "1 MB"'
FADING = "ue.channel.fading.mean_snr_db = 0"
TRACE = """ue.channel.trace.snrs_db=[1,2,3,-3,-2,4,1,0,0,0,0,0,0,0,0,0]
ue.channel.trace.cqi=[16,17,18,16,16,20,16,16,17,15,17,20,15,14,13,12]
ue.channel.trace.at_end="loop"
"""
RATES = 'ue.channel.trace = {rates=["1 Mbps","2 Mbps", "3 Mbps"], at_end="loop"}'
GILBERT = "errors = { process.gilbert_elliott = { p = 0.1, r = 0.4 } }"
DETAILS = """[radio.hsdpa]
combining="none"
max_transmissions=4
iub={}
link_adaptation.cqi={outer_loop={}, error_db=2}"""
RETRANSMITS = """[radio.hs_dsch]
channels=2
bler=0.2
scheduler="max_ci"
combining="incremental_redundancy"
"""
MOVING = 'ue.channel.cell = {distance="800 m", movement="straight", speed="100 km/h"}'
AM = 'channels = 2, bler = 0.1, rlc = "am"'
CBR = 'traffic.cbr = {size="200 B", interval="20 ms"}'

BASES = {
    "cbr": ('radio.hs_dsch = {channels=2, bler=0.1, scheduler="earliest_deadline"}', 2, CBR),
    "dch_am": (f"radio.dch = {{ {AM} }}", 2, FTP),
    "dch_combining": ('radio.hs_dsch = { bler = 0.3, combining = "chase" }', 2, FTP),
    "dch_ge": (f"radio.dch = {{ channels = 2, {GILBERT} }}", 2, FTP),
    "dch_slotted": ('radio.dch = { channels = 2, bler = 0.1, rlc = "slotted" }', 2, FTP),
    "fach": ("radio.fach_dch = {}", 4, WEB),
    "hs_am": (f"radio.hs_dsch = {{ {AM} }}", 2, FTP),
    "hs_ci": (RETRANSMITS, 3, 'ci = [1,2,3]\ntraffic.ftp.size = "200 kB"'),
    "hs_ge": (f"radio.hs_dsch = {{ channels = 2, {GILBERT} }}", 2, FTP),
    "hsdpa_const": ("radio.hsdpa = {}", 2, f"ue.channel.constant.snr_db = 0\n{MB}"),
    "hsdpa_fading": ("radio.hsdpa = {}", 2, f"{FADING}\n{MB}"),
    "hsdpa_handover": ('radio.hsdpa = {cell={radius="1 km"}, handover={}}', 4, f"{MOVING}\n{MB}"),
    "hsdpa_nocomb": (DETAILS, 3, f"{FADING}\n{MB}"),
    "hsdpa_rates": ("radio.hsdpa = {}", 2, f"{RATES}\n{MB}"),
    "hsdpa_shannon": (
        'radio.hsdpa = {link_adaptation = "shannon", rlc="am", users_per_tti = 2}',
        *(2, f"{FADING}\n{MB}"),
    ),
    "hsdpa_trace": ("radio.hsdpa = {}", 2, f"{TRACE}\n{MB}"),
    "link_bbr": ('radio.link.rate = "1 Mbps"\ntcp.linux.control="bbr"\nsnoop = {}', 2, MB),
    "link_linux": ('radio.link.rate = "1 Mbps"\ntcp.linux = {}', 2, WEB),
    "rnf": ('radio.hsdpa = {}\nproxy.rnf = {}\ncore.delay = "20 ms"', 1, f"{FADING}\n{MB}"),
    "snoop": ("radio.dch = { bler = 0.005, max_transmissions = 1 }\nsnoop = {}", 2, FTP),
    "split_dch": (
        'radio.dch = { channels = 2, bler = 0.1 }\nproxy.split = {}\ncore.delay = "20 ms"',
        *(2, "traffic.on_off = {}"),
    ),
    "wcdma_map": ('radio.wcdma = { other_cells="map", selection="per_user" }', 4, FTP),
}
"""Scenarios: keys, number of users, keys of the users."""

NOT_REACHED = [
    # Some scenarios do not fill the queue or the buffer.
    r".*\.queue\.drop_tail\.limit",
    r".*\.buffer",
    # Some scenarios end before.
    r"duration",
    # Each of the following keys is a limit that some scenarios do not reach or a timer that does
    # not expire there, or it matters only after such an event.
    r"tcp\.classic\.(era|max_rto|initial_rto|slow_start_restart|half_of_flight|clock|eifel|initial_ssthresh)",
    r"tcp\.classic\.(max_window|packet_size|delayed_ack)",
    r"tcp\.linux\.(dsack|frto|undo|tail_loss_probe|min_rto|max_rto|initial_rto|delayed_ack|slow_start_after_idle)",
    r"tcp\.linux\.control\.(bbr\.probe_rtt|cubic\.(beta|c|fast_convergence|tcp_friendliness|slow_start))",
    r"tcp\.linux\.(receive_buffer|initial_receive_buffer|send_buffer|quick_acks)",
    r"radio\.\w+\.rlc\.am\.poll\.(timer|window_share|every_pdus|last_retransmission)",
    r"radio\.(dch|hs_dsch|hsdpa)\.rlc\.am\.(tx_window|rx_window)",
    r"radio\.hsdpa\.(reordering_window|t1|processes|retransmission_delay|users_per_tti)",
    r"radio\.hsdpa\.iub\.(period|room)",
    # Each of the following keys matters only after a loss or a discard, which some scenarios do
    # not have, or is a limit that is not reached there.
    r"radio\.(dch|hs_dsch|hsdpa)\.rlc\.am\.status\.(on_missing|format|delay|prohibit)",
    r"radio\.(hs_dsch|hsdpa)\.max_transmissions",
    r"radio\.hsdpa\.(decoding|nack_error)",
    r"snoop\.(cache|dup_threshold|max_retransmissions|min_timeout|eifel)",
    # Only one packet is in transit at a time, or no packet waits behind another.
    r"radio\.(dch|hs_dsch|wcdma)\.delivery",
    # No block is retransmitted.
    r"radio\.dch\.retransmission_delay",
    # On a constant channel, the time of a CQI measurement does not matter.
    r"radio\.hsdpa\.link_adaptation\.cqi\.(cycle|delay)",
    # Blocks have one PDU.
    r"radio\.(dch|hs_dsch)\.errors\.unit",
    # No handover happens.
    r"radio\.hsdpa\.handover\.(data|interruption)",
    # Drawn values are far from these limits.
    r"users\.0\.traffic\.web\.((main|embedded)\.log_normal\.(min|max)|most_embedded)",
    # No second page begins, so no values are drawn from these distributions.
    r"users\.0\.traffic\.web\.(parsing|reading)\.exponential\.mean",
    # No silence begins, so no values are drawn from this distribution.
    r"users\.0\.traffic\.on_off\.silence\.exponential\.mean",
    # For these keys a warning says that they have no effect.
    r"radio\.fach_dch\.(paging_time|power\.pch)",
    r"users\.0\.stagger",
    r"tcp\.linux\.(ecn|pacing)",
]
"""Keys that change nothing in some of these scenarios, each below the reason."""


@pytest.mark.parametrize("name", BASES)
def test_every_key_has_an_effect_or_a_reason(name):
    lasts = f'duration="{effects.LASTS}"'
    keys, count, users = BASES[name]
    scenario = f"{keys}\n[[users]]\ncount = {count}\n{users}\n"
    text = _core.CompiledScenario.from_toml(scenario, name, [lasts]).to_json()
    idle = list(effects.idle(json.loads(text)))
    assert [key for key in idle if not re.fullmatch("|".join(NOT_REACHED), key)] == []
