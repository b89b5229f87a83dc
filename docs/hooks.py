"""Inserts measured numbers, example figures and comparisons with references into the pages of the
site.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import gallery
import measured
import trusted


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replaces the marks in a page, such as `{{ number: SET.NAME }}` and `{{ gallery }}`."""
    markdown = gallery.expand(trusted.expand(measured.expand(markdown)))
    sys.path.append(str(Path(__file__).parents[1] / "tools"))
    import linux_downloads as kernel

    for cases in kernel.FILES:
        mark = "{{ kernel: " + cases.stem + " }}"
        if mark in markdown:
            markdown = markdown.replace(mark, kernel.markdown(kernel.compare(cases)))
    return markdown
