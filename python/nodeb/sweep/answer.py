"""Answer of a sweep: largest and smallest effect, their uncertainty, and unfinished transfers.

The headline states the first of the following cases that applies. If at least half of the transfers
are unfinished and the metric requires finished ones, their share precedes it:

1. nothing arrived in any cell, or no cell has the metric: the reason;
2. there is one cell: its value;
3. there is a baseline: the largest and the smallest decided effect, called "decided" if other
  effects are undecided, or a statement that no effect is decided or exists;
4. all cells have the same value: no effect;
5. the intervals of the smallest and the largest value overlap: undecided;
6. the smallest and the largest value and, if several keys are swept, the largest factor by which
  each key alone changes the metric, or that this is undecided; see `_is_decided`.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from nodeb.answer.answer import ONE_REPLICATION, SURVIVORS, Answer, Mark, Rows
from nodeb.answer.numbers import number, shown
from nodeb.answer.words import counted, joined, percent, sentence
from nodeb.base.command_line import command_line
from nodeb.comparison.differences import Difference
from nodeb.comparison.shown import difference_of, level, more_text, ratio_of
from nodeb.comparison.verdict import MoreRuns
from nodeb.errors import InputError, nearest
from nodeb.results.coverage import of_whom
from nodeb.results.metrics import ALL, METRICS
from nodeb.results.survivors import no_arrival_hint
from nodeb.stats import Interval
from nodeb.sweep.against import Compared
from nodeb.sweep.shown import Values, every_row, grid, listed

if TYPE_CHECKING:
    from nodeb.sweep.sweep import Outcome

__all__ = ["SweepAnswer", "answer"]

MAX_ROWS = 30
"""Maximum number of cells that a list shows without `--all`."""
WIDEST = 3.0
"""Ratio of the ends of an interval above which a factor is undecided."""
DECIDED = ("better", "worse", "more", "less")
"""Verdicts of a cell that differs from its baseline."""


def answer(outcome: Outcome, folder: str = "") -> Answer:
    """Returns the answer of a sweep.

    Args:
        outcome: outcome of the sweep.
        folder: folder of the results; empty in a notebook.

    Raises:
        InputError: no cell has the requested metric.
    """
    return SweepAnswer(outcome, folder).answer()


@dataclass(frozen=True)
class SweepAnswer:
    """Builder of the answer of a sweep, with its headline, table, marks and notes."""

    outcome: Outcome
    folder: str

    def answer(self) -> Answer:
        """Returns the complete answer: headline, table, marks and notes."""
        return Answer(
            command="nodeb sweep",
            subject=self.outcome.plan.name or self.outcome.plan.file.stem,
            headline=" ".join(self.headline()),
            table=self._table,
            marks=list(self.marks()),
            notes=list(self.notes()),
            everything=[] if self._is_whole else [every_row(self.values)],
            folded=self._folded,
        )

    @cached_property
    def values(self) -> Values:
        """Values of the metric that the answer is about, in each cell."""
        outcome, name = self.outcome, self.outcome.metric
        if name not in outcome.table.columns:
            there = [one for one in outcome.table.columns if one in METRICS]
            raise InputError(f"no cell of the sweep has `{name}`{nearest(name, there)}")
        return Values(outcome)

    @cached_property
    def _grid(self) -> Rows | None:
        return grid(self.values) if self.values.known.any() else None

    @property
    def _table(self) -> Rows | None:
        """Grid of the metric if two keys are swept, else a list of cells; None for one cell."""
        if self._grid is not None or len(self.values) < 2 or not self.values.known.any():
            return self._grid
        return listed(self.values, MAX_ROWS)

    @property
    def _is_whole(self) -> bool:
        """True if the shown table contains everything that is known of each cell."""
        is_short = len(self.values) <= MAX_ROWS
        return self._grid is None and is_short and not (self._groups or self._compared)

    @cached_property
    def _groups(self) -> list[str]:
        return [str(one) for one in self.outcome.table.distinct("group") if one != ALL]

    @property
    def _folded(self) -> str:
        """Description of the rows that the option `--all` adds to the table."""
        if self._is_whole or not self.folder:
            return ""
        return f"a row for each cell{' and group' if self._groups else ''}"

    @cached_property
    def noun(self) -> str:
        """Name of the metric, as used in a sentence."""
        label = self.values.metric.label
        return f"bit rate {label}" if label.startswith(("received", "delivered")) else label

    # Methods that write the headline.

    def headline(self) -> Iterator[str]:
        """Yields the sentences of the headline, as the description of this module lists them."""
        about, values = self.outcome.open, self.values
        if not self.outcome.table["received_bps"].any():
            where = f"{self._any_cell}{self._in_time()}"
            yield f"nothing arrived in {where}, so that nothing was measured."
            return
        if not values.known.any():
            yield self._nothing()
            return
        if values.metric.completed and about.share >= 0.5:
            yield f"{percent(about.share)} of the transfers did not finish{self._in_time()}."
            yield sentence(" ".join(self._effect()))
        else:
            yield from self._effect()

    @property
    def _any_cell(self) -> str:
        return "the only cell" if len(self.values) == 1 else f"any of {len(self.values)} cells"

    def _nothing(self) -> str:
        about, label = self.outcome.open, self.values.metric.label
        cells = self._any_cell
        if self.values.metric.completed and about.transfers == 0:
            return f"the traffic has no end, so that there is no {label} in {cells}."
        if self.values.metric.completed and about.count == about.transfers:
            none = f"none of the {about.transfers} transfers finished{self._in_time()}"
            return f"{none}: there is no {label} in {cells}."
        return f"there is no {label} in {cells}."

    def _in_time(self) -> str:
        """Returns a phrase with the duration of a run, such as " in 30 s".

        Returns "" if the duration is swept, because cells then have different durations.
        """
        plan = self.outcome.plan
        if any(one.key == "duration" for axis in plan.axes for one in axis.swept):
            return ""
        return f" in {json.loads(plan.cells[0].scenario)['duration']}"

    def _effect(self) -> Iterator[str]:
        values = self.values
        if len(values) == 1:
            yield f"the {self.noun} came to {values[0].text.with_level}."
        elif self._compared:
            yield from self._against()
        elif np.ptp(values.mean[values.known]) == 0 and values.known.all():
            same = values[0].text.value
            yield f"no effect on the {self.noun}: {same} in each of {len(values)} cells."
        else:
            yield from self._range()

    def _range(self) -> Iterator[str]:
        """Yields the smallest and the largest value, and the keys that change the metric most."""
        values = self.values
        least, most = (values[int(of(values.mean))] for of in (np.nanargmin, np.nanargmax))
        if least.high >= most.low:
            yield (
                f"an effect on the {self.noun} is undecided: it ranged from "
                f"{least.text.with_level} to {most.text.with_interval}, and these overlap."
            )
            return
        yield (
            f"the {self.noun} ranged from {least.text.with_level}, with "
            f"{values.where(least.cell)}, to {most.text.with_interval}, with "
            f"{values.where(most.cell)}."
        )
        yield from self._keys()

    def _keys(self) -> Iterator[str]:
        """Yields the largest effect of each key on the metric while other keys are constant."""
        effects = self.outcome.effects
        if len(effects) < 2:
            return
        if decided := [one for one in effects if _is_decided(one.ratio)]:
            first, *others = [
                (one.keys, shown(one.ratio.mean, one.ratio.low, one.ratio.high)) for one in decided
            ]
            said = f"{first[0]} changes it by a factor of up to {first[1].with_level}"
            more = [f"{keys} by up to {text.in_one_cell}" for keys, text in others]
            yield f"Alone, {joined([said, *more])}."
        if left := [one.keys for one in effects if one not in decided]:
            noun, is_ = ("effects", "are") if len(left) > 1 else ("effect", "is")
            alone = "" if decided else " alone"
            yield f"The {noun} of {joined(left)}{alone} {is_} undecided."

    @cached_property
    def _compared(self) -> Sequence[Compared]:
        return list(self.values.compared.values())

    @cached_property
    def _verdicts(self) -> Counter[str]:
        return Counter(one.found.verdict.word for one in self._compared)

    def _against(self) -> Iterator[str]:
        """Yields the largest and the smallest decided effect against the baseline."""
        verdicts, count = self._verdicts, len(self._compared)
        base, noun = self.values.baseline, self.noun
        cells = f"all {count} cells are" if count > 1 else "the other cell is"
        decided = [one for one in self._compared if one.found.verdict.word in DECIDED]
        if set(verdicts) == {"equal"}:
            yield f"no effect on the {noun}: {cells} as with {base}, in every pair."
        elif set(verdicts) <= {"equal", "same"}:
            margin = number(self._margin, "1", percent=True)
            yield f"no effect on the {noun}: {cells} within {margin} of that with {base}."
        elif not decided:
            largest = max(self._compared, key=_size)
            yield (
                f"no effect on the {noun} is decided. Farthest from that with {base} is "
                f"{self.values.where(largest.cell)}: {self._sure(largest)}."
            )
        else:
            largest, smallest = max(decided, key=_size), min(decided, key=_size)
            effect = "largest decided effect" if verdicts["undecided"] else "largest effect"
            yield (
                f"the {effect} is that of {self.values.where(largest.cell)}: "
                f"{self._sure(largest)} of the {self.noun} with {base}."
                if _is_ratio(largest.found)
                else f"the {effect} on the {self.noun} is that of "
                f"{self.values.where(largest.cell)}: {self._sure(largest)} against {base}."
            )
            if smallest is not largest:
                yield (
                    f"The smallest is that of {self.values.where(smallest.cell)}: "
                    f"{self._sure(smallest, again=True)}."
                )

    @property
    def _margin(self) -> float:
        against = self.outcome.against
        return 0.0 if against is None else against.margin

    def _sure(self, one: Compared, *, again: bool = False) -> str:
        """Returns an effect with its interval as text.

        The confidence level is stated unless `again` is true, that is, it was stated before.
        """
        text = ratio_of(one.found) if _is_ratio(one.found) else difference_of(one.found)
        return text.with_interval if again else text.at_level(level(self.values.confidence))

    # Methods that write the marks and notes below the table.

    def marks(self) -> Iterator[Mark]:
        """Yields warnings: means that exclude users, and undecided cells."""
        values = self.values
        if values.leaves_out:
            yield Mark(SURVIVORS, self._of_survivors())
        if self._verdicts["undecided"] and values.has_signs:
            more = [one.found.verdict.more_runs for one in self._compared]
            some = [one for one in more if math.isfinite(one.low)] or more
            all_ = MoreRuns(max(one.low for one in some), max(one.high for one in some))
            left = len(more) - len(some)
            single = f"; {counted(left, 'cell')} with a single pair not counted" if left else ""
            yield Mark("?", f"undecided: {more_text(all_)}{single}.")

    def _of_survivors(self) -> str:
        values = self.values
        fewest = values[int(np.argmin(np.where(values.known, values.covered, math.inf)))]
        least, fast = percent(fewest.covered), ", the fast ones" if values.metric.completed else ""
        who = f"Only of {of_whom(values.metric)}{fast}"
        if len(values) == 1:
            return f"{who}: {least}."
        cells = f"{(values.covered < 1).sum()} of {len(values)} cells"
        return f"{who}; not all in {cells}. Fewest with {values.where(fewest.cell)}: {least}."

    def notes(self) -> Iterator[str]:
        """Yields notes on precision, provenance, and next commands."""
        if not self.outcome.table["received_bps"].any():
            yield f"Nothing arrived: {no_arrival_hint(self.outcome.duration_s)}"
        else:
            yield from self._metric_note()
            yield from self._longer()
        yield from self._precision()
        yield self._provenance()
        if self._groups:
            yield f"All phones together, of the groups {joined(self._groups)}."
        if self.folder:
            yield from self._next()

    def _metric_note(self) -> Iterator[str]:
        if self.outcome.is_chosen or self.outcome.metric == "application_bps":
            return
        why = "have no end" if not self.outcome.open.transfers else "did not finish in some cells"
        yield (
            f"Not every phone has an application bit rate, as transfers {why}: this is the "
            f"{self.noun}. --metric NAME shows another."
        )

    def _longer(self) -> Iterator[str]:
        about = self.outcome.open
        if not about.count:
            return
        text = f"{about.count} of {about.transfers} transfers did not finish{self._in_time()}"
        if math.isfinite(about.enough_s) and self._in_time():
            enough = f'--set duration="{about.enough_s:g} s"'
            yield f"{text}. Longer runs show more: {enough} suffices at the rate of most."
        else:
            yield f"{text}; they had received {percent(about.received)} of theirs."

    def _precision(self) -> Iterator[str]:
        values = self.values
        if not np.isfinite(values.low).any():
            if values.known.any():
                yield ONE_REPLICATION
            return
        if self._compared:
            yield from filter(None, [f"{self._judged()} {self._of_ratios()}".strip()])
        elif self._grid is not None and (width := values.relative_width()) is not None:
            known = number(width, "1", percent=True)
            yield f"Each is known to within {known} of itself, at a level of 95 % each."

    def _judged(self) -> str:
        """Returns a sentence that summarizes the verdicts of all comparisons."""
        count, verdicts = len(self._compared), self._verdicts
        base = self.values.baseline
        if len(verdicts) > 1:
            parts = [f"{verdicts[kind]} {_called(kind, self._margin)}" for kind in verdicts]
            return f"Against {base}, of {counted(count, 'cell')}: {joined(parts)}."
        (kind,) = verdicts
        if kind not in DECIDED:
            return ""
        all_ = {1: "It is", 2: "Both are"}.get(count, f"All {count} are")
        known = "95 %" if count == 1 else "95 % for all together"
        return f"{all_} {_called(kind, self._margin)} than with {base} ({known})."

    def _of_ratios(self) -> str:
        """Returns a sentence on the precision and confidence of the ratios to the baseline.

        The precision is stated only for a grid. Returns "" if no ratio has an interval.
        """
        ratios = [one.found.ratio for one in self._compared]
        halves = [one.half_width for one in ratios if math.isfinite(one.half_width)]
        widest = max(halves, default=0.0)
        open_ = sum(math.isfinite(one.mean) for one in ratios) - len(halves)
        which = f"each % but {open_} without an interval" if open_ else "each %"
        parts = [f"{which} is known to within {100 * widest:.2g} points"] if widest else []
        if len(self._compared) > 1 and widest:
            each = level(self.values.confidence)
            parts.append(f"at a level of {each} each, so that all hold together at 95 %")
        if parts and self._grid is None:
            del parts[0]
        return f"{sentence(', '.join(parts))}." if parts else ""

    def _provenance(self) -> str:
        outcome = self.outcome
        cells = outcome.simulated + outcome.kept
        low, high = (int(of(outcome.table["runs"])) for of in (np.min, np.max))
        runs = counted(low, "replication") if low == high else f"{low} to {high} replications"
        if cells == 1:
            new, each = "it was new" if outcome.simulated else "it was there already", ""
        else:
            were = "was" if outcome.kept == 1 else "were"
            kinds = {0: "none was new", cells: "all were new"}
            new = kinds.get(outcome.simulated, f"{outcome.kept} {were} there already")
            each = " each"
        return f"{counted(cells, 'cell')}, {runs}{each}, seed {outcome.plan.seed}; {new}."

    def _next(self) -> Iterator[str]:
        yield f"{self.folder} has the table."
        keys = [axis.swept[0].key for axis in self.values.axes]
        if keys and self.values.known.any():
            axes = {"x": keys[0], "y": self.outcome.metric, "by": keys[1:]}
            yield f"Draw it: {command_line('plot', self.folder, options=axes)}"


def _is_decided(factor: Interval) -> bool:
    """Returns true if a factor is known well enough to be stated.

    Its interval excludes 1, and its upper end is at most `WIDEST` times the lower one. A factor of
    a single replication has no interval and is stated.
    """
    if math.isnan(factor.low) and factor.n < 2:
        return True
    return factor.low > 1 and factor.high <= WIDEST * factor.low


def _is_ratio(found: Difference) -> bool:
    """Returns true if the effect is shown in per cent of the baseline, not as a difference."""
    return math.isfinite(found.ratio.mean)


def _size(one: Compared) -> float:
    """Returns the size of an effect: relative to the baseline if possible, else absolute."""
    found = one.found
    return abs(found.ratio.mean - 1) if _is_ratio(found) else abs(found.difference.mean)


def _called(kind: str, margin: float) -> str:
    """Returns the name of a verdict for a list of counts, such as `equal in every pair`."""
    if kind == "same":
        return f"the same within {number(margin, '1', percent=True)}" if margin else "the same"
    return {"equal": "equal in every pair"}.get(kind, kind)
