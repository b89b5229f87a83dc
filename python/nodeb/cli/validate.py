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
    bad = 0
    for file in files:
        try:
            about, warnings, is_sweep = _found(file)
        except InputError as error:
            bad += 1
            print_error(error)
        else:
            print(f"{file}: valid" + (f" ({', '.join(about)})" if about else ""))
            print_warnings(warnings)
            if not is_sweep:
                print_superfluous(file)
    if bad:
        raise typer.Exit(BAD_INPUT)


def _found(file: Path) -> tuple[list[str], list[str], bool]:
    """What to say about a valid file, what is doubtful about it, and whether it is a sweep."""
    from nodeb.inputs import reading

    if is_sweep := reading.has_sweep(file):
        from nodeb.sweep import Sweep

        plan = Sweep.load(file)
        name, cells, warnings = plan.name, [f"sweep of {len(plan.cells)} cells"], plan.warnings()
    else:
        data = reading.read(file)
        name, cells, warnings = data["name"], [], reading.compiled(data).warnings()
    return [*([name] if name else []), *cells], warnings, is_sweep
