"""Reads recordings of traffic and of radio channels for the scenario that replays them."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from nodeb.errors import ScenarioError
from nodeb.inputs import formats, trace_reader
from nodeb.inputs.columns import Column
from nodeb.inputs.trace_file import KINDS, Trace
from nodeb.inputs.ttis import LTE_TTI_NS, TTI_NS, by_tti

__all__ = ["min_snr_db", "read"]

CHANNEL = {
    "snr_db": ("snrs_db", np.float64, ""),
    "second_db": ("second_db", np.float64, ""),
    "third_db": ("third_db", np.float64, ""),
    "cqi": ("cqi", np.uint8, ""),
    "rate_bps": ("rates", np.uint64, "bps"),
}
"""Column of a trace -> key of its list in `ue.channel.trace`, type and unit of the numbers."""
CQI_STEP_DB, CQI_AT_0_DB = 1.02, 16.62
"""Coefficients of `CQI = floor(SNR / 1.02 + 16.62)`, as in the core; the SNR is in dB.

The source is Brouwer and others, ISSSTA 2004.
"""


def min_snr_db(cqi: Any) -> Any:
    """Returns the lowest SNR, dB, at which a phone on HSDPA reports a CQI.

    This holds for scenarios without link curves of their own. `cqi` may be an array.
    """
    return (cqi - CQI_AT_0_DB) * CQI_STEP_DB


def read(path: Path, traffic: bool, radio: str = "hsdpa") -> dict[str, Column]:
    """Returns the lists of `traffic.replay` or of `ue.channel.trace` from a trace file.

    Args:
        path: the file. The contents of the last four files are kept in memory; these files are read
            again only if they have changed.
        traffic: whether the file must be a trace of traffic; otherwise, of a channel.
        radio: the radio of the scenario; the lists of a channel have one entry per TTI of it.

    Raises:
        ScenarioError: the file cannot be read, is not a trace file, is damaged, is a trace of the
            other kind, or lasts too long.
    """
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        # Reading the file raises an error with the reason.
        return dict(_lists(path, traffic, radio))
    return dict(_cached(path, traffic, radio, (about.st_ino, about.st_size, about.st_mtime_ns)))


@lru_cache(maxsize=4)
def _cached(path: Path, traffic: bool, radio: str, version: tuple[int, ...]) -> dict[str, Column]:
    del version
    return _lists(path, traffic, radio)


def _lists(path: Path, traffic: bool, radio: str) -> dict[str, Column]:
    found = trace_reader.read(path)
    if not isinstance(found, Trace):
        raise ScenarioError(formats.not_a_trace_message(path, found, traffic))
    if (found.kind == "traffic") != traffic:
        wanted = "traffic" if traffic else "a channel"
        raise ScenarioError(
            f"{path}: this is a trace of {KINDS[found.kind].meaning}, not of {wanted}"
        )
    return _traffic(found) if traffic else _channel(found, radio)


def _traffic(trace: Trace) -> dict[str, Column]:
    times, amounts = trace.times_ns, trace.columns["bytes"]
    return {
        "times": Column(np.asarray(times).astype(np.uint64), "ns"),
        "bytes": Column(amounts.astype(np.uint64), "B"),
    }


def _channel(trace: Trace, radio: str) -> dict[str, Column]:
    lists = {}
    columns = by_tti(trace, LTE_TTI_NS if radio == "lte" else TTI_NS)
    if trace.kind == "cqi" and radio != "lte":  # On LTE the core derives SNRs from CQIs.
        # Each CQI becomes the middle of the SNR interval that it stands for.
        columns["snr_db"] = min_snr_db(columns["cqi"] + 0.5)
    for name, values in columns.items():
        key, kind, unit = CHANNEL[name]
        whole = values if kind is np.float64 else np.rint(values)
        lists[key] = Column(whole.astype(kind), unit)
    return lists
