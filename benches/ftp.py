"""Compares one long FTP with ns-2: CPU time per packet and memory.

    cargo build --release --example simulate
    python3 benches/ftp.py [--rounds N] [--size BYTES]

ns-2 carries the file over a wire of 384 kb/s; nodeb carries it over the same wire, and over a DCH
and an HS-DSCH of 384 kb/s, block by block.
"""

import sys
import tempfile
from pathlib import Path

from side_by_side import (
    FLAT_MIB,
    NO_NS2,
    Series,
    nodeb,
    ns2,
    parser,
    peak_mib,
    speed,
    table,
    take_turns,
)

# The file has no keys of the fixed network and TCP: nodeb's defaults equal the settings in
# ns2/ftp.tcl.
SCENARIO = """
runs = 1
duration = "1000000 s"
[[users]]
traffic.ftp.size = "16 MB"
"""

# Minimum size of the shorter transfer in bytes, which is enough to fill every queue and buffer.
SMALL_BYTES = 16_000_000

# Name of each case, option that selects its bearer, and allowed share of ns-2's CPU time per
# packet.
CASES = (
    ("wire, 384 kb/s", "radio=link", 0.15),
    ("DCH, BLER 1 %", "radio.dch.bler=0.01", 0.40),
    ("DCH, BLER 10 %", "radio.dch.bler=0.1", 0.40),
    ("HS-DSCH 2 ms, BLER 1 %", "radio.hs_dsch.bler=0.01", 0.60),
    ("HS-DSCH 2 ms, BLER 10 %", "radio.hs_dsch.bler=0.1", 0.60),
)


def same_transfer(ours: Series, theirs: Series) -> str:
    """Returns the end times of the transfer over the wire in nodeb and in ns-2 as text."""
    ends = [one.done[0].figures["simtime"] for one in (ours, theirs)]
    return f"end of the transfer over the wire: nodeb {ends[0]:.1f} s, ns-2 {ends[1]:.1f} s"


def memory(long: list[Series], size: int) -> tuple[str, bool]:
    """The second value is true if nodeb's peak memory grows by at most `FLAT_MIB`."""
    small = max(size // 100, SMALL_BYTES)
    header = ["peak memory in MiB", f"{small / 1e6:g} MB", f"{size / 1e6:g} MB", ""]
    rows, good = [], True
    for one in long:
        command = [word.replace(str(size), str(small)) for word in one.command]
        before, after = peak_mib(command), peak_mib(one.command)
        flat = not after - before > FLAT_MIB
        verdict = ""
        if one.name.startswith("nodeb"):
            verdict = "flat" if flat else "FAIL: it grows"
            good &= flat
        rows.append([one.name, f"{before:.1f}", f"{after:.1f}", verdict])
    return table(header, rows), good


def main() -> int:
    """Returns 1 if a target was missed."""
    line = parser(__doc__, rounds=7)
    line.add_argument(
        "--size", type=int, default=1_600_000_000, help="bytes of the file (default 1.6 GB)"
    )
    options = line.parse_args()
    if options.rounds < 1 or options.size < 2 * SMALL_BYTES:
        line.error("expected at least 1 round and 32 MB")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ftp.toml"
        file.write_text(SCENARIO)
        size = f"users.0.traffic.ftp.size={options.size} B"
        peer = ns2("ftp.tcl", options.size)
        reference = Series("ns-2: wire, 384 kb/s", peer) if peer else None
        ours = [
            Series(f"nodeb: {name}", nodeb(file, size, radio), reference, target)
            for name, radio, target in CASES
        ]
        everyone = [*([reference] if reference else []), *ours]
        take_turns(everyone, options.rounds)
        times, fast = speed(everyone)
        peaks, flat = memory(everyone, options.size)
    print(f"one FTP of {options.size / 1e6:g} MB, {options.rounds} rounds in turns\n\n{times}")
    print(same_transfer(ours[0], reference) if reference else NO_NS2)
    print(f"\n{peaks}")
    return 0 if fast and flat else 1


if __name__ == "__main__":
    sys.exit(main())
