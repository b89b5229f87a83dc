"""Tests: components on the pages about extensions exist, are built and are registered."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = sorted((ROOT / "docs/extending").glob("*.md"))
MODULES = ["urgent", "head_drop", "quota", "aimd", "periodic"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_named_on_page_exist(page: Path) -> None:
    named = r"(?:`|\")((?:crates|examples|python|docs|tests)/[\w./-]+)"
    for file in re.findall(named, page.read_text()):
        assert (ROOT / file).exists(), file


@pytest.mark.parametrize("module", MODULES)
def test_page_shows_component_that_is_built_and_registered(module: str) -> None:
    text = (ROOT / "docs/extending/plugins.md").read_text()
    assert f'--8<-- "examples/plugins/src/{module}.rs"' in text
    registered = (ROOT / "examples/plugins/src/lib.rs").read_text()
    assert f"pub mod {module};" in registered
    assert f'"{module}"' in registered
    assert (ROOT / f"examples/plugins/scenarios/{module}.toml").exists()
