"""Self-contained HTML pages: one file that asks for nothing else, light or dark, also on paper."""

from nodeb.report.render import render
from nodeb.report.svg import inline_svg, png, standalone_svg

__all__ = ["inline_svg", "png", "render", "standalone_svg"]
