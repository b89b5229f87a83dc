"""Measures the fairness of congestion controls at a bottleneck, and writes its page.

    python validation/fairness.py docs/models/fairness.md

Takes a few minutes. Flows of one control, except `scalable`, must share fairly, which
`crates/sim/tests/fairness.rs` tests. Flows of two controls need not.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from nodeb import Scenario, _core, stats
from nodeb.terminal.progress import progress_bar

RUNS = 5
FLOWS = 2

PAGE = """# Fairness

{flows} flows of one congestion control share a bottleneck of 10 Mbps with {flows} flows of another
control. The round trip is 40 ms; the drop-tail queue holds 70 packets (2.1 bandwidth-delay
products). Each flow first fetches 1 kB over the idle path, so that Vegas measures the round trip.
One flow of each control starts a download at 10 s, the other flow at 11 s; all downloads last until
100 s. Jitter of up to 2 ms on the uplinks makes the {runs} replications (seed 1) differ. `make
fairness` wrote this page with nodeb {version}.

## Flows of one control

The table has Jain's index of {both} flows with one control (1: equal shares) and its 95 %
confidence interval. The tests in `crates/sim/tests/fairness.rs` require at least 0.95, except for
`scalable`.

<!-- of make fairness -->

{like}

<!-- end -->

## Flows of two controls

Each value is the share, in per cent, of the flows with the row's control in all bytes that the
{both} flows deliver; 50 is fair. The half-widths of the 95 % confidence intervals are at most
{widest:.0f}.

<!-- of make fairness -->

{table}

<!-- end -->
"""


def controls() -> dict[str, dict[str, object]]:
    """Returns the TCP configuration of every congestion control, by its name in the table."""
    found: dict[str, dict[str, object]] = {}
    for kind, name, _ in _core.registry():
        if kind == "control":
            window = {"max_window": 1000, "initial_ssthresh": 1000}
            found[f"classic {name}"] = {"classic": {"control": name, **window}}
        elif kind == "congestion control":
            found[name] = {"linux": {"control": name}}
    return found


def shares(groups: list[dict[str, object]]) -> list[list[float]]:
    """Returns the bytes delivered to each flow, as one list per replication."""
    users = [
        {
            "name": f"group {i}",
            "count": FLOWS,
            "start": f"{i * FLOWS} s",
            "stagger": "1 s",
            "tcp": tcp,
            "traffic": {
                "replay": {"times": ["0 s", f"{10 - i * FLOWS} s"], "bytes": ["1 kB", "1 GB"]}
            },
        }
        for i, tcp in enumerate(groups)
    ]
    scenario = Scenario.from_dict(
        {
            "runs": RUNS,
            "duration": "100 s",
            "wired": {"rate": "10 Mbps", "delay": "20 ms", "queue": {"drop_tail": {"limit": 70}}},
            "radio": {"link": {"rate": "100 Mbps"}},
            "uplink": {
                "rate": "10 Mbps",
                "delay": "0 s",
                "jitter": {"uniform": {"most": "2 ms"}},
            },
            "users": users,
        }
    )
    delivered = list(scenario.run().flows["delivered_bytes"])
    flows = len(delivered) // RUNS
    return [list(map(float, delivered[i : i + flows])) for i in range(0, len(delivered), flows)]


def markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main(path: Path) -> None:
    """Measures all pairs of congestion controls, and writes the page."""
    tcp = controls()
    names = list(tcp)
    like, against, widest = [], {}, 0.0
    pairs = list(itertools.combinations_with_replacement(names, 2))
    with progress_bar("fairness") as bar:
        for done, (a, b) in enumerate(pairs):
            if bar is not None:
                bar(done / len(pairs), f"{a} against {b}")
            runs = shares([tcp[a], tcp[b]])
            if a == b:
                index = stats.mean_interval([stats.jain_index(run) for run in runs])
                like.append([a, f"{index.mean:.3f} ± {index.half_width:.3f}"])
            else:
                share = [100 * sum(run[:FLOWS]) / sum(run) for run in runs]
                got = stats.mean_interval(share)
                against[a, b] = f"{got.mean:.0f}"
                against[b, a] = f"{100 - got.mean:.0f}"
                widest = max(widest, got.half_width)
    table = [[a, *(against.get((a, b), "") for b in names)] for a in names]
    page = PAGE.format(
        flows=FLOWS,
        both=2 * FLOWS,
        runs=RUNS,
        version=_core.version(),
        widest=widest,
        like=markdown(["control", "index"], like),
        table=markdown(["", *names], table),
    )
    path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
