"""Tests of the comparison of two results of `nodeb reproduce`."""

import pytest
from compare_cells import compare

CELLS = "study,item,row,column,unit,published,measured,ci95_low,ci95_high,replications\n"
CLAIMS = "study,id,claim,evidence,holds,verdict,comparisons,comparisons_holding\n"
ONE = 'T1,"a, b",x,s,1,10,9,11,20'
CLAIM = "c,says,10 > 9,true,holds,1,1"


def folder(place, cells, claims=()):
    place.mkdir()
    (place / "cells.csv").write_text(CELLS + "".join(f"s,{cell}\n" for cell in cells))
    (place / "claims.csv").write_text(CLAIMS + "".join(f"s,{one}\n" for one in claims))
    return place


@pytest.mark.parametrize(
    ("cells", "exact", "status", "last"),
    [
        ([ONE], True, 0, "1 identical"),
        (['T1,"a, b",x,s,1,11.4,10.4,12.4,20'], False, 0, "1 within the interval"),
        (['T1,"a, b",x,s,1,11.4,10.4,12.4,20'], True, 1, "1 within the interval"),
        (['T1,"a, b",x,s,1,10,9,11,21'], False, 0, "1 within the interval"),
        (['T1,"a, b",x,s,1,11.5,10.5,12.5,20'], False, 1, "1 outside"),
        (['T1,"a, b",x,ms,1,10,9,11,20'], False, 1, "1 outside"),
        (['T1,"a, b",x,s,,10,9,11,20'], False, 1, "1 outside"),
        (['T1,"a, b",x,s,1,,,,20'], False, 1, "1 outside"),
        ([ONE, "T3,a,x,s,,2,,,0"], False, 1, "1 only after"),
    ],
)
def test_cells_are_compared_by_intervals(tmp_path, capsys, cells, exact, status, last):
    assert compare(folder(tmp_path / "a", [ONE]), folder(tmp_path / "b", cells), exact) == status
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("cells"))
    assert line.endswith(last)


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        (CLAIM, 0),
        ("c,says,10 > 8,true,holds,1,1", 0),
        ("c,says,10 > 9,false,undecided,1,0", 1),
    ],
)
def test_claims_are_compared_by_verdict(tmp_path, claim, status):
    before = folder(tmp_path / "a", [ONE], [CLAIM])
    assert compare(before, folder(tmp_path / "b", [ONE], [claim]), exact=False) == status
