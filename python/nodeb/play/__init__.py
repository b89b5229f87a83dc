"""The playground: a page that simulates scenarios in a browser, without an Internet connection."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path

from nodeb import _core
from nodeb.errors import InputError

__all__ = ["document", "link", "page"]

PAGE = Path(__file__).parent / "play.html"


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


def document(text: str | None) -> str:
    """Returns the playground as one page that begins with a scenario, and needs no other file."""
    begin = f'<meta name="generator" content="nodeb {_core.version()}">'
    if text is not None:
        # The fragment of a link that a reader opens goes before the page's own scenario.
        begin += f'<script>if (location.hash.length < 2) location.hash = "{link(text)}";</script>'
    return page().read_text("utf-8").replace("<head>", f"<head>{begin}", 1)
