"""Lab 1: Slow start over a slow channel. Open this file with `marimo edit`."""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    from nodeb import compare, labs

    lab = labs.load("1-slow-start")
    mo.md("# Slow start over a slow channel")
    return compare, lab, mo


@app.cell
def _(compare, lab, mo):
    _scenarios = lab.scenarios("window")  # change keys with `scenario.with_({KEY: VALUE})`
    _results = [scenario.run() for scenario in _scenarios]
    _is_pair = len(_results) > 1
    _found = compare(dict(zip("AB", _results, strict=True))) if _is_pair else _results[0]
    mo.vstack([mo.md("## " + lab.figures["window"]["title"]), _found])
    return


@app.cell
def _(compare, lab, mo):
    _scenarios = lab.scenarios("window-open")  # change keys with `scenario.with_({KEY: VALUE})`
    _results = [scenario.run() for scenario in _scenarios]
    _is_pair = len(_results) > 1
    _found = compare(dict(zip("AB", _results, strict=True))) if _is_pair else _results[0]
    mo.vstack([mo.md("## " + lab.figures["window-open"]["title"]), _found])
    return


@app.cell
def _(lab, mo):
    answer_1 = None  # a number in s
    mo.md(lab.ask("download", answer_1))
    return


@app.cell
def _(lab, mo):
    answer_2 = None  # a number in %
    mo.md(lab.ask("utilization", answer_2))
    return


@app.cell
def _(lab, mo):
    answer_3 = None  # a number in s
    mo.md(lab.ask("twice-the-delay", answer_3))
    return


@app.cell
def _(lab, mo):
    answer_4 = None  # a number
    mo.md(lab.ask("small-and-large", answer_4))
    return


@app.cell
def _(lab, mo):
    answer_5 = None  # the number of a choice, from 1
    mo.md(lab.ask("remedy", answer_5))
    return


@app.cell
def _(lab, mo):
    answer_6 = None  # a number in ms
    mo.md(lab.ask("block-errors", answer_6))
    return


if __name__ == "__main__":
    app.run()
