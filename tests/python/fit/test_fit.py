"""Tests of fitted error models: known models are recovered, and their files follow the format."""

import json
import sys
from itertools import pairwise

import numpy as np
import pytest

from nodeb.answer import text
from nodeb.errors import InputError
from nodeb.fit import (
    Chain,
    ErrorModel,
    ErrorSequence,
    Within,
    compare,
    gilbert,
    gilbert_elliott,
    hidden_markov,
    read_errors,
)
from nodeb.fit.chain import two_states
from nodeb.fit.compare import answer, match
from nodeb.fit.folder import save
from nodeb.fit.model import recorded_model
from nodeb.fit.sequence import bursts, gaps


def random(seed=1):
    return np.random.default_rng(seed)


def sequence(digits, pdus_per_block=1):
    return ErrorSequence(np.array(list(map(int, digits)), dtype=np.uint8), pdus_per_block)


THREE = Chain(
    "hmm",
    np.array([[0.995, 0.005, 0.0], [0.01, 0.97, 0.02], [0.0, 0.1, 0.9]]),
    np.array([0.001, 0.15, 0.8]),
    9,
)


def test_gaps_and_bursts_of_a_sequence_by_hand():
    errors = sequence("0110100011100").errors
    assert gaps(errors).tolist() == [1, 2, 4, 1, 1]
    assert bursts(errors).tolist() == [2, 1, 3]
    assert bursts(sequence("111").errors).tolist() == [3]


def test_chain_distributions_match_simulated_sequences():
    errors = THREE.simulate(1_000_000, random())
    assert errors.mean() == pytest.approx(THREE.error_rate, rel=0.05)
    correct, lost = ((p[:, None] * THREE.transition) for p in (1 - THREE.error, THREE.error))
    after_loss = THREE.stationary @ lost
    before_burst = (THREE.stationary @ correct) * THREE.error @ THREE.transition
    for sample, state, step in (
        (gaps(errors), after_loss, correct),
        (bursts(errors), before_burst, lost),
    ):
        for at in (1, 2, 5, 10, 100):
            expected = (state @ np.linalg.matrix_power(step, at)).sum() / state.sum()
            chance = np.sqrt(expected / len(sample))
            assert abs(np.mean(sample > at) - expected) < 4 * chance, at


def test_likelihood_of_a_chain_sums_over_all_paths():
    errors = sequence("0101").errors
    total = 0.0
    for path in np.ndindex(3, 3, 3, 3):
        p = THREE.stationary[path[0]]
        for at, state in enumerate(path):
            rate = THREE.error[state]
            p *= rate if errors[at] else 1 - rate
            if at < 3:
                p *= THREE.transition[state, path[at + 1]]
        total += p
    assert THREE.log_likelihood(errors) == pytest.approx(np.log(total))


def test_known_hidden_markov_model_is_recovered():
    errors = THREE.simulate(200_000, random(3))
    found = hidden_markov(errors, 3, starts=2)
    assert found.error == pytest.approx(THREE.error, rel=0.06, abs=4e-4)
    assert found.transition == pytest.approx(THREE.transition, abs=0.012)
    assert found.stationary == pytest.approx(THREE.stationary, rel=0.08)
    assert hidden_markov(errors[:20_000], 2, jobs=2).error.tolist() == (
        hidden_markov(errors[:20_000], 2, jobs=1).error.tolist()
    )


def test_closed_forms_recover_their_channels():
    simple = gilbert(two_states(0.01, 0.3, 0.0, 1.0, 2).simulate(400_000, random(2)))
    assert simple.transition[0, 1] == pytest.approx(0.01, rel=0.06)
    assert simple.transition[1, 0] == pytest.approx(0.3, rel=0.06)
    wider = gilbert_elliott(two_states(0.01, 0.05, 0.0, 0.5, 3).simulate(2_000_000, random(2)))
    assert wider.transition[0, 1] == pytest.approx(0.01, rel=0.1)
    assert wider.transition[1, 0] == pytest.approx(0.05, rel=0.1)
    assert wider.error[1] == pytest.approx(0.5, rel=0.05)
    assert wider.error_rate == pytest.approx(1 / 12, rel=0.05)


