"""Recordings of traffic and of radio channels, read into the scenario that replays them."""

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
from nodeb.inputs.ttis import by_tti

__all__ = ["least_snr_db", "read"]

CHANNEL = {
    "snr_db": ("snrs_db", np.float64, ""),
    "second_db": ("second_db", np.float64, ""),
    "third_db": ("third_db", np.float64, ""),
    "cqi": ("cqi", np.uint8, ""),
    "rate_bps": ("rates", np.uint64, "bps"),
}
"""Column of a trace -> the list of `ue.channel.trace` that it is, type and unit."""
CQI_STEP_DB, CQI_AT_0_DB = 1.02, 16.62
"""`CQI = floor(SNR / 1.02 + 16.62)` (Brouwer and others, ISSSTA 2004), as the core has it."""


def least_snr_db(cqi: Any) -> Any:
    """The least SNR, dB, at which a CQI is reported where nothing is measured; of arrays, too."""
    return (cqi - CQI_AT_0_DB) * CQI_STEP_DB


def read(path: Path, traffic: bool) -> dict[str, Column]:
    """The lists of `traffic.replay` or of `ue.channel.trace` that a trace file gives.

    Args:
        path: the file; read again only when it has changed.
        traffic: whether it is to be one of traffic, not of a channel.

    Raises:
        ScenarioError: the file cannot be read, is no trace file, or one of the other kind.
    """
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return dict(_lists(path, traffic))  # which tells why not
    return dict(_kept(path, traffic, (about.st_ino, about.st_size, about.st_mtime_ns)))


@lru_cache(maxsize=4)
def _kept(path: Path, traffic: bool, version: tuple[int, ...]) -> dict[str, Column]:
    del version
    return _lists(path, traffic)


def _lists(path: Path, traffic: bool) -> dict[str, Column]:
    found = trace_reader.read(path)
    if not isinstance(found, Trace):
        raise ScenarioError(formats.refusal(path, found, traffic))
    if (found.kind == "traffic") != traffic:
        wanted = "traffic" if traffic else "a channel"
        raise ScenarioError(
            f"{path}: this is a trace of {KINDS[found.kind].meaning}, not of {wanted}"
        )
    return _traffic(found) if traffic else _channel(found)


def _traffic(trace: Trace) -> dict[str, Column]:
    times, amounts = trace.times_ns, trace.columns["bytes"]
    return {
        "times": Column(np.asarray(times).astype(np.uint64), "ns"),
        "bytes": Column(amounts.astype(np.uint64), "B"),
    }


def _channel(trace: Trace) -> dict[str, Column]:
    lists = {}
    columns = by_tti(trace)
    if trace.kind == "cqi":  # each as if the SNR were in the middle of those that give it
        columns["snr_db"] = least_snr_db(columns["cqi"] + 0.5)
    for name, values in columns.items():
        key, kind, unit = CHANNEL[name]
        whole = values if kind is np.float64 else np.rint(values)
        lists[key] = Column(whole.astype(kind), unit)
    return lists
