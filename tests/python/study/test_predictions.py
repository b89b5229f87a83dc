"""Tests: predictions, which were made before the results of a study were known, are not edited."""

from __future__ import annotations

import hashlib
from importlib import resources
from pathlib import Path

import pytest

from nodeb import studies
from nodeb.errors import InputError
from nodeb.reproduce import page_predicted
from nodeb.stats import Estimate
from nodeb.study import predicted
from nodeb.study.cell import Cell, Tolerance

STUDIES = resources.files("nodeb.studies")
HASHES = {
    "costamagna": "3671ad908a6e9b0fc20ccab3733aa088f81b86a4a1c83de28b96f6af2a6feebc",
    "wang": "3d1c512227982aa9cfb85146568fd7aa9bcbe588454abc30fd3ab2ec5d845932",
}
"""SHA-256 of each file of predicted cells."""

STATEMENTS = {
    "fiorenzi": "b399a1cef60188ca178c1a9b6324a36ccf7effb70f3bd0852a0514a912171995",
    "prabhu": "e3138af205b99e9d179c6bb79466e1dc1d62e27dea4c35799d9075091f9cf813",
}
"""SHA-256 of the predicted statements of each study, item by item."""


def predictions_of(name: str) -> predicted.Predictions:
    return studies.load(name).predictions


def test_predicted_cells_are_unchanged() -> None:
    found = {
        name: hashlib.sha256(file.read_bytes()).hexdigest()
        for name in studies.names()
        if (file := STUDIES / f"{name}_predicted.csv").is_file()
    }
    assert found == HASHES


def test_predicted_statements_are_unchanged() -> None:
    found = {}
    for name in studies.names():
        said = [f"{one.item}: {one.predicted}" for one in predictions_of(name).statements]
        if said:
            found[name] = hashlib.sha256("\n".join(said).encode()).hexdigest()
    assert found == STATEMENTS


@pytest.mark.parametrize("name", studies.names())
def test_predictions_refer_to_items_and_claims_of_the_study(name: str) -> None:
    known = studies.load(name)
    predictions = known.predictions
    assert bool(predictions.provenance) == bool(predictions.cells or predictions.statements)
    items = {one.item for one in (*predictions.cells, *predictions.statements)}
    assert items <= {*known.tables, *known.figures}
    claims = {name for one in predictions.statements for name in one.claims}
    assert claims <= {claim.id for claim in known.claims}
    places = [one.place for one in predictions.cells]
    assert len(set(places)) == len(places)


def measured(value: float, published: float | None) -> Cell:
    now = Estimate(value, value - 1, value + 1, 10)
    return Cell("Table 1", "RR", "1 %", "kb/s", published, now, 0, Tolerance(relative=0.1))


@pytest.mark.parametrize(
    ("value", "verdict"), [(109.0, "right"), (111.0, "off"), (121.0, "missed"), (90.5, "right")]
)
def test_verdict_compares_with_the_prediction(value: float, verdict: str) -> None:
    """The verdict compares the prediction with the published value, 100, at a tolerance of 10 %."""
    then = predicted.Predicted("Table 1", "RR", "1 %", "kb/s", value, None, None)
    predictions = predicted.Predictions("made before", (then,))
    (one,) = predicted.compare(predictions, [measured(100.0, 100.0)])
    assert predicted.WORDS[one.grade] == verdict
    shown = page_predicted.content(predictions, [measured(100.0, 100.0)], [])
    assert shown is not None
    assert shown["rows"][0]["verdict"].endswith(verdict)
    assert shown["right"] == (verdict == "right")


def test_unpublished_value_has_no_verdict() -> None:
    then = predicted.Predicted("Table 1", "RR", "1 %", "kb/s", 5.0, 4.0, 6.0)
    (one,) = predicted.compare(predicted.Predictions("", (then,)), [measured(5.0, None)])
    assert one.grade == "open"
    assert predicted.to_csv([one]).splitlines()[1] == (
        "Table 1,RR,1 %,kb/s,5,4,6,,5,4,6,not printed"
    )


def test_unmeasured_cells_are_omitted() -> None:
    then = predicted.Predicted("Table 2", "RR", "1 %", "kb/s", 5.0, 4.0, 6.0)
    predictions = predicted.Predictions("", (then,))
    assert predicted.compare(predictions, [measured(5.0, None)]) == []
    assert page_predicted.content(predictions, [measured(5.0, None)], []) is None


def test_missing_column_is_named(tmp_path: Path) -> None:
    (tmp_path / "predicted.csv").write_text(
        "# before\nitem,row,unit,predicted,low,high\na,b,c,1,,\n"
    )
    with pytest.raises(InputError, match="column, replications is missing"):
        predicted.read(tmp_path / "predicted.csv")


def test_wrong_statement_is_named(tmp_path: Path) -> None:
    (tmp_path / "predicted.toml").write_text('[[statements]]\nitem = "Figure 7"\nsaid = "up"\n')
    with pytest.raises(InputError, match="said"):
        predicted.read(tmp_path / "predicted.csv")
