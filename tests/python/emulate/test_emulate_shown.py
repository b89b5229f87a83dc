"""Tests of the status line and the page of an emulation."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest

import fake_emulation
from nodeb.base.table import Table
from nodeb.cli.options import write_page
from nodeb.emulate.page import means, of_emulation
from nodeb.emulate.results import page_place
from nodeb.emulate.status import status_line, status_text
from nodeb.errors import InputError, OutputError

ANY = {
    "time_s": 0.0,
    "down_packets": 0,
    "down_bytes": 0,
    "up_bytes": 0,
    "lost": 0,
    "waiting": 0,
    "queued_down": 0,
    "queued_up": 0,
    "cqi": float("nan"),
    "delays_s": 0.0,
    "late_p99_s": 0.0,
}
CQI = {"cqi": 15.2}


def test_status_line_shows_the_state():
    before = ANY | {"time_s": 10.0, "down_packets": 5, "down_bytes": 1000, "delays_s": 1.0}
    now = before | {"time_s": 12.0, "down_packets": 9, "down_bytes": 251_000, "up_bytes": 2_500}
    now |= {"delays_s": 2.0, "queued_down": 82, "queued_up": 3, "late_p99_s": 120e-6, "lost": 4}
    text = "12 s down 1 Mbit/s up 10 kbit/s delay 250 ms queue 82/3"
    assert status_text(now, before) == f"{text} late 120 us lost 4"
    assert status_text(now | CQI, before, 99) == f"{text} CQI 15 late 120 us lost 4"
    assert "delay -" in status_text(ANY | {"time_s": 1.0}, ANY)
    for columns in (20, 40, 60):
        assert text.startswith(status_text(now, before, columns))
        assert len(status_text(now, before, columns)) < columns


def test_status_line_is_shown_on_terminals_only():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    with status_line(stream := Terminal()) as line:
        for time_s in (0.0, 0.2, 0.4, 1.2):
            line(ANY | {"time_s": time_s})
    assert stream.getvalue().count("queue 0/0") == 2
    assert stream.getvalue().endswith("\r\x1b[K")
    with status_line(stream := io.StringIO()) as line:
        assert line is None
    assert stream.getvalue() == ""


@pytest.fixture(scope="module")
def outcome():
    return fake_emulation.outcome()


def page(outcome):
    return of_emulation(fake_emulation.plan(), fake_emulation.options(), outcome)


def figures(text):
    return set(re.findall(r'<figure id="([^"]+)"', text))


def test_page_has_figures_and_asks_for_nothing(outcome):
    text = page(outcome)
    ways = {f"{what}-{way}" for what in ("rates", "delays") for way in ("down", "up")}
    expected = ways | {"losses", "queues", "cqi", "late", "delay-shares", "late-shares"}
    assert figures(text) == expected
    assert "curl &#39;http://10.64.0.1/a file&#39;" in text
    assert "naccurate timing" not in text
    assert not re.search(r'(src|href)="(?!#)', text)
    assert "<script" not in text


def test_page_of_a_late_or_empty_run_says_so():
    assert "Inaccurate timing: 5.00%" in page(fake_emulation.outcome(late_share=0.05))
    empty = page(fake_emulation.outcome(empty=True))
    assert figures(empty) == {"rates-down", "rates-up", "queues", "cqi"}


def series(values):
    """Returns time series of one phone that receives at `values` kbit/s in successive intervals of
    0.1 s.
    """
    count = len(values)
    spans = {"begin_s": np.arange(count) / 10, "end_s": np.arange(1, count + 1) / 10}
    phones = spans | {
        "user": np.zeros(count, int),
        "way": np.full(count, "down"),
        "arrived_bytes": np.asarray(values) * 12.5,
        "queue_packets": np.zeros(count),
        "cqi": np.full(count, np.nan),
    }
    return Table(phones), Table(spans | {"simulated_down_bytes": np.zeros(count)})


def test_means_cover_whole_intervals_and_have_confidence_intervals():
    random = np.random.default_rng(1)
    (row,) = means(*series([*random.normal(500, 20, 200), 1e6]), {0: "phone"})
    name, mean, interval, _ = row
    assert name == "phone down, kbit/s"
    low, high = map(float, interval.split(" to "))
    half = (high - low) / 2
    assert abs(float(mean) - 500) < 3 * half
    assert 0 < half < 20


def test_too_few_or_empty_intervals_give_no_mean():
    assert means(*series(np.arange(30)), {0: "phone"}) == []
    assert means(*series(np.zeros(100)), {0: "phone"}) == []


def test_page_is_written_to_the_requested_path(tmp_path):
    out, page = tmp_path / "out", tmp_path / "page.html"
    assert page_place(None, out) is None
    assert page_place(Path("page.html"), out) == out / "page.html"
    for name in (out / "page.html", page):
        assert page_place(name, out) == name
    assert page_place(page, None) == page
    (tmp_path / "folder.html").mkdir()
    for wrong in ("page", "none/page.html", "folder.html"):
        with pytest.raises((InputError, OutputError), match=re.escape(str(tmp_path / wrong))):
            page_place(tmp_path / wrong, None, force=True)


def test_existing_page_is_replaced_only_on_request(tmp_path):
    """An existing page of nodeb is replaced only with `--force`; other files are never replaced."""
    page = tmp_path / "page.html"
    page.write_text('<!doctype html>\n<meta name="generator" content="nodeb 1">')
    with pytest.raises(OutputError, match=r"page\.html"):
        page_place(page, None)
    assert page_place(page, None, force=True) == page
    write_page(page, "new")
    with pytest.raises(OutputError, match=r"page\.html"):
        page_place(page, None, force=True)
