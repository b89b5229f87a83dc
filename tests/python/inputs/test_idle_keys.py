"""Tests: a scenario key is refused, has an effect, or has none for a reason in `NOT_REACHED`.

Every value of some small scenarios is changed, one at a time, and all tables are compared; see
`tools/effects.py`.
"""

import json
import re

import effects
import pytest

from nodeb import _core

BASES = {
    "cbr": """
radio.hs_dsch = { channels = 2, bler = 0.1, scheduler="earliest_deadline" }
[[users]]
count = 2
traffic.cbr = {size="200 B", interval="20 ms"}
""",
    "dch_am": """
radio.dch = { channels = 2, bler = 0.1, rlc = "am" }
[[users]]
count = 2
traffic.ftp.size = "100 kB"
""",
    "dch_combining": """
radio.hs_dsch = { bler = 0.3, combining = "chase" }
[[users]]
count = 2
traffic.ftp.size = "100 kB"
""",
    "dch_ge": """
radio.dch = { channels = 2, errors = { process.gilbert_elliott = { p = 0.1, r = 0.4 } } }
[[users]]
count = 2
traffic.ftp.size = "100 kB"
""",
    "dch_slotted": """
radio.dch = { channels = 2, bler = 0.1, rlc = "slotted" }
[[users]]
count = 2
traffic.ftp.size = "100 kB"
""",
    "fach": """
radio.fach_dch = {}
[[users]]
count = 4
traffic.web = {}
""",
    "hs_am": """
radio.hs_dsch = { channels = 2, bler = 0.1, rlc = "am" }
[[users]]
count = 2
traffic.ftp.size = "100 kB"
""",
    "hs_ci": """
radio.hs_dsch.channels = 2
radio.hs_dsch.bler = 0.2
radio.hs_dsch.combining="incremental_redundancy"
radio.hs_dsch.scheduler = "max_ci"
[[users]]
count = 3
ci = [1,2,3]
traffic.ftp.size = "200 kB"
""",
    "hs_ge": """
radio.hs_dsch = { channels = 2, errors = { process.gilbert_elliott = { p = 0.1, r = 0.4 } } }
[[users]]
count = 2
traffic.ftp.size = "100 kB"
""",
    "hsdpa_const": """
radio.hsdpa = {}
[[users]]
count = 2
ue.channel.constant.snr_db = 0
traffic.ftp.size = "1 MB"
""",
    "hsdpa_fading": """
radio.hsdpa = {}
[[users]]
count = 2
ue.channel.fading.mean_snr_db = 0
traffic.ftp.size = "1 MB"
""",
    "hsdpa_handover": """
radio.hsdpa = { cell={radius="1 km"}, handover={} }
[[users]]
count = 4
ue.channel.cell = {distance="800 m", movement="straight", speed="100 km/h"}
traffic.ftp.size = "1 MB"
""",
    "hsdpa_nocomb": """
radio.hsdpa.combining="none"
radio.hsdpa.max_transmissions=4
radio.hsdpa.iub={}
radio.hsdpa.link_adaptation.cqi={outer_loop={}, error_db=2}
[[users]]
count = 3
ue.channel.fading.mean_snr_db = 0
traffic.ftp.size = "1 MB"
""",
    "hsdpa_rates": """
radio.hsdpa = {}
[[users]]
count = 2
ue.channel.trace = {rates=["1 Mbps","2 Mbps", "3 Mbps"], at_end="loop"}
traffic.ftp.size = "1 MB"
""",
    "hsdpa_shannon": """
radio.hsdpa = {link_adaptation = "shannon", rlc="am", users_per_tti = 2}
[[users]]
count = 2
ue.channel.fading.mean_snr_db = 0
traffic.ftp.size = "1 MB"
""",
    "hsdpa_trace": """
radio.hsdpa = {}
[[users]]
count = 2
ue.channel.trace.snrs_db=[1,2,3,-3,-2,4,1,0,0,0,0,0,0,0,0,0]
ue.channel.trace.cqi=[16,17,18,16,16,20,16,16,17,15,17,20,15,14,13,12]
ue.channel.trace.at_end="loop"
traffic.ftp.size = "1 MB"
""",
    "link_bbr": """
radio.link = { rate = "1 Mbps" }
tcp.linux = {control="bbr"}
snoop = {}
[[users]]
count = 2
traffic.ftp.size = "1 MB"
""",
    "link_linux": """
radio.link = { rate = "1 Mbps" }
tcp.linux = {}
[[users]]
count = 2
traffic.web = {}
""",
    "rnf": """
radio.hsdpa = { }
proxy.rnf = {}
core = {delay="20 ms"}
[[users]]
count = 1
ue.channel.fading.mean_snr_db = 0
traffic.ftp.size = "1 MB"
""",
    "snoop": """
radio.dch = { bler = 0.005, max_transmissions = 1 }
snoop = {}
[[users]]
count = 2
traffic.ftp.size = "100 kB"
""",
    "split_dch": """
radio.dch = { channels = 2, bler = 0.1 }
proxy.split = {}
core = {delay="20 ms"}
[[users]]
count = 2
traffic.on_off = {}
""",
    "wcdma_map": """
radio.wcdma = { other_cells="map", selection="per_user" }
[[users]]
count = 4
traffic.ftp.size = "100 kB"
""",
}

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
    text = _core.CompiledScenario.from_toml(BASES[name], name, [lasts]).to_json()
    idle = list(effects.idle(json.loads(text)))
    assert [key for key in idle if not re.fullmatch("|".join(NOT_REACHED), key)] == []
