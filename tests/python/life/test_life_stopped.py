"""Saving a packet timeline takes long: it reports progress and can be interrupted."""

from __future__ import annotations

import signal

import pytest

import nodeb
from nodeb.scenario_types import Dch, Ftp, UserGroup
from nodeb.storage.folders import Owner, claim

OWNER = Owner("life", "small.toml")


@pytest.fixture(scope="module")
def life():
    return nodeb.Scenario(radio=Dch(), users=[UserGroup(traffic=Ftp(size="50 kB"))]).life()


@pytest.fixture
def reports(life, tmp_path):
    """Saves a packet timeline and returns its progress reports."""
    calls = []
    with claim(tmp_path / "reports", OWNER) as place:
        life.put(place, lambda *call: calls.append(call))
    return calls


def test_saving_reports_progress(reports):
    shares, texts = zip(*reports, strict=True)
    assert list(shares) == sorted(shares)
    assert 0 <= shares[0] < 0.1
    assert shares[-1] == 1
    assert len(set(texts)) == 6


def test_interruption_during_any_part_keeps_the_old_files(life, reports, tmp_path):
    folder = tmp_path / "out"
    for number in range(len(reports)):
        calls = []

        def interrupt(*call, number=number, calls=calls):
            calls.append(call)
            if len(calls) == number + 1:
                signal.raise_signal(signal.SIGINT)

        with pytest.raises(KeyboardInterrupt), claim(folder, OWNER) as place:
            life.put(place, interrupt)
        assert (place.is_put, len(calls)) == (False, number + 1)
        assert [path.name for path in tmp_path.iterdir()] == ["reports"]
