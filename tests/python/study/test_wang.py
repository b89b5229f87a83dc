"""The values printed in Wang's thesis are consistent, and scenarios agree with their names."""

from __future__ import annotations

import numpy as np
import pytest

from nodeb import studies
from nodeb.studies import wang
from small_study import scenario

TABLES = wang.study.tables


def printed(name: str) -> np.ndarray:
    rows = TABLES[name].printed.values()
    return np.array([list(row.values()) for row in rows], dtype=float)


def test_every_table_and_figure_with_results_is_included():
    tables = [1, 2, 8, *range(11, 18), 19, 20, "A.1", "A.2", "C"]
    figures = [f"Figure {n}" for n in range(8, 16)]
    assert studies.load("wang").items() == [*(f"Table {n}" for n in tables), *figures]
    assert {name for name in TABLES if np.isnan(printed(name)).all()} == {"Table C"}


def test_printed_means_follow_from_the_printed_users():
    """Printed means and deviations follow from the printed users' values.

    The test guards against typing errors in the printed values.
    """
    for users, losses, name, summary in ((3, 3, "Table A.1", 19), (6, 2, "Table A.2", 20)):
        values = printed(name).reshape(3, users + 2, losses)
        mean, spread, _ = printed(f"Table {summary}").reshape(3, 3, losses)
        of_users = values[:, :users]
        assert of_users.mean(axis=1) == pytest.approx(values[:, users], abs=0.02)
        assert of_users.std(axis=1, ddof=1) == pytest.approx(values[:, users + 1], abs=0.02)
        assert values[:, users] == pytest.approx(mean)
        assert values[:, users + 1] == pytest.approx(spread)
    for name in ("Table 16", "Table 17"):
        dch, hs, difference, percent = printed(name).T
        assert hs - dch == pytest.approx(difference, abs=0.01)
        assert 100 * (hs / dch - 1) == pytest.approx(percent, abs=0.6)


def test_channel_rates_match_their_names():
    named = [(wang.DCH, 384), (wang.HS_360, 360), (wang.HS_384, 384), (wang.SHARED, 1152)]
    for channel, kbps in named:
        radio = scenario(wang.download(channel, wang.KB_20, wang.LOW)).radio
        bits = radio.channels * int(radio.pdu_size.split()[0]) * 8
        assert bits / int(radio.tti.split()[0]) == kbps


def test_interpretations_are_compared_with_every_printed_mean():
    rows = TABLES["Table C"].rows
    assert len(rows) == 4 + 9 + 6 + 4
    assert next(iter(rows)) == "Table 16: Application bit rate, DCH"
    assert list(rows)[-1] == "RMS, all"
    assert len(list(rows["RMS, Table 19"]["ns-2.27"].cases())) == 9


def test_640_kilobits_match_table_4():
    case = wang.cell(wang.THREE, wang.RR, wang.NONE)
    before, after = scenario(case), scenario(case.under(wang.rates_of_table_4))
    assert after.radio.pdu_size == "10 B"
    for group, other in zip(before.users, after.users, strict=True):
        places = [at for at, share in enumerate(other.ci) if share]
        assert [40 * (at + 1) for at in places] == [120, 240, 360, 480, 640]
        assert [other.ci[at] for at in places] == list(group.ci)
