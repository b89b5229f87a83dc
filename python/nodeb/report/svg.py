"""Figures as files and as part of a page, where they use its light or dark colours."""

from __future__ import annotations

import re

from matplotlib.figure import Figure

from nodeb.answer.paints import FAMILIES, PACKETS
from nodeb.plot.source import image
from nodeb.plot.style import FAINT, INK, MUTED, PALETTE, pale

_FAMILY = re.compile(r"((?:font-family: |font: )(?:[\w.]+ )*?[\d.]*(?:px )?)'DejaVu Sans'[^;\"]*")
_PATH = re.compile(r'\bd="[^"]*"')
_LONG = re.compile(r"(\.\d\d)\d+")
"""Regular expression of decimals to be shortened: those of a coordinate beyond 0.01 points."""
_COLOR = re.compile(r"#[0-9a-fA-F]{6}\b")
GREYISH = 6
"""Largest difference between the components (0 to 255) of a colour that counts as grey."""
_ID = re.compile(r'\b(id="|url\(#|href="#)')


def inline_svg(figure: Figure, name: str, description: str) -> str:
    """The figure's colours become the page's CSS variables (`--c0` ..., `--grid`, the text
    colour). Identifiers begin with `name`, so that several figures can share a page."""
    for axes in figure.axes:
        axes.set_title("", loc="left")
        axes.set_facecolor("none")
    if figure.get_suptitle():
        figure.suptitle("")
    text = image(figure, ".svg", name, facecolor="none").decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # In HTML, an <svg> element needs neither XML namespaces nor xlink prefixes.
    text = re.sub(r' xmlns(?::\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
    text = _ID.sub(lambda match: f"{match.group(1)}{name}-", text)
    text = _themed(_FAMILY.sub(r"\1system-ui, sans-serif", text))
    text = _PATH.sub(lambda path: _LONG.sub(r"\1", path.group()), text)
    label = description.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    head, end, rest = text.partition(">")
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    return head.replace("<svg", f'<svg role="img" aria-label="{label}"', 1) + end + rest


def _themed(text: str) -> str:
    """Replaces each colour of an SVG text by the page's CSS variable for it."""
    names = {INK: "currentColor", FAINT: "var(--grid)", MUTED: "var(--muted)"}
    names |= {"#000000": "currentColor", "#ffffff": "var(--page)"}
    names |= {paint.lower(): f"var(--c{place})" for place, paint in enumerate(PALETTE)}
    for name, hue in FAMILIES.items():
        mixed = f"color-mix(in srgb, var(--k-{name}) 30%, var(--page))"
        names |= {hue.light: f"var(--k-{name})", pale(hue.light): mixed}
    names |= {hue.light: f"var(--{name})" for name, hue in PACKETS.items()}

    def themed(found: re.Match[str]) -> str:
        paint = found.group().lower()
        if paint in names:
            return names[paint]
        red, green, blue = (int(paint[at : at + 2], 16) for at in (1, 3, 5))
        if max(red, green, blue) - min(red, green, blue) > GREYISH:
            return paint
        share = round(100 * (1 - (red + green + blue) / 765))
        return f"color-mix(in srgb, var(--text) {share}%, var(--page))"

    return _COLOR.sub(themed, text)
