"""Markov chains of hidden states, each with a probability of error, and their fits.

A binary symmetric channel is the chain with one state; those of Gilbert and Elliott have two and
are fitted in closed form. Chains with more states are trained by the Baum-Welch algorithm.
"""

from __future__ import annotations

import logging
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb.answer.words import counted
from nodeb.base.arguments import as_seed, as_whole
from nodeb.errors import InputError
from nodeb.fit.sequence import Bits

Real = NDArray[np.float64]
Start = tuple[Real, Real]
"""Initial values of a training: transition matrix, and error probability of each state."""

MAX_STATES = 8
MAX_STARTS = 10_000
"""Maximum number of random starts."""
SHORT, LONG = 20, 500
"""Maximum iterations of training: from each start, and then for the best model."""
TOLERANCE = 1e-2
"""Gain of log-likelihood per iteration below which training ends: too small to matter in BIC."""


def hmm(states: int, **options: Any) -> Any:
    """An hmmlearn model of the symbols 0 (correct) and 1 (error), without parameters."""
    try:
        from hmmlearn.hmm import CategoricalHMM
    except ImportError:
        raise InputError(
            "models with several states need the package `hmmlearn`: pip install 'nodeb[fit]'"
        ) from None
    return CategoricalHMM(states, implementation="scaling", **options)


