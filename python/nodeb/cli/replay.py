"""`nodeb replay`: replays a recorded emulation and compares the fates of its packets."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from nodeb.base.command_line import command_line
from nodeb.cli import FAILED, messages
from nodeb.cli import options as of
from nodeb.errors import InputError
from nodeb.replication.capture import check_place
from nodeb.terminal.progress import progress_bar


@of.command(
    of.place("log", "LOG", "Recording of `nodeb emulate`."),
    of.TABLES, of.FORCE,
    of.option("--pcap", "FILE", "Capture packets (pcapng), real ones unchanged.", Path),
    of.PCAP_RADIO, of.REPORT, of.ALL,
)  # fmt: skip
def replay(given: Namespace) -> int:
    from nodeb.emulate import recordings, results
    from nodeb.emulate.endpoint import check_system

    if given.pcap_radio and given.pcap is None:
        raise InputError("--pcap-radio requires --pcap")
    check_system()
    if given.pcap is not None:
        check_place(given.pcap)
    recording = recordings.read(given.log)
    report = of.page_of(
        given,
        Path("report.html") if given.out else of.default_folder(None, given.log, "-replayed.html"),
    )
    page = results.page_place(report, given.out, force=given.force)
    digest = "" if given.out is None else recording.digest()
    with results.claimed(given.out, given.log, force=given.force, made_of=digest) as place:
        if place is not None and given.pcap is not None:
            of.check_capture(given.pcap, place)
        with progress_bar(given.log.name) as bar:
            result = recording.replay(given.pcap, radio=given.pcap_radio, progress=bar)
        if place is not None:
            results.write_replay(place, recording, result)
    where = "" if given.out is None else f"The tables are in {given.out}."
    messages.print_answer(results.replayed(recording, result, where), given.all)
    if page is not None:
        from nodeb.emulate.page import of_replay

        command = command_line("replay", given.log, options=of.chosen(given, "report"))
        of.write_page(page, of_replay(recording, result, command))
        messages.print_file("Page", page)
    if given.pcap is not None:
        messages.print_file("Packets", given.pcap)
    differs = result.report["differs"]
    if differs is not None:
        messages.print_error(f"not the same: {differs}")
    return 0 if differs is None else FAILED
