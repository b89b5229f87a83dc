"""Tests of an explanation's page in a real browser: it is readable, fits its width, and makes no
requests.
"""

from __future__ import annotations

import pytest

import nodeb
from browsers import looked_at
from nodeb.report.explained import page
from nodeb.scenario_types import Dch, FachDch, Ftp, Hsdpa, HsDsch, Iub, Radio, UserGroup

RADIOS: dict[str, Radio] = {
    "dch": Dch(bler=0.1),
    "hs_dsch": HsDsch(bler=0.2),
    "hsdpa": Hsdpa(iub=Iub(room="1 kB")),
    "fach_dch": FachDch(),
}
MODES = [("screen", scheme, width) for scheme in ("light", "dark") for width in (390, 1400)]
MODES += [("print", "dark", 718)]
REQUESTS = """performance.getEntriesByType("resource").map(one => one.name)"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Returns a function that creates the page of each kind of radio once, and returns its path."""
    folder, files = tmp_path_factory.mktemp("explained"), {}

    def file(kind):
        if kind not in files:
            users = [UserGroup(count=3, traffic=Ftp(size="100 kB"))]
            scenario = nodeb.Scenario(name=f"a page of {kind}", radio=RADIOS[kind], users=users)
            found = {f"user {one}": nodeb.explain(scenario, user=one, runs=3) for one in (0, 2)}
            files[kind] = folder / f"{kind}.html"
            files[kind].write_text(page(found, found["user 0"].what_if()), encoding="utf-8")
        return files[kind]

    return file


@pytest.mark.parametrize("kind", RADIOS)
def test_page_is_readable_and_fits(browser, made, kind):
    wrong, complaints, texts = looked_at(browser, made(kind), MODES)
    assert (wrong, complaints) == ({}, [])
    assert texts > 50


def test_page_has_figures_and_tables_and_makes_no_requests(browser, made):
    asked = []
    with browser.new_page(viewport={"width": 1400, "height": 900}) as shown:
        shown.on("request", lambda request: asked.append(request.url))
        shown.goto(made("hsdpa").as_uri())
        story, beside = shown.locator("#story"), shown.locator("#causes svg")
        for box in (story.bounding_box(), beside.bounding_box()):
            assert box["width"] > 300
            assert box["height"] > 100
        assert story.locator(".plot").count() == 3
        assert story.locator(".strip i").count() > 3
        assert story.bounding_box()["y"] < shown.locator(".rank").first.bounding_box()["y"]
        header = shown.locator("header.top").inner_text()
        assert "waiting for the scheduler" in header
        assert "alone in the cell" in header
        shown.locator("#words summary").click()
        assert shown.locator("#words dt").first.is_visible()
        assert shown.evaluate(REQUESTS) == []
    assert asked == [made("hsdpa").as_uri()]
