"""Table of the features of LTE, from marks in the sources and in the tests of the core.

A mark is a comment of one line in one of these forms:

    // Clause: TS 36.213, 10.1.5; TS 36.321, 5.4.4: scheduling requests
    // Simplified: no random access after lost requests
    // Not modelled: TS 36.321, 5.1: random access: phones are always connected
    // Tests the feature: scheduling requests (closed form)

`Clause` stands above the code of a feature. `Simplified` is the next line if the code does less
than the clause. `Tests the feature` stands above a test of the feature, and gives the reference of
the test. `Not modelled` has no fixed place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

CORE = Path(__file__).parents[1] / "crates"
MARK = re.compile(r"^\s*// (Clause|Simplified|Not modelled|Tests the feature): (.+)$")
HELD = re.compile(r"(?P<name>.+) \((?P<reference>[^()]+)\)")
TEST = re.compile(r"^\s*fn (\w+)\(")

# References of tests, in the order of the table.
REFERENCES = (
    "standard's table",
    "closed form",
    "independent receiver",
    "other program",
    "worked example",
    "property",
)

TITLES = {
    "TS 23.203": "policy and charging control",
    "TS 36.101": "user equipment",
    "TS 36.133": "measurements and their levels",
    "TS 36.211": "physical channels",
    "TS 36.212": "coding",
    "TS 36.213": "physical layer procedures",
    "TS 36.304": "idle mode",
    "TS 36.306": "categories",
    "TS 36.321": "MAC",
    "TS 36.322": "RLC",
    "TS 36.323": "PDCP",
    "TS 36.331": "RRC",
}


@dataclass
class Feature:
    """Feature with its clauses, what it simplifies, and the references and files of its tests."""

    name: str
    clauses: str
    simplified: str = ""
    tests: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Marks:
    """Features of the core by name; clauses, name and reason of what is not modelled."""

    features: dict[str, Feature] = field(default_factory=dict)
    missing: list[list[str]] = field(default_factory=list)


@cache
def core() -> Marks:
    """The marks of the core.

    Raises:
        ValueError: a mark has another form or place, or a feature has no test.
    """
    marks, tests = Marks(), []
    for file in sorted(CORE.glob("*/src/**/*.rs")):
        path, lines = file.relative_to(CORE).as_posix(), file.read_text("utf-8").splitlines()
        above: tuple[int, Feature] | None = None
        for number, line in enumerate(lines, 1):
            if mark := MARK.match(line):
                here, content = f"{path}:{number}", mark[2]
                if mark[1] == "Clause":
                    above = number, clause(here, content, marks)
                elif mark[1] == "Not modelled":
                    marks.missing.append([*content.split(": ", 2), ""][:3])
                elif mark[1] == "Tests the feature":
                    tests.append((here, path, content))
                    check(any(map(TEST.match, following(lines, number))), f"{here}: no test")
                else:
                    check(above and above[0] == number - 1, f"{here}: no `Clause` above")
                    above[1].simplified = content
    for here, path, content in tests:
        test = HELD.fullmatch(content)
        check(test and test["name"] in marks.features, f"{here}: `{content}` is no feature")
        check(test["reference"] in REFERENCES, f"{here}: the references are {REFERENCES}")
        marks.features[test["name"]].tests.append((test["reference"], path))
    for feature in marks.features.values():
        check(feature.tests, f"no test holds `{feature.name}`")
    return marks


def clause(here: str, content: str, marks: Marks) -> Feature:
    clauses, _, name = content.partition(": ")
    check(name and name not in marks.features, f"{here}: `{name}` has two marks, or no name")
    return marks.features.setdefault(name, Feature(name, clauses))


def check(is_valid: object, error: str) -> None:
    if not is_valid:
        raise ValueError(error)


def following(lines: list[str], number: int) -> Iterable[str]:
    """The lines after a number, up to the first that is neither a comment nor an attribute."""
    for line in lines[number:]:
        yield line
        if not line.lstrip().startswith(("//", "#[")):
            return


def order(clauses: str) -> tuple[bool, str, list[tuple[int, str]]]:
    """Returns a key that sorts clauses by specification and number, other sources last."""
    source, _, rest = clauses.split(";")[0].partition(", ")
    numbers = re.findall(r"\d+|[A-Z](?=\.)", rest)
    return (
        not source.startswith("TS "),
        source,
        [(int(one), "") if one.isdigit() else (1000, one) for one in numbers],
    )


def sections(marks: Marks) -> dict[str, list[Feature]]:
    """Returns the features by the headings of their tables, in order of their clauses."""
    found: dict[str, list[Feature]] = {}
    for one in sorted(marks.features.values(), key=lambda one: order(one.clauses)):
        source = re.split("[,;]", one.clauses)[0]
        title = f"{source}: {TITLES[source]}" if source in TITLES else "Other sources"
        found.setdefault(title, []).append(one)
    return found


def row(one: Feature) -> list[str]:
    """Returns a feature as a row of the table: name, clauses, references, state."""
    references = []
    for reference in REFERENCES:
        paths = sorted({path for of, path in one.tests if of == reference})
        shown = [f"`{path.replace('/src/', '/').removesuffix('.rs')}`" for path in paths]
        references += [f"{reference} ({', '.join(shown)})"] if paths else []
    state = f"simplified: {one.simplified}" if one.simplified else "done"
    return [one.name, one.clauses, "; ".join(references), state]
