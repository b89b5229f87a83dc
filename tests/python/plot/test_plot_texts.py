"""Tests: figures show user names literally.

A `$` starts no formula, and no character causes a warning.
"""

import warnings

import pytest

from nodeb import plot
from nodeb.base.table import Table
from nodeb.plot.source import save

NAMES = ["$a_$", "$5 _ to $10", r"\$\frac{", "$x$", "用户 一", "名前$"]


def drawn(figure, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save(figure, tmp_path / "a.png")
        return save(figure, tmp_path / "a.svg").read_text("utf-8")


def escaped(name):
    return name.replace("&", "&amp;").replace("<", "&lt;")


@pytest.mark.parametrize("name", NAMES)
def test_titles_labels_and_ticks_are_drawn_literally(name, tmp_path):
    table = Table({"kind": [name, "b"], "speed_s": [1.0, 2.0], "who": [name, "b"]})
    figure = plot.curves(table, x="kind", y="speed_s", by=["who"], title=f"all {name}")
    text = drawn(figure, tmp_path)
    for shown in (f"all {name}", name, "Who"):
        assert f">{escaped(shown)}<" in text


def test_logarithmic_axes_show_powers(tmp_path):
    table = Table({"n": [1.0, 10.0, 1000.0], "time_s": [0.001, 1.0, 200.0]})
    text = drawn(plot.curves(table, x="n", y="time_s", log="xy", title="$n$"), tmp_path)
    assert ">$n$<" in text
    assert ">10²<" in text
    assert "mathdefault" not in text


def test_report_accepts_odd_user_names(call, tmp_path):
    groups = "".join(
        f"[[users]]\nname = '{name}'\ntraffic.ftp.size = \"20 kB\"\n" for name in NAMES
    )
    (tmp_path / "s.toml").write_text(f'runs = 2\nradio = "hsdpa"\n{groups}', encoding="utf-8")
    status, _, err = call("run", "s.toml", "--report")
    assert status == 0, err
    assert "Glyph" not in err
    page = (tmp_path / "out" / "s" / "report.html").read_text("utf-8")
    assert "$5 _ to $10" in page


def test_notebooks_display_a_figure_as_a_picture():
    """Jupyter asks an object that no backend of matplotlib has registered for `_repr_png_`."""
    figure = plot.lines("title", "x", "y", [1.0], [plot.Line("b", [1.0], [0.9], [1.1])])
    image = figure._repr_png_()
    assert image.startswith(b"\x89PNG\r\n")
    width, height = (int.from_bytes(image[at : at + 4], "big") for at in (16, 20))
    assert [width, height] == (figure.get_size_inches() * figure.dpi).astype(int).tolist()
