"""The answer of a fit: the best model, and whether its distributions match the errors.

The headline states how many PDUs were lost. For each unit (PDU or block) it names the model with
the smallest BIC, and the distributions (of gaps, bursts, PDUs lost per block) in which the sequence
differs from that model. A distribution differs if its p-value is below 5 % divided by the number of
distributions, so that a correct model is rejected in at most 5 % of cases.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from nodeb.answer.answer import Answer, Rows
from nodeb.answer.numbers import Shown
from nodeb.answer.words import joined, percent
from nodeb.fit.compare import Candidate, Comparison

__all__ = ["answer"]

ERROR = 0.05
FAR = 0.5
"""Relative difference of error rates above which that of the model is reported.

It is relative to the larger one of the rates of model and sequence.
"""
IMPOSSIBLE = (
    "impossible: the model never leaves some states, for instance, because the sequence ends in a "
    "burst, and would be in them from the beginning."
)
NAMES = {"gap": "gaps", "burst": "bursts", "lost_per_block": "PDUs lost of a block"}


def answer(found: Comparison, folder: str = "") -> Answer:
    errors = found.errors
    blocks = f"{int(errors.block_errors.sum())} of {len(errors.blocks)} blocks failed."
    notes = [f"BIC: difference from the best model. {blocks}"]
    if not all(math.isfinite(one.bic) for one in found.candidates):
        notes.append(IMPOSSIBLE)
    return Answer(
        command="nodeb fit",
        subject=str(errors.origin),
        headline=" ".join(_headline(found)),
        table=_table(found),
        notes=[*notes, *([f"{folder} has the models and pictures."] if folder else [])],
        everything=[_everything(found)],
    )


def _headline(found: Comparison) -> Iterator[str]:
    errors = found.errors
    lost, whole = int(errors.errors.sum()), len(errors)
    yield f"{percent(errors.error_rate)} of the PDUs were lost ({lost} of {whole})."
    yield found.verdict
    for unit in found.units:
        best = found.best_of(unit)
        rate = best.model.error_rate
        if not math.isclose(rate, errors.error_rate, rel_tol=FAR):
            yield (
                f"{best.label} loses {percent(rate)} in the long run, because its bursts hardly "
                "ever end; fit the sequence without the last burst."
            )
        if wrong := _differing(best):
            yield f"{best.label} differs from the sequence in its {joined(wrong)}."
        else:
            yield f"{best.label} does not differ significantly from the sequence."


def _differing(one: Candidate) -> list[str]:
    level = ERROR / max(len(one.matches), 1)
    return [NAMES[name] for name, match in one.matches.items() if match.p_value < level]


def _table(found: Comparison) -> Rows:
    """Returns a table of the models: number of parameters, BIC minus the best BIC, and p-values."""
    rows: list[list[str | Shown]] = [
        [
            f"{row['unit']} {row['model']}",
            Shown(str(row["parameters"]), ""),
            Shown(f"{row['bic_diff']:.1f}" if math.isfinite(row["bic"]) else "impossible", ""),
            *(f"{row[f'{name}_p_value']:.2g}" for name in NAMES),
        ]
        for row in found.table
    ]
    return Rows(["", "parameters", "BIC", "p: gaps", "bursts", "lost of a block"], rows)


def _everything(found: Comparison) -> Rows:
    rows: list[list[str | Shown]] = [
        [
            f"{row['unit']} {row['model']}",
            f"{row['log_likelihood']:.1f}" if math.isfinite(row["bic"]) else "impossible",
            f"{row['per']:.3g}",
        ]
        for row in found.table
    ]
    return Rows(["", "log-likelihood", "share of PDUs lost"], rows, "Likelihoods")
