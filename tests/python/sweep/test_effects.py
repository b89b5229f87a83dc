"""Tests: settings of a sweep that have no effect are reported."""

import pytest

from nodeb.base.table import Table
from nodeb.sweep.axes import Axis, Swept
from nodeb.sweep.results import without_effect


def axis(*keys, values=(1, 2)):
    return Axis(tuple(Swept(key, tuple(values), (None,) * len(values)) for key in keys))


def table(group=None, **columns):
    rows = len(columns["bps"])
    return Table(
        {
            **{k: v for k, v in columns.items() if k in "ab"},
            "group": group or ["all"] * rows,
            **columns,
        }
    )


def test_axis_without_effect_is_named():
    found = table(a=[1, 1, 2, 2], b=[1, 2, 1, 2], bps=[5.0, 5.0, 7.0, 7.0])
    assert without_effect(found, [axis("a"), axis("b")]) == ["b"]


def test_axis_with_a_local_effect_counts():
    found = table(a=[1, 1, 2, 2], b=[1, 2, 1, 2], bps=[5.0, 5.0, 7.0, 8.0])
    assert without_effect(found, [axis("a"), axis("b")]) == []


def test_lockstep_keys_are_one_axis_and_nan_equals_nan():
    found = table(a=[1, 2], b=["x", "y"], bps=[float("nan")] * 2, text=["p", "p"])
    assert without_effect(found, [axis("a", "b")]) == ["a, b"]


def test_each_group_of_users_is_compared_with_itself():
    found = table(a=[1, 1, 2, 2], group=["x", "y", "x", "y"], bps=[5.0, 6.0, 5.0, 6.0])
    assert without_effect(found, [axis("a")]) == ["a"]
    found = table(a=[1, 1, 2, 2], group=["x", "y", "x", "y"], bps=[5.0, 6.0, 6.0, 5.0])
    assert without_effect(found, [axis("a")]) == []


def test_single_value_shows_no_effect():
    assert without_effect(table(a=[1], bps=[5.0]), [axis("a", values=(1,))]) == []


BASE = """
runs = 2
{}
[[users]]
traffic.ftp.size = "20 kB"
"""


@pytest.fixture
def sweep(call, tmp_path):
    def sweep(keys, axes):
        (tmp_path / "s.toml").write_text(BASE.format(keys) + f"[sweep]\n{axes}\n")
        return call("sweep", "s.toml")

    return sweep


def test_sweep_reports_keys_without_effect(sweep):
    axes = '"radio.dch.bler" = [0.0, 0.3]\n"radio.dch.buffer" = [500, 1000]'
    status, _, err = sweep("", axes)
    assert status == 0
    assert err == "note: radio.dch.buffer: no effect; all values gave the same results\n"


def test_sweep_of_a_key_without_effect_is_rejected(sweep):
    keys = "radio.dch.errors.process.gilbert_elliott = { p = 0.1, r = 0.4 }"
    status, _, err = sweep(keys, '"radio.dch.bler" = [0.01, 0.2]')
    assert status == 2
    assert "s.toml:7: " in err
    assert "radio.dch.bler: this has no effect: the model in `errors`" in err


def test_redundant_default_without_effect_is_noted(call, tmp_path):
    text = BASE.format('radio.dch = { rlc = "am", retransmission_delay = "99 ms" }')
    (tmp_path / "s.toml").write_text(text)
    for command in ("run", "validate"):
        status, _, err = call(command, "s.toml")
        assert status == 0
        assert err.startswith("note: s.toml:3: radio.dch.retransmission_delay: this has no effect")


def test_path_too_long_for_any_delivery_is_reported_before_and_after(call, tmp_path):
    (tmp_path / "s.toml").write_text(BASE.format('wired.delay = "1e9 ms"'))
    status, out, err = call("run", "s.toml")
    assert status == 0
    assert err.startswith("warning: duration: the run ends at 100000 s, within a single round")
    assert "nothing arrived at the phone in 100000 s" in out
    assert "Nothing arrived: is the run long enough for the delays, and does the radio carry" in out
    assert "What would help" not in out
    status, out, _ = call("run", "s.toml", "--set", "duration=1 ms", "--out", "short")
    assert '(--set duration="10 s" is longer)' in " ".join(out.split())


def test_time_out_of_range_is_reported_with_the_limit(call, tmp_path):
    (tmp_path / "s.toml").write_text(BASE.format('duration = "1e9 s"'))
    status, _, err = call("validate", "s.toml")
    assert status == 2
    assert "s.toml:3: duration: `1e9 s` is larger than nodeb can count, at most 9007199 s" in err
