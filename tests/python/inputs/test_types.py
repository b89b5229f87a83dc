"""Tests of the generator of scenario types, and of their conversion to plain data and back."""

import copy
import importlib.util
import json
import math
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import nodeb
from nodeb import _core, scenario_types
from nodeb.inputs import named_files
from scenarios import EXAMPLES

HERE = Path(__file__).parent
TOOL = HERE.parents[2] / "tools" / "generate_types.py"


def generate(*arguments):
    return subprocess.run(
        [sys.executable, TOOL, *map(str, arguments)], capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Returns the module that the generator makes from the sample schema."""
    path = tmp_path_factory.mktemp("types") / "sample_types.py"
    done = generate("--schema", HERE / "schema_sample.json", path)
    assert done.returncode == 0, done.stderr
    spec = importlib.util.spec_from_file_location("sample_types", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["sample_types"] = module
    spec.loader.exec_module(module)
    return module


def test_tables_variants_and_aliases_are_generated(sample):
    source = Path(sample.__file__).read_text()
    assert "class Dch(Part):" in source
    assert "Queue: TypeAlias = DropTail | Literal['drop_tail']" in source.replace('"', "'")
    assert "in_sequence`: Waits." in source
    assert sample.DropTail.tag == "drop_tail"
    assert sample.Wired().queue == sample.DropTail(limit=500)
    assert sample.ScenarioFields(radio="dch", users=[]).wired.queue.limit == 1000
    assert sample.Wired.__doc__ == "Server to Node B."


def test_parts_and_plain_data_are_equivalent(sample):
    scenario = sample.ScenarioFields(radio=sample.Dch(bler=0.2), users=[sample.User(ci=[1.0])])
    data = scenario.to_dict()
    assert data["radio"] == {"dch": {"bler": 0.2, "combining": {"none": {}}}}
    assert data["users"] == [{"count": 1, "ci": [1.0]}]
    assert "precision" not in data
    assert sample.ScenarioFields.from_dict(json.loads(json.dumps(data))) == scenario


def test_parts_can_be_copied_and_pickled():
    group = scenario_types.UserGroup(traffic=scenario_types.Ftp(size="5 kB"), count=2)
    for again in (copy.deepcopy(group), pickle.loads(pickle.dumps(group))):
        assert again == group
        assert again.traffic is not group.traffic


def test_outdated_file_is_reported(tmp_path):
    stale = tmp_path / "types.py"
    stale.write_text("# old\n")
    done = generate("--check", "--schema", HERE / "schema_sample.json", stale)
    assert done.returncode == 1
    assert "stale" in done.stderr


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_survives_conversion_to_types(path):
    scenario = nodeb.load(path)
    again = json.loads(_core.resolve(json.dumps(scenario.to_dict())))
    text = path.read_text(encoding="utf-8")
    said = json.loads(_core.CompiledScenario.from_toml(text, str(path), []).to_json())
    assert again == named_files.read_all(said, path.parent)
    assert nodeb.Scenario.from_dict(again) == scenario


def test_defaults_of_types_and_core_agree():
    """A scenario with only required keys gets the same defaults from types and core."""
    users = [scenario_types.UserGroup(traffic=scenario_types.Ftp(size="50 kB"))]
    scenario = nodeb.Scenario(users=users)
    bare = {"users": [{"traffic": {"ftp": {"size": "50 kB"}}}]}
    assert scenario.resolved() == nodeb.Scenario.from_dict(
        json.loads(_core.resolve(json.dumps(bare)))
    )


@settings(max_examples=500)
@given(st.lists(st.floats(min_value=0, max_value=1e300), min_size=1, max_size=20))
def test_numbers_pass_the_ffi_boundary_unchanged(frequencies):
    assume(0 < sum(frequencies) < math.inf)
    group = {"traffic": {"ftp": {"size": "1 kB"}}, "ci": frequencies}
    scenario = {"radio": {"hs_dsch": {}}, "users": [group]}
    resolved = json.loads(_core.resolve(json.dumps(scenario)))
    assert resolved["users"][0]["ci"] == frequencies
    text = _core.CompiledScenario.from_json(json.dumps(resolved)).to_toml()
    again = nodeb.Scenario.from_toml(text, "again.toml").to_dict()
    assert again["users"][0]["ci"] == frequencies
