"""Training of hidden Markov models: Baum and Welch's algorithm from several starts."""

from __future__ import annotations

import logging
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from nodeb.base.arguments import as_seed, as_whole
from nodeb.errors import InputError
from nodeb.fit.chain import Chain, hmm
from nodeb.fit.sequence import Bits

__all__ = ["MAX_STATES", "check_states", "hidden_markov"]

Real = NDArray[np.float64]
Start = tuple[Real, Real]
"""Transition matrix and error probabilities to begin with."""

MAX_STATES = 8
MAX_STARTS = 10_000
"""Maximum number of random starts."""
SHORT, LONG = 20, 500
"""Iterations of each start, and of the best one at most."""
TOLERANCE = 1e-2
"""Gain of log-likelihood in an iteration below which it ends; BIC counts in units of one."""


def check_states(errors: Bits, states: int, unit: str = "PDU") -> None:
    """Complains when a sequence cannot tell `states` states apart.

    A chain of N states has N^2 parameters; as many errors, and as many right ones, must be there.

    Raises:
        InputError: it is too short, or there are no errors, or nothing else.
    """
    if not 2 <= states <= MAX_STATES:
        raise InputError(f"a hidden Markov model has 2 to {MAX_STATES} states here, not {states}")
    ones = int(np.count_nonzero(errors))
    rarer, what = min((ones, "lost"), (len(errors) - ones, "right"))
    if not ones:
        trials = f"{len(errors)} {unit}{'s' if len(errors) > 1 else ''}"
        raise InputError(
            f"there is no error in {trials}, so there is nothing to fit; the error rate is below "
            f"{_bound(len(errors)):.2g} (95 %): simulate longer, or with less Eb/N0"
        )
    if rarer < states**2:
        most = int(np.sqrt(rarer))
        would = f"ask for at most {most} states" if most > 1 else "fit no hidden states"
        needed = int(np.ceil(states**2 * len(errors) / max(rarer, 1)))
        raise InputError(
            f"{states} states have {states**2} parameters, but only {rarer} of {len(errors)} "
            f"{unit}s are {what}: {would}, or give about {needed} {unit}s"
        )


def _bound(trials: int) -> float:
    """Returns the upper end of the 95 % interval of a rate without an error in these trials.

    The rate at which no error has a probability of 5 % (Clopper and Pearson, one-sided); about 3/n.
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
    """The hidden Markov model of a sequence that makes it most likely.

    Each start is followed for a few iterations and the best of them to its end (C. Biernacki,
    G. Celeux and G. Govaert, Comput. Stat. Data Anal. 41, 2003). The states come in the order of
    their error probability.

    Args:
        errors: the sequence.
        states: how many states, 2 to 8.
        starts: random starts.
        seed: seed of the starts.
        jobs: starts that are followed at a time; changes no result.
        fewer: a chain of one state less, one of whose states is cut in two as one more start, so
            that more states do not end up less likely.

    Raises:
        InputError: the sequence is too short for so many states, or has no errors; or an argument
            is invalid.
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
    """States that last from two symbols to a tenth of the sequence, and err more or less."""
    sojourn = np.exp(random.uniform(np.log(2.0), np.log(max(length / 10.0, 4.0)), states))
    transition = random.dirichlet(np.ones(states), states) / sojourn[:, None]
    transition += np.diag(1.0 - transition.sum(axis=1))
    error = np.clip(rate * 10.0 ** random.uniform(-2.0, 2.0, states), 1e-6, 0.95)
    return transition, error


def _split(chain: Chain, random: np.random.Generator) -> Start:
    """The chain with its most visited state cut in two that err a little differently."""
    cut = int(np.argmax(chain.stationary))
    old = np.vstack([chain.transition, chain.transition[cut]])
    share = random.uniform(0.3, 0.7, len(old))
    transition = np.column_stack([old, old[:, cut] * (1.0 - share)])
    transition[:, cut] *= share
    error = np.append(chain.error, chain.error[cut])
    error[[cut, -1]] *= [0.7, 1.3]
    return transition, np.clip(error, 1e-9, 1.0 - 1e-9)


def _train(errors: Bits, start: Start, iterations: int) -> tuple[float, Start]:
    """Baum and Welch's algorithm; the log-likelihood that it came to, and where."""
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
