"""Tests of the files that a whole reproduction writes, and of resumption from these files."""

from __future__ import annotations

import csv
import json
import statistics
from os.path import relpath
from pathlib import Path

import pytest

import nodeb
import nodeb.reproduce
from nodeb import studies
from nodeb.errors import InputError
from nodeb.replication.cells import ReplicationWork
from result_folders import cells
from small_study import FILE, runs


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def files(folder: Path) -> dict[str, bytes]:
    """Returns the result files of a reproduction and its stored replications."""
    names = [folder / "cells.csv", folder / "claims.csv"]
    return {one.name: one.read_bytes() for one in names} | cells(folder)


def test_study_in_a_user_file_runs(file, tmp_path, call):
    status, out, err = call("reproduce", file, "--quick", "--out", tmp_path / "out")
    assert (status, err) == (0, "")
    assert "2 of 2 claims are confirmed" in out
    assert {row["study"] for row in rows(tmp_path / "out" / "cells.csv")} == {"tiny"}
    status, _, err = call("reproduce", str(tmp_path / "none.py"))
    assert (status, "there is no file" in err) == (2, True)
    (tmp_path / "empty.py").write_text("x = 1\n")
    status, _, err = call("reproduce", str(tmp_path / "empty.py"))
    assert (status, "makes no study" in err) == (2, True)
    (tmp_path / "beside_it.py").write_text("import nodeb.study\n")
    text = "from beside_it import nodeb\nstudy = nodeb.study.Study(__file__, title='T')\n"
    (tmp_path / "statistics.py").write_text(text)
    with pytest.raises(InputError, match="statistics has no table and no figure"):
        studies.load(str(tmp_path / "statistics.py"))
    assert statistics.mean([1, 3]) == 2
    (tmp_path / "wrong.py").write_text("x = 1\ny = 1 / 0\n")
    status, _, err = call("reproduce", str(tmp_path / "wrong.py"))
    assert (status, "wrong.py, line 2: ZeroDivisionError: division by zero" in err) == (2, True)
    (tmp_path / "wrong.py").write_text("x = 1\ny = = 1\n")
    status, _, err = call("reproduce", str(tmp_path / "wrong.py"))
    assert (status, "wrong.py, line 2: SyntaxError" in err) == (2, True)


def test_example_of_the_docs_runs(tmp_path):
    """The example in the documentation has at most sixty lines.

    Its measurements agree with a known formula.
    """
    example = Path(__file__).parents[3] / "examples" / "mathis.py"
    assert len(example.read_text("utf-8").splitlines()) <= 60
    outcome = nodeb.reproduce.run(str(example), tmp_path / "out", quick=True)
    assert all(abs(cell.measured.value / cell.published - 1) < 0.2 for cell in outcome.cells[:2])
    bound, share = outcome.claims
    assert bound.holds
    assert share.judgement != "contradicted"


def test_whole_study_writes_cells_claims_and_facts(file, tmp_path):
    shares = []
    outcome = nodeb.reproduce.run(file, tmp_path / "out", progress=lambda s, _: shares.append(s))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    found = rows(tmp_path / "out" / "cells.csv")
    places = [(row["item"], row["row"], row["column"]) for row in found]
    assert places[:3] == [
        ("Table 1", "20 kB", "1 %"),
        ("Table 1", "20 kB", "20 %"),
        ("Table 2", "50 kB", "1 %"),
    ]
    assert places[4] == ("Figure 1", "1 %", "20 kB")
    assert {row["replications"] for row in found} == {"6"}
    assert [row["id"] for row in rows(tmp_path / "out" / "claims.csv")] == ["falls", "falls-too"]
    assert rows(tmp_path / "out" / "facts.csv")[0]["fact"] == "cases"
    assert outcome.answer.table.title == "Table 1: Rates of 20 kB"
    assert (tmp_path / "out" / "figures" / "figure-1.svg").is_file()
    page = outcome.report.read_text("utf-8")
    assert "Rates of larger files fall." in page
    assert f"nodeb reproduce {relpath(file)} --seed 1" in page


def test_selected_items_have_the_same_cells(file, tmp_path):
    nodeb.reproduce.run(file, tmp_path / "whole")
    nodeb.reproduce.run(file, tmp_path / "one", ["table 1"])
    part, whole = (rows(tmp_path / name / "cells.csv") for name in ("one", "whole"))
    assert part == whole[:2]
    assert [row["id"] for row in rows(tmp_path / "one" / "claims.csv")] == ["falls"]
    assert not (tmp_path / "one" / "facts.csv").exists()
    with pytest.raises(InputError, match="did you mean `Table 1`"):
        nodeb.reproduce.run(file, tmp_path / "no", ["Tabel 1"])
    with pytest.raises(InputError, match="no item"):
        nodeb.reproduce.run(file, tmp_path / "no", [])


