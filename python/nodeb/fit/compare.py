"""Fits every kind of model to a sequence and compares them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nodeb.answer.answering import Answering
from nodeb.base.arguments import as_seed
from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.fit.chain import Chain
from nodeb.fit.closed_form import binary_symmetric, gilbert, gilbert_elliott
from nodeb.fit.distributions import DISTRIBUTIONS, Match, match
from nodeb.fit.hidden import MAX_STATES, check_states, hidden_markov
from nodeb.fit.model import ErrorModel
from nodeb.fit.sequence import Bits, ErrorSequence
from nodeb.fit.within import Within
from nodeb.terminal.progress import ProgressCallback

if TYPE_CHECKING:
    from nodeb.answer import Answer

__all__ = ["Candidate", "Comparison", "Unit", "compare"]

Unit = Literal["pdu", "block"]
UNIT_NAMES: dict[Unit, str] = {"pdu": "PDU", "block": "block"}

CLOSED_FORMS = 3
"""Maximum number of models for each unit, PDU or block, that are fitted without a search."""
MAX_PDUS = 5_000_000
"""Maximum length of a simulated sequence, PDUs, unless the given sequence is longer."""
TIMES = 4
"""Length of the simulated sequence, relative to the given one, unless `MAX_PDUS` limits it."""


@dataclass(frozen=True)
class Candidate:
    """Fitted model with its likelihood, its BIC, and tests of its agreement with the sequence."""

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
        """Answer of the fit: the best model, and whether its distributions match the sequence."""
        from nodeb.fit.answer import answer

        return answer(self)

    @property
    def best(self) -> Candidate:
        """Candidate with the smallest BIC among all models, of PDUs and of blocks."""
        return min(self.candidates, key=lambda candidate: candidate.bic)

    @property
    def units(self) -> list[Unit]:
        """Units for which models were fitted: `pdu`, `block` or both."""
        units: list[Unit] = ["pdu", "block"]
        return [u for u in units if any(c.model.unit == u for c in self.candidates)]

    def best_of(self, unit: Unit) -> Candidate:
        """Returns the candidate of a unit, `pdu` or `block`, with the smallest BIC.

        The unit must be one of `units`.
        """
        return min(
            (c for c in self.candidates if c.model.unit == unit),
            key=lambda candidate: candidate.bic,
        )

    def find(self, unit: Unit, name: str) -> Candidate:
        """Returns the candidate with a unit, `pdu` or `block`, and a name, such as `hmm3`.

        Raises:
            InputError: there is no such candidate.
        """
        for candidate in self.candidates:
            if (candidate.model.unit, candidate.model.name) == (unit, name):
                return candidate
        known = ", ".join(candidate.label for candidate in self.candidates)
        raise InputError(f"no model `{unit} {name}` was fitted (there is: {known})")

    @property
    def table(self) -> Table:
        """One row per candidate; `bic_diff` is the difference from the best candidate's BIC."""
        rows = [self._row(candidate) for candidate in self.candidates]
        return Table({name: [row[name] for row in rows] for name in rows[0]})

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
        for kind, found in candidate.matches.items():
            row |= {f"{kind}_p_value": found.p_value, f"{kind}_distance": found.distance}
        return row

    @property
    def verdict(self) -> str:
        """Sentences on the number of states that the BIC justifies, one for each unit."""
        return " ".join(self._verdict(unit) for unit in self.units)

    def _verdict(self, unit: Unit) -> str:
        best = self.best_of(unit)
        states = best.model.chain.states
        many = f"{states} state{'s are' if states > 1 else ' is'} justified"
        return f"By {UNIT_NAMES[unit]}s {many} ({best.model.name}, BIC {best.bic:.1f})."


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
    total = sum(len(plan) + CLOSED_FORMS for plan in plans.values())
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
    """Returns the numbers of states to train, after checking that the sequence allows them.

    The sequence must allow 2 states even if `states` is empty.
    """
    name = UNIT_NAMES[unit]
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
    yield "bsc", binary_symmetric(symbols)
    if np.any(np.diff(symbols.astype(np.int8)) < 0) and np.any(
        np.diff(symbols.astype(np.int8)) > 0
    ):
        yield "gilbert", gilbert(symbols)
    elliott = gilbert_elliott(symbols)
    if elliott is not None:
        yield "gilbert_elliott", elliott
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