@dataclass(frozen=True, eq=False)
class Chain:
    """Hidden Markov model of a sequence of errors, which starts in its stationary distribution.

    See L. R. Rabiner, "A tutorial on hidden Markov models and selected applications in speech
    recognition", Proc. IEEE 77(2), 1989.
    """

    kind: str
    """Name in a model file: `bsc`, `gilbert_elliott` or `hmm`."""
    transition: Real
    """Transition matrix: probability of each next state (column) in each state (row)."""
    error: Real
    """Probability, 0 to 1, of an error in each state."""
    parameters: int
    """Number of fitted parameters."""

    @property
    def states(self) -> int:
        """Number of hidden states."""
        return len(self.error)

    @cached_property
    def stationary(self) -> Real:
        """Stationary distribution: long-term share of the symbols in each state; the sum is 1."""
        n = self.states
        balance = np.vstack([self.transition.T - np.eye(n), np.ones(n)])
        share = np.linalg.lstsq(balance, np.concatenate([np.zeros(n), [1.0]]), rcond=None)[0]
        share = np.clip(share, 0.0, None)
        return np.asarray(share / share.sum())

    @property
    def error_rate(self) -> float:
        """Long-term share of errors among the symbols."""
        return float(self.stationary @ self.error)

    def log_likelihood(self, errors: Bits) -> float:
        """Returns the natural logarithm of the probability of a sequence, -inf if it is impossible.

        A stationary chain is never in a state that it leaves but does not reach again. A sequence
        that must begin in such a state is therefore impossible.
        """
        if self.states == 1:
            rate, ones = float(self.error[0]), int(errors.sum())
            return _log_power(rate, ones) + _log_power(1.0 - rate, len(errors) - ones)
        model = hmm(self.states, n_features=2)
        model.startprob_ = self.stationary
        model.transmat_ = self.transition
        model.emissionprob_ = np.column_stack([1.0 - self.error, self.error])
        with np.errstate(divide="ignore"):
            try:
                return float(model.score(errors.reshape(-1, 1)))
            except ValueError as error:
                # hmmlearn reports an underflow if the probability of a symbol is below 1e-300. The
                # sequence then counts as impossible.
                if "underflow" not in str(error):
                    raise
                return -math.inf

    def simulate(self, count: int, random: np.random.Generator) -> Bits:
        """Simulates a sequence of errors of `count` symbols.

        The sequence is split into pieces. They are simulated in parallel, each from every possible
        initial state. Of each piece, the version is used that begins in the state that follows the
        piece before it.
        """
        length = max(1, int(np.sqrt(count)))
        pieces = -(-count // length)
        bounds = np.cumsum(self.transition, axis=1)[:, :-1]
        now = np.tile(np.arange(self.states), (pieces, 1))
        paths = np.empty((length, pieces, self.states), dtype=np.uint8)
        for step, uniform in enumerate(random.random((length, pieces))):
            paths[step] = now
            now = (uniform[:, None, None] > bounds[now]).sum(axis=2)
        begins = np.empty(pieces, dtype=np.intp)
        state = random.choice(self.states, p=self.stationary)
        for piece in range(pieces):
            begins[piece] = state
            state = now[piece, state]
        visited = paths[:, np.arange(pieces), begins].T.ravel()[:count]
        return (random.random(count) < self.error[visited]).astype(np.uint8)


def two_states(p: float, r: float, in_good: float, in_bad: float, parameters: int) -> Chain:
    """`p` leads from the good to the bad state, `r` back; errors occur `in_good` and `in_bad`."""
    transition = np.array([[1.0 - p, p], [r, 1.0 - r]])
    return Chain("gilbert_elliott", transition, np.array([in_good, in_bad]), parameters)


def binary_symmetric(errors: Bits) -> Chain:
    """Fits independent errors, whose probability is their share."""
    return Chain("bsc", np.ones((1, 1)), np.array([errors.mean(dtype=np.float64)]), 1)


def gilbert(errors: Bits) -> Chain | None:
    """Fits two states: all symbols are errors in the bad state, correct in the good one.

    None if no burst begins, or none ends, within the sequence.
    """
    before, after = errors[:-1], errors[1:]
    good, bad = np.count_nonzero(before == 0), np.count_nonzero(before)
    begins = np.count_nonzero((before == 0) & (after == 1))
    ends = np.count_nonzero((before == 1) & (after == 0))
    if not begins or not ends:
        return None
    return two_states(begins / good, ends / bad, 0.0, 1.0, 2)


def gilbert_elliott(errors: Bits) -> Chain | None:
    """Fits Gilbert's channel, with errors in the bad state only; None if there is no such channel.

    With `a = P(1)`, `b = P(1 | 1)` and `c = P(111) / (P(101) + P(111))`: `1 - r = (ac - b^2) /
    (2ac - b(a + c))`, `1 - h = b / (1 - r)`, `p = ar / (1 - h - a)`, where `1 - h` is the
    probability of an error in the bad state (E. J. 39, 1960; in this notation G. Hohlfeld, MMB
    2008).
    """
    first, second, third = errors[:-2], errors[1:-1], errors[2:]
    pairs = np.count_nonzero(errors[:-1])
    outer = np.count_nonzero(first & third)
    if not pairs or not outer:
        return None
    a = float(errors.mean())
    b = np.count_nonzero(errors[:-1] & errors[1:]) / pairs
    c = np.count_nonzero(first & second & third) / outer
    denominator = 2 * a * c - b * (a + c)
    if denominator == 0.0:
        return None
    stay = (a * c - b * b) / denominator
    in_bad = b / stay if stay > 0 else -1.0
    r = 1.0 - stay
    p = a * r / (in_bad - a) if in_bad != a else -1.0
    if not (0.0 < r <= 1.0 and 0.0 < p <= 1.0 and 0.0 < in_bad <= 1.0):
        return None
    return two_states(p, r, 0.0, in_bad, 3)


def check_states(errors: Bits, states: int, unit: str = "PDU") -> None:
    """Checks that a sequence has enough errors for a number of states.

    A chain of N states has N^2 parameters, so at least N^2 errors and N^2 correct symbols are
    required.
    """
    if not 2 <= states <= MAX_STATES:
        raise InputError(
            f"states is {states}; expected 2 to {MAX_STATES} for a hidden Markov model"
        )
    ones = int(np.count_nonzero(errors))
    rarer, what = min((ones, "lost"), (len(errors) - ones, "correct"))
    trials = counted(len(errors), unit)
    if not ones:
        # The rate with which no error has a probability of 5 % (Clopper and Pearson, one-sided).
        bound = -math.expm1(math.log(0.05) / len(errors))
        raise InputError(
            f"there is no error in {trials}, so no model can be fitted; the error rate is below "
            f"{bound:.2g} (95 %): simulate longer, or at a lower Eb/N0"
        )
    if not rarer:
        raise InputError(
            f"no {unit} of {trials} is correct, so no model can be fitted: simulate longer, or at "
            "a higher Eb/N0"
        )
    if rarer < states**2:
        limit = int(np.sqrt(rarer))
        would = f"ask for at most {limit} states, or " if limit > 1 else ""
        needed = int(np.ceil(states**2 * len(errors) / rarer))
        raise InputError(
            f"{states} states have {states**2} parameters, but only {rarer} of {trials} "
            f"{'is' if rarer == 1 else 'are'} {what}: {would}give about {needed} {unit}s"
        )


def hidden_markov(
    errors: Bits,
    states: int,
    *,
    starts: int = 5,
    seed: int = 1,
    jobs: int = 1,
    fewer: Chain | None = None,
) -> Chain:
    """Fits a hidden Markov model to a sequence, with the largest likelihood found.

    Each start is trained for a few iterations, and the best one until it converges (C. Biernacki,
    G. Celeux and G. Govaert, Comput. Stat. Data Anal. 41, 2003). The states are sorted by
    increasing error probability.

    Args:
        errors: sequence of errors.
        states: number of states, 2 to 8.
        starts: number of random starts, 1 to 10,000.
        seed: seed of the starts.
        jobs: number of starts that are trained concurrently; does not change results.
        fewer: a fitted chain with one state less; splitting one of its states gives another start,
            so that more states seldom end with a lower likelihood. A chain with another number of
            states is ignored.

    Raises:
        InputError: the sequence is too short for this number of states, or has no errors; or
            an argument is invalid.
    """
    check_states(errors, states)
    if as_whole(starts, "starts", MAX_STARTS) < 1:
        raise InputError(f"starts is {starts}; expected at least 1 random start")
    random = np.random.default_rng([as_seed(seed), states])
    rate = float(errors.mean())
    beginnings = [_random_start(states, rate, len(errors), random) for _ in range(starts)]
    if fewer is not None and fewer.states == states - 1:
        beginnings.append(_split(fewer, random))
    with ThreadPoolExecutor(jobs, thread_name_prefix="nodeb") as pool:
        trained = list(pool.map(lambda start: _train(errors, start, SHORT), beginnings))
    _, best = max(trained, key=lambda result: result[0])
    _, (transition, error) = _train(errors, best, LONG)
    order = np.argsort(error, kind="stable")
    return Chain("hmm", transition[np.ix_(order, order)], error[order], states**2)


def _log_power(probability: float, count: int) -> float:
    """Natural logarithm of a power; 0 for the power 0, even of 0."""
    if not count:
        return 0.0
    return count * math.log(probability) if probability > 0.0 else -math.inf


def _random_start(states: int, rate: float, length: int, random: np.random.Generator) -> Start:
    """Mean times until a next state, possibly the same, is drawn are from 2 symbols to a tenth of
    the sequence (at least 4 symbols). Error probabilities are 1/100 to 100 times `rate`, the error
    rate of the sequence, but from 1e-6 to 0.95.
    """
    sojourn = np.exp(random.uniform(np.log(2.0), np.log(max(length / 10.0, 4.0)), states))
    transition = random.dirichlet(np.ones(states), states) / sojourn[:, None]
    transition += np.diag(1.0 - transition.sum(axis=1))
    error = np.clip(rate * 10.0 ** random.uniform(-2.0, 2.0, states), 1e-6, 0.95)
    return transition, error


def _split(chain: Chain, random: np.random.Generator) -> Start:
    """The most visited state of the chain is split in two, with 0.7 and 1.3 times its error
    probability."""
    cut = int(np.argmax(chain.stationary))
    old = np.vstack([chain.transition, chain.transition[cut]])
    share = random.uniform(0.3, 0.7, len(old))
    transition = np.column_stack([old, old[:, cut] * (1.0 - share)])
    transition[:, cut] *= share
    error = np.append(chain.error, chain.error[cut])
    error[[cut, -1]] *= [0.7, 1.3]
    return transition, np.clip(error, 1e-9, 1.0 - 1e-9)


def _train(errors: Bits, start: Start, iterations: int) -> tuple[float, Start]:
    """Log-likelihood and parameters after at most `iterations` of the Baum-Welch algorithm."""
    logging.getLogger("hmmlearn").setLevel(logging.ERROR)
    transition, error = start
    model = hmm(
        len(error),
        n_iter=iterations,
        tol=TOLERANCE,
        init_params="",
        params="te",
        n_features=2,
    )
    model.startprob_ = np.full(len(error), 1.0 / len(error))
    model.transmat_ = transition
    model.emissionprob_ = np.column_stack([1.0 - error, error])
    model.fit(errors.reshape(-1, 1))
    return float(model.monitor_.history[-1]), (model.transmat_, model.emissionprob_[:, 1])
