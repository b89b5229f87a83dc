"""Tests of the titles of pages, which are cut from headlines."""

import pytest

from nodeb.answer import Answer
from nodeb.report.render import titled

HEADLINES = {
    "The cell delivers 15 Mbit/s (95 %: 4 to 25 Mbit/s) to 10 phones. It is full.": (
        "The cell delivers 15 Mbit/s to 10 phones.",
        "95 %: 4 to 25 Mbit/s. It is full.",
    ),
    "bbr is worse than cubic: the median rate of the phones is 2.8 % less (95 %: 1.5 to 4.2 %).": (
        "bbr is worse than cubic",
        "The median rate of the phones is 2.8 % less (95 %: 1.5 to 4.2 %).",
    ),
    "24 of 42 claims are confirmed, 14 need the full run, 4 contradicted.": (
        "24 of 42 claims are confirmed",
        "14 need the full run, 4 contradicted.",
    ),
    "The download takes 3.01 s.": ("The download takes 3.01 s.", ""),
}


@pytest.mark.parametrize("text", HEADLINES)
def test_title_is_a_clause_of_the_headline_and_the_rest_follows(text):
    assert titled(Answer(command="nodeb run", subject="", headline=text)) == HEADLINES[text]
    assert len(HEADLINES[text][0].split()) <= 12
