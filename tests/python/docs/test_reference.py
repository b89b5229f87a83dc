"""Tests of the scenario reference: it has every key once, and uses the terms of TOML."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from key_reference import LINE, Reference

from nodeb import _core
from nodeb.cli import invoke

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"

SCHEMA = json.loads(_core.schema())
PAGES = {page.name: page.read_text("utf-8") for page in sorted((DOCS / "scenario").glob("*.md"))}
REFERENCE = Reference(SCHEMA, PAGES)


def rows():
    """Yields the rows of all tables of keys on the pages, each with its heading and its cells."""
    for page in PAGES.values():
        heading = ""
        for line in page.splitlines():
            if line.startswith("#"):
                heading = line
            if line.startswith("| `") and line.count("|") - line.count("\\|") == 6:
                yield heading, re.split(r"(?<!\\) ?\| ?", line)[1:-1]


def test_every_key_is_documented_on_one_page():
    assert REFERENCE.missing() == []
    wanted = [
        key for part in [SCHEMA, *SCHEMA["$defs"].values()] for key in part.get("properties", ())
    ]
    found = [cells[0].strip("`") for heading, cells in rows() if "#range" not in heading]
    assert sorted(found) == sorted([*wanted, "together"])


def test_every_key_has_a_type_and_a_meaning():
    for heading, (key, kind, _, _, meaning) in rows():
        assert "" not in (kind, meaning), (heading, key)


def test_defaults_are_valid_toml():
    for heading, (key, _, default, _, _) in rows():
        if found := re.fullmatch(r"`(.*)`", default):
            value = tomllib.loads(f"x = {found[1]}")["x"]
            assert value != {}, (heading, key)


def test_no_name_of_the_code_appears():
    inner = [name for name in SCHEMA["$defs"] if re.search(r"[a-z][A-Z]|Spec$", name)]
    inner.remove("NewReno")  # `NewReno` is also the name of an algorithm, so it may appear.
    assert len(inner) > 50
    for page, text in PAGES.items():
        assert re.findall(rf"\b({'|'.join(inner)})\b", text) == [], page
        assert "null" not in text, page


def test_internal_links_have_targets():
    anchors = {page: set(re.findall(r"\{#(\S+)\}", text)) for page, text in PAGES.items()}
    for page, text in PAGES.items():
        for target, anchor in re.findall(r"\]\(([\w-]+\.md)?#([^)]+)\)", text):
            assert anchor in anchors[target or page], (page, target, anchor)
    for page, found in anchors.items():
        assert len(found) == len(re.findall(r"\{#(\S+)\}", PAGES[page])), page


def test_defaults_list_only_differences():
    cells = {(heading, one[0]): one for heading, one in rows()}
    assert cells["## `wired` {#wired}", "`queue`"][2] == '`"drop_tail"`'
    assert cells["## `wired` {#wired}", "`delay`"][1:4] == [
        "time",
        '`"110 ms"`',
        "ns, us, ms, s, min, h, µs",
    ]
    assert cells["## `radio.hsdpa` {#radio-hsdpa}", "`cell`"][2] == "that of its keys"
    assert cells["## `users.ue` {#users-ue}", "`category`"][2] == "`6`"


def test_shared_part_lists_all_its_keys():
    assert "`radio.hs_dsch.rlc` accepts the same variants as `radio.dch.rlc`" in PAGES["rlc.md"]
    assert "`uplink.queue`, `radio.lte.queue`" in PAGES["queues.md"]


def test_part_without_keys_is_rejected():
    with pytest.raises(ValueError, match="no section for `qeue`"):
        Reference(SCHEMA, {"a.md": "<!-- keys: wired.qeue -->\n<!-- end -->"})


@pytest.mark.parametrize("page", PAGES)
def test_pages_name_the_command_that_prints_their_keys(page):
    for path in LINE.findall(PAGES[page]):
        command = f"nodeb list keys {path}".strip()
        assert f"`{command}` prints the " in PAGES[page]
        assert invoke(command.split()[1:]) == 0
