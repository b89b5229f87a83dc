"""Tests of the playground in a browser: what a reader does with it, without a network."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import pytest

import nodeb
from browsers import LOOKS, PLAY, needs_chromium, needs_playground
from nodeb.inputs import cells

pytestmark = [needs_chromium, needs_playground]

PAGE = PLAY / "play.html"
STARTS = sorted((Path(__file__).parents[3] / "web" / "starts").glob("*.toml"))
STARTS += [cells.FOLDER / f"{name}.toml" for name in cells.names() if name != "codel"]
ANSWERED = """() => {
    const h1 = document.querySelector("h1");
    return h1 && !h1.textContent.startsWith("Simulating");
}"""
FINISHED = "() => document.querySelector('.result').ariaBusy === 'false'"
TIMEOUT_MS = 60_000
LOCAL = ("file:", "blob:", "data:")


@pytest.fixture
def opened(browser):
    """Returns a function that opens the page with a fragment.

    The test fails at its end if the browser reported errors or the page sent requests.
    """
    complaints, pages = [], []

    def open_page(fragment="", answers=True, **how):
        page = browser.new_page(**{"viewport": {"width": 1400, "height": 900}, **how})
        pages.append(page)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda one: one.url.startswith(LOCAL) or complaints.append(f"request: {one.url}"),
        )
        page.goto(f"{PAGE.as_uri()}{fragment}")
        if answers:
            page.wait_for_function(ANSWERED, timeout=TIMEOUT_MS)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert not complaints


LINES = "[...document.querySelectorAll('.cm-line')].map(one => one.textContent).join('\\n')"


def text_of(page):
    """Returns the scenario's text on the page."""
    return page.evaluate(LINES)


def wait_for_text(page, part):
    """Waits until the scenario's text contains a part, or no longer contains it if it is -part."""
    wanted = "!" if part.startswith("-") else ""
    page.wait_for_function(f"part => {wanted}({LINES}).includes(part)", arg=part.removeprefix("-"))


def write(page, text):
    """Replaces the scenario's text."""
    page.locator(".cm-content").fill(text)


def answer(page):
    page.wait_for_function(ANSWERED, timeout=TIMEOUT_MS)
    page.wait_for_function(FINISHED, timeout=TIMEOUT_MS)
    return page.inner_text("h1")


def exported(page, form):
    """Returns the text of a form of export."""
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name=form, exact=True).click()
    found = page.locator("dialog textarea").input_value()
    page.get_by_role("button", name="Close").click()
    return found


SMALL = """# kept
name = "small" # kept too
runs = 4

[radio.dch]
bler = 0.1 # of blocks

[[users]]
traffic.ftp.size = "20 kB"
"""


@pytest.mark.parametrize("start", [one.stem for one in STARTS])
def test_each_starting_point_has_an_answer_and_figures(opened, start):
    page = opened()
    page.select_option(".topbar select", start)
    headline = answer(page)
    assert headline[0].isupper()
    assert page.locator("figure.chart canvas").count() >= 3
    assert page.locator(".question").inner_text()


def test_sliders_and_numbers_change_the_text_in_place(opened):
    page = opened()
    write(page, SMALL)
    before = answer(page)
    page.get_by_role("slider", name="bler").fill("120")
    page.wait_for_function(
        "before => document.querySelector('h1').textContent !== before", arg=before
    )
    wait_for_text(page, "bler = 0.36 # of blocks")
    assert text_of(page).startswith('# kept\nname = "small" # kept too')
    page.get_by_label("size, number").fill("30")
    page.get_by_label("size, number").blur()
    wait_for_text(page, 'traffic.ftp.size = "30 kB"')
    page.get_by_label("size, unit").select_option("MB")
    wait_for_text(page, 'traffic.ftp.size = "0.03 MB"')


def test_lists_switches_and_keys_are_chosen_added_and_removed(opened):
    page = opened()
    write(page, SMALL)
    answer(page)
    page.get_by_label("Add to radio dch").select_option("delivery")
    page.get_by_label("delivery", exact=True).select_option("out_of_sequence")
    wait_for_text(page, 'delivery = "out_of_sequence"')
    page.get_by_role("button", name="Remove delivery").click()
    wait_for_text(page, "-delivery")
    page.get_by_role("group", name="radio").get_by_label("kind").first.select_option("hs_dsch")
    wait_for_text(page, "[radio.hs_dsch]\nbler = 0.1 # of blocks")
    page.get_by_label("Add to the scenario").select_option("record")
    page.get_by_label("Add to record").select_option("cwnd")
    page.get_by_role("switch", name="cwnd").check()
    wait_for_text(page, "cwnd = true")
    page.get_by_label("name", exact=True).first.fill("other")
    page.get_by_label("name", exact=True).first.blur()
    wait_for_text(page, 'name = "other" # kept too')
    assert answer(page)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (SMALL.replace("0.1", "1.5"), ["line 6", "radio.dch.bler", "1.5", "expected"]),
        (SMALL.replace("bler", "blr"), ["line 6", "radio.dch.blr", "did you mean `bler`"]),
        (SMALL.replace("0.1", ""), ["line 6", "expected"]),
    ],
)
def test_errors_state_line_key_and_expectation(opened, text, says):
    page = opened()
    write(page, text)
    page.wait_for_selector(".banner.error")
    banner = page.inner_text(".banner.error")
    assert all(part in banner for part in says), banner
    page.wait_for_selector(".cm-lintRange-error")
    write(page, SMALL)
    page.wait_for_selector(".banner.error", state="detached")


