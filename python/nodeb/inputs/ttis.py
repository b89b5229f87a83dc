"""Conversion of channel traces to lists with one entry per TTI of the radio."""

from __future__ import annotations

import numpy as np

from nodeb.base.units import NS_PER_S
from nodeb.errors import ScenarioError
from nodeb.inputs.trace_file import Numbers, Trace

__all__ = ["LTE_TTI_NS", "TTI_NS", "by_tti"]

TTI_NS = 2_000_000
"""HSDPA's TTI (TS 25.211, 5.3.3.13), ns."""
LTE_TTI_NS = 1_000_000
"""LTE's TTI, a subframe (TS 36.211, 4), ns."""
MAX_TTIS = 10_000_000


def by_tti(trace: Trace, tti_ns: int = TTI_NS) -> dict[str, Numbers]:
    """Returns a channel trace's columns with one entry per TTI, including a last partial one.

    A rate is the mean over the TTI, so that the number of bits is preserved.
    """
    ttis = -(-trace.duration_ns // tti_ns)
    if ttis > MAX_TTIS:
        raise ScenarioError(
            f"{trace.source}: the trace lasts {trace.duration_ns / NS_PER_S:g} s; expected at most "
            f"{MAX_TTIS * tti_ns / NS_PER_S:g} s"
        )
    if trace.step_ns is not None and trace.step_ns % tti_ns == 0:
        times = trace.step_ns // tti_ns
        return {name: np.repeat(values, times) for name, values in trace.columns.items()}
    begins = _begins(trace)
    at = np.searchsorted(begins, np.arange(ttis) * tti_ns, side="right") - 1
    return {
        name: _means(trace, values, ttis, tti_ns) if name == "rate_bps" else values[at]
        for name, values in trace.columns.items()
    }


def _begins(trace: Trace) -> Numbers:
    if trace.times_ns is not None:
        return trace.times_ns.astype(float)
    return np.arange(len(trace), dtype=float) * float(trace.step_ns or TTI_NS)


def _means(trace: Trace, rates: Numbers, ttis: int, tti_ns: int) -> Numbers:
    edges = np.append(_begins(trace), trace.duration_ns)
    bits = np.concatenate(([0.0], np.cumsum(rates * np.diff(edges))))
    ends = np.minimum(np.arange(ttis + 1) * tti_ns, trace.duration_ns)
    means: Numbers = np.diff(np.interp(ends, edges, bits)) / np.diff(ends)
    return means
