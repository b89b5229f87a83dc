"""Tests of the comparison of two results of `nodeb reproduce`."""

import sys

import compare_cells
import pytest

CELLS = "study,item,row,column,unit,published,measured,ci95_low,ci95_high,replications\n"
CLAIMS = "study,id,claim,evidence,holds,verdict,comparisons,comparisons_holding\n"
ONE = 'T1,"a, b",x,s,1,10,9,11,20'


@pytest.fixture
def compare(monkeypatch, capsys):
    """Returns a function that compares two folders and returns the status and the lines printed."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["compare_cells.py", *map(str, arguments)])
        try:
            status = compare_cells.main()
        except SystemExit as error:
            status = error.code
        printed = capsys.readouterr()
        return (2 if isinstance(status, str) else status or 0), printed.out.splitlines()

    return run


@pytest.fixture
def folders(tmp_path):
    """Returns a function that writes a result folder with the given cells and claims."""

    def fill(name, cells, claims=()):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "cells.csv").write_text(CELLS + "".join(f"s,{cell}\n" for cell in cells))
        (folder / "claims.csv").write_text(CLAIMS + "".join(f"s,{one}\n" for one in claims))
        return folder

    return fill


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
        ([ONE, "T3,a,x,s,,2,,,0"], False, 1, ""),
        ([ONE, ONE], False, 2, ""),
    ],
)
def test_cells_are_compared_by_intervals(compare, folders, cells, exact, status, last):
    a, b = folders("a", [ONE]), folders("b", cells)
    arguments = (a / "cells.csv", b / "cells.csv", *(["--exact"] if exact else []))
    result, lines = compare(*arguments)
    assert result == status
    assert last in "".join(lines[-1:])


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("c,says,10 > 9,true,holds,1,1", 0),
        ("c,says,10 > 8,true,holds,1,1", 0),
        ("c,says,10 > 9,false,undecided,1,0", 1),
    ],
)
def test_claims_are_compared_by_verdict(compare, folders, claim, status):
    a, b = folders("a", [ONE], ["c,says,10 > 9,true,holds,1,1"]), folders("b", [ONE], [claim])
    assert compare(a, b)[0] == status
