"""The playground: a page that simulates scenarios in a browser, without an Internet connection."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path

from nodeb import _core
from nodeb.errors import InputError

__all__ = ["link", "opener", "page"]

PAGE = Path(__file__).parent / "play.html"
OPENER = """<!doctype html>
<meta charset="utf-8">
<meta name="generator" content="nodeb {version}">
<title>nodeb playground</title>
<p><a href="{address}">Open the playground</a></p>
<script>location.replace(document.querySelector("a").href)</script>
"""


def page() -> Path:
    if not PAGE.is_file():
        raise InputError(
            "this installation has no playground; expected a wheel of nodeb, or `make playground` "
            "in its sources (which needs node and Rust's target wasm32-unknown-unknown)"
        )
    return PAGE


def link(text: str) -> str:
    """Returns the part of the page's address after `#` that holds a scenario.

    It has the form that `web/src/page/share/link.ts` reads: raw DEFLATE in base64url without
    padding.
    """
    compressor = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    packed = compressor.compress(text.encode()) + compressor.flush()
    return f"v=1&s={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def opener(text: str | None) -> str:
    """Returns a small HTML page that opens the playground with a scenario.

    Programs that open a file in a browser drop the part of its address after `#`. So they cannot
    open the playground with a scenario directly.
    """
    address = page().resolve().as_uri() + ("" if text is None else f"#{link(text)}")
    return OPENER.format(address=address.replace("&", "&amp;"), version=_core.version())
