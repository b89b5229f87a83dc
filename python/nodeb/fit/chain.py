"""A Markov chain of hidden states, each with a probability of error.

A binary symmetric channel is the chain of one state, Gilbert's and Elliott's that of two.
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
    """A model of hmmlearn with two symbols.

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
    """A hidden Markov model of a sequence of errors, in its stationary state.

    See L. R. Rabiner, "A tutorial on hidden Markov models and selected applications in speech
    recognition", Proc. IEEE 77(2), 1989.
    """

    kind: str
    """How a model file calls it: `bsc`, `gilbert_elliott` or `hmm`."""
    transition: Real
    """Probability of each next state (column) in each state (row)."""
    error: Real
    """Probability of an error in each state."""
    parameters: int
    """How many numbers were fitted."""

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.error)

    @cached_property
    def stationary(self) -> Real:
        """Share of time in each state."""
        n = self.states
        balance = np.vstack([self.transition.T - np.eye(n), np.ones(n)])
        share = np.linalg.lstsq(balance, np.concatenate([np.zeros(n), [1.0]]), rcond=None)[0]
        share = np.clip(share, 0.0, None)
        return np.asarray(share / share.sum())

    @property
    def error_rate(self) -> float:
        """Share of errors in the long run."""
        return float(self.stationary @ self.error)

    @cached_property
    def _without(self) -> Real:
        """Step without an error: `diag(1 - e) A`."""
        return (1.0 - self.error)[:, None] * self.transition

    @cached_property
    def _with(self) -> Real:
        """Step with an error: `diag(e) A`."""
        return self.error[:, None] * self.transition

    def gap_tail(self, longest: int) -> Real:
        """P(gap > k) for k = 0 ... longest; a gap is the distance from one error to the next."""
        state = self.stationary @ self._with
        return _survival(state, self._without, longest)

    def burst_tail(self, longest: int) -> Real:
        """P(burst > k) for k = 0 ... longest; a burst is a run of errors."""
        first = (self.stationary @ self._without) * self.error
        return _survival(first @ self.transition, self._with, longest)

    def log_likelihood(self, errors: Bits) -> float:
        """Returns the logarithm of the probability of a sequence, -inf of an impossible one.

        A chain with a state that it never leaves spends all its time there in its stationary state,
        and no sequence that begins elsewhere is possible.
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
                if "underflow" not in str(error):  # a symbol of a probability below 1e-300
                    raise
                return -math.inf

    def simulate(self, count: int, random: np.random.Generator) -> Bits:
        """A sequence that the chain produces.

        It is cut into pieces that are followed side by side from every state that they may begin
        in; in the end each begins where the one before it ended.
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
    """Mass that is left after 0 ... longest steps, as a share of that before."""
    tail = np.empty(longest + 1)
    mass = state.sum()
    state = state / mass if mass > 0 else state
    for at in range(longest + 1):
        tail[at] = state.sum()
        state = state @ step
    return tail


def _bernoulli(errors: Bits, rate: float) -> float:
    """Logarithm of the probability of independent errors."""
    ones = int(errors.sum())
    zeros = len(errors) - ones
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [n * np.log(p) for n, p in ((ones, rate), (zeros, 1.0 - rate)) if n]
    return float(sum(parts))
