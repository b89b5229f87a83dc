"""`nodeb fit`: fits error models to a sequence of errors, and saves model files and figures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from nodeb.cli.options import (
    Everything,
    Force,
    Jobs,
    interruption,
    print_answer,
    print_place,
)
from nodeb.errors import InputError
from nodeb.fit import compare, read_errors
from nodeb.fit.answer import answer
from nodeb.fit.compare import Unit
from nodeb.fit.folder import put
from nodeb.fit.hidden import MAX_STATES
from nodeb.replication.pool import check_threads
from nodeb.storage.cells import name_of
from nodeb.storage.folders import Owner, claim
from nodeb.terminal.progress import progress_bar

__all__ = ["fit"]


def fit(
    sequence: Annotated[
        Path,
        typer.Argument(
            metavar="SEQUENCE", help="Text file of 0 and 1, or a folder of `nodeb link run`."
        ),
    ],
    states: Annotated[
        str | None,
        typer.Option(
            metavar="N-M",
            help="States of the hidden Markov models; default: 2-8, fewer for short sequences.",
        ),
    ] = None,
    unit: Annotated[
        str, typer.Option(metavar="UNIT", help="Fit PDUs (pdu), transport blocks (block) or both.")
    ] = "both",
    pdus_per_block: Annotated[
        int | None, typer.Option(metavar="N", help="PDUs per block; default: as given in the file.")
    ] = None,
    starts: Annotated[int, typer.Option(help="Random starts of each hidden Markov model.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of the starts and simulations.")] = 1,
    jobs: Jobs = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Results folder; default: out/<name>-fit.")
    ] = None,
    force: Force = False,
    everything: Everything = False,
) -> None:
    """Fit error models to an error sequence, compare them, and write model files and figures."""
    threads = check_threads(jobs)
    errors = read_errors(sequence, pdus_per_block)
    wanted, units = _range(states), _units(unit)
    usual = Path("out") / f"{sequence.stem}-fit" if out is None else out
    asked = {"states": wanted, "units": units, "starts": starts, "seed": seed}
    settled = name_of({"errors": errors.digest(), "block": errors.pdus_per_block, **asked})
    owner = Owner("fit", sequence.name, made_of=settled)
    with claim(usual, owner, force=force, beside=out is None) as place:
        print_place(place)
        try:
            with progress_bar(f"fitting {sequence.name}") as bar:
                comparison = compare(
                    errors,
                    wanted,
                    units=units,
                    starts=starts,
                    seed=seed,
                    jobs=threads,
                    progress=bar,
                )
            put(comparison, place, seed)
        except KeyboardInterrupt:
            raise interruption(place) from None
    print_answer(answer(comparison, str(place.shown)), everything)


def _range(text: str | None) -> list[int] | None:
    """Returns all numbers of a range such as `2-8` or `2..8`, or of a single number.

    Returns None for None.

    Raises:
        InputError: the text has another form, the range is empty, or it exceeds `MAX_STATES`.
    """
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+)\s*(?:(?:-|\.\.)\s*(\d+)\s*)?", text)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
    if not first <= last <= MAX_STATES:
        raise InputError(
            f"--states {text}: expected a number or a range, such as 2-8, up to {MAX_STATES}"
        )
    return list(range(first, last + 1))


def _units(text: str) -> list[Unit] | None:
    known: dict[str, list[Unit] | None] = {"pdu": ["pdu"], "block": ["block"], "both": None}
    if text not in known:
        raise InputError(f"--unit {text}: expected one of {', '.join(known)}")
    return known[text]
