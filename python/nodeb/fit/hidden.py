"""Training of hidden Markov models: the Baum-Welch algorithm with several starts."""

from __future__ import annotations

import logging
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from nodeb.answer.words import counted
from nodeb.base.arguments import as_seed, as_whole
from nodeb.errors import InputError
from nodeb.fit.chain import Chain, hmm
from nodeb.fit.sequence import Bits

__all__ = ["MAX_STATES", "check_states", "hidden_markov"]

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


def check_states(errors: Bits, states: int, unit: str = "PDU") -> None:
    """Checks that a sequence has enough errors for a number of states.

    A chain of N states has N^2 parameters, so at least N^2 errors and N^2 correct symbols are
    required. `unit` is the name of a symbol in messages.

    Raises:
        InputError: the sequence is too short, or has no errors, or only errors; or the number of
            states is out of range.
    """
    if not 2 <= states <= MAX_STATES:
        raise InputError(
            f"states is {states}; expected 2 to {MAX_STATES} for a hidden Markov model"
        )
    ones = int(np.count_nonzero(errors))
    rarer, what = min((ones, "lost"), (len(errors) - ones, "correct"))
    trials = counted(len(errors), unit)
    if not ones:
        raise InputError(
            f"there is no error in {trials}, so no model can be fitted; the error rate is below "
            f"{_bound(len(errors)):.2g} (95 %): simulate longer, or at a lower Eb/N0"
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


def _bound(trials: int) -> float:
    """Returns the upper end of the 95 % interval of an error rate if `trials` had no error.

    At this rate, about 3/n for n trials, the probability of n trials without an error is 5 %
    (Clopper and Pearson, one-sided).
    """
    return float(-math.expm1(math.log(0.05) / trials))


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
        found = list(pool.map(lambda start: _train(errors, start, SHORT), beginnings))
    best = max(found, key=lambda one: one[0])
    _, (transition, error) = _train(errors, best[1], LONG)
    order = np.argsort(error, kind="stable")
    return Chain("hmm", transition[np.ix_(order, order)], error[order], states**2)


def _random_start(states: int, rate: float, length: int, random: np.random.Generator) -> Start:
    """Draws random transition and error probabilities of `states` states.

    Each state has a mean time after which a next state, possibly the same, is drawn. It is from 2
    symbols to a tenth of the sequence (at least 4 symbols). Error probabilities are 1/100 to 100
    times `rate`, the error rate of the sequence, but from 1e-6 to 0.95.
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
    """Runs the Baum-Welch algorithm for at most `iterations` iterations."""
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
