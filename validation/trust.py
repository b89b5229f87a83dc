"""Repeats the comparisons with all references, and writes the results to docs/trust.json.

python validation/trust.py                       # studies at full length, in out/all: hours
python validation/trust.py --quick               # their short versions
python validation/trust.py --only ns2 --only phy # some; the other results are kept
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import references
from references import Row

from nodeb.results.provenance import origin

FOUND = Path(__file__).parents[1] / "docs" / "trust.json"


def comparisons(options: argparse.Namespace) -> dict[str, Callable[[], Iterable[Row]]]:
    return {
        "studies": lambda: references.study_claims(options.out, options.quick),
        "ns2": references.ns2,
        "kernel": references.kernel,
        "phy": lambda: references.phy(not options.quick),
        "closed": references.closed,
        "traces": lambda: references.traces(options.traces),
    }


def main(arguments: list[str] | None = None) -> int:
    """Runs the chosen comparisons and writes their results."""
    options = parsed(arguments)
    asked, failed = comparisons(options), 0
    known = json.loads(FOUND.read_text(encoding="utf-8")) if FOUND.exists() else {}
    for name in options.only or asked:
        print(name, flush=True)
        try:
            found = [asdict(row) for row in asked[name]()]
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"error: the comparison {name} failed: {error}", file=sys.stderr)
            failed += 1
            continue
        if found or name not in known:
            known[name] = {"made": origin("when"), "rows": found}
        write({one: known[one] for one in asked if one in known})
    return failed


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="short versions of the studies")
    parser.add_argument("--out", type=Path, default=Path("out/all"), help="the studies' folder")
    parser.add_argument("--traces", type=Path, help="a folder of recordings (mahimahi)")
    names = list(comparisons(argparse.Namespace()))
    parser.add_argument("--only", action="append", choices=names, help="one reference")
    return parser.parse_args(arguments)


def write(known: Mapping[str, Any]) -> None:
    """Writes the results of all comparisons made so far to the file `FOUND`."""
    FOUND.write_text(f"{json.dumps(known, indent=1, ensure_ascii=False)}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
