"""Compares thirty FTPs through one bottleneck with ns-2: CPU time per packet.

    cargo build --release --example simulate
    python3 benches/many.py [--rounds N] [--seconds T]

The bottleneck has 10 Mb/s and a queue of 100 packets, so that flows lose packets continuously: the
time contains each variant's recovery as well as its transmissions. In ns-2 each flow has its own
links; in nodeb each phone has a link and an uplink.
"""

import sys
import tempfile
from pathlib import Path

from side_by_side import NO_NS2, Series, nodeb, ns2, parser, speed, take_turns

FLOWS = 30

SCENARIO = f"""
runs = 1
[wired]
rate = "10 Mbps"
delay = "20 ms"
queue.drop_tail.limit = 100
[radio.link]
rate = "100 Mbps"
delay = "1 ms"
[uplink]
rate = "100 Mbps"
delay = "6 ms"
[[users]]
count = {FLOWS}
stagger = "10 ms"
traffic.ftp.size = "100 GB"
"""

CLASSIC = 'packet_size = "1000 B", max_window = 64, initial_ssthresh = 64, delayed_ack = "0 s"'

# Variants of TCP: their names in ns-2 and in nodeb. nodeb's CPU time may be at most the fraction
# `OF_NS2` of that of ns-2.
SAME = (("Newreno", "newreno"), ("Sack1", "sack"))
OF_NS2 = 0.15

# Congestion controls that are not compared with ns-2, each with the allowed multiple of the CPU
# time of nodeb's NewReno.
OF_LINUX = {"cubic": 1.2, "bbr": 1.3, "bbr3": 1.3}


def main() -> int:
    """Returns 1 if a target was missed."""
    line = parser(__doc__, rounds=7)
    line.add_argument("--seconds", type=int, default=1000, help="simulated time (default 1000 s)")
    options = line.parse_args()
    if options.rounds < 1 or options.seconds < 10:
        line.error("expected at least 1 round and 10 s")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "many.toml"
        file.write_text(SCENARIO)
        everyone: list[Series] = []

        def ours(name: str, tcp: str, against: Series | None, target: float) -> Series:
            command = nodeb(file, f"duration={options.seconds} s", f"tcp={{ {tcp} }}")
            return Series(f"nodeb: {name}", command, against, target)

        for theirs, name in SAME:
            peer = ns2("many.tcl", theirs, FLOWS, options.seconds)
            reference = Series(f"ns-2: {name}", peer) if peer else None
            tcp = f'classic = {{ control = "{name}", {CLASSIC} }}'
            everyone += [reference] if reference else []
            everyone.append(ours(name, tcp, reference, OF_NS2))
        newreno = next(one for one in everyone if one.name == "nodeb: newreno")
        for name, target in OF_LINUX.items():
            tcp = f'linux = {{ control = "{name}", packet_size = "1000 B" }}'
            everyone.append(ours(name, tcp, newreno, target))
        take_turns(everyone, options.rounds)
    times, fast = speed(everyone)
    print(f"{FLOWS} FTPs for {options.seconds} s, {options.rounds} rounds in turns\n\n{times}")
    if not everyone[0].name.startswith("ns-2"):
        print(NO_NS2)
    return 0 if fast else 1


if __name__ == "__main__":
    sys.exit(main())
