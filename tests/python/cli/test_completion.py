"""Tests: shells complete what the command line accepts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ru", "run"),
        ("link cu", "curve"),
        ("run a.toml --prec", "--precision"),
        ("run a.toml --set radio.dch.bl", "radio.dch.bler="),
        ("run --set users.0.traff", "users.0.traffic."),
        ("compare a.toml --with tcp.linux.control=bb", "tcp.linux.control=bbr"),
        ("sweep a.toml --metric rtt_m", "rtt_mean_s"),
        ("list keys radio.dch.rlc.a", "radio.dch.rlc.am"),
        ("list sched", "scheduler"),
        ("new lte-ed", "lte-edge"),
        ("explain cell:lte-ed", "cell:lte-edge"),
        ("run sma", "small.toml"),
        ("reproduce wa", "wang"),
    ],
)
def test_last_word_is_completed(call, scenario_file, words, expected):
    status, out, err = call("completion", "bash", "--", *words.split(" "))
    assert (status, err) == (0, "")
    assert expected in out.splitlines()


def test_nothing_completes_what_is_wrong(call):
    assert call("completion", "bash", "--", "run", "--set", "no.such.")[:2] == (0, "")
    assert call("completion", "tcsh")[0] == 2


@pytest.mark.needs("bash")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nodeb ne", "new"),
        ("nodeb run cell:lte-ed", "lte-edge"),
        ("nodeb run a.toml --set tcp.linux.control=ve", "vegas veno"),
    ],
)
def test_bash_completes_behind_its_word_breaks(call, tmp_path, line, expected):
    script = call("completion", "bash")[1]
    command = tmp_path / "nodeb"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m nodeb "$@"\n')
    command.chmod(0o755)
    show = f'COMP_LINE="{line}" COMP_POINT={len(line)} _nodeb; echo "${{COMPREPLY[*]}}"'
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{show}"],
        env=os.environ | {"PATH": f"{Path(command).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == expected.split()
