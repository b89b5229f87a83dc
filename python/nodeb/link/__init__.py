"""Chip-level simulation of a single WCDMA link: rates and sequences of lost PDUs.

    from nodeb import link
    found = link.load("vehicular-384k.toml").run()
    found.points.to_pandas()      # error rates with intervals, a row for each Eb/N0
    found[0].pdu_errors           # the error sequence: 1 is a lost PDU

The documentation describes the simulation under "The chip-level link".
"""

from nodeb.link.experiment import Experiment, load
from nodeb.link.result import LinkResult, Point

__all__ = ["Experiment", "LinkResult", "Point", "load"]
