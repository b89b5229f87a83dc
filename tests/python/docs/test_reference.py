"""Tests of the scenario reference: it has every key once, with TOML's defaults and valid links."""

import json
import re
import tomllib
from pathlib import Path

import generator
import pytest
from key_reference import LINE, Reference

from nodeb import _core
from nodeb.cli import invoke

SCHEMA = json.loads(_core.schema())
FOLDER = Path(generator.__file__).parent / "scenario"
MARKED = {page.name: page.read_text("utf-8") for page in sorted(FOLDER.glob("*.md"))}
PAGES = {
    name: generator.expanded(text, generator.Place(f"scenario/{name}", ""))
    for name, text in MARKED.items()
}


def rows():
    """Yields heading and cells of each row of the tables of keys."""
    for page in PAGES.values():
        heading = ""
        for line in page.splitlines():
            if line.startswith("#"):
                heading = line
            if line.startswith("| `") and line.count("|") - line.count("\\|") == 6:
                yield heading, re.split(r"(?<!\\) ?\| ?", line)[1:-1]


def test_every_key_is_documented_on_one_page():
    assert generator.reference().missing() == []
    parts = [SCHEMA, *SCHEMA["$defs"].values()]
    keys = [key for part in parts for key in part.get("properties", ())]
    assert sorted(cells[0].strip("`") for _, cells in rows()) == sorted(keys)


def test_keys_have_types_and_defaults_of_toml():
    for heading, (key, kind, _, default, meaning) in rows():
        assert "" not in (kind, meaning), (heading, key)
        if literal := re.fullmatch(r"`(.*)`", default):
            assert tomllib.loads(f"x = {literal[1]}")["x"] != {}, (heading, key)


def test_internal_links_have_targets():
    anchors = {page: re.findall(r"\{#(\S+)\}", text) for page, text in PAGES.items()}
    for page, text in PAGES.items():
        assert len(set(anchors[page])) == len(anchors[page]), page
        for target, anchor in re.findall(r"\]\(([\w-]+\.md)?#([^)]+)\)", text):
            assert anchor in anchors[target or page], (page, target, anchor)


def test_part_without_keys_is_rejected():
    with pytest.raises(ValueError, match="qeue"):
        Reference(SCHEMA, {"a.md": "{{ nodeb list keys wired.qeue }}"})


@pytest.mark.parametrize("page", PAGES)
def test_command_that_prints_the_keys_of_a_page_works(page):
    for path in LINE.findall(MARKED[page]):
        command = f"nodeb list keys {path}".strip()
        assert f"`{command}`" in PAGES[page]
        assert invoke(command.split()[1:]) == 0
