"""Measures coverage of intervals and correctness of verdicts of comparisons with rare events.

    python validation/compare_coverage.py [--trials 1000] [--pool 100000]

Simulates a pool of replications of each scenario once. The mean difference over the whole pool
counts as the truth. Draws experiments of n pairs from the pool, and prints tables in Markdown for
docs/statistics.md, which are reproducible. Takes two minutes.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from nodeb import Scenario, _core
from nodeb.comparison.differences import MARGIN, Verdict, judge
from nodeb.replication.cells import simulated
from nodeb.stats import Interval, mean_interval, paired_difference, ratio_interval

Array = NDArray[np.float64]
SIZES = (5, 10, 20, 50)
FOLLOWED = 250
"""Number of undecided experiments per case that are continued."""
MAX_FOLLOWED = 30_000
"""Maximum number of further replications drawn."""
SEED, OTHER_SEED = 7, 8


@dataclass(frozen=True)
class Case:
    """Two scenarios to compare: their values in all replications of the pool."""

    name: str
    base: Array
    own: Array
    """Values of the other scenario in the same replications."""
    better: str = "less"

    @property
    def truth(self) -> float:
        """Mean difference over the whole pool, which counts as the true difference."""
        return float((self.own - self.base).mean())

    @property
    def margin(self) -> float:
        """Margin within which differences count as equivalent, in the unit of the values."""
        return MARGIN * abs(float(self.base.mean()))


class Pool:
    """Pool of simulated replications. Each scenario is simulated only once."""

    def __init__(self, runs: int) -> None:
        self.runs = runs

    @cache  # noqa: B019, there is one pool
    def flows(self, link: str, loss: float, bler: float, seed: int) -> dict[str, Array]:
        """Returns the table of flows of a 50 kB download over a link with these error rates."""
        radio = {"radio": {"dch": {"bler": bler}}} if link == "DCH" else {}
        wired = {"rate": "10 Mbps", "delay": "110 ms", "loss": loss}
        uplink = {"rate": "64 kbps", "delay": "20 ms"}
        users = [{"traffic": {"ftp": {"size": "50 kB"}}}]
        data = {"wired": wired, "uplink": uplink, "users": users, **radio}
        scenario = Scenario.from_dict(data).resolved()
        compiled = _core.CompiledScenario.from_json(simulated(scenario.to_dict()), "")
        flows: dict[str, Array] = compiled.run_many(seed, 0, self.runs, _core.Control())["flows"]
        return flows


def rare_cases(pool: Pool) -> Iterator[Case]:
    for metric, label, better in (
        ("download_s", "download time", "less"),
        ("application_bps", "bit rate", "more"),
    ):
        for link in ("DCH", "wired"):
            base = np.asarray(pool.flows(link, 0.01, 0.1, SEED)[metric])
            for loss in (0.012, 0.02):
                own = np.asarray(pool.flows(link, loss, 0.1, SEED)[metric])
                yield Case(f"{label}, {link}, loss 1 to {100 * loss:g} %", base, own, better)


def other_cases(pool: Pool) -> Iterator[Case]:
    """Yields further cases.

    Their differences are frequent or zero, or they have random numbers instead of simulations.
    """
    base = np.asarray(pool.flows("DCH", 0.0, 0.1, SEED)["download_s"])
    for bler in (0.11, 0.2):
        own = np.asarray(pool.flows("DCH", 0.0, bler, SEED)["download_s"])
        yield Case(f"download time, DCH, BLER 10 to {100 * bler:g} %", base, own)
    losses = np.asarray(pool.flows("DCH", 0.01, 0.1, SEED)["download_s"])
    again = np.asarray(pool.flows("DCH", 0.01, 0.1, OTHER_SEED)["download_s"])
    yield Case("no difference, DCH, loss 1 %, not paired", losses, again)
    chance, size = np.random.default_rng(5), pool.runs
    for mean in (0.0, 0.5, 1.2, 3.0):
        base = chance.normal(50, 3, size)
        yield Case(
            f"normal, {mean:g} of 50, deviation 3", base, base + chance.normal(mean, 3, size)
        )
    base = np.full(size, 50.0)
    yield Case("exponential", base, base + chance.exponential(3, size))


def draws(case: Case, n: int, trials: int) -> Iterator[tuple[Array, Array]]:
    """Yields random experiments.

    Each has `n` pairs of values, drawn from the pool with replacement.
    """
    chance = np.random.default_rng([n, len(case.name)])
    for _ in range(trials):
        at = chance.integers(0, case.base.size, n)
        yield case.base[at], case.own[at]


# --- Intervals ---


def student(base: Array, own: Array) -> Interval:
    return mean_interval(own - base)


def chosen(base: Array, own: Array) -> Interval:
    return paired_difference(own, base)


METHODS: dict[str, Callable[[Array, Array], Interval]] = {
    "Student's t": student,
    "nodeb": chosen,
}


# --- Measurement of coverage and verdicts ---


def coverage(case: Case, n: int, trials: int, how: Callable[[Array, Array], Interval]) -> str:
    """In brackets is its mean width relative to Student's t."""
    covered, width, plain = 0, 0.0, 0.0
    for base, own in draws(case, n, trials):
        found = how(base, own)
        covered += case.truth in found
        width += found.half_width
        plain += student(base, own).half_width
    wide = f"{width / plain:.2f}" if math.isfinite(width) else "∞"
    return f"{100 * covered / trials:.1f} ({wide})"


