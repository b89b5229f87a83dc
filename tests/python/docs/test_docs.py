"""Tests: the instructions in the README and in the documentation work."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import nodeb
from nodeb.sweep import Sweep

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
REFERENCE = sorted((ROOT / "docs" / "scenario").glob("*.md"))

BARE = """
import sys
import tomllib
class Nowhere:  # as where nothing but nodeb is installed
    def find_spec(self, name, path=None, target=None):
        if name in ("pandas", "polars"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Nowhere())
import matplotlib
matplotlib.use("Agg")
"""


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)


def snippets():
    """Yields the Python snippets that a beginner will try, each after its name."""
    for name in ("docs/quickstart.md",):
        yield name, "\n".join(blocks(ROOT / name, "python"))
    begin, _, _ = nodeb.__doc__.partition("Further help:")
    lines = [line[4:] for line in begin.splitlines() if line.startswith("    ")]
    yield "help(nodeb)", "\n".join(lines)


@pytest.mark.parametrize(("where", "code"), list(snippets()), ids=[name for name, _ in snippets()])
def test_commands_for_beginners_work_without_extras(where, code, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", BARE + code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def examples():
    for page in (ROOT / "README.md", ROOT / "docs" / "index.md", *REFERENCE):
        for number, text in enumerate(blocks(page, "toml")):
            yield pytest.param(text, id=f"{page.stem}-{number}")


@pytest.mark.parametrize("text", list(examples()))
def test_every_example_of_the_reference_is_a_valid_scenario(text, tmp_path):
    file = tmp_path / "example.toml"
    file.write_text(text, encoding="utf-8")
    found = Sweep.load(file) if "[sweep" in text else nodeb.load(file)
    assert not found.warnings()


def test_every_page_of_the_reference_has_an_example():
    assert [page.name for page in REFERENCE if not blocks(page, "toml")] == []


def test_navigation_contains_every_page():
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    named = set(re.findall(r": (\S+\.md)$", text, re.M))
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in PAGES[1:]}
    assert named == pages


def test_version_is_the_same_everywhere():
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]
    (cited,) = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.M)
    assert cargo["version"] == cited == nodeb.__version__
