"""Tests: only one emulation at a time can use the file of a recording."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nodeb.emulate.recordings import claimed
from nodeb.errors import OutputError


def test_claimed_file_is_refused_to_another_emulation(tmp_path):
    log = tmp_path / "one.log"
    with claimed(log) as claim:
        with pytest.raises(OutputError, match=r"one\.log"), claimed(log):
            pass
        claim.is_needed = True
    assert log.exists()


def test_new_file_is_removed_unless_a_command_started(tmp_path):
    log = tmp_path / "one.log"
    with pytest.raises(ZeroDivisionError), claimed(log):
        raise ZeroDivisionError
    assert not log.exists()


@pytest.mark.parametrize("content", [b"", b"recorded"])
def test_empty_file_of_a_killed_emulation_is_used_and_others_are_kept(tmp_path, content):
    log = tmp_path / "one.log"
    log.write_bytes(content)
    if content:
        with pytest.raises(OutputError, match=r"one\.log"), claimed(log):
            pass
    else:
        with claimed(log):
            pass
    assert log.read_bytes() == content


def test_device_can_be_used_by_several_emulations():
    with claimed(Path(os.devnull)), claimed(Path(os.devnull)):
        pass
    assert Path(os.devnull).exists()
