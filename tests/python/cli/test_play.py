"""Tests: `nodeb play` opens the page with a scenario, and refuses what a page cannot simulate."""

from __future__ import annotations

import base64
import re
import zlib

import pytest

from nodeb import cli, play
from scenarios import SMALL


@pytest.fixture(autouse=True)
def opened(monkeypatch, tmp_path):
    """Replaces the page by an empty one and the browser by a list of the addresses opened."""
    page = tmp_path / "play.html"
    page.write_text("<head><title>nodeb playground</title></head>", encoding="utf-8")
    monkeypatch.setattr(play, "PAGE", page)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    addresses = []
    monkeypatch.setattr("webbrowser.open", lambda one: addresses.append(one) or True)
    return addresses


def scenario_in(page):
    """Returns the scenario with which a written page begins."""
    packed = re.search(r'location.hash = "v=1&s=([\w-]+)"', page)[1]
    return zlib.decompress(
        base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), wbits=-zlib.MAX_WBITS
    ).decode()


def test_opened_page_is_the_playground_with_the_scenario(opened, tmp_path, capsys):
    file = tmp_path / "small.toml"
    file.write_text(SMALL + "# é\n", encoding="utf-8")
    assert cli.invoke(["play", str(file)]) == 0
    [address] = opened
    assert address in capsys.readouterr().out
    page = tmp_path / address.rpartition("/")[2]
    assert scenario_in(page.read_text("utf-8")) == SMALL + "# é\n"
    assert page.stat().st_mode & 0o077 == 0, "only the user can read it"


def test_without_a_file_the_playground_begins_with_its_own_example(opened, tmp_path):
    assert cli.invoke(["play", "--no-open", "--out", str(tmp_path / "mine.html")]) == 0
    assert not opened
    page = (tmp_path / "mine.html").read_text("utf-8")
    assert "nodeb playground" in page
    assert "location.hash" not in page


def test_settings_change_the_scenario(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    out = tmp_path / "mine.html"
    arguments = ["--set", "seed=7", "--no-open", "--out", str(out)]
    assert cli.invoke(["play", str(tmp_path / "small.toml"), *arguments]) == 0
    assert "seed = 7" in scenario_in(out.read_text("utf-8"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (SMALL.replace("bler", "blr"), "radio.dch.blr"),
        (
            'radio.trace.down.file = "x.csv"\n[[users]]\ntraffic.ftp.size = "1 MB"\n',
            "names files, which a page cannot read",
        ),
    ],
)
def test_scenarios_that_a_page_cannot_simulate_are_refused(opened, tmp_path, capsys, text, says):
    file = tmp_path / "wrong.toml"
    file.write_text(text, encoding="utf-8")
    assert cli.invoke(["play", str(file)]) == 2
    assert says in capsys.readouterr().err
    assert not opened


def test_suggested_command_quotes_the_name_of_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = 'radio.trace.down.file = "x.csv"\n[[users]]\ntraffic.ftp.size = "1 MB"\n'
    (tmp_path / "my cell.toml").write_text(text, encoding="utf-8")
    assert cli.invoke(["play", "my cell.toml"]) == 2
    assert "or `nodeb run 'my cell.toml'`" in capsys.readouterr().err


def test_installation_without_a_page_says_how_to_get_one(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(play, "PAGE", tmp_path / "nothing.html")
    assert cli.invoke(["play"]) == 2
    assert "make playground" in capsys.readouterr().err


def test_page_that_cannot_be_written_is_an_error(tmp_path, capsys):
    assert cli.invoke(["play", "--out", str(tmp_path / "no" / "mine.html")]) == 2
    assert "mine.html" in capsys.readouterr().err


def test_only_pages_are_replaced(opened, tmp_path, capsys):
    file, out = tmp_path / "mine.toml", tmp_path / "mine.html"
    file.write_text(SMALL, encoding="utf-8")
    for _ in range(2):
        assert cli.invoke(["play", str(file), "--no-open", "--out", str(out)]) == 0
    assert cli.invoke(["play", str(file), "--no-open", "--out", str(file)]) == 2
    assert "give a name that ends in .html" in capsys.readouterr().err
    out.write_text(SMALL, encoding="utf-8")
    assert cli.invoke(["play", str(file), "--no-open", "--out", str(out)]) == 2
    assert "is not a page that nodeb made" in capsys.readouterr().err
    assert file.read_text("utf-8") == out.read_text("utf-8") == SMALL
