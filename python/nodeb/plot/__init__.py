"""Figures of results, made with matplotlib.

Each function returns a `matplotlib.figure.Figure`: a notebook shows it,
`figure.savefig("cwnd.svg")` saves it. A figure of a time series requires that series to be recorded
(`[record]` in the scenario) and shows one replication; a figure of means shows their 95 %
confidence intervals.
"""

from nodeb.plot.causes import causes
from nodeb.plot.cell import cell
from nodeb.plot.intervals import Line, bars, lines, panels
from nodeb.plot.link import link_curves
from nodeb.plot.sequence import sequence
from nodeb.plot.series import cqi, cwnd, queue, rtt, throughput
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
