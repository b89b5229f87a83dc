"""`nodeb run`: simulates a scenario, prints a summary and saves its tables."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from nodeb.base.command_line import command_line
from nodeb.cli import messages
from nodeb.cli import options as of
from nodeb.errors import InputError, Interrupted
from nodeb.inputs.scenario import load
from nodeb.results.answer import answer
from nodeb.results.provenance import results_hash
from nodeb.storage.folders import Owner
from nodeb.terminal.progress import progress_bar

CAPTURES = "snap_length", "pcap_at", "pcap_radio", "pcap_causes"


@of.command(
    of.FILE, of.SET, of.SEED, of.RUNS, of.PRECISION, of.JOBS, of.CLUSTER, of.OUT, of.FORCE, of.ALL,
    of.REPORT, of.JSON, of.flag("--csv", "Also write each table as CSV."),
    of.option("--pcap", "FILE", "Capture packets of the first replication (pcapng).", Path),
    of.option("--snap-length", "N", "Bytes captured per packet; default: 80, the headers.", int),
    of.repeated("--pcap-at", "PLACE", "Capture only at server, phone or proxy."),
    of.PCAP_RADIO,
    of.repeated(
        "--pcap-causes", "USER",
        "Add comments with the critical path of this user's transfers.", int,
    ),
)  # fmt: skip
def run(given: Namespace) -> None:
    """Prints first, so that a full disk costs the tables but not the answer."""
    capture = {name: getattr(given, name) for name in ("pcap", *CAPTURES)}
    if given.cluster is not None and given.pcap is not None:
        raise InputError("--pcap and --cluster cannot be combined: the capture is written locally")
    for name in CAPTURES if given.pcap is None else ():
        if capture[name]:
            raise InputError(f"--{name.replace('_', '-')} requires --pcap")
    scenario = load(given.file, given.set).planned(given.runs, given.precision, given.seed)
    rule = scenario.stopping_rule()
    runs = rule if isinstance(rule, int) else None
    made_of = results_hash(scenario, scenario.seed)
    owner = Owner("run", given.file.name, made_of=made_of, runs=runs)
    of.check_page(given.report)
    if given.report:
        from nodeb.report.run import html
    with (
        of.workers(given.jobs, given.cluster) as jobs,
        of.claimed(given, given.file, owner) as place,
    ):
        of.check_capture(given.pcap, place)
        messages.print_place(place)
        if scenario.compiled().has_sweep:
            hint = f"`{command_line('sweep', given.file)}` simulates it"
            messages.print_notes([f"the [sweep] table of {given.file} is ignored; {hint}"])
        messages.print_warnings(scenario.warnings())
        messages.print_superfluous(scenario.compiled())
        try:
            with progress_bar(scenario.name or given.file.stem) as bar:
                result = scenario.run(jobs=jobs, progress=bar, **capture)
        except Interrupted as stop:
            if stop.result is None:
                raise
            part: Any = stop.result
            where = f"{place.shown} keeps what it has, which is more"
            if not place.has_more(part.provenance.runs):
                where = f"those are in {part.put(place)}"
            raise Interrupted(f"{stop}; {where}") from None
        messages.print_nothing_arrived(result)
        arguments = of.arguments(given, "set", "seed", "runs", "precision", "report")
        said = answer(result, arguments, str(place.shown))
        stream = messages.print_answers(given, [said], result.summary)
        page = None
        try:
            page = html(result, None, arguments) if given.report else None
        finally:
            own = page if given.report == of.DEFAULT_PAGE else None
            result.put(place, report=own, csv=given.csv)
        if page is not None and given.report != of.DEFAULT_PAGE:
            of.write_page(given.report, page)
    messages.print_file("Page", of.page_of(given, place.shown / "report.html"), stream)
    messages.print_file("Packets", given.pcap, stream)
