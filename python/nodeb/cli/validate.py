"""`nodeb validate`: checks scenario files without running them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from nodeb.answer.words import counted
from nodeb.base.streams import printable
from nodeb.cli.notes import print_superfluous
from nodeb.cli.options import BAD_INPUT, print_error, print_warnings
from nodeb.errors import InputError

if TYPE_CHECKING:
    from nodeb import _core
    from nodeb.sweep import Sweep

__all__ = ["validate"]


def validate(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Scenario files.")],
) -> None:
    """Check scenario files without running them."""
    bad = 0
    for file in files:
        try:
            found, cells = _found(file)
        except InputError as error:
            bad += 1
            print_error(error)
        else:
            about = ", ".join(filter(None, [found.name, cells]))
            print(printable(f"{file}: valid" + (f" ({about})" if about else "")))
            print_warnings(found.warnings())
            if not cells:
                print_superfluous(cast("_core.CompiledScenario", found))
    if bad:
        raise typer.Exit(BAD_INPUT)


def _found(file: Path) -> tuple[_core.CompiledScenario | Sweep, str]:
    """Returns the scenario or sweep of a file, and a text such as `sweep of 12 cells`.

    The text is empty for a scenario.
    """
    from nodeb import _core
    from nodeb.inputs.reading import core_call, document, read_text

    text = read_text(file)
    if "sweep" not in document(text, printable(str(file))):
        found = core_call(_core.CompiledScenario.from_toml, text, printable(str(file)), [])
        if not found.unread:
            return found, ""
        # The module below is needed only for scenarios that name files. It imports NumPy, slowly.
        from nodeb.inputs.scenario import Scenario

        return Scenario.from_toml(text, printable(str(file)), [], file.parent).compiled(), ""
    from nodeb.sweep import Sweep

    plan = Sweep.load(file, text=text)
    return plan, f"sweep of {counted(len(plan.cells), 'cell')}"
