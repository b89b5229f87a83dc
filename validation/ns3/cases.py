"""Cases of the comparison with ns-3, the predictions of their results, and recorded results."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PREDICTIONS = Path(__file__).with_name("predictions.toml")
RESULTS = Path(__file__).with_name("results.csv")
COLUMNS = ("case", "quantity", "nodeb", "ns3")


@dataclass(frozen=True)
class Prediction:
    """Predicted values of one quantity of a case."""

    quantity: str
    nodeb: float
    ns3: float
    within: float
    why: str

    def is_met(self, simulator: str, result: float) -> bool:
        ratio = result / float(getattr(self, simulator))
        return max(ratio, 1 / ratio) - 1 <= self.within


@dataclass(frozen=True)
class Case:
    """Cell that both simulators simulate."""

    name: str
    settings: Mapping[str, Any]
    predictions: Mapping[str, Prediction]


@dataclass(frozen=True)
class Result:
    """Results of both simulators for one quantity of a case."""

    case: str
    quantity: str
    nodeb: float
    ns3: float


def read_cases(path: Path = PREDICTIONS) -> list[Case]:
    return [_case(table) for table in tomllib.loads(path.read_text(encoding="utf-8"))["cases"]]


def _case(table: dict[str, Any]) -> Case:
    name = table.pop("name")
    predicted = {key: table[key] for key in table if isinstance(table[key], dict)}
    settings = {key: value for key, value in table.items() if key not in predicted}
    return Case(name, settings, {key: Prediction(key, **predicted[key]) for key in predicted})


def read_results(path: Path = RESULTS) -> list[Result]:
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [
        Result(row["case"], row["quantity"], float(row["nodeb"]), float(row["ns3"]))
        for row in csv.DictReader(lines)
    ]


def write_results(results: Iterable[Result], origin: str, path: Path = RESULTS) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {origin}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        for one in results:
            rows.writerow((one.case, one.quantity, f"{one.nodeb:.5g}", f"{one.ns3:.5g}"))
