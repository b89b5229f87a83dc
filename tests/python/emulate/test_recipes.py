"""Tests of the recipes for real programs: the commands of the page run, with stand-ins too."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import stand_ins
from emulations import PATIENT, forbidden

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/emulate/recipes.md").read_text("utf-8")
RECIPES = {
    "browser": ("chromium", "a page"),
    "video": ("mpv", ""),
    "iperf3": ("iperf3", "receiver"),
    "quic": ("quiche-client", "a page"),
}


def commands(anchor):
    """Returns the commands of a recipe, each in a line."""
    section = re.split(rf"^## .*{{#{anchor}}}$", PAGE, flags=re.MULTILINE)[1].partition("\n## ")[0]
    blocks = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    return "".join(blocks).replace("\\\n", " ").splitlines()


def run(line, folder, first):
    """Runs a command of the page in a folder, twice and without judging the machine's speed.

    `first` is the folder in which programs are searched first.
    """
    words = shlex.split(line.replace("-t 10", "-t 1").replace("/tmp/nodeb-profile", "profile"))
    if words[0] == "nodeb":
        words = [sys.executable, "-m", "nodeb", words[1], *PATIENT, *words[2:]]
        if "--runs" in words:
            words[words.index("--runs") + 1] = "2"
    environment = {**os.environ, "PATH": os.pathsep.join([str(first), os.environ["PATH"]])}
    limits = {"cwd": folder, "env": environment, "timeout": 120}
    return subprocess.run(words, capture_output=True, text=True, check=False, **limits)


@pytest.fixture
def site(tmp_path):
    if why := forbidden():
        pytest.skip(f"real packets are not let through here: {why}")
    site = tmp_path / "site"
    site.mkdir()
    (site / "page.html").write_text('<p>a page</p><script src="library.js"></script>')
    (site / "library.js").write_text("// nothing\n" * 500)
    (site / "video.mp4").write_bytes(bytes(20_000))
    return tmp_path


def check(recipe, site, first):
    program, said = RECIPES[recipe]
    line, *more = commands(recipe)
    assert program in line
    done = run(line, site, first)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
    assert "The command takes" in done.stderr
    for line in more:
        done = run(line, site, first)
        assert done.returncode == 0, done.stderr
        assert "2 pairs" in done.stdout


@pytest.mark.parametrize(
    "recipe",
    ["quic", *(pytest.param(one, marks=pytest.mark.slow) for one in RECIPES if one != "quic")],
)
def test_recipes_run_with_stand_ins(recipe, site, tmp_path):
    check(recipe, site, stand_ins.install(tmp_path / "programs"))


@pytest.mark.slow
@pytest.mark.needs("chromium")
def test_a_browser_loads_the_page(site, tmp_path):
    check("browser", site, tmp_path)


@pytest.mark.needs("mpv", "ffmpeg")
def test_a_player_plays_a_video(site, tmp_path):
    video = ["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=duration=2:size=320x240"]
    subprocess.run([*video, "-y", str(site / "site/video.mp4")], check=True)
    check("video", site, tmp_path)


@pytest.mark.needs("iperf3")
def test_iperf3_measures_the_cell(site, tmp_path):
    check("iperf3", site, tmp_path)


@pytest.mark.needs("quiche-client", "quiche-server", "openssl")
def test_a_quic_client_gets_the_page(site, tmp_path):
    request = ["openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048", "-subj", "/CN=cell"]
    files = ["-keyout", str(site / "cert.key"), "-out", str(site / "cert.crt")]
    subprocess.run([*request, *files], check=True, capture_output=True)
    check("quic", site, tmp_path)


@pytest.mark.needs("ip", "curl")
def test_a_phone_is_attached_to_a_namespace(site, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root")
    add, emulate, delete = (
        line.replace("client", f"nodeb-{os.getpid()}") for line in commands("attach")
    )
    if run(add, site, tmp_path).returncode != 0:
        pytest.skip("no network namespace can be added here")
    try:
        done = run(emulate, site, tmp_path)
    finally:
        run(delete, site, tmp_path)
    assert done.returncode == 0, done.stderr
    assert '"GET /page.html HTTP/1.1" 200' in done.stderr


def test_the_action_calls_options_that_exist():
    action = (ROOT / "action.yml").read_text("utf-8")
    script = action.partition("options=(")[2]
    asked = [sys.executable, "-m", "nodeb", "emulate", "--help"]
    known = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    for option in re.findall(r"--[a-z-]+", script):
        assert option in known
    inputs = re.findall(r"\$\{\{ inputs\.([a-z-]+) \}\}", action)
    for name in inputs:
        assert re.search(rf"^  {name}: ", action, re.MULTILINE)
