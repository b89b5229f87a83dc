"""Reproduce a paper: its tables beside measured ones, its figures, its statements judged.

A metric of a scenario is a quantity, computed only when it is needed; tables and figures are
rows and curves of quantities; a claim is a generator whose docstring is the statement.
"""

from nodeb.study.axis import Axis, Point, each, label_of
from nodeb.study.campaign import Picture, StageContext
from nodeb.study.case import Case, Effort, Quick
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
from nodeb.study.items import Figure, Mark, Table
from nodeb.study.quantity import Means, Metric, Quantity, change, least, metric, most, rms
from nodeb.study.study import Study

__all__ = [
    "Axis",
    "Case",
    "Effort",
    "Figure",
    "Mark",
    "Means",
    "Metric",
    "Picture",
    "Point",
    "Quantity",
    "Quick",
    "StageContext",
    "Study",
    "Table",
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
