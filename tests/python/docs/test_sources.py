"""Every source cited in the code is listed in SOURCES.md, and every listed source is cited."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ENDINGS = {".rs", ".py", ".md", ".toml", ".csv", ".pyi"}
FOLDERS = ("crates", "python", "docs", "examples", "tools", "benches", "fuzz")
SPECIFICATION = re.compile(
    r"\bRFC \d{3,5}\b|\bT[SR] \d{2}\.\d{3}\b|\bTR \d{3} \d{3}\b|\bM\.\d{4}\b|\bC\.R\d{4}\b"
    r"|\bdraft-[a-z]+(?:-[a-z]+)*(?:-\d{2})?\b"
)
NAME = r"[A-Z][\w-]*[a-zé][\w-]*"
VENUE = r"(?: [A-Z]{2,}[\w-]*)?"
PAPER = re.compile(
    rf"\b({NAME})(?: and others| et al\.)?,?{VENUE} \(?((?:19|20)\d\d)(?:\)|\b(?! MB))"
)
NO_NAMES = {
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December", "Spring", "Fall", "Release", "Globecom", "Performance"),
    *("Communications", "Conference", "Connections", "Downlink", "Intervals", "Networks"),
    *("Signalling", "Stockholm", "Wiley", "UTC", "Systems"),
}
"""Other text before a year: months, places, ends of titles."""
HOW = ("text", "implementation", "calculation", "memory", "not found")


def entries():
    """Yields the rows of the tables in SOURCES.md: the source, its use, and how its use was
    checked.
    """
    for line in (ROOT / "SOURCES.md").read_text("utf-8").splitlines():
        if line.startswith("| ") and not line.startswith("| Source |"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def texts():
    """Returns the text of every file of the project that may contain citations, by path."""
    found = [ROOT / "README.md", ROOT / "DESIGN.md"]
    for folder in FOLDERS:
        parts = (path for path in (ROOT / folder).rglob("*") if path.suffix in ENDINGS)
        found += [path for path in parts if "target" not in path.parts]
    return {path: path.read_text("utf-8") for path in found}


ENTRIES = list(entries())
TEXTS = texts()
EVERYTHING = "\n".join(TEXTS.values())


def named(draft):
    """Returns the name of an IETF draft without its version number, which the code may omit."""
    return re.sub(r"-\d{2}$", "", draft)


def specifications(text):
    return {named(found) for found in SPECIFICATION.findall(text)}


def papers(text):
    """Returns name and year of every citation of a paper in `text`. The name is that of the last
    author cited.
    """
    return {found for found in PAPER.findall(text) if found[0] not in NO_NAMES}


def known(name, year):
    return any(name in entry[0] + entry[2] and year in entry[0] + entry[2] for entry in ENTRIES)


def test_every_source_states_how_it_was_checked():
    for entry in ENTRIES:
        assert len(entry) == 3, entry
        assert any(re.search(rf"\b{how}\b", entry[2]) for how in HOW), entry


def test_every_source_is_listed_once():
    titles = [title for entry in ENTRIES for title in re.findall(r"\*([^*]{20,})\*", entry[0])]
    assert sorted(titles) == sorted(set(titles))
    found = [one for entry in ENTRIES for one in specifications(entry[0])]
    assert sorted(found) == sorted(set(found))


def test_every_cited_specification_is_listed():
    listed = specifications("\n".join(entry[0] for entry in ENTRIES))
    missing = {
        one: path.relative_to(ROOT).as_posix()
        for path, text in TEXTS.items()
        for one in specifications(text) - listed
    }
    assert missing == {}


def test_every_cited_paper_is_listed():
    missing = {
        " ".join(one): path.relative_to(ROOT).as_posix()
        for path, text in TEXTS.items()
        for one in papers(text)
        if not known(*one)
    }
    assert missing == {}


def test_every_listed_specification_is_cited():
    listed = specifications("\n".join(entry[0] for entry in ENTRIES))
    assert listed - specifications(EVERYTHING) == set()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry[0][:30])
def test_every_listed_author_is_named(entry):
    """Every listed author is named in the project. The authors of a work are the surnames before
    its title.
    """
    for authors in re.findall(r"(?:^|; )([^*;]+?), \*", entry[0]):
        names = re.findall(rf"(?:[A-Z]\.[ -])+(?:[a-z]+ )?({NAME})", authors)
        named = [name for name in names if re.search(rf"\b{name}\b", EVERYTHING)]
        assert named or not names, f"nobody cites {authors}"
