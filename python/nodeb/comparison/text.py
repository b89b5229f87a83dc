"""A comparison as text: a table for each scenario, and what to know about it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median

from nodeb.comparison.differences import Comparison, Difference, Tried
from nodeb.comparison.verdict import MoreRuns, Verdict
from nodeb.results.metrics import ALL
from nodeb.stats import CONFIDENCE, Interval
from nodeb.terminal.text import FACTORS, align, decimals_of, shown_unit

__all__ = ["HEAD", "comparison_text", "difference_cells", "judged", "percent"]

HEAD = ("metric", "baseline", "this", "unit", "difference", "ratio", "verdict")
"""Columns of differences as people read them."""


def comparison_text(found: Comparison) -> str:
    """What a terminal shows of a comparison."""
    return "\n\n".join(_about(found, tried) for tried in found.tried)


def judged(verdict: Verdict, margin: float, pairs: int = 2) -> str:
    """A verdict for people."""
    if verdict.kind == "equal":
        return "equal in all pairs"
    if verdict.kind == "same":
        return f"same within {percent(margin)}" if margin else "same"
    if verdict.kind != "undecided":
        return verdict.word
    if pairs < 2:
        return "undecided: one pair tells nothing"
    return f"undecided: {_more_runs(verdict.more_runs)}"


def _more_runs(more: MoreRuns) -> str:
    if math.isinf(more.high):
        return f"at least {more.low:.0f} runs more"
    if more.low == more.high:
        return f"{more.low:.0f} {'run' if more.low == 1 else 'runs'} more"
    return f"{more.low:.0f} to {more.high:.0f} runs more"


def percent(share: float) -> str:
    """A share for people."""
    return f"{100 * share:.4g} %"


def _about(found: Comparison, tried: Tried) -> str:
    groups = {one.group for one in tried.differences} != {ALL}
    head = [*(["group"] if groups else []), *HEAD]
    head[-3] = f"difference ({percent(found.confidence)})"
    rows = [
        [*([one.group] if groups else []), *difference_cells(one, found.margin)]
        for one in tried.differences
    ]
    title = f"{tried.name} against {found.baseline} (baseline)\n"
    return "\n".join([title, align(head, rows), *_notes(found, tried)])


def difference_cells(one: Difference, margin: float) -> list[str]:
    """A difference as text by `HEAD`, in units that read well."""
    largest = max(abs(one.baseline.mean), abs(one.other.mean))
    unit = shown_unit(one.metric.name, one.metric.unit, largest)
    factor = FACTORS.get(unit, 1.0)
    decimals = decimals_of(largest * factor)
    means = [f"{mean * factor:.{decimals}f}" for mean in (one.baseline.mean, one.other.mean)]
    gap, verdict = one.difference, judged(one.verdict, margin, one.difference.n)
    if gap.low == gap.high == 0:
        return [one.metric.label, *means, unit, "0", "", verdict]
    shown = f"{gap.mean * factor:+z.{decimals}f}"
    if math.isfinite(gap.low):
        shown += f" ({gap.low * factor:+z.{decimals}f} .. {gap.high * factor:+z.{decimals}f})"
    return [one.metric.label, *means, unit, shown, _ratio(one.ratio), verdict]


def _ratio(ratio: Interval) -> str:
    if not math.isfinite(ratio.mean):
        return ""
    if not math.isfinite(ratio.low):
        return f"{ratio.mean:.3f}"
    return f"{ratio.mean:.3f} ({ratio.low:.3f} .. {ratio.high:.3f})"


def _notes(found: Comparison, tried: Tried) -> Iterator[str]:
    gains = [one.unpaired for one in tried.differences if math.isfinite(one.unpaired)]
    yield ""
    about = f"{found.runs} pairs of replications with the same random numbers, seed {found.seed}"
    if gains:
        about += f"; unpaired, intervals would be {median(gains):.2f} times as wide (median)"
    yield about
    if (number := len(found.tried)) > 1:
        yield (
            f"intervals: {percent(found.confidence)} each, so that the {number} of a metric hold "
            f"together with {percent(CONFIDENCE)}; metrics are not counted in"
        )
    done = [one for one in tried.differences if one.metric.name == "complete"]
    if any(min(one.baseline.mean, one.other.mean) < 1 for one in done):
        yield (
            "note: not all transfers completed; times and application bit rates are of those that "
            "did, what the phone received is of all"
        )
    for one in tried.differences:
        if one.metric.name == "received_bps" and 0 in (one.baseline.mean, one.other.mean):
            whose = found.baseline if one.baseline.mean == 0 else tried.name
            yield f"note: nothing arrived in {whose}; is the run long enough for the delays?"
            break
    if tried.unknown:
        listed = ", ".join(tried.unknown)
        yield f"note: of {listed} one of the two has no value at all"
    for name, groups in tried.only.items():
        if groups:
            listed = ", ".join(f"`{group}`" for group in groups)
            yield f"note: only {name} has the group {listed}, which was left out"
