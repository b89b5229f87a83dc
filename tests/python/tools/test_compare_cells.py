"""Tests of the comparison of two results of `nodeb reproduce`."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[3] / "tools" / "compare_cells.py"
CELLS = "study,item,row,column,unit,published,measured,ci95_low,ci95_high,replications\n"
CLAIMS = "study,id,claim,evidence,holds,verdict,comparisons,comparisons_holding\n"


def compare(*arguments):
    done = subprocess.run(
        [sys.executable, TOOL, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout.splitlines(), done.stderr


@pytest.fixture
def folders(tmp_path):
    """Returns a function that writes a result folder with the given cells and claims."""

    def fill(name, cells, claims=None):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "cells.csv").write_text(CELLS + "".join(f"s,{cell}\n" for cell in cells))
        if claims is not None:
            (folder / "claims.csv").write_text(CLAIMS + "".join(f"s,{one}\n" for one in claims))
        return folder

    return fill


ONE = 'T1,"a, b",x,s,1,10,9,11,20'


def test_equal_results_are_identical(folders):
    a, b = folders("a", [ONE], ["c,says,10 > 9,true,holds,1,1"]), folders("b", [ONE])
    (b / "claims.csv").write_text((a / "claims.csv").read_text())
    status, out, _ = compare(a, b, "--exact")
    assert (status, out) == (0, ["cells.csv: 1 identical", "claims.csv: 1 identical"])


@pytest.mark.parametrize(
    ("cell", "how", "status"),
    [
        ('T1,"a, b",x,s,1,11.4,10.4,12.4,20', "within the interval", 0),
        ('T1,"a, b",x,s,1,10,9,11,21', "within the interval", 0),
        ('T1,"a, b",x,s,1,11.5,10.5,12.5,20', "outside", 1),
        ('T1,"a, b",x,ms,1,10,9,11,20', "outside", 1),
        ('T1,"a, b",x,s,,10,9,11,20', "outside", 1),
        ('T1,"a, b",x,s,1,,,,20', "outside", 1),
    ],
)
def test_differences_are_reported(folders, cell, how, status):
    a, b = folders("a", [ONE]), folders("b", [cell])
    found, out, _ = compare(a, b)
    assert found == status
    assert out[0].startswith(f"{how}: s, T1, a, b, x: 10 [9 .. 11] s -> ")
    assert out[-1] == f"cells.csv: 1 {how}"
    assert compare(a / "cells.csv", b / "cells.csv", "--exact")[0] == 1


def test_cells_on_one_side_only_are_reported(folders):
    a, b = folders("a", [ONE, "T2,a,x,s,,1,,,0"]), folders("b", [ONE, "T3,a,x,s,,2,,,0"])
    status, out, _ = compare(a, b)
    assert status == 1
    assert out[:2] == ["only before: s, T2, a, x: 1 s", "only after: s, T3, a, x: 2 s"]


@pytest.mark.parametrize(
    ("claim", "how", "status"),
    [
        ("c,says,10 > 8,true,holds,1,1", "same verdict, other evidence", 0),
        ("c,says,10 > 9,false,undecided,1,0", "another verdict", 1),
    ],
)
def test_claims_are_compared_by_verdict(folders, claim, how, status):
    a, b = folders("a", [ONE], ["c,says,10 > 9,true,holds,1,1"]), folders("b", [ONE], [claim])
    found, out, _ = compare(a, b)
    assert (found, out[-1]) == (status, f"claims.csv: 1 {how}")


def test_incomparable_results_are_rejected(folders, tmp_path):
    a = folders("a", [ONE])
    assert compare(a, tmp_path / "nothing.csv")[0] == 2
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    status, _, err = compare(a / "cells.csv", tmp_path / "other.csv")
    assert status == 2
    assert "is it a cells.csv?" in err
    twice = folders("twice", [ONE, ONE])
    assert "cells.csv:3: s, T1, a, b, x is a duplicate" in compare(a, twice)[2]
