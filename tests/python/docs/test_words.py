"""Tests of rules for words, on the pages and in the code."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
# The page is generated from the commands and contains the names of their arguments.
PAGES.remove(DOCS / "commands.md")
CODE = re.compile(r"^ *```.*?^ *```|<!-- .*? -->|`[^`]*`|\]\([^)]*\)|https?://\S+", re.M | re.S)
ABBREVIATION = re.compile(r"(?<![\w/-])[A-Z][A-Z0-9]*(?:-[A-Z]+)*[A-Z]s?(?![\w/])")
EVERYDAY = """
    API ASCII CI CPU CPUs CSV DNS DPI ETA GB GHz HTML HTTP HTTPS ID IDs IEEE II III IV IP IT JSON KB
    LAN LTE MB MHz NAT NR OS PDF PNG RFC RFCs SHA SIGINT SIGTERM SQL SSH SVG TB TCP TOML TR TS TV
    UDP URL USA UTC UTF-8 XML
"""
"""Abbreviations known to readers of technical texts, and names of series of standards."""
NAMES = """
    AFF3CT AMD AT CCR CDC COST CRUISE EPYC ICPWC IETF IMC ISSSTA ITU KTH MIT MTNS NSDI PCAP SEACORN
    SIGCOMM VTC CHANGELOG CONTRIBUTING DESIGN README
"""
"""Conferences, journals, organizations, projects, products and files."""
EMPHASIS = re.compile(r"\b(?:AND|NOT|OR|OFF)\b")


def abbreviations(text):
    """Returns the abbreviations in the prose of a page, without a plural `s`."""
    prose = EMPHASIS.sub("", CODE.sub(" ", text))
    return {found.removesuffix("s") for found in ABBREVIATION.findall(prose)}


GLOSSARY = abbreviations((DOCS / "glossary.md").read_text("utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_abbreviation_is_in_the_glossary(page):
    unknown = (
        abbreviations(page.read_text("utf-8")) - GLOSSARY - {*EVERYDAY.split(), *NAMES.split()}
    )
    assert not unknown, f"define these in docs/glossary.md: {', '.join(sorted(unknown))}"


def test_unknown_abbreviation_is_detected():
    assert abbreviations("The QZX of `ABC` meets two QRPs.") == {"QZX", "QRP"}