def test_study_resumes_from_existing_replications(file, tmp_path, counted, monkeypatch):
    nodeb.reproduce.run(file, tmp_path / "whole", jobs=1)
    everything, simulate = runs(counted), ReplicationWork.replicate

    def stopped(self, seed, of, control):
        if runs(counted) >= everything + 14:
            raise KeyboardInterrupt
        return simulate(self, seed, of, control)

    monkeypatch.setattr(ReplicationWork, "replicate", stopped)
    with pytest.raises(KeyboardInterrupt):
        nodeb.reproduce.run(file, tmp_path / "cut", jobs=1)
    assert rows(tmp_path / "cut" / "cells.csv"), "what was measured is there"
    assert "interrupted" in (tmp_path / "cut" / "report.html").read_text("utf-8")
    monkeypatch.setattr(ReplicationWork, "replicate", simulate)
    counted.clear()
    nodeb.reproduce.run(file, tmp_path / "cut", jobs=1)
    assert 0 < runs(counted) < everything
    assert files(tmp_path / "cut") == files(tmp_path / "whole")
    counted.clear()
    nodeb.reproduce.run(file, tmp_path / "cut", jobs=1)
    assert counted == []


def test_stage_names_the_files_that_it_writes_and_keeps(file, tmp_path):
    out, text = tmp_path / "out", Path(file).read_text("utf-8")
    stage = '@study.stage(leaves=["more.csv"], keeps=["raw"])\ndef counting(at):\n'
    stage += '    (at.out / "more.csv").touch()\n    (at.out / "raw").touch()\n'
    Path(file).write_text(text.replace("@study.stage()\ndef counting(at):\n", stage))
    nodeb.reproduce.run(file, out, quick=True)
    assert {"more.csv", "raw"} <= set(json.loads((out / "provenance.json").read_text())["files"])
    nodeb.reproduce.run(file, out, ["Table 1"], quick=True)
    assert [(out / name).exists() for name in ("more.csv", "raw")] == [False, True]
    other = tmp_path / "other.py"
    other.write_text(text)
    nodeb.reproduce.run(other, out, quick=True, force=True)
    assert not (out / "raw").exists()
    Path(file).write_text(text.replace("@study.stage()", "@study.stage(leaves='more.csv')"))
    with pytest.raises(InputError, match="`leaves`"):
        nodeb.reproduce.run(file, tmp_path / "no", quick=True)


def test_long_version_extends_the_short_one_and_back(file, tmp_path, counted):
    folder = tmp_path / "out"
    nodeb.reproduce.run(file, folder, quick=True)
    found, quick = (folder / "cells.csv").read_bytes(), runs(counted)
    nodeb.reproduce.run(file, folder)
    assert runs(counted) == 2 * quick
    nodeb.reproduce.run(file, folder, quick=True)
    assert (runs(counted), (folder / "cells.csv").read_bytes()) == (2 * quick, found)


def test_new_metric_needs_no_new_simulation(file, tmp_path, counted):
    nodeb.reproduce.run(file, tmp_path / "out")
    counted.clear()
    text = Path(file).read_text().replace("m.app_bytes / m.transfer_s * 8 / 1000", "m.start_s - 7")
    Path(file).write_text(text)
    outcome = nodeb.reproduce.run(file, tmp_path / "out")
    assert counted == []
    assert max(cell.measured.value for cell in outcome.cells) < 0


def test_endless_download_is_reported(tmp_path):
    path = tmp_path / "cut.py"
    path.write_text(FILE.replace("DURATION", "0.5 s"))
    outcome = nodeb.reproduce.run(str(path), tmp_path / "out", quick=True)
    page = outcome.report.read_text("utf-8")
    assert "downloads did not end in 3 replications" in page
    assert not any(cell.measured.known for cell in outcome.cells)


def test_mark_of_a_folder_lists_its_contents(file, tmp_path):
    nodeb.reproduce.run(file, tmp_path / "out", ["Table 1"], quick=True, seed=7)
    about = json.loads((tmp_path / "out" / "provenance.json").read_text())
    assert (about["seed"], about["quick"], about["items"]) == (7, True, ["Table 1"])