def coverage_of_ratio(case: Case, n: int, trials: int) -> str:
    """An unbounded interval counts as covering."""
    truth = float(case.own.mean() / case.base.mean())
    found = [ratio_interval(own, base) for base, own in draws(case, n, trials)]
    return f"{100 * sum(truth in one or math.isnan(one.low) for one in found) / trials:.1f}"


def verdict(case: Case, base: Array, own: Array) -> Verdict:
    margin = MARGIN * abs(float(base.mean()))
    return judge(paired_difference(own, base), margin, case.better)


def verdicts(case: Case, n: int, trials: int) -> list[str]:
    """Returns the percentages of undecided, falsely equal and wrong verdicts."""
    found = [(base, own, verdict(case, base, own)) for base, own in draws(case, n, trials)]
    outside = abs(case.truth) > case.margin
    same = sum(one.kind == "same" for *_, one in found) if outside else 0
    wrong = sum(one.sign * case.truth < 0 for *_, one in found)
    undecided = [one for one in found if one[2].kind == "undecided"]
    shares = [f"{100 * count / trials:.1f}" for count in (len(undecided), same, wrong)]
    return [*shares, *followed(case, undecided[:FOLLOWED])]


def followed(case: Case, undecided: list[tuple[Array, Array, Verdict]]) -> list[str]:
    """Returns three cells of the table about the further runs that verdicts suggest.

    All cells are empty if fewer than 50 experiments are undecided.
    """
    ranges = [one.more_runs for *_, one in undecided]
    if len(ranges) < 50:
        return ["", "", ""]
    chance = np.random.default_rng(3)
    decided = {"low": 0, "high": 0}
    for base, own, one in undecided:
        for end in decided:
            at = chance.integers(
                0, case.base.size, int(min(getattr(one.more_runs, end), MAX_FOLLOWED))
            )
            more = np.concatenate([base, case.base[at]]), np.concatenate([own, case.own[at]])
            decided[end] += verdict(case, *more).kind not in ("undecided", "equal")
    low, high = (float(np.median([getattr(one, end) for one in ranges])) for end in decided)
    shares = [f"{100 * count / len(ranges):.0f}" for count in decided.values()]
    return [f"{low:.0f} to {high:.0f}", *shares]


def row(cells: list[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def show_coverage(cases: list[Case], trials: int) -> None:
    for n in SIZES[2::-1]:
        row([f"n = {n}", *METHODS, "nodeb's ratio"])
        row(["---"] * (len(METHODS) + 2))
        for case in cases:
            shown = [coverage(case, n, trials, how) for how in METHODS.values()]
            row([case.name, *shown, coverage_of_ratio(case, n, trials)])
        print()


def show_verdicts(cases: list[Case], trials: int) -> None:
    """Prints a table of the shares of undecided and wrong verdicts, from 10 pairs on."""
    row(["case", "n", "undecided", "falsely same", "wrong way", "more", "by low", "by high"])
    row(["---"] * 8)
    for case in cases:
        for n in SIZES[1:]:
            row([case.name, str(n), *verdicts(case, n, trials)])


def main() -> None:
    """Measures coverage and verdicts, and prints their tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--pool", type=int, default=100_000)
    asked = parser.parse_args()
    pool = Pool(asked.pool)
    cases = [*rare_cases(pool), *other_cases(pool)]
    show_coverage(cases, asked.trials)
    show_verdicts(cases, asked.trials)


if __name__ == "__main__":
    main()
