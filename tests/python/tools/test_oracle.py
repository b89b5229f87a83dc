"""Tests: the TCP of nodeb and that of ns-2 agree in every packet."""

from __future__ import annotations

import tarfile
from itertools import pairwise
from pathlib import Path

import oracle
import pytest

from nodeb import _core

DATA = Path(__file__).parents[2] / "data"
VARIANTS = {name for kind, name, _ in _core.registry() if kind == "control"}


def traces(archive: str) -> dict[str, str]:
    with tarfile.open(DATA / archive) as opened:
        members = [m for m in opened.getmembers() if m.name.split("_")[1:2] and m.isfile()]
        texts = {m.name: opened.extractfile(m).read().decode() for m in members}
    return {name: text for name, text in texts.items() if name.split("_")[1] in VARIANTS}


TRACES = traces("ns2-traces.tar.xz")
ERAS = traces("ns2-eras.tar.xz")


def test_all_traces_are_present() -> None:
    assert len([name for name in TRACES if "_newreno_" in name]) == 64
    assert len(ERAS) == 127


@pytest.mark.parametrize("name", sorted(TRACES | ERAS))
def test_trace_is_matched_row_by_row(name: str) -> None:
    difference = oracle.check((TRACES | ERAS)[name])
    assert difference is None, difference


DAYS = sorted({name.removesuffix(".csv").split("_")[2] for name in ERAS})


@pytest.mark.parametrize(("day", "later"), list(pairwise(DAYS)))
def test_another_era_gives_different_traces(day: str, later: str) -> None:
    of_day = [text for name, text in ERAS.items() if name.endswith(f"_{day}.csv")]
    moved = [text.replace(f"era={day}", f"era={later}", 1) for text in of_day]
    assert any(oracle.check(text) for text in moved)


@pytest.fixture
def trace() -> str:
    return TRACES["A_newreno_ackall_single.csv"]


def damaged(trace: str, event: str, change: tuple[str, str]) -> str:
    """Returns the trace with a change in one row.

    The changed row is the middle one of the rows with this kind of event.
    """
    lines = trace.splitlines()
    rows = [i for i, line in enumerate(lines) if line.split(",")[1:2] == [event]]
    at = rows[len(rows) // 2]
    assert change[0] in lines[at]
    lines[at] = lines[at].replace(*change, 1)
    return "\n".join(lines)


@pytest.mark.parametrize("event", ["s", "a", "w"])
def test_wrong_time_is_detected(trace: str, event: str) -> None:
    assert oracle.check(damaged(trace, event, (".", ".9")))


def test_missing_row_is_detected(trace: str) -> None:
    lines = trace.splitlines()
    drop = next(i for i, line in enumerate(lines) if ",d," in line)
    assert oracle.check("\n".join(lines[:drop] + lines[drop + 1 :]))
