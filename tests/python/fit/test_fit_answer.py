"""Tests of the answer of a fit: which model is justified, and whether its distributions match the
errors.
"""

from __future__ import annotations

import numpy as np
import pytest

from nodeb.answer import text
from nodeb.fit import compare
from nodeb.fit.answer import answer
from nodeb.fit.sequence import ErrorSequence


def sequence(errors, pdus_per_block=1):
    return ErrorSequence(np.asarray(errors, np.uint8), pdus_per_block, "made up")


@pytest.fixture(scope="module")
def independent():
    errors = np.random.default_rng(1).random(4000) < 0.1
    return compare(sequence(errors), [2], units=["pdu"], starts=1)


@pytest.fixture(scope="module")
def regular():
    """Fits a model to a sequence in which every tenth PDU is lost. No chain of few states has such
    regular gaps.
    """
    return compare(sequence(np.arange(4000) % 10 == 0), [2], units=["pdu"], starts=1)


def test_fit_that_matches_independent_errors_is_reported(independent):
    found = answer(independent, "out/fit")
    lost = int(independent.errors.errors.sum())
    assert found.headline.startswith(f"10 % of the PDUs were lost ({lost} of 4000). ")
    assert independent.verdict in found.headline
    assert found.headline.endswith("does not differ significantly from the sequence.")
    assert found.notes[-1] == "out/fit has the models and pictures."


def test_mismatched_gaps_are_reported(regular):
    assert "differs from the sequence in its gaps" in answer(regular).headline


def test_all_adds_the_likelihoods(independent):
    found = answer(independent)
    assert len(found.table.rows) == len(independent.candidates)
    assert "Likelihoods" in text(found, everything=True)
    assert "Likelihoods" not in text(found)
