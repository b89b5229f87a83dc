"""Lab 5: FACH, DCH, DRX and the battery. Open this file with `marimo edit`."""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    from nodeb import compare, labs

    lab = labs.load("5-states-and-battery")
    mo.md("# FACH, DCH, DRX and the battery")
    return compare, lab, mo


@app.cell
def _(compare, lab, mo):
    _scenarios = lab.scenarios("states")  # change keys with `scenario.with_({KEY: VALUE})`
    _results = [scenario.run() for scenario in _scenarios]
    _is_pair = len(_results) > 1
    _found = compare(dict(zip("AB", _results, strict=True))) if _is_pair else _results[0]
    mo.vstack([mo.md("## " + lab.figures["states"]["title"]), _found])
    return


@app.cell
def _(compare, lab, mo):
    _scenarios = lab.scenarios("sleep")  # change keys with `scenario.with_({KEY: VALUE})`
    _results = [scenario.run() for scenario in _scenarios]
    _is_pair = len(_results) > 1
    _found = compare(dict(zip("AB", _results, strict=True))) if _is_pair else _results[0]
    mo.vstack([mo.md("## " + lab.figures["sleep"]["title"]), _found])
    return


@app.cell
def _(lab, mo):
    answer_1 = None  # a number
    mo.md(lab.ask("common", answer_1))
    return


@app.cell
def _(lab, mo):
    answer_2 = None  # a number in %
    mo.md(lab.ask("held", answer_2))
    return


@app.cell
def _(lab, mo):
    answer_3 = None  # a number in mW
    mo.md(lab.ask("power", answer_3))
    return


@app.cell
def _(lab, mo):
    answer_4 = None  # the number of a choice, from 1
    mo.md(lab.ask("switches", answer_4))
    return


@app.cell
def _(lab, mo):
    answer_5 = None  # a number in ms
    mo.md(lab.ask("wait", answer_5))
    return


if __name__ == "__main__":
    app.run()
