"""The command `nodeb validate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodeb.cli.notes import print_superfluous
from nodeb.cli.options import BAD_INPUT, print_error, print_warnings
from nodeb.errors import InputError

__all__ = ["validate"]


def validate(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Scenario files.")],
) -> None:
    """Check scenario files without running them."""
    from nodeb.inputs.scenario import load
    from nodeb.sweep import Sweep, has_sweep

    bad = 0
    for file in files:
        try:
            found = Sweep.load(file) if has_sweep(file) else load(file)
        except InputError as error:
            bad += 1
            print_error(error)
        else:
            about = [found.name] if found.name else []
            about += [f"sweep of {len(found.cells)} cells"] if isinstance(found, Sweep) else []
            print(f"{file}: valid" + (f" ({', '.join(about)})" if about else ""))
            print_warnings(found.warnings())
            if not isinstance(found, Sweep):
                print_superfluous(file)
    if bad:
        raise typer.Exit(BAD_INPUT)
