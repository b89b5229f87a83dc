"""Lab 3: Schedulers and fairness. Open this file with `marimo edit`."""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    from nodeb import compare, labs

    lab = labs.load("3-schedulers-and-fairness")
    mo.md("# Schedulers and fairness")
    return compare, lab, mo


@app.cell
def _(compare, lab, mo):
    _scenarios = lab.scenarios("two")  # change keys with `scenario.with_({KEY: VALUE})`
    _results = [scenario.run() for scenario in _scenarios]
    _is_pair = len(_results) > 1
    _found = compare(dict(zip("AB", _results, strict=True))) if _is_pair else _results[0]
    mo.vstack([mo.md("## " + lab.figures["two"]["title"]), _found])
    return


@app.cell
def _(compare, lab, mo):
    _scenarios = lab.scenarios("fair")  # change keys with `scenario.with_({KEY: VALUE})`
    _results = [scenario.run() for scenario in _scenarios]
    _is_pair = len(_results) > 1
    _found = compare(dict(zip("AB", _results, strict=True))) if _is_pair else _results[0]
    mo.vstack([mo.md("## " + lab.figures["fair"]["title"]), _found])
    return


@app.cell
def _(lab, mo):
    answer_1 = None  # a number in kbit/s
    mo.md(lab.ask("cell", answer_1))
    return


@app.cell
def _(lab, mo):
    answer_2 = None  # a number in %
    mo.md(lab.ask("gain", answer_2))
    return


@app.cell
def _(lab, mo):
    answer_3 = None  # a number in %
    mo.md(lab.ask("far", answer_3))
    return


@app.cell
def _(lab, mo):
    answer_4 = None  # a number
    mo.md(lab.ask("jain", answer_4))
    return


@app.cell
def _(lab, mo):
    answer_5 = None  # the number of a choice, from 1
    mo.md(lab.ask("most", answer_5))
    return


@app.cell
def _(lab, mo):
    answer_6 = None  # the number of a choice, from 1
    mo.md(lab.ask("edge", answer_6))
    return


if __name__ == "__main__":
    app.run()
