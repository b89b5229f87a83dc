"""Compares turbo decoding with IT++: CPU time on one core.

    cargo build --release -p nodeb-phy --example turbo_speed
    python3 benches/turbo.py [--rounds N]

Blocks of 3840 bits in the turbo code of TS 25.212 are decoded at 1 dB, with three iterations and no
early stop; max-log-MAP scales extrinsics by 0.75. All rounds of a program follow each other, and
the best time of each program counts.
Without IT++ (Debian: `apt install libitpp-dev`) and a C++ compiler nodeb is measured alone.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from side_by_side import ROOT, run, table

SPEED = ROOT / "target/release/examples/turbo_speed"
SOURCE = ROOT / "benches/itpp/turbo.cpp"
K, ITERATIONS, EB_N0_DB = "3840", "3", "1.0"
TARGET = 100.0
"""Minimum speed of decoding with max-log-MAP in 16 bits, Mbit/s."""
CASES = {
    "nodeb: max-log-MAP, 16 bits": ("max_log_map", []),
    "nodeb: the same, baseline instructions": ("max_log_map", ["baseline"]),
    "nodeb: max-log-MAP, float": ("max_log_map_float", []),
    "nodeb: log-MAP, float": ("log_map", []),
}


def itpp(folder: Path) -> list[str] | None:
    config, compiler = shutil.which("itpp-config"), shutil.which("g++")
    if not (config and compiler):
        return None
    flags = subprocess.check_output([config, "--cflags", "--libs"], text=True)
    program = folder / "turbo"
    command = [compiler, "-O3", "-march=native", str(SOURCE), "-o", str(program)]
    subprocess.run([*command, *shlex.split(flags)], check=True)
    return [str(program), K, ITERATIONS, EB_N0_DB, "160"]


def main() -> int:
    """Runs all decoders and prints their speeds. Returns 1 if the target was missed."""
    line = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    line.add_argument("--rounds", type=int, default=7, help="runs of each program (default 7)")
    rounds = line.parse_args().rounds
    if not SPEED.exists():
        sys.exit("error: build it first: cargo build --release -p nodeb-phy --example turbo_speed")
    base = [str(SPEED), K, ITERATIONS, EB_N0_DB]
    commands = {name: [*base, how, "0.5", *more] for name, (how, more) in CASES.items()}
    with tempfile.TemporaryDirectory() as folder:
        peer = itpp(Path(folder))
        if peer:
            commands["IT++: max-log-MAP, double"] = peer
        found = {name: [run(c).figures for _ in range(rounds)] for name, c in commands.items()}
    best = {name: max(one["mbit_per_s"] for one in figures) for name, figures in found.items()}
    slowest = best.get("IT++: max-log-MAP, double")
    rows = [
        [
            name,
            f"{rate:.2f}",
            f"{found[name][0]['wrong'] / found[name][0]['blocks']:.2f}",
            f"{rate / slowest:.0f}" if slowest else "",
        ]
        for name, rate in best.items()
    ]
    print(f"turbo code, K = {K}, {ITERATIONS} iterations, {EB_N0_DB} dB, one core\n")
    print(table(["decoder", "Mbit/s", "FER", "times IT++"], rows))
    fast = best["nodeb: max-log-MAP, 16 bits"] >= TARGET
    print(f"target: {TARGET:.0f} Mbit/s: {'pass' if fast else 'FAIL'}")
    if not slowest:
        print("IT++ is not installed (Debian: apt install libitpp-dev): nothing to compare with.")
    return 0 if fast else 1


if __name__ == "__main__":
    sys.exit(main())
