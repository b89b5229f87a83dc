"""Packet timeline of a replication: all events of every packet, as tables and an HTML page.

    life = nodeb.load("cell:hsdpa-suburb").life(user=0, end_s=5)
    life.events           # every event, a pyarrow.Table; also packets, hops, blocks
    life.packet(17)       # all events of one packet and of its blocks
    life.critical_path    # causes of the duration of the transfers
    life.save("out/life") # tables, page and trace

`docs/life.md` explains the page and the columns of the tables.
"""

from nodeb.life.life import MAX_EVENTS, Life, watch
from nodeb.life.path import CriticalPath, Span

__all__ = ["MAX_EVENTS", "CriticalPath", "Life", "Span", "watch"]
