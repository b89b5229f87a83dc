"""Fits every kind of model to a sequence and compares them.

Models agree with the sequence if its gaps, bursts and PDUs lost per block are distributed like
those of sequences that they simulate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nodeb.answer import Answer
from nodeb.answer.answer import Rows
from nodeb.answer.answering import Answering
from nodeb.answer.numbers import Shown
from nodeb.base.arguments import as_seed
from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.fit.chain import (
    MAX_STATES,
    Chain,
    binary_symmetric,
    check_states,
    gilbert,
    gilbert_elliott,
    hidden_markov,
)
from nodeb.fit.model import ErrorModel, Within
from nodeb.fit.sequence import Bits, ErrorSequence, bursts, gaps
from nodeb.terminal.progress import ProgressCallback

Unit = Literal["pdu", "block"]
Counts = NDArray[np.int64]

CLOSED_FORMS = {"bsc": binary_symmetric, "gilbert": gilbert, "gilbert_elliott": gilbert_elliott}
MAX_PDUS = 5_000_000
"""Maximum length of a simulated sequence, PDUs, unless the given sequence is longer."""
TIMES = 4
"""Length of the simulated sequence, relative to the given one, unless `MAX_PDUS` limits it."""
MIN_EXPECTED, MAX_BINS = 5.0, 20
"""Chi-square test: expected number of values that a bin needs, and maximum number of bins."""


@dataclass(frozen=True)
class Match:
    """Agreement of two samples: result of a chi-square test, and distance."""

    p_value: float
    """Probability of samples that differ at least as much if they had the same distribution.

    It is NaN if a sample has fewer than five values, or all values are in one bin. The samples are
    treated as independent, although the model was fitted to one of them.
    """
    distance: float
    """Maximum difference of the samples' distribution functions (Kolmogorov and Smirnov), 0 to 1.

    It is NaN if a sample has fewer than five values.
    """


@dataclass(frozen=True)
class Candidate:
    """Fitted model, its likelihood, and tests of its agreement with the sequence."""

    model: ErrorModel
    log_likelihood: float
    """Log-likelihood of the PDU errors, also for a model of blocks; -inf if they are impossible."""
    bic: float
    """Bayesian information criterion; smaller is better, and inf if the errors are impossible."""
    simulated: ErrorSequence
    """Sequence simulated by the model, for the tests of agreement and for pictures."""
    matches: dict[str, Match]
    """Results of the tests of agreement, by distribution: `gap`, `burst`, `lost_per_block`."""

    @property
    def label(self) -> str:
        """Unit and name of the model, such as `pdu hmm3`."""
        return f"{self.model.unit} {self.model.name}"


@dataclass(frozen=True)
class Comparison(Answering):
    """Models fitted to one error sequence, grouped by unit, then by increasing number of states."""

    errors: ErrorSequence
    candidates: tuple[Candidate, ...]

    @property
    def answer(self) -> Answer:
        """Table of the models: parameters, BIC, share of lost PDUs, p-values."""
        return answer(self)

    @property
    def best(self) -> Candidate:
        """Candidate with the smallest BIC among all models, of PDUs and of blocks."""
        return min(self.candidates, key=lambda candidate: candidate.bic)

    @property
    def units(self) -> list[Unit]:
        """Units for which models were fitted: `pdu`, `block` or both."""
        units: list[Unit] = ["pdu", "block"]
        return [unit for unit in units if self.of_unit(unit)]

    def of_unit(self, unit: Unit) -> list[Candidate]:
        """Candidates of a unit, by increasing number of states."""
        return [candidate for candidate in self.candidates if candidate.model.unit == unit]

    def best_of(self, unit: Unit) -> Candidate:
        """Candidate with the smallest BIC of one of `units`."""
        return min(self.of_unit(unit), key=lambda candidate: candidate.bic)

    def find(self, unit: Unit, name: str) -> Candidate:
        """Candidate with a unit, `pdu` or `block`, and a name, such as `hmm3`.

        Raises:
            InputError: there is no such candidate.
        """
        candidates = {candidate.label: candidate for candidate in self.candidates}
        if (label := f"{unit} {name}") not in candidates:
            raise InputError(f"no model `{label}` was fitted (there is: {', '.join(candidates)})")
        return candidates[label]

    @property
    def table(self) -> Table:
        """One row per candidate; `bic_diff` is the difference from the best candidate's BIC."""
        return Table.of_rows([self._row(candidate) for candidate in self.candidates])

    def _row(self, candidate: Candidate) -> dict[str, Any]:
        model = candidate.model
        row: dict[str, Any] = {
            "unit": model.unit,
            "model": model.name,
            "states": model.chain.states,
            "parameters": model.parameters,
            "log_likelihood": candidate.log_likelihood,
            "bic": candidate.bic,
            "bic_diff": candidate.bic - self.best.bic,
            "per": model.error_rate,
        }
        for name, test in candidate.matches.items():
            row |= {f"{name}_p_value": test.p_value, f"{name}_distance": test.distance}
        return row


