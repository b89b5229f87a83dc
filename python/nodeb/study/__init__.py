"""Reproduce a paper: its tables beside measured ones, its figures, its statements judged.

A metric of a scenario is a quantity, computed only when it is needed; tables and figures are
rows and curves of quantities; a claim is a generator whose docstring is the statement.
"""

from nodeb.study.axis import Axis, Point, each, label_of
from nodeb.study.campaign import Picture, StageContext
from nodeb.study.case import Effort, Quick
from nodeb.study.claims import (
    at_least,
    at_most,
    between,
    falling,
    flat,
    least_at,
    most_at,
    ordered,
    rising,
)
from nodeb.study.items import Mark
from nodeb.study.quantity import Means, Quantity, change, least, metric, most, rms
from nodeb.study.study import Study

__all__ = [
    "Axis",
    "Effort",
    "Mark",
    "Means",
    "Picture",
    "Point",
    "Quantity",
    "Quick",
    "StageContext",
    "Study",
    "at_least",
    "at_most",
    "between",
    "change",
    "each",
    "falling",
    "flat",
    "label_of",
    "least",
    "least_at",
    "metric",
    "most",
    "most_at",
    "ordered",
    "rising",
    "rms",
]
