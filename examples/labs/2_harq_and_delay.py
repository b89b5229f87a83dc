"""Lab 2: HARQ and delay. Open this file with `marimo edit`."""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    from nodeb import compare, labs

    lab = labs.load("2-harq-and-delay")
    mo.md("# HARQ and delay")
    return compare, lab, mo


@app.cell
def _(compare, lab, mo):
    _scenarios = lab.scenarios("losses")  # change keys with `scenario.with_({KEY: VALUE})`
    _results = [scenario.run() for scenario in _scenarios]
    _is_pair = len(_results) > 1
    _found = compare(dict(zip("AB", _results, strict=True))) if _is_pair else _results[0]
    mo.vstack([mo.md("## " + lab.figures["losses"]["title"]), _found])
    return


@app.cell
def _(compare, lab, mo):
    _scenarios = lab.scenarios("harq")  # change keys with `scenario.with_({KEY: VALUE})`
    _results = [scenario.run() for scenario in _scenarios]
    _is_pair = len(_results) > 1
    _found = compare(dict(zip("AB", _results, strict=True))) if _is_pair else _results[0]
    mo.vstack([mo.md("## " + lab.figures["harq"]["title"]), _found])
    return


@app.cell
def _(lab, mo):
    answer_1 = None  # a number in s
    mo.md(lab.ask("time", answer_1))
    return


@app.cell
def _(lab, mo):
    answer_2 = None  # a number in ms
    mo.md(lab.ask("price", answer_2))
    return


@app.cell
def _(lab, mo):
    answer_3 = None  # a number in %
    mo.md(lab.ask("goodput", answer_3))
    return


@app.cell
def _(lab, mo):
    answer_4 = None  # a number
    mo.md(lab.ask("twice", answer_4))
    return


@app.cell
def _(lab, mo):
    answer_5 = None  # a number in s
    mo.md(lab.ask("delay", answer_5))
    return


@app.cell
def _(lab, mo):
    answer_6 = None  # the number of a choice, from 1
    mo.md(lab.ask("best", answer_6))
    return


if __name__ == "__main__":
    app.run()
