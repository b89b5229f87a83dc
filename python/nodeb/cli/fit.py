"""`nodeb fit`: fits error models to a sequence of errors, and saves model files and figures."""

from __future__ import annotations

import re
from argparse import Namespace
from pathlib import Path

from nodeb.cli import messages
from nodeb.cli import options as of
from nodeb.errors import InputError
from nodeb.fit import compare, read_errors
from nodeb.fit.chain import MAX_STATES
from nodeb.fit.compare import Unit, answer
from nodeb.replication.pool import check_threads
from nodeb.storage.cells import name_of
from nodeb.storage.folders import Owner
from nodeb.terminal.progress import progress_bar

UNITS: dict[str, list[Unit] | None] = {"pdu": ["pdu"], "block": ["block"], "both": None}


@of.command(
    of.place("sequence", "SEQUENCE", "Text file of 0 and 1, or a folder of `nodeb link run`."),
    of.option(
        "--states", "N-M",
        "States of the hidden Markov models; default: 2-8, fewer for short sequences.",
    ),
    of.option(
        "--unit", "UNIT", "Fit PDUs (pdu), transport blocks (block) or both.", default="both"
    ),
    of.option("--pdus-per-block", "N", "PDUs per block; default: as given in the file.", int),
    of.option("--starts", "N", "Random starts of each hidden Markov model.", int, default=5),
    of.option("--seed", "N", "Seed of the starts and simulations.", int, default=1),
    of.JOBS,
    of.option("--out", "DIR", "Results folder; default: out/<name>-fit.", Path),
    of.FORCE, of.ALL,
)  # fmt: skip
def fit(given: Namespace) -> None:
    from nodeb.fit.folder import put  # Imports matplotlib.

    threads = check_threads(given.jobs)
    errors = read_errors(given.sequence, given.pdus_per_block)
    if given.unit not in UNITS:
        raise InputError(f"--unit {given.unit}: expected one of {', '.join(UNITS)}")
    states, units = _range(given.states), UNITS[given.unit]
    asked = {"states": states, "units": units, "starts": given.starts, "seed": given.seed}
    inputs = name_of({"errors": errors.digest(), "block": errors.pdus_per_block, **asked})
    owner = Owner("fit", given.sequence.name, made_of=inputs)
    with of.claimed(given, given.sequence, owner, "-fit") as place:
        messages.print_place(place)
        with progress_bar(f"fitting {given.sequence.name}") as bar:
            comparison = compare(
                errors,
                states,
                units=units,
                starts=given.starts,
                seed=given.seed,
                jobs=threads,
                progress=bar,
            )
        put(comparison, place, given.seed)
    messages.print_answer(answer(comparison, str(place.shown)), given.all)


def _range(text: str | None) -> list[int] | None:
    """All numbers of a range such as `2-8` or `2..8`, or of a single number."""
    if text is None:
        return None
    parts = re.fullmatch(r"\s*(\d+)\s*(?:(?:-|\.\.)\s*(\d+)\s*)?", text)
    first, last = (int(parts[1]), int(parts[2] or parts[1])) if parts else (1, 0)
    if not first <= last <= MAX_STATES:
        raise InputError(
            f"--states {text}: expected a number or a range, such as 2-8, up to {MAX_STATES}"
        )
    return list(range(first, last + 1))
