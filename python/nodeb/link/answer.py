"""The answer of a link experiment: the shares of failed blocks and lost PDUs at each Eb/N0."""

from __future__ import annotations

import math

from nodeb.answer.answer import Answer, Rows
from nodeb.answer.numbers import Shown, shown
from nodeb.answer.words import counted
from nodeb.base.command_line import command_line
from nodeb.link.result import LinkResult, Rate


def answer(result: LinkResult, folder: str = "") -> Answer:
    """Returns the answer of a link experiment.

    Args:
        result: result of the experiment.
        folder: folder of the tables; empty if they are not saved.
    """
    known = [point for point in result if point.bler.trials]
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
        headline="failed blocks by Eb/N0." if known else "nothing was simulated.",
        table=_table(result),
        notes=notes,
        everything=[_everything(result)],
    )


def _share(rate: Rate) -> Shown:
    return shown(rate.rate, rate.ci95_low, rate.ci95_high, "1", percent=True, scale=("%", 100.0))


def _table(result: LinkResult) -> Rows:
    rows: list[list[str | Shown]] = []
    for one in result:
        blocks, pdus = _share(one.bler), _share(one.per)
        shares: list[str | Shown] = [blocks, _ends(blocks), pdus, _ends(pdus)]
        rows.append([f"{result.db(one)} dB", *shares])
    return Rows(["Eb/N0", "blocks failed", "(95 %)", "PDUs lost", "(95 %)"], rows)


def _ends(one: Shown) -> str:
    return one.interval if one.low else ""


def _everything(result: LinkResult) -> Rows:
    """Amounts simulated, and rates of bits after and before decoding, and of signalling blocks."""
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
