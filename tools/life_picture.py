"""Makes the figure of `docs/life.md`: a screenshot of the page of a download.

Needs Chromium: `python tools/life_picture.py docs/images/life.png`.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import nodeb

SCENARIO = """
name = "100 kB over HS-DSCH"
[wired]
loss = 0.03
[radio.hs_dsch]
bler = 0.1
[[users]]
traffic.ftp.size = "100 kB"
"""
WIDTH, HEIGHT = 1100, 800
SHOWN = "performance.getEntriesByName('life-first-view').length > 0"


def picture(file: Path) -> None:
    """Writes a screenshot of the page to a file.

    Each CSS pixel has 1.5 device pixels, so that text is sharp.
    """
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    root = hasattr(os, "geteuid") and os.geteuid() == 0  # Chromium cannot use its sandbox as root.
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        source = Path(folder) / "download.toml"
        source.write_text(SCENARIO, encoding="utf-8")
        page_file = Path(folder) / "life.html"
        page_file.write_text(nodeb.load(source).life().html(), encoding="utf-8")
        browser = driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"] if root else []
        )
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT},
            device_scale_factor=1.5,
            color_scheme="light",
        )
        page.goto(page_file.as_uri())
        page.wait_for_function(SHOWN)
        page.locator("#stage").screenshot(path=file)
        browser.close()


if __name__ == "__main__":
    picture(Path(sys.argv[1]))