@pytest.mark.parametrize(
    ("chain", "states"),
    [
        (two_states(0.004, 0.1, 0.0, 1.0, 2), 2),
        (two_states(0.004, 0.1, 0.001, 0.5, 4), 2),
        (Chain("bsc", np.ones((1, 1)), np.array([0.02]), 1), 1),
        (THREE, 3),
    ],
    ids=["gilbert", "elliott", "bsc", "three"],
)
def test_selection_finds_the_number_of_states(chain, states):
    errors = ErrorSequence(chain.simulate(50_000, random(5)))
    comparison = compare(errors, [2, 3, 4], starts=2)
    best = comparison.best
    assert best.model.chain.states == states
    assert all(found.p_value > 1e-3 for found in best.matches.values() if found.p_value >= 0)
    if states > 1:
        assert comparison.find("pdu", "bsc").matches["gap"].p_value < 1e-6
    likelihoods = [c.log_likelihood for c in comparison.candidates if "hmm" in c.model.name]
    assert all(more > fewer - 1.0 for fewer, more in pairwise(likelihoods))


def test_pdu_errors_are_conditioned_on_their_block():
    """The best model draws PDU errors within failed blocks. A chain with steps of one PDU cannot
    express them, as a failed block here loses all, two or one of its four PDUs.
    """
    law = Within(4, {"1111": 0.5, "0110": 0.3, "1000": 0.2}, (), 2)
    blocks = (random(1).random(20_000) < 0.03).astype(np.uint8)
    errors = ErrorSequence(law.expand(blocks, random(2)), 4)
    assert errors.block_errors.tolist() == blocks.tolist()
    comparison = compare(errors, [2, 3], starts=2)
    best = comparison.best
    assert (best.model.unit, best.model.name) == ("block", "bsc")
    assert best.model.within.patterns.keys() == law.patterns.keys()
    assert best.model.within.patterns["0110"] == pytest.approx(0.3, abs=0.07)
    assert all(found.p_value > 1e-3 for found in best.matches.values())
    assert comparison.best_of("pdu").bic > best.bic + 100
    assert best.simulated.error_rate == pytest.approx(errors.error_rate, rel=0.1)
    assert best.model.error_rate == pytest.approx(errors.error_rate)


def test_likelihoods_of_blocks_and_pdus_are_comparable():
    """A model of independent PDUs gives a sequence the same likelihood whether its steps are PDUs
    or blocks.
    """
    p, n = 0.3, 3
    fails = 1 - (1 - p) ** n
    counts = [3 * p * (1 - p) ** 2 / fails, 3 * p**2 * (1 - p) / fails, p**3 / fails]
    errors = sequence("000110011111", n)
    by_pdu = ErrorModel("bsc", Chain("bsc", np.ones((1, 1)), np.array([p]), 1), n, None)
    chain = Chain("bsc", np.ones((1, 1)), np.array([fails]), 1)
    by_block = ErrorModel("bsc", chain, n, Within(n, {}, tuple(counts), 0))
    assert by_block.log_likelihood(errors) == pytest.approx(by_pdu.log_likelihood(errors))


def test_two_sample_test_keeps_its_level():
    """Samples of one distribution differ significantly about as rarely as the level of 5 % says."""
    draw = random(4)
    values = [match(draw.geometric(0.3, 300), draw.geometric(0.3, 900)).p_value for _ in range(400)]
    assert 0.02 < np.mean(np.array(values) < 0.05) < 0.09
    assert match(draw.geometric(0.3, 900), draw.geometric(0.4, 900)).p_value < 1e-3
    many = np.ones(50_000, dtype=int)
    one, other = (np.concatenate([many, 2 + draw.geometric(p, 2000)]) for p in (0.3, 0.4))
    # A difference is found even if the first value makes up most of both samples.
    assert match(one, other).p_value < 1e-3
    assert np.isnan(match(np.array([1, 2]), draw.geometric(0.3, 900)).p_value)


