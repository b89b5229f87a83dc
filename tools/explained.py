"""Writes the page on causes of download times: of Wang's thesis, and of other scenarios.

    python tools/explained.py docs/explained.md

Takes about a minute. The figure goes to `images/explained.png`, next to the page.
"""

from __future__ import annotations

import sys
from pathlib import Path

from nodeb import Scenario, _core, load
from nodeb.answer import Rows, Shown
from nodeb.explanation import Explanation, explain
from nodeb.explanation.bars import difference_rows
from nodeb.plot.causes import causes
from nodeb.results.causes import cause_name

ROOT = Path(__file__).parents[1]
BASE = ROOT / "python" / "nodeb" / "studies" / "wang_base.toml"
SIZES = ("20 kB", "50 kB", "100 kB", "16 MB")
TABULATED = ("20 kB", "100 kB", "16 MB")
BLERS = (0.01, 0.1)
RUNS, LONG_RUNS, OTHER_RUNS = 50, 5, 20
LEAST_SHARE = 5
"""Minimum share of a cause in the last table, in percent."""
DCH = {"channels": 12, "tti": "10 ms", "pdu_size": "40 B"}

PAGE = """# Downloads explained

This page attributes the download times of [Wang's thesis](reproductions/wang.md) to the causes of
[`nodeb explain`](explain.md). All values are means of {runs} replications ({long} for
16 MB) with seed 1; `python tools/explained.py docs/explained.md` wrote the page with nodeb
{version}.

![Share of each cause in the time of downloads over DCH and HS-DSCH](images/explained.png)

The table has the share of each cause in the download time, in percent; `handshake` includes the
request. Downloads of 50 kB are only in the figure.

<!-- of tools/explained.py -->

{table}

<!-- end -->

- **Small files**: handshake and slow start take {small} of the time of a 20 kB download over DCH
  at 1 % block errors, and {large} of that of a 16 MB download.
- **Block errors on a DCH**: an RLC retransmission takes 99 ms. At 10 % block errors,
  retransmissions take {dch_rlc} of the time of a 100 kB download.
- **Block errors on an HS-DSCH**: a hybrid ARQ retransmission takes 9.5 ms. At 10 % block
  errors, retransmissions take {hs_harq} of the time of a 100 kB download.

## HS-DSCH instead of DCH

The table explains the difference in download time for 100 kB at 10 % block errors:

<!-- of tools/explained.py -->

{difference}

<!-- end -->

## Other radio access

The table has mean times of {other_runs} replications (seed 1), and the causes that take at least
{least} % of the time:

<!-- of tools/explained.py -->

{others}

<!-- end -->
"""


def explained(changes: dict[str, object], size: str) -> Explanation:
    """Returns the explanation of a download of `size` in the scenario `BASE` with `changes`."""
    scenario = load(BASE, [f"users.0.traffic.ftp.size={size}"]).with_(changes)
    return explain(scenario, runs=LONG_RUNS if size == SIZES[-1] else RUNS, seed=1)


def found() -> dict[tuple[str, str, float], Explanation]:
    """Returns the explanations of the thesis's downloads, by channel, size and block error rate."""

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


def share(one: Explanation, *names: str) -> float:
    """Returns the share of the named causes in the mean transfer time, in percent."""
    return 100 * sum(float(one.seconds(name).mean()) for name in names) / one.time.mean


SHOWN = {
    "handshake": ("handshake", "request"),
    "slow start": ("window: slow start",),
    "delayed ACK": ("delayed ACK",),
    "transmission": ("transmission",),
    "HARQ": ("HARQ round trips",),
    "RLC": ("RLC retransmission",),
}


def table(downloads: dict[tuple[str, str, float], Explanation]) -> str:
    """Returns a table in Markdown with a row for each download of a size in `TABULATED`."""
    head = ["channel", "file", "BLER (%)", "time (s)", *SHOWN]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for (channel, size, bler), one in downloads.items():
        if size not in TABULATED:
            continue
        cells = [channel, size, f"{100 * bler:.0f}", f"{one.time.mean:.4g}"]
        cells += [f"{share(one, *names):.0f}" for names in SHOWN.values()]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


OTHERS = {
    "FACH and DCH, 50 kB": """
[radio.fach_dch]
[[users]]
traffic.ftp.size = "50 kB"
""",
    "HSDPA with Iub, three users, 300 kB": """
[radio.hsdpa]
iub = {}
[[users]]
count = 3
traffic.ftp.size = "300 kB"
""",
    "HSDPA, Reno, RNF proxy, 500 kB": """
tcp.classic.control = "reno"
proxy = "rnf"
[radio.hsdpa]
[[users]]
traffic.ftp.size = "500 kB"
""",
    "HSDPA, first object of a web page": """
[radio.hsdpa]
[[users]]
traffic.web = {}
""",
}

OTHERS_HEAD = "| scenario | time (s) | causes (%) |\n|---|---|---|"


def other(name: str, text: str) -> str:
    """Returns a row about another scenario: its transfer time and its largest causes."""
    one = explain(Scenario.from_toml(text, name), runs=OTHER_RUNS, seed=1)
    shares = ((cause_name(row["cause"]), 100 * row["share"]) for row in one.table)
    largest = ", ".join(f"{cause} {part:.0f}" for cause, part in shares if part >= LEAST_SHARE)
    return f"| {name} | {one.time.mean:.4g} | {largest} |"


def markdown(rows: Rows) -> str:
    """Returns the table of an answer in Markdown."""
    cells = [[one.value if isinstance(one, Shown) else one for one in row] for row in rows.rows]
    table = [rows.head, ["---"] * len(rows.head), *cells]
    return "\n".join(f"| {' | '.join(row)} |" for row in table)


def main(page: Path) -> None:
    """Explains all downloads, and writes the page and its figure."""
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
        small=f"{share(downloads['DCH', '20 kB', 0.01], *rounds):.0f} %",
        large=f"{share(downloads['DCH', '16 MB', 0.01], *rounds):.0f} %",
        dch_rlc=f"{share(downloads['DCH', '100 kB', 0.1], 'RLC retransmission'):.0f} %",
        hs_harq=f"{share(downloads['HS-DSCH', '100 kB', 0.1], 'HARQ round trips'):.0f} %",
        difference=markdown(difference_rows(parts, "DCH", "HS-DSCH")),
        other_runs=OTHER_RUNS,
        least=LEAST_SHARE,
        others="\n".join([OTHERS_HEAD, *(other(name, text) for name, text in OTHERS.items())]),
    )
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
