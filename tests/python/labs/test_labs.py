"""Tests: right answers of labs pass with any seed, and each expected mistake has its hint."""

from __future__ import annotations

import tomllib

import pytest

from nodeb import labs
from nodeb.errors import InputError
from nodeb.inputs.scenario import Scenario

EXERCISES = [
    pytest.param(exercise, id=f"{name}.{exercise.name}")
    for name in labs.names()
    for exercise in labs.load(name).exercises.values()
]
NUMBERS = [one for one in EXERCISES if one.values[0].answer is not None]
CHOICES = [one for one in EXERCISES if one.values[0].answer is None]
SEEDS = pytest.mark.parametrize(
    "seeds", [range(1, 3), pytest.param(range(3, 11), marks=pytest.mark.slow)], ids=["few", "many"]
)


def simulated(quantity, exercise, seed=None):
    return quantity.simulate(Scenario.from_toml(exercise.scenario), seed).mean


@SEEDS
@pytest.mark.parametrize("exercise", NUMBERS)
def test_right_numbers_pass_with_any_seed(exercise, seeds):
    """The answer that a student reads from a simulation with the default seed is right, even if it
    is checked with other seeds.
    """
    right = simulated(exercise.answer, exercise)
    for seed in seeds:
        verdict = exercise.check(right, seed)
        assert (verdict.right, verdict.text) == (True, exercise.right)


@SEEDS
@pytest.mark.parametrize("exercise", NUMBERS)
def test_each_expected_mistake_has_its_own_hint(exercise, seeds):
    right = simulated(exercise.answer, exercise)
    assert exercise.wrong
    for one in exercise.wrong:
        given = (
            simulated(labs.Quantity.of(one["answer"]), exercise)
            if "answer" in one
            else one["times"] * right
        )
        for seed in seeds:
            verdict = exercise.check(given, seed)
            assert (verdict.right, verdict.text) == (False, one["hint"])


@SEEDS
@pytest.mark.parametrize("exercise", CHOICES)
def test_one_choice_is_right_with_any_seed(exercise, seeds):
    first = [exercise.check(place + 1).right for place in range(len(exercise.choices))]
    assert first.count(True) == 1
    for seed in seeds:
        assert [exercise.check(place + 1, seed).right for place in range(len(first))] == first


def test_other_numbers_are_too_large_or_too_small():
    lab = labs.load("1-slow-start")
    assert str(lab.check("download", 77)) == "Not yet: the answer is too large."
    assert str(lab.check("download", -1)) == "Not yet: the answer is too small."


def test_unknown_labs_exercises_and_choices_are_refused():
    with pytest.raises(InputError, match="did you mean `1-slow-start`"):
        labs.load("slow-start")
    lab = labs.load("1-slow-start")
    with pytest.raises(InputError, match="did you mean `download`"):
        lab.check("downloads", 1)
    with pytest.raises(InputError, match="expected 1 to 3"):
        lab.check("remedy", 4)


SMALL = Scenario.from_toml('[radio.hs_dsch]\n[[users]]\ntraffic.ftp.size = "2 kB"\n')
"""A scenario without timeouts: the mean of this metric is 0."""


def test_ratio_of_zero_is_zero():
    ratio = labs.Quantity("timeouts", over=labs.Quantity("download_s", runs=2), runs=2)
    assert (ratio.simulate(SMALL).mean, ratio.simulate(SMALL).half_width) == (0, 0)


@pytest.mark.parametrize(
    ("quantity", "message"),
    [
        (labs.Quantity("download_s", over=labs.Quantity("timeouts", runs=2), runs=2), "is 0 in"),
        (labs.Quantity("download", runs=2), "no metric `download` .it has: received_bps, "),
        (labs.Quantity("timeouts", group="b", runs=2), "no group `b` .it has: all"),
    ],
)
def test_quantity_without_a_value_is_refused(quantity, message):
    with pytest.raises(InputError, match=message):
        quantity.simulate(SMALL)


def metrics_of(quantity):
    """Returns the names of the metrics from which a quantity is computed."""
    parts = [one for one in (quantity.minus, quantity.over) if one]
    return {quantity.metric}.union(*map(metrics_of, parts))


@pytest.mark.parametrize("name", labs.names())
def test_each_figure_shows_the_metrics_that_its_exercises_ask_for(name):
    lab = labs.load(name)
    described = tomllib.loads((labs.FOLDER / f"{name}.toml").read_text("utf-8"))["exercise"]
    for exercise in lab.exercises.values():
        values = [labs.Quantity.of(choice["value"]) for choice in exercise.choices]
        asked = set().union(*map(metrics_of, [exercise.answer] if exercise.answer else values))
        assert asked <= set(lab.figures[described[exercise.name]["live"]]["metrics"])
