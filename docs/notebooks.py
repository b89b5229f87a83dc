"""Writes the labs as marimo notebooks, from the definitions in `python/nodeb/labs`.

    python docs/notebooks.py FOLDER

A notebook is a plain Python program: `marimo edit FILE` opens it in a browser, and `python FILE`
runs all its cells.
"""

from __future__ import annotations

import sys
from pathlib import Path

from nodeb import labs

HEAD = '''"""Lab {number}: {title}{end} Open this file with `marimo edit` (`pip install marimo`)."""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    from nodeb import compare, labs

    lab = labs.load("{name}")
    mo.md("# {title}")
    return compare, lab, mo
'''
FIGURE = """

@app.cell
def _(compare, lab, mo):
    _scenarios = lab.scenarios("{figure}")  # change keys with `scenario.with_({{KEY: VALUE}})`
    _results = [scenario.run() for scenario in _scenarios]
    _is_pair = len(_results) > 1
    _found = compare(dict(zip("AB", _results, strict=True))) if _is_pair else _results[0]
    mo.vstack([mo.md("## " + lab.figures["{figure}"]["title"]), _found])
    return
"""
EXERCISE = """

@app.cell
def _(lab, mo):
    answer_{number} = None  # {expected}
    mo.md(lab.ask("{exercise}", answer_{number}))
    return
"""
END = """

if __name__ == "__main__":
    app.run()
"""


def notebook(name: str) -> str:
    """Returns the Python source of a lab's marimo notebook: figures and a cell per exercise."""
    lab = labs.load(name)
    number, end = name.partition("-")[0], "" if lab.title.endswith("?") else "."
    parts = [HEAD.format(title=lab.title, number=number, end=end, name=name)]
    parts += [FIGURE.format(figure=figure) for figure in lab.figures]
    for at, one in enumerate(lab.exercises.values(), 1):
        unit = f" in {one.unit}" if one.unit else ""
        expected = f"a number{unit}" if one.answer else "the number of a choice, from 1"
        parts.append(EXERCISE.format(number=at, exercise=one.name, expected=expected))
    return "".join([*parts, END])


def write(folder: Path) -> None:
    """Writes all notebooks, named as importable modules: `1_slow_start.py`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in labs.names():
        (folder / f"{name.replace('-', '_')}.py").write_text(notebook(name), "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
