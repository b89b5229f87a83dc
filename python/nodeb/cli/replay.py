"""The command `nodeb replay`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from nodeb.cli.options import (
    FAILED,
    Everything,
    Force,
    Report,
    Tables,
    as_far_as_there_is_room,
    check_capture,
    print_answer,
    print_file,
    shown_if_full,
)
from nodeb.errors import InputError
from nodeb.replication.capture import check_place
from nodeb.storage.files import digest_of
from nodeb.terminal.progress import progress_bar

__all__ = ["replay"]


def replay(
    log: Annotated[Path, typer.Argument(metavar="LOG", help="File of `nodeb emulate --record`.")],
    out: Tables = None,
    force: Force = False,
    pcap: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Packets go here (pcapng), real ones as they were."),
    ] = None,
    pcap_radio: Annotated[
        bool,
        typer.Option(
            "--pcap-radio", help="Also at rnc and node_b, with comments on what became of packets."
        ),
    ] = False,
    report: Report = None,
    everything: Everything = False,
) -> int:
    """Fly a recorded flight again in virtual time; the same becomes of its packets, or it fails."""
    from nodeb.emulate import flights, folder, pages
    from nodeb.emulate.answer import replayed
    from nodeb.emulate.problems import check_system

    if pcap_radio and pcap is None:
        raise InputError("--pcap-radio adds to captured packets; give --pcap too")
    check_system()
    if pcap is not None:
        check_place(pcap)
    flight = flights.read(log)
    page_place = pages.checked(report, out, force=force)
    with folder.claimed(out, log, force=force, made_of=digest_of(log)) as place:
        if place is not None and pcap is not None:
            check_capture(pcap, place)
        with progress_bar(log.name) as bar:
            flown, full = as_far_as_there_is_room(
                lambda: flight.fly(pcap, radio=pcap_radio, progress=bar)
            )

        def show(_: object, where: str = "") -> None:
            print_answer(replayed(flight, flown, where), everything)

        if place is not None:
            with shown_if_full(show, flown):
                folder.put_flown(place, flight, flown)
    where = "" if out is None else f"{out} has the tables."
    show(flown, where)
    found = flown.report
    if page_place is not None:
        from nodeb.emulate.page import of_replay

        page_place = pages.write(page_place, of_replay(flight, flown), force=force)
        print_file("Page", page_place)
    if pcap is not None and full is None:
        print_file("Packets", pcap)
    if found["differs"] is not None:
        print(f"error: not the same: {found['differs']}", file=sys.stderr)
    if full is not None:
        raise full
    return 0 if found["differs"] is None else FAILED
