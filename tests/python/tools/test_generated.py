"""Tests: the generated parts of pages are up to date."""

from pathlib import Path

import generated
import pytest

TEXTS = {page: page.read_text("utf-8") for page in generated.pages()}
CURRENT = generated.refreshed(TEXTS)


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.stem)
def test_generated_parts_of_pages_are_current(page):
    assert CURRENT[page] == TEXTS[page], "run `python tools/generated.py --write`"


@pytest.mark.parametrize("part", ["registry: wheel", "wheels: big"])
def test_unknown_part_is_rejected(part):
    text = f"<!-- {part} -->\n<!-- end -->\n"
    with pytest.raises(ValueError, match="wheel"):
        generated.refreshed({Path("a.md"): text})
