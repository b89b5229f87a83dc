"""Every kind of page in a real browser is readable, fits its width, and causes no errors."""

from __future__ import annotations

from itertools import pairwise

import pytest

import pages
from browsers import looked_at, needs_chromium

pytestmark = needs_chromium

OTHERS = {
    "explanation": pages.of_explanation,
    "comparison": pages.of_comparison,
    "life": pages.of_life,
    "reproduction": pages.of_study,
    "emulation": pages.of_emulation,
}
KINDS = (*pages.SCENARIOS, *OTHERS, "without series", "studies")
LEAST_TEXTS = 30
"""Minimum number of texts on every page."""


@pytest.fixture(scope="module")
def made(tmp_path_factory, quick_wang):
    """Returns a function that creates each kind of page once, and returns its path."""
    folder = tmp_path_factory.mktemp("pages")
    files = {}

    def file(kind):
        if kind not in files:
            with pytest.MonkeyPatch.context() as patch:
                if kind == "without series":
                    files[kind] = pages.without_series(folder, patch)
                elif kind == "studies":
                    files[kind] = pages.of_studies(folder, quick_wang)
                elif kind in OTHERS:
                    files[kind] = OTHERS[kind](folder)
                else:
                    files[kind] = pages.of_run(kind, folder)
        return files[kind]

    return file


@pytest.mark.parametrize("kind", KINDS)
def test_page_is_readable_and_fits(browser, made, kind):
    wrong, complaints, texts = looked_at(browser, made(kind))
    assert (wrong, complaints) == ({}, [])
    assert texts > LEAST_TEXTS


def test_ends_of_an_axis_do_not_overlap(browser, made):
    with browser.new_page() as page:
        page.goto(made("comparison").as_uri())
        ends = page.locator(".dots .axis").first.locator("span").all()
        boxes = [one.bounding_box() for one in ends]
        assert len(boxes) == 3
        for one, other in pairwise(boxes):
            assert one["x"] + one["width"] < other["x"]


@pytest.mark.parametrize("kind", ["comparison", "explanation", "many", "emulation"])
def test_tables_of_answers_need_no_scrolling_on_a_phone(browser, made, kind):
    with browser.new_page(viewport={"width": 390, "height": 900}) as page:
        page.goto(made(kind).as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        tables = page.locator(".scroll:has(table.narrow)").all()
        assert tables
        hidden = [one.evaluate("one => one.scrollWidth - one.clientWidth") for one in tables]
        assert max(hidden) <= 0


HOST = """.host dl dt { float: left; width: 20%; display: block; color: red; }
.host dl dd { float: left; width: 80%; margin-left: 4em; }
.host h1 { font-size: 3rem; margin: 3rem; text-transform: uppercase; }
.host tbody tr:nth-child(odd) { background: #eee; }
.host td, .host th { text-align: center; padding: 2em; max-width: none; }
.host ol li, .host p { margin: 5em; list-style: square; letter-spacing: .3em; }
.host small, .host b, .host span { font-size: 2rem; }"""
"""Rules for elements as notebooks have, such as JupyterLab's `.jp-RenderedHTMLCommon dl dt`."""
LOOK = """() => [...document.querySelectorAll(".nodeb, .nodeb *")].map(one => {
    const { x, y, width, height } = one.getBoundingClientRect(), style = getComputedStyle(one);
    return [one.tagName, x, y, width, height, style.color, style.background, style.font];
})"""


def test_style_of_a_notebook_does_not_change_an_answer(browser, small):
    """Sets the answer as notebooks do, as `innerHTML`."""
    result = small.run(runs=3)
    fragment = result._repr_html_() + result.compare(result)._repr_html_()
    looks = []
    for style in ("", HOST):
        with browser.new_page() as page:
            page.set_content(f"<style>{style}</style><div class=host></div>")
            page.evaluate("text => document.querySelector('.host').innerHTML = text", fragment)
            looks.append(page.evaluate(LOOK))
    assert looks[0] == looks[1]
    (first, second), tops = [one for one in looks[0] if one[0] in ("DT", "DD")][:2], 2
    assert first[tops] + first[4] <= second[tops] + 1, "a label is above its value"


def test_claims_of_all_studies_can_be_filtered(browser, made):
    with browser.new_page() as page:
        page.goto(made("studies").as_uri())
        shown = page.locator("#claim-list > li:visible")
        summary = page.locator("#shown")
        every = shown.count()
        assert summary.inner_text() == f"{every} claims."
        page.select_option("select[name=study]", "wang")
        assert shown.count() == every // 2
        page.select_option("select[name=verdict]", "holds")
        some = shown.count()
        assert 0 < some < every // 2
        assert summary.inner_text() == f"{some} of {every} claims: wang, holds."
        page.fill("input[name=words]", "no such words")
        assert shown.count() == 0
        page.emulate_media(media="print")
        assert summary.is_visible()
        assert not page.locator("form.filter").is_visible()


def test_unreadable_and_overflowing_text_is_detected(browser, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text(
        '<body style="background:#000"><p style="color:#222">faint</p>'
        '<svg><text y="20" fill="#111">dark</text></svg><div style="width:900px">wide</div>'
        '<p style="width:20px;overflow:hidden;white-space:nowrap">clipped here</p>'
        '<dl><dt style="width:30px;white-space:nowrap">over the next</dt></dl>'
        '<script>console.error("odd")</script>'
    )
    mode = ("screen", "light", 390)
    wrong, complaints, _ = looked_at(browser, bad, [mode])
    found = wrong[mode]
    dark = ["faint", "dark", "wide", "clipped here", "over the next"]
    assert [one.split(": ")[1] for one in found["faint"]] == dark
    assert found["cut"] == ["P: clipped here", "DT: over the next"]
    assert found["wide"]
    assert complaints == ["odd"]
