"""Tests of the playground in Firefox: every starting point gets its answer.

Needs the page (`make playground`), Firefox and tornado; skipped without them.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import nodeb
from firefox import opened

PAGE = Path(nodeb.__file__).parent / "play" / "play.html"
if not PAGE.exists():
    pytest.skip("the playground is not built: `make playground` builds it", allow_module_level=True)

STARTS = sorted((Path(__file__).parents[3] / "web" / "starts").glob("*.toml"))
CHOOSE = """(async () => {
    const list = document.querySelector(".topbar select");
    list.value = %r;
    list.dispatchEvent(new Event("change", {bubbles: true}));
    const frame = () => new Promise(requestAnimationFrame);
    for (let n = 0; n < 3; n++) await frame();
    const result = document.querySelector(".result");
    while (result.ariaBusy !== "false" && result.getAttribute("aria-busy") !== "false")
        await new Promise((resolve) => setTimeout(resolve, 50));
    return [document.querySelector("h1").textContent,
        document.querySelectorAll("figure.chart canvas").length];
})()"""
LOADED = """(async () => {
    while (!document.querySelector(".result")) await new Promise((go) => setTimeout(go, 50));
    return true;
})()"""


def test_every_starting_point_has_an_answer_and_figures_in_firefox():
    async def answers():
        async with opened() as tab:
            await tab.open(PAGE.as_uri())
            await tab.evaluate(LOADED)
            found = {one.stem: await tab.evaluate(CHOOSE % one.stem) for one in STARTS}
            return found, tab.complaints

    found, complaints = asyncio.run(answers())
    assert not complaints
    for start, (headline, charts) in found.items():
        assert headline, start
        assert not headline.startswith("Simulating"), start
        assert charts >= 3, start
