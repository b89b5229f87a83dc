"""Fills the page templates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape


def unbroken(text: str) -> str:
    """Text in which a number stays with its unit and a hyphenated name in one piece."""
    text = re.sub(r"(?<=\d) (?=(kb/s|kB|MB|ms|bytes|%))", "\N{NO-BREAK SPACE}", text)
    return re.sub(r"\bHS-DSCH\b", "HS\N{NON-BREAKING HYPHEN}DSCH", text)


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
    return environment


def render(template: str, content: Mapping[str, Any]) -> str:
    """The text of a page.

    Args:
        template: file name in the package's templates, for example "reproduction.html".
        content: what the template shows; a name that it uses and that is missing is an error.
    """
    return _environment().get_template(template).render(content)