def test_links_restore_texts_and_numbers(opened):
    page = opened()
    write(page, SMALL)
    page.get_by_role("button", name="Compare with a second scenario").click()
    write(page, SMALL.replace("0.1", "0.3"))
    before = answer(page), page.inner_text(".result table")
    link = exported(page, "Link")
    other = opened(link[link.index("#") :])
    assert (answer(other), other.inner_text(".result table")) == before
    assert text_of(other).rstrip() == SMALL.rstrip()


@pytest.mark.parametrize(
    ("fragment", "says"),
    [
        ("#s=broken!", "damaged"),
        ("#v=2&s=AAAA", "newer nodeb"),
        ("#v=x&s=AAAA", "version is x"),
        ("#elsewhere=1", "holds no scenario"),
    ],
)
def test_broken_links_are_explained(opened, fragment, says):
    page = opened(fragment)
    assert says in page.inner_text(".banner")


def test_metrics_equal_those_of_the_package(opened):
    page = opened()
    write(page, SMALL)
    answer(page)
    rows = {
        one["metric"]: one for one in csv.DictReader(io.StringIO(exported(page, "CSV of metrics")))
    }
    native = {row["metric"]: row for row in nodeb.Scenario.from_toml(SMALL).run().summary}
    assert rows.keys() == native.keys()
    for name, row in native.items():
        for column in ("mean", "ci95_low", "ci95_high"):
            found = float(rows[name][column] or "nan")
            assert math.isclose(found, row[column], rel_tol=1e-12) or (
                math.isnan(found) and math.isnan(row[column])
            )


def test_exports_are_scenarios_programs_and_pictures(opened, tmp_path):
    page = opened()
    write(page, SMALL)
    answer(page)
    assert nodeb.Scenario.from_toml(exported(page, "TOML")).runs == 4
    program = exported(page, "Python")
    compile(program, "run.py", "exec")
    scope = {}
    exec(program.replace("print(", "found = ("), scope)
    assert scope["found"].provenance.runs == 4
    assert "nodeb run scenario.toml" in exported(page, "Command line")
    assert exported(page, "CSV of curves").count("\n") > 10
    page.get_by_role("button", name="Share").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG").click()
    download.value.save_as(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_paired_difference_equals_that_of_the_package(opened):
    page = opened()
    write(page, SMALL)
    page.get_by_role("button", name="Compare with a second scenario").click()
    write(page, SMALL.replace("0.1", "0.3"))
    answer(page)
    one, other = (nodeb.Scenario.from_toml(text) for text in (SMALL, SMALL.replace("0.1", "0.3")))
    found = nodeb.compare({"A": one.run(), "B": other.run()}).answers[0].headline
    assert page.inner_text("h1") == found


@pytest.mark.parametrize("width", [390, 900, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_fits_and_is_readable(opened, width, scheme):
    page = opened(viewport={"width": width, "height": 900}, color_scheme=scheme)
    answer(page)
    found = page.evaluate(LOOKS)
    assert not found["wide"] + found["faint"] + found["cut"]


def test_every_control_has_a_name(opened):
    page = opened()
    answer(page)
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll(
            "input, select, textarea, button, [tabindex='0']")].filter(one =>
            !(one.labels?.length || one.ariaLabel || one.textContent.trim() && one.matches("button")
                || one.getAttribute("aria-labelledby"))).map(one => one.outerHTML.slice(0, 120))"""
    )
    assert not unnamed


def test_precision_ends_after_as_many_replications_as_in_the_package(opened):
    page = opened()
    text = SMALL.replace("runs = 4", "runs = 4\nprecision = 0.04\nmax_runs = 150")
    write(page, text)
    answer(page)
    native = nodeb.Scenario.from_toml(text).run()
    assert 4 < native.provenance.runs < 150
    assert f"{native.provenance.runs} replications, seed" in page.inner_text(
        ".result [role=status]"
    )
