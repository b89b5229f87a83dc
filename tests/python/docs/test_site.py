"""Tests of the site that mkdocs builds."""

import subprocess
import sys
from pathlib import Path

import pytest

from browsers import needs_chromium

ROOT = Path(__file__).parents[3]


@needs_chromium
@pytest.mark.slow
def test_search_of_a_folder_needs_no_network(browser, tmp_path):
    pytest.importorskip("material")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", tmp_path]
    subprocess.run(build, cwd=ROOT, check=True)
    with browser.new_context(offline=True) as context:
        page, asked = context.new_page(), []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((tmp_path / "labs" / "1-slow-start.html").as_uri())
        page.locator(".md-search__input").click()
        page.keyboard.type("snoop")
        page.locator(".md-search-result a[href*='/models/proxies.html']").first.click()
        page.wait_for_url("**/proxies.html*")
    assert [url for url in asked if url.startswith("http")] == []
