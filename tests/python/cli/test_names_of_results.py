"""Tests of results whose names are long or have control characters."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from nodeb.storage import files

LONG = ["n" * 241, "n" * 255, "é" * 127]


@pytest.mark.parametrize("name", LONG, ids=["241 B", "255 B", "254 B in UTF-8"])
def test_folder_can_have_any_name_of_the_file_system(call, tmp_path, scenario_file, name):
    for _ in range(2):  # The second run replaces the results of the first.
        assert call("run", scenario_file, "--out", name)[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, scenario_file.name])
    page = f"{name[:70]}{'p' * 100}.html"
    assert call("explain", scenario_file, "--out", page)[0] == 0


def test_leftovers_of_a_killed_process_with_a_long_name_are_removed(tmp_path):
    path = tmp_path / ("n" * 250)
    nobody = f".{os.getpid()}-", f".{2**22 + 1}-"
    part = tmp_path / files.aside(path).name.replace(*nobody)
    part = part.with_name(part.name.replace(f"-{os.getpid()}-", f"-{2**22 + 1}-"))
    part.mkdir()
    other = files.aside(tmp_path / ("m" * 250))
    other.mkdir()
    files.remove_leftovers(tmp_path, path.name)
    assert list(tmp_path.iterdir()) == [other]


@pytest.mark.parametrize(
    "command", ["import log.txt --out a.html", "explain small.toml --out a.html"]
)
def test_leftovers_of_a_killed_process_are_removed_next_to_files(call, scenario_file, command):
    Path("log.txt").write_text("-1\n")
    name = files.aside(Path("a.html")).name.replace(f"-{os.getpid()}-", f"-{2**22 + 1}-")
    Path(name).write_text("part")
    assert call(*command.split())[0] == 0
    assert {path.name for path in Path().iterdir()} == {"a.html", "log.txt", "small.toml"}


@pytest.mark.parametrize("command", ["run", "sweep", "compare", "life", "explain"])
def test_control_characters_in_names_are_escaped(call, scenario_file, command):
    """Control characters in the name of a result are escaped in results, errors and notes."""
    name = "a\x1b[31mred\x07"
    if command == "sweep":
        scenario_file.write_text(scenario_file.read_text() + "[sweep]\nradio.dch.bler = [0.1]\n")
    more = {"compare": ("--with", "wired.loss=0.1"), "explain": ("--out", f"{name}.html")}
    options = more.get(command, ())
    out = () if command == "explain" else ("--out", name)
    for again in ((), ("--force",), ("--set", "wired.loss=0.2")):
        _, printed, errors = call(command, scenario_file, *options, *out, *again)
        assert "\x1b" not in printed + errors
        assert "\x07" not in printed + errors
    assert r"a\x1b[31mred\x07" in printed + errors


@pytest.mark.parametrize("name", ["-dash.toml", "x\ny'.toml", "a b.toml"])
def test_suggested_commands_name_the_same_file(call, scenario_file, name):
    """`bash` must parse the suggested arguments to the name of the file that was simulated."""
    Path(name).write_text(scenario_file.read_text())
    _, out, _ = call("run", "--", name)
    (suggested,) = re.findall("nodeb explain (.*) --user N", out)
    shown = subprocess.run(
        ["bash", "-c", f"printf %s {suggested}"], capture_output=True, text=True, check=True
    )
    assert Path(shown.stdout) == Path(name)
    assert not shown.stdout.startswith("-")


def test_control_characters_in_names_are_escaped_in_errors(call):
    _, _, errors = call("run", "none\x1b[31m.toml")
    assert r"none\x1b[31m.toml" in errors
