"""What explanations say beside their numbers, in the terminal and on their page."""

import html

import pytest

import nodeb
from nodeb.explanation.text import incomplete_note
from nodeb.report.explained import page
from nodeb.scenario_types import Ftp, LinkBearer, UserGroup


def shown(found):
    """The page's text, as it is read."""
    return html.unescape(page({"user 0": found})).replace("\u00a0", " ")


def download(radio, size="20 kB", count=1, **more):
    users = [UserGroup(count=count, traffic=Ftp(size=size))]
    return nodeb.Scenario(radio=radio, users=users, **more)


def test_the_page_has_the_time_as_the_table_has_it():
    slow = download(LinkBearer(rate="10 bps"), duration="24 h", tcp=nodeb.scenario_types.Classic())
    found = nodeb.explain(slow, runs=1)
    seconds = found.time.mean
    assert seconds > 10_000
    assert f"{seconds:.0f} s" in shown(found)
    assert "e+0" not in shown(found)


def test_the_page_counts_unfinished_runs_as_the_terminal_does():
    cut = download(LinkBearer(rate="100 kbps", loss=0.05), "100 kB", duration="12 s")
    found = nodeb.explain(cut, runs=8)
    unfinished = sum(not path.complete for path in found.paths)
    assert 0 < unfinished < 8
    assert f"{unfinished} of 8 runs" in incomplete_note(found)
    text = shown(found)
    assert f"The transfer was not complete at the end of {unfinished} of 8 runs" in text
    assert "Not complete" not in text


@pytest.mark.parametrize(
    ("duration", "end"), [("5 s", "the run's end"), ("600 s", "its last byte")]
)
def test_the_page_says_up_to_where_it_goes(duration, end):
    cut = download(LinkBearer(rate="100 kbps"), "200 kB", duration=duration)
    found = nodeb.explain(cut, runs=1)
    assert f"from the beginning of the transfer to {end}" in shown(found)
