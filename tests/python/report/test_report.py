"""Tests of the report page: it loads nothing from outside and shows all mismatches."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from nodeb import plot
from nodeb.plot.source import save
from nodeb.report import inline_svg

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Outline(HTMLParser):
    """Parser that checks the order of tags. It collects links, identifiers and loaded resources."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name == "href" and value:
                self.targets.append(value)
            if name in ("src", "srcset", "data", "action", "poster") and value:
                self.loaded.append(value)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag


@pytest.fixture(scope="module")
def page(quick_wang: Path) -> str:
    return (quick_wang / "report.html").read_text(encoding="utf-8")


def test_page_is_well_formed_with_valid_links(page: str) -> None:
    outline = Outline()
    outline.feed(page)
    assert not outline.open
    assert len(outline.ids) == len(set(outline.ids)), "an identifier occurs twice"
    inner = [target[1:] for target in outline.targets if target.startswith("#")]
    assert inner
    assert set(inner) <= set(outline.ids)


def test_page_makes_no_requests(page: str) -> None:
    outline = Outline()
    outline.feed(page)
    assert not outline.loaded
    assert all(target.startswith("#") for target in outline.targets)
    assert "http:" not in page
    assert "https:" not in page
    assert "@import" not in page
    assert "<script" not in page
    assert not re.search(r"url\((?!#)", page)


def test_page_contains_no_local_path(page: str) -> None:
    assert str(Path.home()) not in page
    assert str(Path(__file__).resolve().parents[3]) not in page
    assert "/tmp" not in page


def test_inline_figures_have_unique_identifiers_and_follow_the_theme() -> None:
    data = [plot.Line("a", [1.0, 2.0], [0.9, 1.9], [1.1, 2.1])]
    first, second = (
        inline_svg(plot.lines("title", "x", "y", [1, 2], data), name, 'says "<this>"')
        for name in ("figure-1", "figure-2")
    )
    ids = [set(re.findall(r'\bid="([^"]+)"', text)) for text in (first, second)]
    assert ids[0]
    assert not ids[0] & ids[1]
    used = set(re.findall(r"(?:url\(|href=\")#([^)\"]+)", first))
    assert used <= ids[0]
    assert "var(--c0)" in first
    assert "currentColor" in first
    assert 'aria-label="says &quot;&lt;this>&quot;"' in first
    assert "title" not in re.sub(r"<[^>]*>", "", first)


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_figure_files_are_reproducible(tmp_path: Path, suffix: str) -> None:
    def draw(folder: Path) -> bytes:
        folder.mkdir()
        figure = plot.lines("title", "x", "y", [1, 2], [plot.Line("a", [1.0, 2.0])])
        save(figure, folder / f"a.{suffix}")
        return (folder / f"a.{suffix}").read_bytes()

    assert draw(tmp_path / "first") == draw(tmp_path / "second")
