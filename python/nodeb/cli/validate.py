"""`nodeb validate`: checks scenario files without running them."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from nodeb.answer.words import counted
from nodeb.base.streams import printable
from nodeb.cli import messages
from nodeb.cli import options as of
from nodeb.errors import InputError

if TYPE_CHECKING:
    from nodeb import _core
    from nodeb.sweep import Sweep


@of.command(of.place("files", "FILE...", "Scenario files.", nargs="+"))
def validate(given: Namespace) -> int:
    bad = 0
    for file in given.files:
        try:
            scenario, cells = _read(file)
        except InputError as error:
            bad += 1
            messages.print_error(error)
        else:
            about = ", ".join(filter(None, [scenario.name, cells]))
            print(printable(f"{file}: valid" + (f" ({about})" if about else "")))
            messages.print_warnings(scenario.warnings())
            if not cells:
                messages.print_superfluous(cast("_core.CompiledScenario", scenario))
    return 2 if bad else 0


def _read(file: Path) -> tuple[_core.CompiledScenario | Sweep, str]:
    """The scenario or sweep of a file, and `sweep of 12 cells` or an empty text."""
    from nodeb import _core
    from nodeb.inputs.reading import core_call, document, read_text

    text, name = read_text(file), printable(str(file))
    if "sweep" not in document(text, name):
        scenario = core_call(_core.CompiledScenario.from_toml, text, name, [])
        if not scenario.unread:
            return scenario, ""
        # Only scenarios that name files need this module, which imports NumPy.
        from nodeb.inputs.scenario import Scenario

        return Scenario.from_toml(text, name, [], file.parent).compiled(), ""
    from nodeb.sweep import Sweep

    plan = Sweep.load(file, text=text)
    return plan, f"sweep of {counted(len(plan.cells), 'cell')}"
