"""Runs what users wait for, so that the compiler can optimize for it.

    maturin build --release --pgo

builds the extension with counters, runs this program with it, and builds the extension again by the
counted calls and branches. The runs are those of the simulator in the gate
(`tools/instructions.py`), and the examples in `EXAMPLES` with their series and critical paths.
Results do not depend on this.
"""

from __future__ import annotations

from instructions import ROOT, ROWS, SIMULATE, WRITTEN

import nodeb

EXAMPLES = ("dch-50k", "hs-dsch-50k", "hsdpa-cell", "lte-cell", "lte-sleep", "rlc-am", "proxies")


def main() -> None:
    """Runs each simulation of the gate once, and simulates and explains each of `EXAMPLES`."""
    for row in ROWS:
        if row.program == SIMULATE:
            text = WRITTEN.get(row.file) or (ROOT / row.file).read_text("utf-8")
            settings = [*row.overrides, *(one for one in row.short if not one.startswith("--"))]
            nodeb.Scenario.from_toml(text, overrides=settings).run(runs=1)
    for name in EXAMPLES:
        scenario = nodeb.load(ROOT / "examples" / f"{name}.toml")
        scenario.run(runs=5)
        nodeb.explain(scenario, runs=2)


if __name__ == "__main__":
    main()