def test_model_files_follow_the_format(tmp_path):
    within = Within.of_counts(sequence("011000110000", 3))
    chain = two_states(0.25, 0.5, 0.0, 1.0, 2)
    model = ErrorModel("gilbert", chain, 3, within, {"seed": 1})
    data = json.loads(model.save(tmp_path / "m.json").read_text())
    assert data == {
        "format": "nodeb-error-model",
        "version": 1,
        "unit": "block",
        "pdus_per_block": 3,
        "kind": "gilbert_elliott",
        "p": 0.25,
        "r": 0.5,
        "error_in_good": 0.0,
        "error_in_bad": 1.0,
        "within_block": {"count_law": [0.0, 1.0, 0.0]},
        "provenance": {"seed": 1},
    }
    hidden = ErrorModel("hmm3", THREE, 1, None).to_dict()
    assert hidden["unit"] == "pdu"
    assert sum(hidden["start"]) == pytest.approx(1)
    assert hidden["transition"][1] == [0.01, 0.97, 0.02]
    assert recorded_model(sequence("110001"), {})["errors"] == [0, 2, 3, 1]
    assert recorded_model(sequence("0011"), {})["errors"] == [2, 2]


def test_text_of_digits_is_read(tmp_path):
    file = tmp_path / "e.txt"
    file.write_text("# pdus_per_block = 2\n00 01  # one\n11\n")
    errors = read_errors(file)
    assert errors.errors.tolist() == [0, 0, 0, 1, 1, 1]
    assert errors.pdus_per_block == 2
    assert read_errors(file, 3).block_errors.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("text", "per_block", "message"),
    [
        ("0101\n0021\n", None, r":2:3: found `2`"),
        ("00x1", None, r":1:3: found `x`"),
        ("", None, "the sequence is empty"),
        (
            "01011",
            2,
            r"5 PDUs cannot be divided into transport blocks of 2 PDUs: 1 is left over",
        ),
        ("0101", 0, "pdus_per_block is 0; expected at least 1"),
    ],
)
def test_bad_sequences_are_reported(tmp_path, text, per_block, message):
    file = tmp_path / "e.txt"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_errors(file, per_block)


@pytest.mark.parametrize(
    ("digits", "states", "message"),
    [
        ("0" * 1000, [2], r"no error in 1000 PDUs.*below 0.003"),
        ("0" * 1000 + "1" * 5, [3], "only 5 of 1005 PDUs are lost: ask for at most 2 states"),
        ("01" * 500, [9], "states is 9; expected 2 to 8"),
        ("0" * 500 + "1", None, "only 1 of 501 PDUs is lost: give about 2004 PDUs"),
        ("0" * 500 + "1", [], "only 1 of 501 PDUs is lost: give about 2004 PDUs"),
        ("1" * 22, None, "no PDU of 22 PDUs is correct, so no model .* higher Eb/N0"),
    ],
)
def test_uninformative_sequences_are_rejected(digits, states, message):
    with pytest.raises(InputError, match=message):
        compare(sequence(digits), states)


@pytest.mark.parametrize("burst", [200, 800])
def test_sequence_that_ends_in_a_burst_is_fitted(burst, tmp_path):
    """A sequence that ends in a burst can be fitted, although the most likely chain then (almost)
    never leaves the burst.
    """
    errors = (random().random(4000) < 0.1).astype(np.uint8)
    found = compare(ErrorSequence(np.append(errors, np.ones(burst, np.uint8))), [2, 3], starts=2)
    assert np.isfinite(found.best.bic)
    assert found.find("pdu", "hmm2").model.error_rate > 0.99
    stuck = Chain("hmm", np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([0.1, 1.0]), 4)
    assert stuck.log_likelihood(sequence("01").errors) == -np.inf
    folder = save(found, tmp_path / "out", 1)
    for file in folder.glob("*.json"):
        json.loads(file.read_text(), parse_constant=pytest.fail)
    shown = text(answer(found), everything=True)
    assert "inf" not in shown
    assert ("impossible" in shown) == (not all(np.isfinite(c.bic) for c in found.candidates))


def test_model_of_several_states_names_the_package_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "hmmlearn.hmm", None)
    with pytest.raises(InputError, match=r"pip install 'nodeb\[fit\]'"):
        compare(sequence("010011" * 50), states=[2])
