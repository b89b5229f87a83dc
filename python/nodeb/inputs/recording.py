"""Reads recordings of traffic, of channels and of delivery opportunities into scenarios."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nodeb.base.units import NS_PER_S
from nodeb.errors import ScenarioError
from nodeb.inputs import trace
from nodeb.inputs.columns import Column
from nodeb.inputs.trace import KINDS, MAGIC, Numbers, Trace
from nodeb.storage.files import HEAD, read_bytes

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
    """The lists of `traffic.replay`."""
    content = _trace(path, is_traffic=True)
    return {
        "times": Column(np.asarray(content.times_ns).astype(np.uint64), "ns"),
        "bytes": Column(content.columns["bytes"].astype(np.uint64), "B"),
    }


def channel(path: Path, radio: str) -> Lists:
    """The lists of `ue.channel.trace`, with one entry per TTI of the radio."""
    content = _trace(path, is_traffic=False)
    columns = by_tti(content, TTI_NS["lte" if radio == "lte" else "hsdpa"])
    if content.kind == "cqi" and radio != "lte":  # On LTE the core derives SNRs from CQIs.
        # Each CQI becomes the middle of the SNR interval that it stands for.
        columns["snr_db"] = (columns["cqi"] + 0.5 - CQI_AT_0_DB) * CQI_STEP_DB
    lists = {}
    for name, values in columns.items():
        key, kind, unit = CHANNEL[name]
        whole = values if kind is np.float64 else np.rint(values)
        lists[key] = Column(whole.astype(kind), unit)
    return lists


def opportunities(path: Path) -> Lists:
    """The list `times_ms` of `radio.trace.down` or `up`."""
    data = read_bytes(path, trace.MAX_BYTES)
    if data.startswith(MAGIC):
        is_traffic = b"\n# kind: traffic" in data[:HEAD]
        key = "traffic.replay.file" if is_traffic else "ue.channel.trace.file"
        raise ScenarioError(
            f"{path}:1: this is a trace of {'traffic' if is_traffic else 'a channel'} made by "
            f"`nodeb import`, for the key `{key}` of a user; expected delivery opportunities in "
            "mahimahi's format, a time in ms in each line"
        )
    return {"times_ms": Column(trace.opportunity_times(data, path).astype(np.uint64))}


def _trace(path: Path, is_traffic: bool) -> Trace:
    content = trace.read(path)
    if (content.kind == "traffic") != is_traffic:
        wanted = "traffic" if is_traffic else "a channel"
        raise ScenarioError(
            f"{path}: this is a trace of {KINDS[content.kind].meaning}, not of {wanted}"
        )
    return content


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
    edges = content.edges_ns
    at = np.searchsorted(edges[:-1], np.arange(ttis) * tti_ns, side="right") - 1
    return {
        name: _means(edges, values, ttis, tti_ns) if name == "rate_bps" else values[at]
        for name, values in content.columns.items()
    }


def _means(edges: Numbers, rates: Numbers, ttis: int, tti_ns: int) -> Numbers:
    bits = np.concatenate(([0.0], np.cumsum(rates * np.diff(edges))))
    ends = np.minimum(np.arange(ttis + 1) * tti_ns, edges[-1])
    means: Numbers = np.diff(np.interp(ends, edges, bits)) / np.diff(ends)
    return means
