"""Tests: the module in the browser computes the same bytes as the native core."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import pytest

from browsers import PLAY, needs_chromium, needs_playground
from nodeb import _core
from nodeb.inputs.scenario import Scenario, load
from nodeb.results.answer import answer_of, explain_only_transfer

pytestmark = [needs_chromium, needs_playground]

ROOT = Path(__file__).parents[3]
SCENARIOS = sorted(
    file
    for folder in ("examples", "web/starts", "python/nodeb/cells")
    for file in (ROOT / folder).glob("*.toml")
)
SHORT = "20 s"
"""Duration of scenarios that take long; transfers that have not ended by then count as others."""
KINDS = {"u64": "<u8", "u32": "<u4", "f64": "<f8", "f32": "<f4", "bool": "?", "text": "<u4"}
CALL = """async ([call, task]) => {
    const encoded = values => {
        const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
        let text = "";
        for (const one of bytes) text += String.fromCharCode(one);
        return btoa(text);
    };
    const table = one => [...one.columns].map(([name, column]) =>
        [name, column.kind, encoded(column.values), column.names ?? null]);
    const found = await nodeb[call](task);
    const tables = call === "explain"
        ? Object.entries(found).filter(([, one]) => one.columns) : [...found.tables];
    return tables.map(([name, one]) => [name, table(one)]);
}"""


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    page.goto((PLAY / "play.html").as_uri())
    page.wait_for_function("() => globalThis.nodeb")
    yield page
    page.close()


def tables_in(page, call, **task):
    """Returns the tables of a call to the module: arrays by column by table."""

    def values(kind, packed, names):
        found = np.frombuffer(base64.b64decode(packed), dtype=KINDS[kind])
        return found if names is None else np.array(names, dtype=str)[found]

    found = page.evaluate(CALL, [call, task])
    return {table: {name: values(*column) for name, *column in columns} for table, columns in found}


def plain(column):
    """Returns a column as an array; a coded column of texts is a pair of codes and texts."""
    if not isinstance(column, tuple):
        return np.asarray(column)
    codes, names = column
    return np.array(names, dtype=str)[codes]


def assert_same(found, native):
    assert list(found) == list(native)
    for table, columns in native.items():
        assert list(found[table]) == list(columns), table
        for name, column in columns.items():
            one, other = found[table][name], plain(column)
            if other.dtype.kind == "U" or len(other) == 0:
                assert list(one) == list(other), f"{table}.{name}"
            else:
                assert one.dtype == other.dtype, f"{table}.{name}"
                assert one.tobytes() == other.tobytes(), f"{table}.{name}"


def short(file):
    """Returns a scenario as TOML, of `SHORT` duration, with all that can be recorded over time."""
    scenario = load(file).compiled()
    groups = len(json.loads(scenario.to_json())["users"])
    late = [f"users.{number}.start=0 s" for number in range(groups)]
    return scenario.with_overrides([f"duration={SHORT}", "record.cwnd=true", *late]).to_toml()


def is_external(file):
    return "external" in file.read_text() or "real = true" in file.read_text()


@pytest.mark.parametrize(
    "file", [one for one in SCENARIOS if not is_external(one)], ids=lambda file: file.stem
)
def test_tables_are_the_same_bytes(page, file):
    text = short(file)
    native = _core.CompiledScenario.from_toml(text, "scenario", [])
    for run in (0, 3):
        expected = native.run(native.seed, run, _core.Control())
        assert_same(tables_in(page, "run", text=text, run=run), expected)


@pytest.mark.parametrize("name", ["dch-50k", "lte-cell", "hsdpa-cell"])
def test_critical_paths_and_lives_are_the_same_bytes(page, name):
    text = short(ROOT / f"examples/{name}.toml")
    native = _core.CompiledScenario.from_toml(text, "scenario", [])
    control = _core.Control()
    life = _core.timeline(native, native.seed, 0, control, 0, 1_000_000_000)
    assert_same(tables_in(page, "life", text=text, toS=1), life["tables"])
    path = native.explain(native.seed, 0, 0, 0, control)
    assert_same(tables_in(page, "explain", text=text), path)


ANSWER = """async ([text, runs, explains]) => {
    const replications = await nodeb.replicate({text, runs});
    const paths = [];
    for (let run = 0; explains && run < runs; run++)
        paths.push((await nodeb.explain({text, run})).sums);
    const {sides: [side]} = await nodeb.answer([{text, replications, paths}]);
    return side;
}"""
RUNS = 3


@pytest.mark.parametrize(
    "file", [one for one in SCENARIOS if not is_external(one)], ids=lambda file: file.stem
)
def test_answers_are_those_of_the_package(page, file):
    result = Scenario.from_toml(short(file)).run(runs=RUNS)
    why = explain_only_transfer(result)
    found = page.evaluate(ANSWER, [result.scenario.to_toml(), RUNS, why is not None])
    native = answer_of(result, why, None, "")
    assert found["headline"] == native.headline
    assert [one["name"] for one in found["facts"]] == [one.name for one in native.facts]
    assert [one["shown"]["value"] for one in found["facts"]] == [
        one.shown.value for one in native.facts
    ]
    rows = [(one["group"], one["metric"], one["mean"], one["low"]) for one in found["summary"]]
    summary = [
        (row["group"], row["metric"], row["mean"], row["ci95_low"]) for row in result.summary
    ]
    assert rows == [tuple(None if one != one else one for one in row) for row in summary]
