"""Tests: predictions, which were made before the results of a study were known, are not edited."""

from __future__ import annotations

import hashlib
from importlib import resources

import pytest

from nodeb import studies
from nodeb.errors import InputError
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


def test_predictions_are_unchanged():
    cells, statements = {}, {}
    for name in studies.names():
        if (file := STUDIES / f"{name}_predicted.csv").is_file():
            cells[name] = hashlib.sha256(file.read_bytes()).hexdigest()
        made = studies.load(name).predictions.statements
        if texts := [f"{one.item}: {one.predicted}" for one in made]:
            statements[name] = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    assert (cells, statements) == (HASHES, STATEMENTS)


@pytest.mark.parametrize("name", studies.names())
def test_predictions_refer_to_items_and_claims_of_the_study(name):
    study = studies.load(name)
    predictions = study.predictions
    assert bool(predictions.provenance) == bool(predictions.cells or predictions.statements)
    items = {one.item for one in (*predictions.cells, *predictions.statements)}
    assert items <= {*study.tables, *study.figures}
    claims = {name for one in predictions.statements for name in one.claims}
    assert claims <= {claim.id for claim in study.claims}
    places = [one.place for one in predictions.cells]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize(
    ("item", "value", "published", "verdicts"),
    [
        ("Table 1", 109.0, 100.0, ["right"]),
        ("Table 1", 111.0, 100.0, ["off"]),
        ("Table 1", 121.0, 100.0, ["missed"]),
        ("Table 1", 109.0, None, ["not printed"]),
        ("Table 2", 109.0, 100.0, []),
    ],
)
def test_prediction_is_compared_with_the_published_value(item, value, published, verdicts):
    """The tolerance is 10 %."""
    now = Estimate(100, 99, 101, 10)
    cell = Cell("Table 1", "RR", "1 %", "kb/s", published, now, 0, Tolerance(relative=0.1))
    prediction = predicted.Predicted(item, "RR", "1 %", "kb/s", value, None, None)
    rows = predicted.compare(predicted.Predictions("before", (prediction,)), [cell])
    assert [predicted.WORDS[one.grade] for one in rows] == verdicts
    assert len(predicted.to_csv(rows).splitlines()) == 1 + len(verdicts)


def test_missing_column_is_named(tmp_path):
    file = tmp_path / "predicted.csv"
    file.write_text("# before\nitem,row,unit,predicted,low,high\na,b,c,1,,\n")
    with pytest.raises(InputError, match="column, replications"):
        predicted.read(file)
