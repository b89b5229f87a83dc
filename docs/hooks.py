"""Inserts measured numbers, example figures, live figures and comparisons with references into the
pages of the site.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import gallery
import generated
import live
import measured
import notebooks
import trusted

PARTS: dict[str, str] = {}


def on_pre_build(**_: Any) -> None:
    """Makes the parts of all pages: links between keys need the other pages."""
    PARTS.update(generated.expanded(generated.pages()))


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Replaces the marks in a page, such as `{{ number: SET.NAME }}` and `{{ gallery }}`."""
    markdown = PARTS.get(page.file.src_uri, markdown)
    markdown = gallery.expand(trusted.expand(measured.expand(markdown)), page.url)
    markdown = live.expand(markdown, page.url)
    sys.path.append(str(Path(__file__).parents[1] / "validation"))
    import linux_downloads as kernel

    for cases in kernel.FILES:
        mark = "{{ kernel: " + cases.stem + " }}"
        if mark in markdown:
            markdown = markdown.replace(mark, kernel.markdown(kernel.compare(cases)))
    if "{{ ns3 }}" in markdown:
        import ns3_lte

        markdown = markdown.replace("{{ ns3 }}", ns3_lte.markdown())
    return markdown


def on_post_build(config: Any, **_: Any) -> None:
    """Adds the playground and the labs' notebooks to the site."""
    site = Path(config["site_dir"])
    live.copy(site)
    notebooks.write(site / "labs" / "notebooks")
