"""Lab 6: Why was it slow? Open this file with `marimo edit`."""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    from nodeb import compare, labs

    lab = labs.load("6-why-was-it-slow")
    mo.md("# Why was it slow?")
    return compare, lab, mo


@app.cell
def _(compare, lab, mo):
    _scenarios = lab.scenarios("why")  # change keys with `scenario.with_({KEY: VALUE})`
    _results = [scenario.run() for scenario in _scenarios]
    _is_pair = len(_results) > 1
    _found = compare(dict(zip("AB", _results, strict=True))) if _is_pair else _results[0]
    mo.vstack([mo.md("## " + lab.figures["why"]["title"]), _found])
    return


@app.cell
def _(compare, lab, mo):
    _scenarios = lab.scenarios("loss")  # change keys with `scenario.with_({KEY: VALUE})`
    _results = [scenario.run() for scenario in _scenarios]
    _is_pair = len(_results) > 1
    _found = compare(dict(zip("AB", _results, strict=True))) if _is_pair else _results[0]
    mo.vstack([mo.md("## " + lab.figures["loss"]["title"]), _found])
    return


@app.cell
def _(lab, mo):
    answer_1 = None  # a number in s
    mo.md(lab.ask("window", answer_1))
    return


@app.cell
def _(lab, mo):
    answer_2 = None  # a number in s
    mo.md(lab.ask("errors", answer_2))
    return


@app.cell
def _(lab, mo):
    answer_3 = None  # a number in s
    mo.md(lab.ask("both", answer_3))
    return


@app.cell
def _(lab, mo):
    answer_4 = None  # the number of a choice, from 1
    mo.md(lab.ask("useless", answer_4))
    return


@app.cell
def _(lab, mo):
    answer_5 = None  # the number of a choice, from 1
    mo.md(lab.ask("wire-or-air", answer_5))
    return


if __name__ == "__main__":
    app.run()
