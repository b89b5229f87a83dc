"""Tests: printing a result and showing it in a notebook give the same answer."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import nodeb
from nodeb.answer import Answer
from nodeb.answer.answering import Answering
from nodeb.comparison import Comparison
from nodeb.fit.sequence import ErrorSequence
from nodeb.life import Life
from nodeb.reproduce import ReproduceOutcome, Summary
from nodeb.sweep import Outcome

RESULTS = (
    *(nodeb.Result, nodeb.Explanation, Comparison, Outcome, Life, ReproduceOutcome, Summary),
    *(nodeb.link.LinkResult, nodeb.fit.Comparison),
)


@pytest.mark.parametrize("kind", RESULTS, ids=lambda kind: kind.__name__)
def test_displaying_results_shows_their_answer(kind):
    assert issubclass(kind, Answering)
    assert kind.__str__ is Answering.__str__
    assert kind.answer is not Answering.answer or kind.answers is not Answering.answers


class Two(Answering):
    @property
    def answers(self):
        return [Answer("nodeb x", "", f"Answer {number}.") for number in (1, 2)]


def test_several_answers_are_displayed_in_order():
    assert str(Two()) == "Answer 1.\n\nAnswer 2."
    html = Two()._repr_html_()
    assert html.index("<h1>Answer 1.</h1>") < html.index("<h1>Answer 2.</h1>")


def test_answers_can_be_pickled(small):
    one = small.run(runs=3)
    found = pickle.loads(pickle.dumps(one.compare(one, small.run(runs=3))))
    assert len(found.answers) == 2
    assert pickle.loads(pickle.dumps(one.answer)) == one.answer


def test_displaying_a_fit_shows_its_answer():
    errors = (np.arange(400) % 10 == 0).astype(np.uint8)
    found = nodeb.fit.compare(ErrorSequence(errors, 1, "made up"), [2], units=["pdu"], starts=1)
    assert str(found).startswith("made up: ")
    assert "<h1>" in found._repr_html_()
