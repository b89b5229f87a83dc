"""Compares LTE cells of nodeb with those of ns-3, and both with predictions.

    python validation/ns3_lte.py                                   # the recorded results
    python3 -m venv /tmp/ns3 && /tmp/ns3/bin/pip install ns3==3.44.post0
    python validation/ns3_lte.py --ns3 /tmp/ns3/bin/python         # simulate again (minutes)
    python validation/ns3_lte.py --ns3 /tmp/ns3/bin/python --only "a, 4 dB"
    python validation/ns3_lte.py --ns3 /tmp/ns3/bin/python --write # record the results

ns-3's wheels are for Linux. The predictions in ns3/predictions.toml follow from
these tables:

    /tmp/ns3/bin/python validation/ns3/tables.py 100 0 4 8 10
    cargo run -p nodeb-radio --example lte_formats -- 25 0 4 8 10
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ns3 import ours
from ns3.cases import (
    RESULTS,
    Case,
    Result,
    read_cases,
    read_results,
    write_results,
)

from nodeb import stats
from nodeb.answer.columns import aligned
from nodeb.results.provenance import origin

THEIRS = Path(__file__).parent / "ns3" / "theirs.py"
SNR_LIMIT_DB = 0.01
"""Largest deviation of the SNR that ns-3 reports from that of the case."""
HEAD = ("case", "quantity", "nodeb", "ns-3", "ratio", "predicted", "for ns-3", "met")


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 1 if a case is unknown or ns-3 cannot be run, else 0."""
    options = parsed(arguments)
    cases = [case for case in read_cases() if options.only in (None, case.name)]
    if not cases:
        print(f"error: no case is named {options.only!r}", file=sys.stderr)
        return 1
    if options.ns3 is None:
        results = read_results()
    else:
        try:
            results = list(compare(cases, options.ns3))
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"error: ns-3 did not simulate the cases: {error}", file=sys.stderr)
            return 1
    print("\n".join(aligned(list(rows(cases, results)), range(2, len(HEAD)), min_width=0)))
    if options.write:
        version = subprocess.run(
            [options.ns3, "-c", "from importlib.metadata import version; print(version('ns3'))"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        made = origin("when")
        nodeb = f"nodeb {made['version']} ({(made['git'] or '')[:8]})"
        write_results(results, f"ns-3 {version}, {nodeb}, {made['when'][:10]}")
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--ns3", metavar="PYTHON", help="the Python that has ns-3")
    parser.add_argument("--only", metavar="CASE", help="name of the only case to compare")
    parser.add_argument("--write", action="store_true", help="record the results")
    options = parser.parse_args(arguments)
    if options.write and (options.ns3 is None or options.only is not None):
        parser.error("--write needs --ns3 and cannot be combined with --only")
    return options


def compare(cases: Sequence[Case], python: str) -> Iterator[Result]:
    """Simulates cases in both programs, and yields the results of the predicted quantities."""
    for case, theirs in zip(cases, simulate_ns3(cases, python), strict=True):
        nodeb = ours.simulate(case.settings)
        for quantity in case.predictions:
            yield Result(case.name, quantity, nodeb[quantity], theirs[quantity])


def simulate_ns3(cases: Sequence[Case], python: str) -> list[dict[str, float]]:
    """Simulates cases in ns-3."""
    lines = "".join(f"{json.dumps(dict(case.settings))}\n" for case in cases)
    done = subprocess.run(
        [python, THEIRS], input=lines, check=True, stdout=subprocess.PIPE, text=True
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return [quantities(case, one) for case, one in zip(cases, found, strict=True)]


def quantities(case: Case, found: dict[str, Any]) -> dict[str, float]:
    """Returns the quantities of a case from ns-3's output, after checking the SNRs in it."""
    for wanted, reported in zip(case.settings["snr_db"], found["snr_db"], strict=True):
        if abs(wanted - reported) > SNR_LIMIT_DB:
            raise ValueError(f"{case.name}: ns-3 reports {reported:.3f} dB, expected {wanted} dB")
    speed = found["simulated_s"] / found["cpu_s"]
    if "download_s" in found:
        return {"download_s": found["download_s"], "speed": speed}
    rates = found["user_mbps"]
    return {"rate_mbps": sum(rates), "jain": stats.jain_index(rates), "speed": speed}


def rows(cases: Sequence[Case], results: Sequence[Result]) -> Iterator[tuple[str, ...]]:
    yield HEAD
    predictions = {case.name: case.predictions for case in cases}
    for one in results:
        if one.case not in predictions:
            continue
        predicted = predictions[one.case][one.quantity]
        met = [predicted.is_met(name, getattr(one, name)) for name in ("nodeb", "ns3")]
        yield (
            *(one.case, one.quantity, f"{one.nodeb:.4g}", f"{one.ns3:.4g}"),
            *(f"{one.nodeb / one.ns3:.3g}", f"{predicted.nodeb:.4g}", f"{predicted.ns3:.4g}"),
            ", ".join("yes" if one else "NO" for one in met),
        )


def markdown() -> str:
    heading, *lines = rows(read_cases(), read_results())
    marks = ["---"] * 2 + ["--:"] * (len(heading) - 2)
    made = RESULTS.read_text("utf-8").partition("\n")[0].lstrip("# ")
    return "\n".join(f"| {' | '.join(row)} |" for row in (heading, marks, *lines)) + f"\n\n{made}."


if __name__ == "__main__":
    sys.exit(main())
