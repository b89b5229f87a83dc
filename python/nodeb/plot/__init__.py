"""Figures of results, made with matplotlib.

All functions except `new_figure` return a `matplotlib.figure.Figure`: a notebook shows it,
`figure.savefig("cwnd.svg")` saves it. `cqi`, `cwnd`, `queue`, `rtt`, `sequence` and `throughput`
show one replication, whose series must have been recorded (`[record]` in the scenario). `curves`
shows means over replications with their 95 % confidence intervals.
"""

from nodeb.plot.causes import causes
from nodeb.plot.cell import cell
from nodeb.plot.intervals import Line, bars, lines, link_curves, panels
from nodeb.plot.series import cqi, cwnd, queue, rtt, sequence, throughput
from nodeb.plot.shares import shares
from nodeb.plot.style import PALETTE, new_figure
from nodeb.plot.table import curves

__all__ = [
    "PALETTE",
    "Line",
    "bars",
    "causes",
    "cell",
    "cqi",
    "curves",
    "cwnd",
    "lines",
    "link_curves",
    "new_figure",
    "panels",
    "queue",
    "rtt",
    "sequence",
    "shares",
    "throughput",
]
