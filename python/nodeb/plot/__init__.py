"""Pictures of results, made with matplotlib.

Each function returns a `matplotlib.figure.Figure`: a notebook shows it,
`figure.savefig("cwnd.svg")` keeps it. A picture of a time series needs that series to be recorded
(`[record]` in the scenario) and shows one replication; a picture of means shows their 95 %
confidence intervals.
"""

from nodeb.plot.cell import cell
from nodeb.plot.intervals import Line, bars, lines, panels
from nodeb.plot.link import link_curves
from nodeb.plot.series import cwnd, queue, sequence, throughput
from nodeb.plot.style import PALETTE, new_figure
from nodeb.plot.table import curves

__all__ = [
    "PALETTE",
    "Line",
    "bars",
    "cell",
    "curves",
    "cwnd",
    "lines",
    "link_curves",
    "new_figure",
    "panels",
    "queue",
    "sequence",
    "throughput",
]
