"""Answer of a comparison: which scenario is better, by how much, with which certainty.

The main metric is the first metric of `MAIN` that has a value in both scenarios. The headline is
that of the first of these cases that applies:

0. no metric has values in both scenarios, or nothing arrived in either: nothing to compare;
1. all metrics are equal in all of at least two pairs: no difference;
2. the shares of transfers acknowledged in full differ, and one is at most a half: both shares;
3. the main metric is better or worse: by how much;
4. another metric is better or worse: by how much, and the verdict on the main metric;
5. the main metric is equal in all pairs, or the same within the margin: no difference;
6. a metric of which neither direction is better differs: by how much;
7. undecided: how many further replications would decide.

In the cases 3 and 4, a metric with the opposite verdict follows if its change is not small against
the first one; see `_opposite`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from nodeb.answer.answer import MAX_ROWS, SURVIVORS, Answer, Bars, Mark, Rows
from nodeb.answer.numbers import Shown, shown
from nodeb.answer.words import counted, joined, percent, sentence
from nodeb.comparison.differences import Comparison, Difference, Tried
from nodeb.comparison.shown import (
    LESS,
    MORE,
    SIGNS,
    difference_of,
    level,
    mark_of,
    means_of,
    more_text,
    sign_of,
)
from nodeb.results.group import ALL, ALL_UP
from nodeb.results.summary import left_out
from nodeb.results.survivors import no_arrival_hint

__all__ = ["answers", "of_tried", "shown_of"]

CELL = "cell_bps"
TIMES = ("download_s", "load_median_s", "transfer_s")
MAIN = (*TIMES, CELL, "received_bps")
"""Metrics that can be the main metric of the headline, in order of preference."""
IN_SENTENCES = {
    "download_s": "the download takes",
    "load_median_s": "half of the loads take at most",
    "transfer_s": "the transfer takes",
    "cell_bps": "the cell delivers",
    "received_bps": "a phone receives",
}
NOUNS = {
    "download_s": "the download time",
    "load_median_s": "the load time",
    "transfer_s": "the transfer time",
    "cell_bps": "what the cell delivers",
    "received_bps": "the mean rate of the phones",
    "received_bps_p50": "the median rate of the phones",
    "received_bps_p5": "the rate at the edge of the cell",
    "complete": "the share of transfers acknowledged in full",
    "rtt_mean_s": "the round-trip time",
    "jain_index": "fairness",
    "stalled_s": "the time stalled",
    "served": "the share of phones that receive something",
    "block_errors": "the share of block errors",
}
"""Names of metrics in sentences; those of other metrics are "the" followed by the label."""
MAX_NAMED = 3
SECOND = 0.25
"""Ratio of a change to that of the headline's first metric, from which on it is mentioned too."""
QUIET = ("equal", "same")
"""Verdicts whose metrics a note lists together, instead of rows of the table."""
FEW = 0.5
"""Share of transfers acknowledged in full up to which a headline states both scenarios' shares.

The smaller of the two shares counts, and they must differ.
"""
KEY = (
    *("download_s", "load_median_s", "cell_bps", "received_bps", "received_bps_p50"),
    *("received_bps_p5", "complete", "rtt_mean_s", "queueing_delay_s", "utilization", "jain_index"),
    *("stalled_s", "recovery_s", "timeouts", "block_errors"),
)


def answers(found: Comparison, causes: Sequence[Bars] = (), folder: str = "") -> list[Answer]:
    bars = [*causes, *[None] * len(found.tried)]
    return [of_tried(found, one, bars[at], folder) for at, one in enumerate(found.tried)]


def shown_of(tried: Tried) -> list[Difference]:
    return _Answer(Comparison("", [tried], 0, 0, 0.0), tried, "").shown


def of_tried(
    found: Comparison, tried: Tried, causes: Bars | None = None, folder: str = ""
) -> Answer:
    return _Answer(found, tried, folder).answer(causes)


