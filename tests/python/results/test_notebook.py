"""Tests: a notebook of Jupyter shows results, figures and scenarios."""

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

CELLS = {
    "import nodeb\ns = nodeb.load('cell:umts-2004').with_({'record.cwnd': True, 'runs': 3})\ns": (
        "text/html",
        "bler = 0.1",
    ),
    "s['radio.dch.bler']": ("text/plain", "0.1"),
    "r = s.run()\nr": ("text/html", "slow start"),
    "r.plot.cwnd(user=0)": ("image/png", "iVBOR"),
    "r.flows": ("text/html", "download_s"),
    "nodeb.explain(s)": ("text/html", "slow start"),
    "s.life(end_s=1)": ("text/html", "canvas"),
    "nodeb.compare({'10 %': s, '1 %': s.with_({'radio.dch.bler': 0.01})}, runs=10)": (
        "text/html",
        "is faster than",
    ),
    "nodeb.sweep.Sweep.of(s, {'radio.dch.bler': [0, 0.2]}).run('out')": ("text/html", "0.2"),
}


def test_objects_show_themselves(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CELLS])
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": tmp_path}}).execute()
    for cell, (kind, part) in zip(notebook.cells, CELLS.values(), strict=True):
        (output,) = cell.outputs
        assert part in output["data"][kind], cell.source
