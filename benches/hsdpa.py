"""Measures a full HSDPA cell: simulated seconds per second of CPU time.

    cargo build --release --example simulate
    python3 benches/hsdpa.py [--rounds N] [--scale X]

Users in Pedestrian A download endlessly: fading, CQI, HARQ, reordering, Iub and TCP
(`examples/hsdpa-cell.toml`). The figures for comparison are those of EURANE on ns-2.29, measured on
another machine with fading read from files and tracing off. The CPU time is that of the whole
process including its start, which is negligible in runs of this length.
"""

import statistics
import sys

from side_by_side import ROOT, SIMULATE, Series, nodeb, parser, peak_mib, table, take_turns

SCENARIO = ROOT / "examples/hsdpa-cell.toml"
FAIR = "proportional_fair"
SCHEDULERS = ("round_robin", "max_ci", FAIR)

# For each cell size: users, simulated seconds, minimum of simulated seconds per CPU second with
# proportional fair, and the value of EURANE for comparison. The other schedulers must be at least
# as fast as proportional fair.
SIZES = (
    (30, 300, 3_000.0, 17.0),
    (100, 100, None, None),
    (400, 40, 600.0, 0.22),
    (2_000, 10, 150.0, None),
)


def command(users: int, seconds: float, scheduler: str) -> list[str]:
    """Returns the command that simulates a cell with this number of users and this scheduler."""
    others = f"users.1.count={users - 1}"
    return nodeb(SCENARIO, f"duration={seconds} s", others, f"radio.hsdpa.scheduler={scheduler}")


def rate(series: Series) -> float:
    """Returns the median of simulated seconds per CPU second over all rounds."""
    return statistics.median(done.figures["simtime"] / done.cpu_s for done in series.done)


def main() -> int:
    """Runs all cells and prints their speeds. Returns 1 if a speed is below its minimum."""
    line = parser(__doc__, rounds=7)
    line.add_argument("--scale", type=float, default=1.0, help="share of the simulated time (1)")
    options = line.parse_args()
    if options.rounds < 1 or options.scale <= 0:
        line.error("expected at least 1 round and a positive scale")
    everyone = [
        (size, Series(f"{size[0]} users, {name}", command(size[0], size[1] * options.scale, name)))
        for size in SIZES
        for name in SCHEDULERS
    ]
    take_turns([series for _, series in everyone], options.rounds)
    fair = {size[0]: rate(series) for size, series in everyone if series.name.endswith(FAIR)}
    rows, good = [], True
    for (users, _, least, eurane), series in everyone:
        # The limit of round robin and maximum C/I is the speed of proportional fair, as these
        # schedulers examine less and must not take longer.
        found, limit = rate(series), least if series.name.endswith(FAIR) else fair[users]
        good &= limit is None or found >= limit
        verdict = "" if limit is None else "pass" if found >= limit else "FAIL"
        shown = "" if limit is None else f"{limit:.0f}"
        rows.append([series.name, f"{found:.1f}", shown, verdict, f"{eurane or ''}"])
    print(f"{SIMULATE.name} {SCENARIO.name}, median of {options.rounds} rounds\n")
    print(table(["simulated s per CPU s", "nodeb", "at least", "", "EURANE"], rows))
    users, seconds = SIZES[-1][:2]
    peak = peak_mib(command(users, seconds * options.scale / 10, SCHEDULERS[-1]))
    print(f"peak memory with {users} users: {peak:.0f} MiB")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