@dataclass(frozen=True)
class _Answer:
    """Builder of the answer about one scenario, compared with the baseline."""

    found: Comparison
    tried: Tried
    folder: str

    def answer(self, causes: Bars | None) -> Answer:
        """The causes are included only if the main metric is better or worse."""
        quiet = self.main is None or self.main.verdict.kind not in ("better", "worse")
        return Answer(
            command="nodeb compare",
            subject="",
            headline=self.headline(),
            lead=f"{sentence(self._pairs())} with the same random numbers, seed {self.found.seed}.",
            table=self.table(self.shown) if self.shown else None,
            after=None if quiet else causes,
            marks=list(self.marks()),
            notes=list(self.notes()),
            everything=[self.table(self.tried.differences, "All metrics, with ratios", True)],
            folded="all metrics, with ratios" if self.folder else "",
        )

    @cached_property
    def of_all(self) -> list[Difference]:
        """Differences of the group of all users; if it has none, those of all groups.

        If all transfers are uploads, what the cell delivers is left out unless it is the only
        metric: it is only their ACKs.
        """
        mine = [one for one in self.tried.differences if one.group == ALL]
        every = mine or self.tried.differences
        if not self.found.is_upload:
            return every
        return [one for one in every if one.metric.name != CELL] or every

    @cached_property
    def main(self) -> Difference | None:
        """Difference in the main metric, the first of `MAIN` in `of_all`; None if there is none."""
        known = {one.metric.name: one for one in self.of_all}
        return next((known[name] for name in MAIN if name in known), None)

    @cached_property
    def ordered(self) -> list[Difference]:
        """Differences of `of_all`: those in metrics of `KEY` first, in order, then all others."""
        order = {name: place for place, name in enumerate(KEY)}
        return sorted(self.of_all, key=lambda one: order.get(one.metric.name, len(order)))

    @cached_property
    def shown(self) -> list[Difference]:
        """Rows of the table, at most `MAX_ROWS`, in the order of `ordered`.

        A metric with the verdict `equal` or `same` has a row only if it is the main metric. If
        all metrics have one of these verdicts, there are no rows.
        """
        differ = [one for one in self.ordered if one.verdict.kind not in QUIET]
        if not differ:
            return []
        more = [one for one in differ if one.metric.name in KEY or one.verdict.sign]
        named = self.named[:MAX_ROWS]
        rest = [one for one in more if one not in named][: MAX_ROWS - len(named)]
        return [one for one in self.ordered if one in named or one in rest]

    @property
    def named(self) -> list[Difference]:
        """Metrics that the headline mentions; not valid for the headline of `_finish`."""
        every = (self.main, self.first, self._opposite)
        return [one for at, one in enumerate(every) if one is not None and one not in every[:at]]

    @cached_property
    def first(self) -> Difference | None:
        """Metric that the headline begins with: better or worse; None if no metric is."""
        decided = [one for one in self.ordered if one.verdict.kind in ("better", "worse")]
        if self.main in decided or not decided:
            return self.main if decided else None
        return next((one for one in decided if _change(one) > self.found.margin), decided[0])

    @property
    def _opposite(self) -> Difference | None:
        """None if all such changes are within the margin, or small beside that of `first`."""
        first = self.first
        if first is None:
            return None
        least = max(self.found.margin, SECOND * _change(first))
        kind = {"better": "worse", "worse": "better"}[first.verdict.kind]
        others = [one for one in self.ordered if one.verdict.kind == kind]
        return next((one for one in others if least < _change(one) < math.inf), None)

    # Methods that write the sentences of the headline.

    def headline(self) -> str:
        if not self.tried.differences:
            return (
                f"{self.tried.name} and {self.found.baseline} have no metric in common that has a "
                "value."
            )
        if len(self.tried.empty) > 1:
            return (
                f"There is nothing to compare: nothing arrived with {self.tried.name}, and "
                f"nothing with {self.found.baseline}."
            )
        if all(one.verdict.kind == "equal" for one in self.of_all):
            return f"{self._no_difference(f', in each of the {self._pairs()}.')} {self._unseen()}"
        finish = self._finish()
        if finish:
            return finish
        main = self.main
        if self.first is not None:
            text = self._of_main(main) if main is self.first else self._of_other(self.first)
            return f"{text} {self._but()}".strip()
        if main is not None and main.verdict.kind == "equal":
            return f"{self._no_difference(f', in each of the {self._pairs()}.')} {self._unseen()}"
        if main is not None and main.verdict.kind == "same":
            return self._no_difference(f", to within {percent(self.found.margin)}.")
        if main is not None and main.verdict.sign:
            return self._of_main(main)
        differs = next((one for one in self.ordered if one.verdict.sign), None)
        if main is None and differs is not None:
            return self._of_other(differs)
        return self._undecided(main)

    def _finish(self) -> str:
        """Returns a sentence on unequal shares of transfers that were acknowledged in full.

        Returns "" unless the verdict is that the shares differ, and one of them is at most `FEW`.
        """
        known = [one for one in self.of_all if one.metric.name == "complete"]
        if not known or not known[0].verdict.sign:
            return ""
        if min(known[0].other.mean, known[0].baseline.mean) > FEW:
            return ""
        before, now = (one.value for one in means_of(known[0]))
        return (
            f"Unequal shares of the transfers were acknowledged in full: {now} with "
            f"{self.tried.name}, {before} with {self.found.baseline}."
        )

    def _called(self, one: Difference) -> str:
        noun = self._fitted(NOUNS.get(one.metric.name, f"the {one.metric.label}"))
        return f"{noun} {mark_of(one)}".strip()

    def _fitted(self, text: str) -> str:
        """Returns a text about downloads, changed to one about uploads if there are only those."""
        if not self.found.is_upload:
            return text
        return text.replace("download", "upload").replace("receive", "send")

    def _pairs(self) -> str:
        return counted(self.found.runs, "pair")

    def _unseen(self) -> str:
        """Returns a sentence on rare effects, for a comparison in which all n pairs are equal.

        It states the largest share of all possible pairs that may differ. If a larger share did,
        the probability of n equal pairs would be below 5 %.
        """
        share = percent(1 - 0.05 ** (1 / max(self.found.runs, 1)))
        return f"Rarer effects can be unseen: up to {share} of pairs may differ (95 %)."

    def _of(self, one: Difference) -> str:
        return f" (of the {percent(one.covered)} that have one)" if one.covered < 1 else ""

    def _relative(self, one: Difference) -> str:
        """Returns the difference in per cent of the baseline's mean, such as `20 % more`.

        If the baseline's mean is not above 0, or the ratio is not finite, returns the absolute
        difference instead.
        """
        ratio = one.ratio
        if not (math.isfinite(ratio.mean) and one.baseline.mean > 0):
            return difference_of(one).with_interval
        sign = 1 if ratio.mean >= 1 else -1
        word = "more" if sign > 0 else "less"
        low, high = sorted(sign * 100 * (end - 1) for end in (ratio.low, ratio.high))
        if sign < 0 and one.metric.low == 0:
            high = min(high, 100.0)  # A metric that is never negative falls by at most 100 %.
        found = shown(sign * 100 * (ratio.mean - 1), low, high, scale=("%", 1.0))
        if not found.low:
            return f"{found.value} {word}"
        return (
            f"{found.value} {word} ({level(self.found.confidence)}: {found.low} to {found.high} %)"
        )

    def _no_difference(self, end: str) -> str:
        name = self.tried.name
        if self.main is None:
            return f"No difference between {name} and {self.found.baseline}{end}"
        says = self._fitted(IN_SENTENCES[self.main.metric.name])
        value = means_of(self.main)[0].value
        return f"No difference: with {name} {says} {value}, as with {self.found.baseline}{end}"

    def _of_main(self, main: Difference) -> str:
        before, now = (one.value for one in means_of(main))
        says = self._fitted(IN_SENTENCES[main.metric.name])
        text = f"{self._verdict(main)}: {says} {now} instead of {before}"
        return f"{text}, {self._relative(main)}{self._of(main)}."

    def _of_other(self, one: Difference) -> str:
        """Returns a sentence on a metric that differs, and on the main metric, which does not."""
        text = f"{self._verdict(one)}: {self._called(one)} is {self._relative(one)}{self._of(one)}"
        if self.main is None:
            return f"{text}."
        if self.main.verdict.kind in QUIET:
            return f"{text}; {self._called(self.main)}{self._of(self.main)} is the same."
        if self.main.verdict.sign:
            return f"{text}; {self._called(self.main)} is {self._relative(self.main)}."
        return f"{text}; whether {self._called(self.main)} differs is undecided."

    def _verdict(self, one: Difference) -> str:
        words = {"better": "faster", "worse": "slower"} if one.metric.name in TIMES else {}
        kind = one.verdict.kind
        word = "differs from" if kind == "differs" else f"is {words.get(kind, kind)} than"
        return f"{self.tried.name} {word} {self.found.baseline}"

    def _but(self) -> str:
        one = self._opposite
        return f"But {self._called(one)} is {self._relative(one)}{self._of(one)}." if one else ""

    def _undecided(self, main: Difference | None) -> str:
        one = main if main is not None else self.of_all[0]
        gap = difference_of(one)
        how = f" ({level(self.found.confidence)}: {gap.interval})" if gap.interval else ""
        text = (
            f"Undecided: with {self.tried.name}, {self._called(one)} differs by {gap.value}{how} "
            f"from {self.found.baseline}"
        )
        if self.found.runs < 2:
            return f"{text}; one pair says nothing of how sure that is."
        return f"{text}; {more_text(one.verdict.more_runs)}."

    # Methods that write the table, the marks and the notes.

    def table(self, rows: Sequence[Difference], title: str = "", everything: bool = False) -> Rows:
        groups = everything and {one.group for one in rows} != {ALL}
        head = ["", "metric", self.found.baseline, self.tried.name]
        head += [f"difference ({level(self.found.confidence)})", *(["ratio"] if everything else [])]
        cells = [self._row(one, groups, everything) for one in rows]
        return Rows([f"{head[0]}{head[1]}", *head[2:]], cells, title)

    def _row(self, one: Difference, groups: bool, everything: bool) -> list[str | Shown]:
        name = f"{sign_of(one)} {_marked(one)}"
        if groups:
            name += f", {one.group}"
        before, after = (each.number for each in means_of(one))
        ratio = shown(one.ratio.mean, one.ratio.low, one.ratio.high).in_one_cell
        return [
            name,
            before,
            after,
            difference_of(one).in_one_cell,
            *([ratio] if everything else []),
        ]

    def marks(self) -> Iterator[Mark]:
        """Yields marks on excluded users, missing values, empty scenarios, uploads and groups.

        Marks on uploads name the metrics in which they differ. Those on groups name the groups that
        only one scenario has.
        """
        visible = [one for one in self.of_all if one in self.shown or one.verdict.kind in QUIET]
        rest = [one for one in self.tried.differences if one not in visible]
        for rows, folded in ((visible, False), (rest, True)):
            labels = [
                one.metric.label + ("" if one in self.of_all else f" ({one.group})") for one in rows
            ]
            pairs = zip(labels, rows, strict=True)
            for text in left_out((label, one.metric, one.covered) for label, one in pairs):
                yield Mark(
                    SURVIVORS, f"{text.removesuffix('.')}, in the scenario with fewer.", folded
                )
        if self.tried.unknown:
            yield Mark("!", f"Of {joined(self.tried.unknown)} one of the two has no value at all.")
        if self.tried.empty:
            why = no_arrival_hint(self.found.duration_s)
            yield Mark("!", f"Nothing arrived with {joined(self.tried.empty)}; {why}")
        uploads = [one for one in self.tried.differences if one.group == ALL_UP]
        labels = [one.metric.label for one in uploads if one.verdict.sign]
        if labels and uploads[0] not in self.of_all:
            few = labels[:MAX_NAMED] + (["other metrics"] if len(labels) > MAX_NAMED else [])
            text = (
                f"These are the downloads. The uploads differ in: {joined(few)}; --all shows them."
            )
            yield Mark("!", text)
        for name, groups in self.tried.only.items():
            if groups:
                which, are = ("groups", "are") if len(groups) > 1 else ("group", "is")
                text = f"Only {name} has the {which} {joined(groups)}, which {are} left out."
                yield Mark("!", text)

    def notes(self) -> Iterator[str]:
        """Yields notes: meaning of signs, undecided, same and equal metrics, and provenance."""
        kinds = {one.verdict.kind for one in self.shown}
        words = {
            "better": f"{SIGNS['better']} better",
            "worse": f"{SIGNS['worse']} worse",
            "differs": f"{MORE}{LESS} differs, neither is better",
        }
        legend = [word for kind, word in words.items() if kind in kinds]
        if legend:
            yield "  ".join(legend)
        open_ = [one for one in self.shown if one.verdict.kind == "undecided"]
        if open_ and self.found.runs >= 2:
            one = self.main if self.main in open_ else open_[0]
            yield f"? undecided: for {self._called(one)}, {more_text(one.verdict.more_runs)}."
        for kind, how in (
            ("same", f"Same within {percent(self.found.margin)}"),
            ("equal", f"Equal in all {self._pairs()}"),
        ):
            names = [_marked(one) for one in self.of_all if one.verdict.kind == kind]
            if names:
                yield f"{how}: {joined(names)}."
        about = f"{sentence(self._pairs())} with the same random numbers, seed {self.found.seed}."
        where = f" {self.folder} has the tables." if self.folder else ""
        yield f"{about}{where}"
        if len(self.found.tried) > 1:
            yield (
                f"{len(self.found.tried)} scenarios are compared: each interval holds with "
                f"{level(self.found.confidence)}, so that all of a metric hold together with 95 %."
            )


def _marked(one: Difference) -> str:
    """Returns the label of a metric, with `SURVIVORS` if means exclude users or replications."""
    return f"{one.metric.label} {mark_of(one)}".strip()


def _change(one: Difference) -> float:
    """Returns the size of a change as a share of the baseline's mean; infinite from a mean of 0."""
    return abs(one.ratio.mean - 1) if math.isfinite(one.ratio.mean) else math.inf