def answer(comparison: Comparison, folder: str = "") -> Answer:
    """Answer of a fit; `folder` is where it is saved, or empty."""
    errors = comparison.errors
    lost = f"{int(errors.errors.sum())} of {len(errors)} PDUs were lost"
    failed = f"{int(errors.block_errors.sum())} of {len(errors.blocks)} blocks failed"
    rows: list[list[str | Shown]] = []
    more: list[list[str | Shown]] = []
    for row in comparison.table:
        name, possible = f"{row['unit']} {row['model']}", math.isfinite(row["bic"])
        bic = f"{row['bic_diff']:.1f}" if possible else "impossible"
        likelihood = f"{row['log_likelihood']:.1f}" if possible else "impossible"
        p_values = [f"{row[f'{kind}_p_value']:.2g}" for kind in DISTRIBUTIONS]
        rows.append([name, Shown(str(row["parameters"]), ""), Shown(bic, ""), *p_values])
        more.append([name, likelihood, f"{row['per']:.3g}"])
    return Answer(
        command="nodeb fit",
        subject=str(errors.origin),
        headline="error models, BIC as difference from the best.",
        table=Rows(["", "parameters", "BIC", "p: gaps", "bursts", "lost of a block"], rows),
        notes=[
            f"{lost}, {failed}. A small p speaks against a model.",
            *([f"{folder} has the models and pictures."] if folder else []),
        ],
        everything=[Rows(["", "log-likelihood", "share of PDUs lost"], more, "Likelihoods")],
    )


def compare(
    errors: ErrorSequence,
    states: Iterable[int] | None = None,
    *,
    units: Sequence[Unit] | None = None,
    starts: int = 5,
    seed: int = 1,
    jobs: int = 1,
    progress: ProgressCallback | None = None,
) -> Comparison:
    """Fits all kinds of models; compares likelihood, BIC, and distributions of gaps and bursts.

    Args:
        errors: sequence of errors.
        states: numbers of states of hidden Markov models; None tries 2 to 8, as far as the sequence
            has enough errors. N states need N^2 errors and N^2 correct symbols.
        units: `pdu` fits a chain of PDUs, `block` a chain of transport blocks with a distribution
            of losses inside a failed one; None fits both if blocks have several PDUs.
        starts: number of random starts of each hidden Markov model.
        seed: seed of the starts and of the simulated sequences.
        jobs: number of starts that are trained concurrently; does not change results.
        progress: called after each model with the fraction done and the name of the model.

    Raises:
        InputError: the sequence has no errors, or too few for these numbers of states; or an
            argument is invalid.
    """
    as_seed(seed)
    both: list[Unit] = ["pdu", "block"]
    chosen = list(units or (both if errors.pdus_per_block > 1 else both[:1]))
    plans = {unit: _planned(_symbols(errors, unit), states, unit) for unit in chosen}
    total = sum(len(plan) + len(CLOSED_FORMS) for plan in plans.values())
    candidates: list[Candidate] = []
    for unit, plan in plans.items():
        within = Within.fitted(errors) if unit == "block" else None
        for name, chain in _chains(_symbols(errors, unit), plan, starts, seed, jobs):
            model = ErrorModel(name, chain, errors.pdus_per_block, within)
            candidates.append(_judge(errors, model, seed))
            if progress:
                progress(len(candidates) / total, candidates[-1].label)
    return Comparison(errors, tuple(candidates))


def _symbols(errors: ErrorSequence, unit: Unit) -> Bits:
    return errors.block_errors if unit == "block" else errors.errors


