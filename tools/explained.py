"""Explains the downloads of the thesis and others, and writes the page about them.

    python tools/explained.py docs/explained.md

Takes about a minute. The figures go to `docs/images` beside the page.
"""

from __future__ import annotations

import sys
from pathlib import Path

from nodeb import Scenario, _core, load
from nodeb.answer import Rows, Shown
from nodeb.explanation import Explanation, explain
from nodeb.explanation.answer import every_cause
from nodeb.explanation.bars import difference_rows
from nodeb.plot.causes import causes

ROOT = Path(__file__).parents[1]
BASE = ROOT / "python" / "nodeb" / "studies" / "wang_base.toml"
SIZES = ("20 kB", "50 kB", "100 kB", "16 MB")
BLERS = (0.01, 0.1)
RUNS, LONG_RUNS = 50, 5
DCH = {"channels": 12, "tti": "10 ms", "pdu_size": "40 B"}

PAGE = """# Downloads explained

Why do small files suffer, and what do block errors cost? The downloads of Wang's thesis
([the study](reproductions/wang.md)) with every nanosecond charged to one cause, as
[Explain a transfer](explain.md) says how. Means of {runs} replications, of {long} for 16 MB,
seed 1. Written by `python tools/explained.py docs/explained.md`, nodeb {version}.

![What each cause has of the time of downloads over DCH and HS-DSCH](images/explained.png)

{table}

- **Small files**: {small} of a 20 kB download over DCH at 1 % block errors goes into the handshake
  and slow start's round trips, {large} of a 16 MB download. No channel, however good, gives that
  back.
- **Block errors on a DCH**: RLC repeats after 99 ms. At 10 % that is {dch_rlc} of a 100 kB
  download.
- **Block errors on an HS-DSCH**: hybrid ARQ repeats after 9.5 ms. At 10 % that is {hs_harq}.

## HS-DSCH instead of DCH

100 kB at 10 % block errors: what the difference is made of.

{difference}

## On other paths

{others}
"""


def explained(changes: dict[str, object], size: str) -> Explanation:
    """The explanation of the study's scenario with changes, for a file of a size."""
    scenario = load(BASE, [f"users.0.traffic.ftp.size={size}"]).with_(changes)
    return explain(scenario, runs=LONG_RUNS if size == SIZES[-1] else RUNS, seed=1)


def found() -> dict[tuple[str, str, float], Explanation]:
    """The downloads of the thesis, by channel, size and block error rate."""

    def radio(name: str, bler: float) -> dict[str, object]:
        if name == "DCH":
            return {"radio": {"dch": {**DCH, "bler": bler}}}
        return {"radio.hs_dsch.bler": bler}

    return {
        (name, size, bler): explained(radio(name, bler), size)
        for name in ("DCH", "HS-DSCH")
        for size in SIZES
        for bler in BLERS
    }


def share(one: Explanation, *names: str) -> str:
    """What causes have of the time, for a person."""
    part = sum(float(one.seconds(name).mean()) for name in names) / one.time.mean
    return f"{100 * part:.0f} %"


SHOWN = {
    "handshake": ("handshake", "request"),
    "slow start": ("window: slow start",),
    "congestion avoidance": ("window: congestion avoidance", "window: receiver"),
    "delayed ACK": ("delayed ACK",),
    "transmission": ("transmission",),
    "HARQ": ("HARQ round trips",),
    "RLC": ("RLC retransmission",),
}


def table(downloads: dict[tuple[str, str, float], Explanation]) -> str:
    """A row for each download."""
    head = ["channel", "file", "BLER", "time (s)", *SHOWN]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for (channel, size, bler), one in downloads.items():
        cells = [channel, size, f"{100 * bler:.0f} %", f"{one.time.mean:.4g}"]
        cells += [share(one, *names) for names in SHOWN.values()]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


OTHERS = {
    "FACH and DCH: a phone that must be given a channel first": """
[radio.fach_dch]
[[users]]
traffic.ftp.size = "50 kB"
""",
    "Three phones on `hsdpa`, the Iub and its credits included": """
[radio.hsdpa]
iub = {}
[[users]]
count = 3
traffic.ftp.size = "300 kB"
""",
    "Reno over `hsdpa`, 500 kB": """
tcp.classic.control = "reno"
[radio.hsdpa]
[[users]]
traffic.ftp.size = "500 kB"
""",
    "The same behind a proxy with radio network feedback": """
tcp.classic.control = "reno"
proxy = "rnf"
[radio.hsdpa]
[[users]]
traffic.ftp.size = "500 kB"
""",
    "A web page over `hsdpa`: its first object": """
[radio.hsdpa]
[[users]]
traffic.web = {}
""",
}


def other(name: str, text: str) -> str:
    """The explanation of another scenario as a section."""
    one = explain(Scenario.from_toml(text, name), runs=20, seed=1)
    return f"### {name}\n\n{markdown(every_cause(one))}"


def markdown(rows: Rows) -> str:
    """A table of an answer as Markdown."""
    cells = [[one.value if isinstance(one, Shown) else one for one in row] for row in rows.rows]
    table = [rows.head, ["---"] * len(rows.head), *cells]
    return "\n".join(f"| {' | '.join(row)} |" for row in table)


def main(page: Path) -> None:
    """Writes the page and its figure."""
    downloads = found()
    small = {
        f"{channel}, {size}, {100 * bler:.0f} %": one
        for (channel, size, bler), one in downloads.items()
    }
    drawn = causes("Why downloads take as long as they do", small, shares=True, size=(7.6, 6.4))
    drawn.savefig(page.parent / "images" / "explained.png", dpi=110)
    parts = downloads["DCH", "100 kB", 0.1].difference(downloads["HS-DSCH", "100 kB", 0.1])
    rounds = ("handshake", "request", "window: slow start")
    text = PAGE.format(
        runs=RUNS,
        long=LONG_RUNS,
        version=_core.version(),
        table=table(downloads),
        small=share(downloads["DCH", "20 kB", 0.01], *rounds),
        large=share(downloads["DCH", "16 MB", 0.01], *rounds),
        dch_rlc=share(downloads["DCH", "100 kB", 0.1], "RLC retransmission"),
        hs_harq=share(downloads["HS-DSCH", "100 kB", 0.1], "HARQ round trips"),
        difference=markdown(difference_rows(parts, "DCH", "HS-DSCH")),
        others="\n\n".join(other(name, text) for name, text in OTHERS.items()),
    )
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
