"""Progress without a terminal is one line per minute, with the remaining time."""

from __future__ import annotations

import pytest

from nodeb.terminal import progress


@pytest.fixture
def clock(monkeypatch):
    """Replaces the clock of the progress display. Tests set the returned time."""
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_progress_prints_one_line_per_minute(clock, capsys):
    with progress.progress_bar("sweep") as bar:
        for second in range(200):
            clock[0] = 1000.0 + second
            bar(second / 400, f"{second} of 400 cells")
    err = capsys.readouterr().err
    assert err.splitlines() == [
        "sweep: 15 %, 60 of 400 cells, about 6 min left",
        "sweep: 30 %, 120 of 400 cells, about 5 min left",
        "sweep: 45 %, 180 of 400 cells, about 4 min left",
    ]


def test_short_work_prints_no_progress(clock, capsys):
    with progress.progress_bar("run") as bar:
        clock[0] += 59.0
        bar(0.99, "nearly")
    assert capsys.readouterr().err == ""


def test_remaining_time_is_unknown_at_the_start(clock, capsys):
    with progress.progress_bar("run") as bar:
        clock[0] += 61.0
        bar(0.0, "0 of 5 replications")
    assert capsys.readouterr().err == "run: 0 %, 0 of 5 replications\n"
