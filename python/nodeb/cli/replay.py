"""The command `nodeb replay`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from nodeb.cli.options import FAILED, Force, Report

__all__ = ["replay"]


def replay(
    log: Annotated[Path, typer.Argument(metavar="LOG", help="File of `nodeb emulate --record`.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for tables and provenance; default: none."),
    ] = None,
    force: Force = False,
    report: Report = None,
) -> int:
    """Fly a recorded flight again in virtual time; the same becomes of its packets, or it fails."""
    from nodeb.emulate import flights, folder, pages
    from nodeb.emulate.problems import check_system
    from nodeb.emulate.told import packets_text

    check_system()
    flight = flights.read(log)
    page_place = pages.checked(report, out)
    with folder.claimed(out, log, force=force) as place:
        flown = flight.fly()
        if place is not None:
            folder.put_flown(place, flight, flown)
    found = flown.report
    print(packets_text(found))
    if page_place is not None:
        from nodeb.emulate.page import of_replay

        pages.write(page_place, of_replay(flight, flown))
        print(f"report: {page_place}")
    if not found["complete"]:
        print("note: the log was cut off; this is the flight up to there", file=sys.stderr)
    if out is not None:
        print(f"results: {out}")
    if found["differs"] is None:
        what = f"all {found['same']} packets arrive or are lost as they did"
        print(f"the same: {what}, to the nanosecond")
        return 0
    why = "" if flight.is_of_this_core else " (it was recorded with another core of nodeb)"
    print(f"error: not the same{why}: {found['differs']}", file=sys.stderr)
    return FAILED
