"""Tests of the marks from which the table of LTE's features is made."""

import features
import pytest

CODE = "// Clause: TS 36.321, 5.4.4: requests\n/// Sends a request.\nfn request() {}\n"
TEST = "// Tests the feature: requests (closed form)\n/// A wait.\n#[test]\nfn requests_wait() {}\n"


def errors(text):
    return features.collect({"radio/src/lte/a.rs": text}).errors


def test_feature_has_clauses_simplification_and_tests():
    code = CODE.replace("/// Sends", "// Simplified: no timer\n/// Sends")
    marks = features.collect({"radio/src/lte/a.rs": code, "radio/src/lte/tests.rs": TEST})
    assert marks.errors == []
    [one] = marks.features.values()
    reference = "closed form (`lte/tests`)"
    expected = ["requests", "TS 36.321, 5.4.4", reference, "simplified: no timer"]
    assert features.row(one) == expected


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (CODE, "no test holds `requests`"),
        (TEST, "no `Clause` is named `requests`"),
        (CODE + CODE + TEST, "`requests` has two marks"),
        (CODE + TEST.replace("closed form", "trust"), "unknown reference `trust`"),
        (CODE + TEST.replace(" (closed form)", ""), "unknown reference"),
        (
            CODE + TEST + "// Tests the feature: requests (closed form)\nstruct Wait;\n",
            "no test follows",
        ),
        (CODE + TEST + "// Simplified: no timer\n", "no `Clause` stands above"),
        (CODE + TEST + "// Clause: TS 36.321\n", "has no name"),
    ],
)
def test_error_in_marks_is_reported(text, error):
    assert any(error in found for found in errors(text))


def test_missing_feature_may_have_a_reason():
    text = "// Not modelled: TS 36.101, 5.5: TDD\n// Not modelled: TS 36.321, 5.1: access: none\n"
    marks = features.collect({"a.rs": text})
    assert marks.missing == [("TS 36.101, 5.5", "TDD", ""), ("TS 36.321, 5.1", "access", "none")]


def test_features_are_in_order_of_their_clauses():
    clauses = ["RFC 3168", "TS 36.321, 5.10", "TS 36.101, B.2", "TS 36.321, 5.4.4; TS 36.101, 5.6"]
    expected = [clauses[2], clauses[3], clauses[1], clauses[0]]
    assert sorted(clauses, key=features.order) == expected


def test_marks_of_the_core_are_complete():
    marks = features.core()
    assert marks.errors == []
    assert len(marks.features) > 40
