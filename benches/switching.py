"""Compares channel switching with ns-2, which carries the same load without switching.

    cargo build --release --example simulate
    python3 benches/switching.py [--rounds N] [--seconds T]

The scenario is one point of a study's figures: `examples/switching.toml` with eight connections for
200 000 s. ns-2 has one shared link instead of FACH and dedicated channels. So it simulates no
queues per user, and no timers, switches or signalling of the channels. The CPU time of the whole
process is compared.
"""

import statistics
import sys

from side_by_side import (
    FLAT_MIB,
    NO_NS2,
    ROOT,
    Series,
    nodeb,
    ns2,
    parser,
    peak_mib,
    table,
    take_turns,
)

SCENARIO = ROOT / "examples/switching.toml"
CONNECTIONS = 8
POLICIES = ("threshold", "preemptive", "non_preemptive", "longest_queue")

# Largest allowed ratio of nodeb's CPU time to ns-2's.
OF_NS2 = 0.08


def point(policy: str, seconds: int) -> list[str]:
    """Returns the command with which nodeb simulates one policy for `seconds` of simulated time."""
    overrides = (f"duration={seconds} s", f"users.0.count={CONNECTIONS}")
    return nodeb(SCENARIO, *overrides, f"radio.fach_dch.policy={policy}")


def cpu_s(series: Series) -> float:
    return statistics.median(process.cpu_s for process in series.done)


def speed(everyone: list[Series]) -> tuple[str, bool]:
    rows, good = [], True
    for one in everyone:
        row = [one.name, f"{one.done[0].figures['data_pkts']:.0f}", f"{cpu_s(one):.2f}"]
        if one.against and one.target is not None:
            ratio = cpu_s(one) / cpu_s(one.against)
            good &= ratio <= one.target
            verdict = "pass" if ratio <= one.target else "FAIL"
            row += [f"{ratio:.3f}", f"{one.target:.3f}", verdict]
        rows.append(row + [""] * (6 - len(row)))
    header = ["CPU time of the whole process", "packets", "s", "ratio", "target", ""]
    return table(header, rows), good


def memory(seconds: int) -> tuple[str, bool]:
    """Compares the peak memory of a run of `seconds` with that of a run a tenth as long.

    Returns both as text, and whether the longer run needs at most `FLAT_MIB` more.
    """
    short, long = (peak_mib(point(POLICIES[0], length)) for length in (seconds // 10, seconds))
    flat = not long - short > FLAT_MIB
    verdict = "flat" if flat else "FAIL: it grows"
    return f"peak memory: {short:.1f} MiB, ten times as long {long:.1f} MiB: {verdict}", flat


def main() -> int:
    """Returns 1 if a target was missed."""
    line = parser(__doc__, rounds=7)
    line.add_argument("--seconds", type=int, default=200_000, help="simulated time (200 000 s)")
    options = line.parse_args()
    if options.rounds < 1 or options.seconds < 1_000:
        line.error("expected at least 1 round and 1000 s")
    peer = ns2("bursts.tcl", options.seconds, CONNECTIONS)
    reference = Series("ns-2: one shared link", peer) if peer else None
    everyone = [reference] if reference else []
    for policy in POLICIES:
        command = point(policy, options.seconds)
        everyone.append(Series(f"nodeb: {policy}", command, reference, OF_NS2))
    take_turns(everyone, options.rounds)
    times, fast = speed(everyone)
    peaks, flat = memory(options.seconds)
    print(f"{CONNECTIONS} connections on FACH and DCH for {options.seconds} s\n")
    print(f"{times}\n{peaks}")
    if not reference:
        print(NO_NS2)
    return 0 if fast and flat else 1


if __name__ == "__main__":
    sys.exit(main())
