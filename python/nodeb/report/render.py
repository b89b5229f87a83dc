"""Renders HTML pages from the templates of the package, with non-breaking units."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from nodeb.answer import paints

UNITS = r"[kMG]?bit/s|[kMG]b/s|[kM]?B|ms|s|m|bytes"
"""Regular expression of the units before which no line is broken."""


def unbroken(text: str) -> Markup:
    """Returns markup with non-breaking spaces before units and a non-breaking hyphen in HS-DSCH."""
    text = re.sub(rf"(?<=\d) (?=({UNITS})\b|%)", "\N{NO-BREAK SPACE}", str(escape(text)))
    text = re.sub(r"\bHS-DSCH\b", "HS\N{NON-BREAKING HYPHEN}DSCH", text)
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", text))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("nodeb", "templates"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["unbroken"] = unbroken
    environment.filters["paint"] = paints.paint
    environment.globals["paints"] = paints
    return environment


def render(template: str, content: Mapping[str, Any]) -> str:
    return _environment().get_template(template).render(content)
