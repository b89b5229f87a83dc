"""Tests: only one emulation at a time can use the file of a recording."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nodeb.emulate.recordings import claimed
from nodeb.errors import OutputError
from scenarios import needs_linux

pytestmark = needs_linux

REFUSED = "exists, and a recording is never overwritten; give another file with --record"


def test_claimed_file_is_refused_to_another_emulation(tmp_path):
    log = tmp_path / "one.log"
    with claimed(log) as claim:
        with pytest.raises(OutputError, match=f"one.log {REFUSED}"), claimed(log):
            pass
        assert log.exists()
        claim.is_needed = True
    assert log.exists()


def test_new_file_is_removed_unless_a_command_started(tmp_path):
    log = tmp_path / "one.log"
    with pytest.raises(ZeroDivisionError), claimed(log):
        raise ZeroDivisionError
    assert not log.exists()


def test_empty_file_of_a_killed_emulation_is_used(tmp_path):
    log = tmp_path / "one.log"
    log.touch()
    with claimed(log):
        pass
    assert log.exists()


def test_file_with_content_is_kept(tmp_path):
    log = tmp_path / "one.log"
    log.write_bytes(b"recorded")
    with pytest.raises(OutputError, match=REFUSED), claimed(log):
        pass
    assert log.read_bytes() == b"recorded"


def test_empty_file_is_refused_where_locks_are_not_supported(tmp_path, monkeypatch):
    """Without file locks an empty file may belong to an emulation that is just starting, so it is
    refused.
    """

    def unsupported(*_):
        raise OSError

    monkeypatch.setattr("fcntl.flock", unsupported)
    log = tmp_path / "one.log"
    with claimed(log), pytest.raises(OutputError, match=REFUSED), claimed(log):
        pass
    assert not log.exists()


def test_file_released_between_opening_and_locking_is_created_again(tmp_path, monkeypatch):
    import fcntl

    log, lock = tmp_path / "one.log", fcntl.flock
    log.touch()

    def late(file, kind):
        monkeypatch.setattr("fcntl.flock", lock)
        log.unlink()
        lock(file, kind)

    monkeypatch.setattr("fcntl.flock", late)
    with claimed(log) as claim:
        claim.is_needed = True
        assert log.exists()
    assert log.exists()


def test_device_can_be_used_by_several_emulations():
    with claimed(Path(os.devnull)), claimed(Path(os.devnull)):
        pass
    assert Path(os.devnull).exists()
