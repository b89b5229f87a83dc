"""Measures the fairness of congestion controls at a bottleneck, and writes them for the site.

    python validation/fairness.py docs/fairness.json

Takes a few minutes. Flows of one control, except `scalable`, must share fairly, which
`crates/sim/tests/fairness.rs` tests. Flows of two controls need not.
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

from nodeb import Scenario, _core, stats
from nodeb.terminal.progress import progress_bar

RUNS = 5
FLOWS = 2


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


def main(file: Path) -> None:
    """Measures all pairs of congestion controls: Jain's index, and shares in percent."""
    tcp = controls()
    index: dict[str, list[float]] = {}
    share: dict[str, dict[str, int]] = {name: {} for name in tcp}
    half_width = 0.0
    pairs = list(itertools.combinations_with_replacement(tcp, 2))
    with progress_bar("fairness") as bar:
        for done, (a, b) in enumerate(pairs):
            if bar is not None:
                bar(done / len(pairs), f"{a} against {b}")
            runs = shares([tcp[a], tcp[b]])
            if a == b:
                alone = stats.mean_interval([stats.jain_index(run) for run in runs])
                index[a] = [round(alone.mean, 3), round(alone.half_width, 3)]
            else:
                of_a = stats.mean_interval([100 * sum(run[:FLOWS]) / sum(run) for run in runs])
                share[a][b] = round(of_a.mean)
                share[b][a] = round(100 - of_a.mean)
                half_width = max(half_width, of_a.half_width)
    made = {"version": _core.version(), "half_width": round(half_width)}
    text = json.dumps({**made, "index": index, "share": share}, indent=1)
    file.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
