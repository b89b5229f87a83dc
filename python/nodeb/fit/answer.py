"""What a fit answers: the model that the errors justify, and whether it has their laws.

The headline says how many PDUs were lost, and for each unit which model has the least BIC, and of
which laws (gaps, bursts, lost of a block) the sequence differs from it: p below 5 % over the number
of laws, so that a model that is right is refused in 5 % at most.
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
"""Share of right models that are refused."""
FAR = 0.5
"""Share of the error rate by which that of a model is another one."""
IMPOSSIBLE = (
    "impossible: the model never leaves some states, as where the sequence ends in a burst, "
    "and would be in them from the beginning."
)
LAWS = {"gap": "gaps", "burst": "bursts", "lost_per_block": "PDUs lost of a block"}


def answer(found: Comparison, folder: str = "") -> Answer:
    """What a fit answers.

    Args:
        found: the models, compared.
        folder: where they are; empty where they are not saved.
    """
    errors = found.errors
    blocks = f"{int(errors.block_errors.sum())} of {len(errors.blocks)} blocks failed."
    notes = [f"BIC: what a model has more than the best. {blocks}"]
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
                f"{best.label} loses {percent(rate)} in the long run: a burst that does not end "
                "is its rule; fit the sequence without it."
            )
        if wrong := _differing(best):
            yield f"{best.label} has other {joined(wrong)} than the sequence."
        else:
            yield f"{best.label} has the laws of the sequence, as far as these can be told apart."


def _differing(one: Candidate) -> list[str]:
    """The laws of which the sequence differs from a model."""
    level = ERROR / max(len(one.matches), 1)
    return [LAWS[law] for law, match in one.matches.items() if match.p_value < level]


def _table(found: Comparison) -> Rows:
    """Models with their BIC and how well their laws match."""
    rows: list[list[str | Shown]] = [
        [
            f"{row['unit']} {row['model']}",
            Shown(str(row["parameters"]), ""),
            Shown(f"{row['bic_diff']:.1f}" if math.isfinite(row["bic"]) else "impossible", ""),
            *(f"{row[f'{law}_p_value']:.2g}" for law in LAWS),
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
