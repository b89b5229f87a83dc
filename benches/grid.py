"""Measures a TTI on a grid of groups: CPU time on one core, with 30 users and 25 groups.

    cargo build --release -p nodeb-radio --example grid_speed
    python3 benches/grid.py [--rounds N]

The best time of several runs counts. Rows with a limit fail if they exceed it.
"""

from __future__ import annotations

import argparse
import sys

from side_by_side import ROOT, run, table

SPEED = ROOT / "target/release/examples/grid_speed"
ROWS = {
    "deal_ns": ("deal, full buffers", None),
    "deal_limited_ns": ("deal to at most 6 users", None),
    "deal_short_ns": ("deal, a third of the users with little data", None),
    "sample_ns": ("channel at the next sample", 100.0),
    "between_ns": ("channel between samples", None),
    "effective_25_ns": ("effective SNR of 25 groups", None),
    "effective_4_ns": ("effective SNR of 4 groups", None),
    "tti_ns": ("3 reports, a deal and 6 blocks", 2500.0),
}
"""For each figure its name and the limit in ns, if it has one."""


def main() -> int:
    """Returns 1 if a limit was exceeded."""
    line = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    line.add_argument("--rounds", type=int, default=5, help="runs of the program (default 5)")
    rounds = line.parse_args().rounds
    if not SPEED.exists():
        sys.exit("error: build it first: cargo build --release -p nodeb-radio --example grid_speed")
    found = [run([str(SPEED), "0.2"]).figures for _ in range(rounds)]
    best = {key: min(one[key] for one in found) for key in ROWS}
    rows = [
        [name, f"{best[key]:.1f}", f"{limit:.0f}" if limit else ""]
        for key, (name, limit) in ROWS.items()
    ]
    print(table(["part of a TTI", "ns", "at most"], rows))
    good = all(best[key] <= limit for key, (_, limit) in ROWS.items() if limit)
    print("pass" if good else "FAIL")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
