"""Self-contained HTML pages: a single file without external resources, light or dark, printable."""

from nodeb.report.render import render
from nodeb.report.svg import inline_svg

__all__ = ["inline_svg", "render"]
