"""Finds defects of a page in a real browser: Chromium, controlled by `playwright`."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

import nodeb

PROGRAMS = "chromium|chromium-browser"
PLAY = Path(nodeb.__file__).parent / "play"
needs_chromium = pytest.mark.needs(PROGRAMS)
needs_playground = pytest.mark.skipif(
    not (PLAY / "play.html").exists(), reason="`make playground` has not built the page"
)
LOOKS = (Path(__file__).parent / "looks.js").read_text(encoding="utf-8")
MODES = [("screen", scheme, width) for scheme in ("light", "dark") for width in (390, 1400)]
MODES += [("print", "dark", 718)]
"""Medium, colour scheme and width in pixels: of a phone, a desktop, and A4 with margins of 1 cm."""


@contextmanager
def chromium():
    from playwright import sync_api

    path = next(filter(None, map(shutil.which, PROGRAMS.split("|"))))
    # As root, Chromium starts only without its sandbox.
    args = ["--no-sandbox"] if os.geteuid() == 0 else []
    with (
        sync_api.sync_playwright() as driver,
        driver.chromium.launch(executable_path=path, args=args) as browser,
    ):
        yield browser


def looked_at(browser, file, modes=MODES):
    """Opens a page in each of `modes`.

    Returns its defects by mode, the browser's error messages, and the number of texts on the page.
    """
    wrong, complaints = {}, []
    with browser.new_page() as page:
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfailed", lambda request: complaints.append(request.url))
        page.goto(file.as_uri())
        for media, scheme, width in modes:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(media=media, color_scheme=scheme)
            defects = page.evaluate(LOOKS)
            if defects["wide"] or defects["faint"] or defects["cut"]:
                wrong[media, scheme, width] = defects
    return wrong, complaints, defects["texts"]
