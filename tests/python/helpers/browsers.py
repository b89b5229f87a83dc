"""Finds defects of a page in a real browser.

Needs Chromium and `playwright`, which controls it. Without them, tests that import this module are
skipped.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
if CHROMIUM is None:
    pytest.skip("Chromium is not installed: pages are not looked at", allow_module_level=True)
playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: pages are not looked at"
)

LOOKS = (Path(__file__).parent / "looks.js").read_text(encoding="utf-8")
MODES = [("screen", scheme, width) for scheme in ("light", "dark") for width in (390, 1400)]
MODES += [("print", "dark", 718)]
"""Medium, colour scheme and width in pixels: of a phone, a desktop, and A4 with margins of 1 cm."""


@contextmanager
def chromium():
    # As root, Chromium starts only without its sandbox.
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with (
        playwright.sync_playwright() as driver,
        driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"] if root else []
        ) as one,
    ):
        yield one


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
            found = page.evaluate(LOOKS)
            if found["wide"] or found["faint"] or found["cut"]:
                wrong[media, scheme, width] = found
    return wrong, complaints, found["texts"]
