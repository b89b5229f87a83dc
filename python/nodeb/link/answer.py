"""The answer of a link experiment: the share of failed blocks at each Eb/N0.

The headline states the first of these that applies:

1. nothing was simulated;
2. no block failed at any Eb/N0;
3. if there is only one Eb/N0, the share of its blocks that failed;
4. every block failed at every Eb/N0;
5. the shares at the lowest and at the highest Eb/N0. If the share falls below a tenth between two
   neighbouring Eb/N0, a second sentence names the first two between which it does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from nodeb.answer.answer import Answer, Rows
from nodeb.answer.numbers import Shown, shown
from nodeb.answer.words import counted
from nodeb.base.command_line import command_line
from nodeb.link.result import LinkResult, Point, Rate

__all__ = ["answer"]

TARGET = 0.1
"""Share of failed blocks at which links usually operate."""


def answer(result: LinkResult, folder: str = "") -> Answer:
    """Returns the answer of a link experiment.

    Args:
        result: result of the experiment.
        folder: folder of the tables; empty if they are not saved.
    """
    known = _with_blocks(result)
    about = result.provenance
    blocks = counted(sum(one.bler.trials for one in known), "block")
    points, wall = counted(len(known), "point"), f"{about.wall_time_s:.2f} s"
    notes = [f"{points}, {blocks}, seed {about.seed}, {wall}."]
    if folder:
        notes.append(f"{folder} has the table and the errors of each point.")
        notes.append(f"Draw it: {command_line('link curve', folder)}")
    return Answer(
        command="nodeb link run",
        subject=result.experiment.name,
        headline=" ".join(_headline(result)),
        table=_table(result),
        notes=notes,
        everything=[_everything(result)],
    )


def _headline(result: LinkResult) -> Iterator[str]:
    """Yields one or two sentences about the points that have blocks, in order of Eb/N0."""
    known = sorted(_with_blocks(result), key=lambda one: one.eb_n0_db)
    if not known:
        yield "nothing was simulated."
        return
    first, last = known[0], known[-1]
    where = f"{result.db(last)} dB" if len(known) == 1 else "any Eb/N0"
    if not any(one.bler.errors for one in known):
        yield f"no block failed at {where}."
    elif len(known) == 1:
        yield f"{_share(first.bler).with_level} of the blocks failed at {where}."
    elif all(one.bler.errors == one.bler.trials for one in known):
        yield f"every block failed, up to {result.db(last)} dB."
    else:
        again = _share(last.bler)
        yield (
            f"{_share(first.bler).with_level} of the blocks failed at {result.db(first)} dB, and "
            f"{again.value} ({again.interval}) at {result.db(last)} dB."
        )
        yield from _target(result, known)


def _with_blocks(result: LinkResult) -> list[Point]:
    return [one for one in result if one.bler.trials]


def _target(result: LinkResult, known: Sequence[Point]) -> Iterator[str]:
    """Yields a sentence on the first two neighbours between which a tenth of the blocks fails.

    Yields nothing if the share does not fall below `TARGET` between two points.
    """
    for one, other in pairwise(known):
        if one.bler.rate >= TARGET > other.bler.rate:
            yield f"A tenth fails between {result.db(one)} and {result.db(other)} dB."
            return


def _share(rate: Rate) -> Shown:
    return shown(rate.rate, rate.ci95_low, rate.ci95_high, "1", percent=True, scale=("%", 100.0))


def _table(result: LinkResult) -> Rows:
    """Returns a table with a row for each Eb/N0: shares of failed blocks and of lost PDUs."""
    rows: list[list[str | Shown]] = []
    for one in result:
        blocks, pdus = _share(one.bler), _share(one.per)
        shares: list[str | Shown] = [blocks, _ends(blocks), pdus, _ends(pdus)]
        rows.append([f"{result.db(one)} dB", *shares])
    return Rows(["Eb/N0", "blocks failed", "(95 %)", "PDUs lost", "(95 %)"], rows)


def _ends(one: Shown) -> str:
    return one.interval if one.low else ""


def _everything(result: LinkResult) -> Rows:
    """Returns a table with a row for each Eb/N0: amounts simulated and further error rates.

    The amounts are bits, blocks and seconds. The rates are those of bits after and before decoding,
    and of blocks of the signalling channel.
    """
    rows: list[list[str | Shown]] = [
        [
            f"{result.db(one)} dB",
            Shown(f"{one.ber.trials / 1e6:.3g}", "Mbit"),
            Shown(str(one.bler.trials), ""),
            *(_rate(one.rates[kind]) for kind in ("bits", "raw", "signalling")),
            Shown(f"{one.air_s:.3g}", "s"),
        ]
        for one in result
    ]
    head = ["Eb/N0", "bits", "blocks", "bit errors", "before decoding", "signalling", "on the air"]
    return Rows(head, rows, "Bits, and what was simulated")


def _rate(rate: Rate) -> str:
    return f"{rate.rate:.3g}" if math.isfinite(rate.rate) else "\N{EN DASH}"
