"""Tests: a scenario built in code is refused with a message, or can be written or simulated.

Random text is tested by `crates/sim/tests/fuzz_like.rs`.
"""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeb import _core
from scenarios import EXAMPLES

# Examples that name recordings are excluded, because they are incomplete without the files.
TEXTS = [text for path in EXAMPLES if ".file = " not in (text := path.read_text(encoding="utf-8"))]
SCHEMA = json.loads(_core.schema())
KEYS = sorted({key for d in [SCHEMA, *SCHEMA["$defs"].values()] for key in d.get("properties", {})})

numbers = st.integers() | st.floats()
words = st.sampled_from(
    ["0 s", "-1 ms", "1e300 s", "50 kB", "10 Mbps", "round_robin", "dch", "", "x"]
)
values = st.recursive(
    st.none() | st.booleans() | numbers | words | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=6,
)


def resolved_example() -> str:
    return _core.CompiledScenario.from_toml(TEXTS[0], "scenario.toml", []).to_json()


@settings(max_examples=300)
@given(st.dictionaries(st.sampled_from(KEYS), values, max_size=5))
def test_odd_scenarios_built_in_code_run_or_are_rejected(data):
    try:
        resolved = _core.resolve(json.dumps(data))
    except _core.ScenarioError as error:
        message = str(error)
    else:
        assert _core.resolve(resolved) == resolved
        message = _core.CompiledScenario.from_json(resolved).to_toml()
    assert message.strip()


@settings(max_examples=60)
@given(st.data())
def test_odd_values_run_or_are_rejected(data):
    """A valid scenario with one value changed to an odd one is rejected or runs to its end."""
    scenario = json.loads(resolved_example())
    place = scenario[data.draw(st.sampled_from(["wired", "uplink", "tcp", "radio"]))]
    place = place.get("dch", place)
    key = data.draw(st.sampled_from(sorted(place)))
    place[key] = data.draw(
        st.sampled_from(
            [0, 1, 2, 0.5, 0.999, 10**6, "1 ns", "1 s", "1 h", "1 bps", "1 Gbps", "1 B", "41 B"]
        )
    )
    scenario["duration"] = "100 s"
    try:
        resolved = _core.resolve(json.dumps(scenario))
    except _core.ScenarioError:
        return
    control = _core.Control()
    flows = _core.CompiledScenario.from_json(resolved).run(1, 0, control)["flows"]
    assert len(flows["user"]) == 1


def test_cancelled_control_stops_a_run_at_once():
    control = _core.Control()
    control.cancel()
    scenario = resolved_example()
    with pytest.raises(_core.Cancelled):
        _core.CompiledScenario.from_json(scenario).run(1, 0, control)
