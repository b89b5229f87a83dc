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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
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

    @property
    def source(self) -> str:
        """Specification of the first clause."""
        return self.clauses.split(",")[0].split(";")[0]


@dataclass
class Marks:
    """Marks of the core: features, what is not modelled, and errors in the marks."""

    features: dict[str, Feature] = field(default_factory=dict)
    missing: list[tuple[str, str, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def read(self, path: str, text: str) -> list[tuple[str, str, str]]:
        held = []
        above: tuple[int, Feature] | None = None
        lines = text.splitlines()
        for number, line in enumerate(lines):
            found = MARK.match(line)
            if not found:
                continue
            kind, content = found.groups()
            here = f"{path}:{number + 1}"
            if kind == "Clause":
                one = self.add_feature(here, content)
                above = (number, one) if one else None
            elif kind == "Not modelled":
                clauses, name, reason = (*content.split(": ", 2), "")[:3]
                self.missing.append((clauses, name, reason))
            elif kind == "Tests the feature":
                held.append((here, path, content))
                if not any(TEST.match(line) for line in following(lines, number)):
                    self.errors.append(f"{here}: no test follows `Tests the feature`")
            elif above and above[0] == number - 1:
                above[1].simplified = content
            else:
                self.errors.append(f"{here}: no `Clause` stands above `Simplified`")
        return held

    def add_feature(self, here: str, content: str) -> Feature | None:
        """Adds the feature of a `Clause`, and returns it unless there is an error."""
        clauses, _, name = content.partition(": ")
        if not name:
            self.errors.append(f"{here}: `{content}` has no name; expected `CLAUSE: NAME`")
        elif name in self.features:
            self.errors.append(f"{here}: `{name}` has two marks `Clause`")
        else:
            return self.features.setdefault(name, Feature(name, clauses))
        return None

    def add_test(self, here: str, path: str, content: str) -> None:
        found = HELD.fullmatch(content)
        name, reference = (found["name"], found["reference"]) if found else (content, "")
        if name not in self.features:
            self.errors.append(f"{here}: no `Clause` is named `{name}`")
        elif reference not in REFERENCES:
            self.errors.append(f"{here}: unknown reference `{reference}`; expected {REFERENCES}")
        else:
            self.features[name].tests.append((reference, path))


def core() -> Marks:
    found = sorted(CORE.glob("*/src/**/*.rs"))
    return collect({path.relative_to(CORE).as_posix(): path.read_text("utf-8") for path in found})


def collect(texts: Mapping[str, str]) -> Marks:
    marks = Marks()
    held = [one for path, text in texts.items() for one in marks.read(path, text)]
    for here, path, content in held:
        marks.add_test(here, path, content)
    untested = [one.name for one in marks.features.values() if not one.tests]
    marks.errors += [f"no test holds `{name}`" for name in untested]
    return marks


def following(lines: list[str], number: int) -> Iterable[str]:
    for line in lines[number + 1 :]:
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
        title = TITLES.get(one.source)
        found.setdefault(f"{one.source}: {title}" if title else "Other sources", []).append(one)
    return found


def row(one: Feature) -> list[str]:
    """Returns a feature as a row of the table: name, clauses, references, state."""
    tests = sorted(set(one.tests), key=lambda test: (REFERENCES.index(test[0]), test[1]))
    by_reference: dict[str, list[str]] = {}
    for reference, path in tests:
        by_reference.setdefault(reference, []).append(f"`{shown(path)}`")
    references = "; ".join(f"{one} ({', '.join(paths)})" for one, paths in by_reference.items())
    state = f"simplified: {one.simplified}" if one.simplified else "done"
    return [one.name, one.clauses, references, state]


def shown(path: str) -> str:
    return path.removeprefix("radio/src/").removesuffix(".rs")
