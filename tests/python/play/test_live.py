"""Tests: figures and exercises in pages of the documentation."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from browsers import PLAY, needs_chromium, needs_playground
from nodeb import labs
from nodeb.inputs.scenario import Scenario

sys.path.append(str(Path(__file__).parents[3] / "docs"))
import generator

pytestmark = [needs_chromium, needs_playground]

SCRIPT = PLAY / "live.js"
TIMEOUT_MS = 30_000


@pytest.fixture
def page(browser, tmp_path):
    """Returns a function that opens a page with a text; console messages fail the test."""
    complaints = []
    opened = browser.new_page()
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))

    def open_page(text):
        file = tmp_path / "page.html"
        body = generator.expanded(text, generator.Place("page.md", "")).replace(
            'src="play/live.js"', f'src="{SCRIPT.as_uri()}"'
        )
        file.write_text(f'<!doctype html><meta charset="utf-8"><body>{body}</body>', "utf-8")
        opened.goto(file.as_uri())
        return opened

    yield open_page
    opened.close()
    assert not complaints


def answers_of(exercise):
    """Returns answers to an exercise with the verdicts of the package."""
    if exercise.answer is None:
        given = list(range(1, len(exercise.choices) + 1))
    else:
        scenario = Scenario.from_toml(exercise.scenario)
        right = exercise.answer.simulate(scenario).mean
        given = [right, 1e6]
        for one in exercise.wrong:
            quantity = one.get("answer")
            value = labs.Quantity.of(quantity).simulate(scenario).mean if quantity else None
            given.append(one["times"] * right if value is None else value)
    return [(one, str(exercise.check(one))) for one in given]


@pytest.mark.parametrize("name", labs.names())
def test_verdicts_are_those_of_the_package(page, name):
    lab = labs.load(name)
    opened = page("\n".join(f"{{{{ exercise: {name}.{one} }}}}" for one in lab.exercises))
    for place, exercise in enumerate(lab.exercises.values()):
        form = opened.locator("form.exercise").nth(place)
        for given, verdict in answers_of(exercise):
            if exercise.answer is None:
                form.locator("input").nth(given - 1).check()
            else:
                form.locator("input").fill(str(given))
            form.locator("button").click()
            form.locator("button", has_text="Check").wait_for(timeout=TIMEOUT_MS)
            assert form.locator("[role=status]").inner_text() == verdict.replace("`", "")


@pytest.mark.parametrize("name", labs.names())
def test_figures_of_labs_answer_and_follow_their_sliders(page, name):
    lab = labs.load(name)
    opened = page("\n".join(f"{{{{ live: {name}.{one} }}}}" for one in lab.figures))
    for place in range(len(lab.figures)):
        figure = opened.locator("nodeb-live").nth(place)
        figure.scroll_into_view_if_needed()
        answer = figure.locator(".answer", has_not_text="Simulating")
        answer.wait_for(timeout=TIMEOUT_MS)
        # Until all replications are there, the answer changes by itself.
        figure.locator("[aria-busy=false]").wait_for(timeout=TIMEOUT_MS)
        assert figure.locator(".chart canvas").count() >= 1
        before = answer.inner_text()
        slider = figure.locator("input[type=range]").first
        slider.fill(slider.get_attribute("max"))
        opened.wait_for_function(
            "([place, before]) => document.querySelectorAll('nodeb-live')[place]"
            ".querySelector('.answer').textContent !== before",
            arg=[place, before],
            timeout=TIMEOUT_MS,
        )


def test_answers_that_are_no_numbers_are_asked_again(page):
    opened = page("{{ exercise: 1-slow-start.download }} {{ exercise: 1-slow-start.remedy }}")
    for says in ("give a number", "choose an answer"):
        form = opened.locator("form.exercise").nth(int(says == "choose an answer"))
        form.locator("button").click()
        assert says in form.locator("[role=status]").inner_text()


def test_page_of_the_landing_site_has_a_live_figure(page):
    opened = page("{{ live: landing.block-errors }}")
    opened.locator(".answer", has_text="is faster").wait_for(timeout=TIMEOUT_MS)
