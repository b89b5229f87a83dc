"""Markov chain of hidden states, each with a probability of error.

A binary symmetric channel is the chain with one state; those of Gilbert and Elliott have two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb.errors import InputError
from nodeb.fit.sequence import Bits

__all__ = ["Chain", "hmm"]

Real = NDArray[np.float64]


def hmm(states: int, **options: Any) -> Any:
    """Creates an hmmlearn model of the symbols 0 (correct) and 1 (error), without parameters.

    Args:
        states: number of hidden states.
        options: further arguments of `CategoricalHMM`.

    Raises:
        InputError: hmmlearn is not installed.
    """
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
        """Number of hidden states of the chain, at least 1."""
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
        """Long-term share of errors among the symbols, from 0 to 1."""
        return float(self.stationary @ self.error)

    @cached_property
    def _without(self) -> Real:
        """Transition matrix of steps without an error: `diag(1 - error) transition`."""
        return (1.0 - self.error)[:, None] * self.transition

    @cached_property
    def _with(self) -> Real:
        """Transition matrix of steps with an error: `diag(error) transition`."""
        return self.error[:, None] * self.transition

    def gap_tail(self, longest: int) -> Real:
        """Returns P(gap > k) for k = 0 ... longest; a gap is the distance between adjacent errors.

        If no correct symbol is between them, the gap is 1, so the first element is 1. All elements
        are 0 if errors are impossible.
        """
        state = self.stationary @ self._with
        return _survival(state, self._without, longest)

    def burst_tail(self, longest: int) -> Real:
        """Returns P(burst > k) for k = 0 ... longest; a burst is a maximal run of errors.

        All elements are 0 if no burst can begin.
        """
        first = (self.stationary @ self._without) * self.error
        return _survival(first @ self.transition, self._with, longest)

    def log_likelihood(self, errors: Bits) -> float:
        """Returns the natural logarithm of the probability of a sequence, -inf if it is impossible.

        A stationary chain is never in a state that it leaves but does not reach again. A sequence
        that must begin in such a state is therefore impossible.
        """
        if self.states == 1:
            return _bernoulli(errors, self.error[0])
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


def _survival(state: Real, step: Real, longest: int) -> Real:
    """`step` is the matrix of one step; its rows may sum to less than 1. All shares are 0 if
    `state` has no probability."""
    tail = np.empty(longest + 1)
    mass = state.sum()
    state = state / mass if mass > 0 else state
    for at in range(longest + 1):
        tail[at] = state.sum()
        state = state @ step
    return tail


def _bernoulli(errors: Bits, rate: float) -> float:
    ones = int(errors.sum())
    zeros = len(errors) - ones
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [n * np.log(p) for n, p in ((ones, rate), (zeros, 1.0 - rate)) if n]
    return float(sum(parts))
