"""Tests: the gallery has every example, with a figure drawn from the current file."""

import hashlib
import shlex
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
sys.path[:0] = [str(DOCS), str(ROOT / "tools")]
import docs_gallery  # noqa: E402
import gallery  # noqa: E402

MAX_BYTES = 60_000
"""Maximum size of a figure: the page has one for each example."""


def test_every_example_is_in_the_gallery():
    folder = ROOT / "examples"
    files = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.toml")}
    # Plug-ins are separate programs without a figure in the gallery.
    files = {name for name in files if not name.startswith("plugins/")}
    assert set(gallery.plan()) == files
    assert list(gallery.drawn()) == list(gallery.plan())


@pytest.mark.parametrize("name", gallery.plan())
def test_picture_matches_the_current_file(name):
    text = (ROOT / "examples" / f"{name}.toml").read_bytes()
    of = gallery.drawn()[name]
    assert of["example_sha256"] == hashlib.sha256(text).hexdigest(), "make gallery"
    assert of["seed"] == 1
    assert 0 < (DOCS / gallery.picture(name)).stat().st_size < MAX_BYTES


def test_every_picture_has_an_example():
    pictures = {path.relative_to(DOCS) for path in (DOCS / gallery.PICTURES).iterdir()}
    assert pictures == {gallery.picture(name) for name in gallery.plan()}


@pytest.mark.parametrize("name", gallery.plan())
def test_commands_belong_to_the_example(name):
    entry = gallery.plan()[name]
    assert f"examples/{name}.toml" in shlex.split(entry["command"])
    assert ("plot" in entry) != ("python" in entry)
    assert f"examples/{name}.toml" in entry.get("python", f"examples/{name}.toml")


def test_page_contains_every_example():
    text = gallery.expand((DOCS / "gallery.md").read_text("utf-8"), "gallery/")
    for name, entry in gallery.plan().items():
        assert f"`examples/{name}.toml`" in text
        assert entry["command"] in text
        assert f"({gallery.picture(name).as_posix()})" in text
    assert "{{" not in text


def test_other_programs_are_not_executed():
    with pytest.raises(ValueError, match=r"is not .nodeb."):
        docs_gallery.command("rm out")
