"""Reads recordings of traffic, of channels and of delivery opportunities into scenarios."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

from nodeb.base.units import NS_PER_S
from nodeb.errors import ScenarioError
from nodeb.inputs import importing, trace
from nodeb.inputs.columns import Column
from nodeb.inputs.trace import KINDS, MAGIC, Numbers, Trace
from nodeb.storage.files import read_bytes

__all__ = ["by_tti", "channel", "opportunities", "traffic"]

TTI_NS = {"hsdpa": 2_000_000, "lte": 1_000_000}
"""TTIs (TS 25.211, 5.3.3.13; TS 36.211, 4), ns."""
MAX_TTIS = 10_000_000
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
Lists = dict[str, Column]


def traffic(path: Path) -> Lists:
    """Returns the lists of `traffic.replay` from a trace file; errors name file and line."""
    return dict(_cached(_traffic, path, _version(path)))


def channel(path: Path, radio: str) -> Lists:
    """Returns the lists of `ue.channel.trace`, with one entry per TTI of the radio."""
    read = _channel_of_lte if radio == "lte" else _channel_of_hsdpa
    return dict(_cached(read, path, _version(path)))


def opportunities(path: Path) -> Lists:
    """Returns the list `times_ms` of `radio.trace.down` or `up` from a mahimahi trace.

    Each line is one opportunity: its time in ms, a whole number that never decreases. The last time
    must be above 0, because the trace lasts until then.
    """
    return dict(_cached(_opportunities, path, _version(path)))


def _version(path: Path) -> tuple[int, ...]:
    try:
        stat = os.stat(path)
    except (OSError, ValueError):
        return ()  # Reading the file raises an error with the reason.
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


@lru_cache(maxsize=4)
def _cached(read: Callable[[Path], Lists], path: Path, version: tuple[int, ...]) -> Lists:
    """Keeps the contents of files that did not change since."""
    del version
    return read(path)


def _trace(path: Path, is_traffic: bool) -> Trace:
    content = trace.read(path)
    if not isinstance(content, Trace):
        raise ScenarioError(importing.not_a_trace_message(path, content, is_traffic))
    if (content.kind == "traffic") != is_traffic:
        wanted = "traffic" if is_traffic else "a channel"
        raise ScenarioError(
            f"{path}: this is a trace of {KINDS[content.kind].meaning}, not of {wanted}"
        )
    return content


def _traffic(path: Path) -> Lists:
    content = _trace(path, is_traffic=True)
    return {
        "times": Column(np.asarray(content.times_ns).astype(np.uint64), "ns"),
        "bytes": Column(content.columns["bytes"].astype(np.uint64), "B"),
    }


def _channel_of_hsdpa(path: Path) -> Lists:
    content = _trace(path, is_traffic=False)
    columns = by_tti(content)
    if content.kind == "cqi":  # On LTE the core derives SNRs from CQIs.
        # Each CQI becomes the middle of the SNR interval that it stands for.
        columns["snr_db"] = (columns["cqi"] + 0.5 - CQI_AT_0_DB) * CQI_STEP_DB
    return _lists(columns)


def _channel_of_lte(path: Path) -> Lists:
    return _lists(by_tti(_trace(path, is_traffic=False), TTI_NS["lte"]))


def _lists(columns: dict[str, Numbers]) -> Lists:
    lists = {}
    for name, values in columns.items():
        key, kind, unit = CHANNEL[name]
        whole = values if kind is np.float64 else np.rint(values)
        lists[key] = Column(whole.astype(kind), unit)
    return lists


def by_tti(content: Trace, tti_ns: int = TTI_NS["hsdpa"]) -> dict[str, Numbers]:
    """Returns a channel trace's columns with one entry per TTI, including a last partial one.

    A rate is the mean over the TTI, so that the number of bits is preserved.
    """
    ttis = -(-content.duration_ns // tti_ns)
    if ttis > MAX_TTIS:
        raise ScenarioError(
            f"{content.source}: the trace lasts {content.duration_ns / NS_PER_S:g} s; expected at "
            f"most {MAX_TTIS * tti_ns / NS_PER_S:g} s"
        )
    if content.step_ns is not None and content.step_ns % tti_ns == 0:
        times = content.step_ns // tti_ns
        return {name: np.repeat(values, times) for name, values in content.columns.items()}
    begins = _begins(content)
    at = np.searchsorted(begins, np.arange(ttis) * tti_ns, side="right") - 1
    edges = np.append(begins, content.duration_ns)
    return {
        name: _means(edges, values, ttis, tti_ns) if name == "rate_bps" else values[at]
        for name, values in content.columns.items()
    }


def _begins(content: Trace) -> Numbers:
    if content.times_ns is not None:
        return content.times_ns.astype(float)
    return np.arange(len(content), dtype=float) * float(content.step_ns or 0)


def _means(edges: Numbers, rates: Numbers, ttis: int, tti_ns: int) -> Numbers:
    bits = np.concatenate(([0.0], np.cumsum(rates * np.diff(edges))))
    ends = np.minimum(np.arange(ttis + 1) * tti_ns, edges[-1])
    means: Numbers = np.diff(np.interp(ends, edges, bits)) / np.diff(ends)
    return means


def _opportunities(path: Path) -> Lists:
    data = read_bytes(path, trace.MAX_BYTES)
    if data.startswith(MAGIC):
        is_traffic = trace.is_of_traffic(data)
        key = "traffic.replay.file" if is_traffic else "ue.channel.trace.file"
        raise ScenarioError(
            f"{path}:1: this is a trace of {'traffic' if is_traffic else 'a channel'} made by "
            f"`nodeb import`, for the key `{key}` of a user; expected delivery opportunities in "
            "mahimahi's format, a time in ms in each line"
        )
    return {"times_ms": Column(trace.opportunity_times(data, path).astype(np.uint64))}
