"""Packet timeline of a replication: everything that happens to every packet, as tables and a page.

    life = nodeb.load("examples/hsdpa-cell.toml").life(user=0, end_s=5)
    life.events           # every event, a pyarrow.Table; also packets, hops, blocks
    life.packet(17)       # all that happened to one packet
    life.critical_path    # why the transfers took so long
    life.save("out/life") # tables, page and trace

`docs/life.md` explains the page and the columns of the tables.
"""

from nodeb.life.life import Life
from nodeb.life.path import CriticalPath, Span
from nodeb.life.watching import MAX_EVENTS, watch

__all__ = ["MAX_EVENTS", "CriticalPath", "Life", "Span", "watch"]
