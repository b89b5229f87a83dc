"""Measures full cells of HSDPA and LTE: simulated seconds per second of CPU time.

    cargo build --release -p nodeb-sim --example simulate
    cargo build --release -p nodeb-radio --example lte_speed
    python3 benches/cells.py [--rounds N] [--scale X]

Each user downloads a file of 100 MB over TCP and does not finish it within the run. The HSDPA
cell is that of `examples/hsdpa-cell.toml`, with fading (Pedestrian A), CQI, HARQ, reordering and
Iub. The LTE cell is that of `examples/lte-cell.toml` with 20 MHz, with fading (EPA at 3 km/h) and a
CQI per group of resource blocks. The last row is an LTE cell without TCP, whose users always have
data (`lte_speed`). The column EURANE has values for the HSDPA cells with 30 and 400 users only. The
rows of all schedulers of a cell have the same value. The values were measured with EURANE on
ns-2.29, on another machine, with fading read from files and tracing off. The CPU time is that of
the whole process including its start, which is negligible in runs of this length.
"""

import statistics
import sys
from dataclasses import dataclass

from side_by_side import ROOT, SIMULATE, Series, nodeb, parser, peak_mib, table, take_turns

FAIR = "proportional_fair"
SCHEDULERS = ("round_robin", "max_ci", FAIR)


@dataclass(frozen=True)
class Cell:
    """Cell of a radio: its number of users and the simulated time of a run.

    `least` is the minimum of simulated seconds per CPU second with proportional fair, or `None`
    without a minimum. `eurane` is EURANE's value, or `None` if it was not measured. The other
    schedulers must be at least as fast as proportional fair.
    """

    radio: str
    users: int
    seconds: float
    least: float | None = None
    eurane: float | None = None

    def command(self, scheduler: str, scale: float = 1.0) -> list[str]:
        if self.radio == "hsdpa":  # The first of its two groups is one phone.
            file, settings = "hsdpa-cell.toml", [f"users.1.count={self.users - 1}"]
        else:
            file, settings = (
                "lte-cell.toml",
                [f"users.0.count={self.users}", 'radio.lte.bandwidth="20 MHz"'],
            )
        settings += [
            f"duration={self.seconds * scale} s",
            f"radio.{self.radio}.scheduler={scheduler}",
        ]
        return nodeb(ROOT / "examples" / file, *settings)


CELLS = (
    Cell("hsdpa", 30, 300, 3_000.0, 17.0),
    Cell("hsdpa", 100, 100),
    Cell("hsdpa", 400, 40, 600.0, 0.22),
    Cell("hsdpa", 2_000, 10, 150.0),
    Cell("lte", 30, 50, 300.0),
    Cell("lte", 400, 20, 40.0),
)


# The cell of LTE without TCP: program, users, seconds, and the minimum of simulated s per CPU s.
FULL_BUFFERS = ROOT / "target/release/examples/lte_speed", 30, 50, 400.0


def rate(series: Series) -> float:
    """Returns the median of simulated seconds per CPU second over all rounds."""
    return statistics.median(done.figures["simtime"] / done.cpu_s for done in series.done)


def main() -> int:
    """Runs all cells and prints their speeds. Returns 1 if a speed is below its minimum."""
    line = parser(__doc__, rounds=7)
    line.add_argument("--scale", type=float, default=1.0, help="share of the simulated time (1)")
    line.add_argument("--radio", choices=("hsdpa", "lte"), help="only the cells of this radio")
    options = line.parse_args()
    if options.rounds < 1 or options.scale <= 0:
        line.error("expected at least 1 round and a positive scale")
    cells = [cell for cell in CELLS if options.radio in (None, cell.radio)]
    everyone = [
        (
            cell,
            Series(f"{cell.radio}, {cell.users} users, {name}", cell.command(name, options.scale)),
        )
        for cell in cells
        for name in SCHEDULERS
    ]
    program, users, seconds, least = FULL_BUFFERS
    scaled = max(1, round(seconds * options.scale))
    full = Series(
        f"lte, {users} users with full buffers, no TCP", [str(program), str(users), str(scaled)]
    )
    has_full = options.radio != "hsdpa" and program.exists()
    take_turns([series for _, series in everyone] + [full] * has_full, options.rounds)
    fair = {cell: rate(series) for cell, series in everyone if series.name.endswith(FAIR)}
    rows, good = [], True
    for cell, series in everyone:
        # The limit of round robin and maximum C/I is the speed of proportional fair, as these
        # schedulers examine less and must not take longer.
        found, limit = rate(series), cell.least if series.name.endswith(FAIR) else fair[cell]
        good &= limit is None or found >= limit
        verdict = "" if limit is None else "pass" if found >= limit else "FAIL"
        shown = "" if limit is None else f"{limit:.0f}"
        rows.append([series.name, f"{found:.1f}", shown, verdict, f"{cell.eurane or ''}"])
    if has_full:
        good &= rate(full) >= least
        verdict = "pass" if rate(full) >= least else "FAIL"
        rows.append([full.name, f"{rate(full):.1f}", f"{least:.0f}", verdict, ""])
    print(f"{SIMULATE.name}, median of {options.rounds} rounds\n")
    print(table(["simulated s per CPU s", "nodeb", "at least", "", "EURANE"], rows))
    for cell in cells:
        peak = peak_mib(cell.command(FAIR, options.scale / 10))
        print(f"peak memory, {cell.radio} with {cell.users} users: {peak:.0f} MiB")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