def _planned(symbols: Bits, states: Iterable[int] | None, unit: Unit) -> list[int]:
    """Numbers of states to train; the sequence must allow them, and 2 even if `states` is empty."""
    name = "PDU" if unit == "pdu" else "block"
    if states is not None:
        plan = sorted(set(states))
        for number in plan or [2]:
            check_states(symbols, number, name)
        return plan
    check_states(symbols, 2, name)
    rarer = min(int(symbols.sum()), len(symbols) - int(symbols.sum()))
    return [number for number in range(2, MAX_STATES + 1) if number**2 <= rarer]


def _chains(
    symbols: Bits, plan: Sequence[int], starts: int, seed: int, jobs: int
) -> Iterator[tuple[str, Chain]]:
    """A kind that cannot be fitted to the symbols is left out."""
    for name, closed_form in CLOSED_FORMS.items():
        if (chain := closed_form(symbols)) is not None:
            yield name, chain
    before: Chain | None = None
    for number in plan:
        before = hidden_markov(symbols, number, starts=starts, seed=seed, jobs=jobs, fewer=before)
        yield f"hmm{number}", before


def _judge(errors: ErrorSequence, model: ErrorModel, seed: int) -> Candidate:
    blocks = len(errors.blocks)
    longest = max(blocks, MAX_PDUS // errors.pdus_per_block)
    simulated = model.simulate(min(TIMES * blocks, longest), np.random.default_rng([seed, blocks]))
    matches = {
        name: match(sample(errors), sample(simulated)) for name, sample in DISTRIBUTIONS.items()
    }
    likelihood = model.log_likelihood(errors)
    bic = model.parameters * float(np.log(len(errors))) - 2.0 * likelihood
    return Candidate(model, likelihood, bic, simulated, matches)


def _lost_per_block(errors: ErrorSequence) -> Counts:
    lost = errors.blocks.sum(axis=1, dtype=np.int64)
    return np.asarray(lost[lost > 0])


DISTRIBUTIONS = {
    "gap": lambda errors: gaps(errors.errors),
    "burst": lambda errors: bursts(errors.errors),
    "lost_per_block": _lost_per_block,
}


def match(first: Counts, second: Counts) -> Match:
    """Tests if two samples of whole numbers are homogeneous, by chi-square.

    Values are grouped, in order, into at most 20 bins with at least five values expected from each
    sample: the samples have many ties, for which the Kolmogorov-Smirnov test has no exact level.
    """
    try:
        from scipy import stats
    except ImportError:
        raise InputError(
            "comparing distributions needs the package `scipy`: pip install 'nodeb[fit]'"
        ) from None
    if min(len(first), len(second)) < MIN_EXPECTED:
        return Match(float("nan"), float("nan"))
    distance = float(stats.ks_2samp(first, second, method="asymp").statistic)
    table = _binned(first, second)
    if table.shape[1] < 2:
        return Match(float("nan"), distance)
    return Match(float(stats.chi2_contingency(table, correction=False).pvalue), distance)


def _binned(first: Counts, second: Counts) -> Counts:
    """Number of values of each sample (row) in each common bin (column)."""
    values, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    samples = np.split(places, [len(first)])
    each = np.array([np.bincount(sample, minlength=len(values)) for sample in samples])
    bins = _bins(each.sum(axis=0), min(len(first), len(second)))
    return np.array([np.bincount(bins, weights=row).astype(np.int64) for row in each])


def _bins(counts: Counts, smaller: int) -> Counts:
    """Index of the bin of each distinct value.

    A bin is full once it has enough expected values and its part of the remaining counts. That
    part is an even share for each remaining bin. So a frequent value, which fills a bin alone,
    leaves enough bins for the other values.
    """
    min_count = MIN_EXPECTED * counts.sum() / smaller
    bins = np.empty(len(counts), dtype=np.int64)
    number, held, rest = 0, 0, int(counts.sum())
    for at, count in enumerate(counts):
        bins[at] = number
        held += count
        if held >= max(min_count, rest / (MAX_BINS - number)):
            number, rest, held = number + 1, rest - held, 0
    if 0 < held < min_count and number > 0:
        bins[bins == number] = number - 1
    return bins
