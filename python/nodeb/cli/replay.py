"""`nodeb replay`: replays a recorded emulation and compares the fates of its packets."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Annotated

import typer

from nodeb.base.command_line import command_line
from nodeb.cli.options import (
    FAILED,
    Everything,
    Force,
    Report,
    Tables,
    check_capture,
    print_answer,
    print_file,
)
from nodeb.errors import InputError
from nodeb.replication.capture import check_place
from nodeb.terminal.progress import progress_bar

__all__ = ["replay"]


def replay(
    log: Annotated[Path, typer.Argument(metavar="LOG", help="Recording of `nodeb emulate`.")],
    out: Tables = None,
    force: Force = False,
    pcap: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Capture packets to this file (pcapng), real ones unchanged."
        ),
    ] = None,
    pcap_radio: Annotated[
        bool,
        typer.Option(
            "--pcap-radio",
            help="Also capture at rnc, node_b and pdcp, with comments on each packet's fate.",
        ),
    ] = False,
    report: Report = None,
    everything: Everything = False,
) -> int:
    """Replay a recorded emulation in virtual time; fail if any arrival or loss differs."""
    from nodeb.emulate import page_file, recordings, results_folder
    from nodeb.emulate.answer import replayed
    from nodeb.emulate.problems import check_system

    if pcap_radio and pcap is None:
        raise InputError("--pcap-radio requires --pcap")
    check_system()
    if pcap is not None:
        check_place(pcap)
    recording = recordings.read(log)
    page_place = page_file.checked(report, out, force=force)
    with results_folder.claimed(
        out, log, force=force, made_of=hashlib.sha256(log.read_bytes()).hexdigest()
    ) as place:
        if place is not None and pcap is not None:
            check_capture(pcap, place)
        with progress_bar(log.name) as bar:
            result = recording.replay(pcap, radio=pcap_radio, progress=bar)

        def show(_: object, where: str = "") -> None:
            print_answer(replayed(recording, result, where), everything)

        if place is not None:
            results_folder.write_replay(place, recording, result)
    where = "" if out is None else f"The tables are in {out}."
    show(result, where)
    found = result.report
    if page_place is not None:
        from nodeb.emulate.page import of_replay

        command = command_line("replay", log, options={"report": report})
        content = of_replay(recording, result, command)
        page_place = page_file.write(page_place, content, force=force)
        print_file("Page", page_place)
    if pcap is not None:
        print_file("Packets", pcap)
    if found["differs"] is not None:
        print(f"error: not the same: {found['differs']}", file=sys.stderr)
    return 0 if found["differs"] is None else FAILED
