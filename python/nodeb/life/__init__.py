"""The life of every packet: what happens in a replication, as tables and as a page.

    life = nodeb.load("examples/hsdpa-cell.toml").life(user=0, end_s=5)
    life.events           # every event, a pyarrow.Table; also packets, hops, blocks
    life.packet(17)       # all that happened to one packet
    life.critical_path    # why the transfers took so long
    life.save("out/life") # tables, page and trace

`docs/life.md` says how to read the page, and what every column means.
"""

from nodeb.life.life import Life
from nodeb.life.path import CriticalPath, Span
from nodeb.life.watching import MOST, watch

__all__ = ["MOST", "CriticalPath", "Life", "Span", "watch"]
