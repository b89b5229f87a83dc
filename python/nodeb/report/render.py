"""Fills the page templates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from nodeb.answer import paints

UNITS = r"[kMG]?bit/s|[kMG]b/s|[kM]?B|ms|s|m|bytes"
"""What stays with the number before it."""


def unbroken(text: str) -> Markup:
    """Text in which a number stays with its unit and a hyphenated name in one piece.

    What stands between backticks is code.
    """
    text = re.sub(rf"(?<=\d) (?=({UNITS})\b|%)", "\N{NO-BREAK SPACE}", str(escape(text)))
    text = re.sub(r"\bHS-DSCH\b", "HS\N{NON-BREAKING HYPHEN}DSCH", text)
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", text))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("nodeb.report", "templates"),
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
    """The text of a page.

    Args:
        template: file name in the package's templates, for example "reproduction.html".
        content: what the template shows; a name that it uses and that is missing is an error.
    """
    return _environment().get_template(template).render(content)
