"""Tests: a command that an answer or a page prints gives the results of that answer or page."""

from __future__ import annotations

import csv
import html
import re
import shlex
from pathlib import Path

import pytest

from nodeb.base.command_line import Arguments, command_line

FILE = "a phone's.toml"
"""Name of a file that a shell would split."""
SCENARIO = """runs = 4
seed = 3
radio.dch.bler = 0.1
[[users]]
count = 2
traffic.ftp.size = "20 kB"
"""


@pytest.fixture
def printed(call, monkeypatch):
    """Returns a function that calls a command, and returns its printed commands and its output."""
    monkeypatch.setenv("COLUMNS", "10000")  # No command is wrapped.

    def of(*arguments):
        status, out, _ = call(*arguments)
        assert status == 0
        return re.findall(r"(nodeb .+?)`?$", out, re.MULTILINE), out

    return of


@pytest.fixture
def file(tmp_path):
    path = tmp_path / FILE
    path.write_text(SCENARIO)
    return path.relative_to(tmp_path)


def words(command):
    name, *rest = shlex.split(command)
    assert name == "nodeb"
    return rest


def again(page, **changes):
    """Returns the words of the command that a page names, with other values of some options."""
    text = html.unescape(Path(page).read_text()).replace("\N{NO-BREAK SPACE}", " ")
    (command,) = re.findall(r"To make this page again:</p>\s*<pre><code>(.+?)</code>", text)
    found = words(command)
    for name, value in changes.items():
        if f"--{name}" in found:
            found[found.index(f"--{name}") + 1] = value
        else:
            found += [f"--{name}", value]
    return found


def rows(file):
    with Path(file).open() as text:
        return list(csv.DictReader(text))


CHANGES = ("--set", "wired.delay=50 ms", "--set", "tcp.linux.control=cubic", "--seed", "7")


@pytest.mark.parametrize("plan", [("--runs", "3"), ("--precision", "0.05"), ()])
def test_run(printed, call, file, plan):
    (explain,), _ = printed("run", file, *CHANGES, *plan, "--report", "--out", "one")
    assert call(*again("one/report.html", out="two"))[0] == 0
    assert rows("one/summary.csv") == rows("two/summary.csv")
    slowest = int(words(explain)[-1])
    _, said = printed(*words(explain))
    runs = {row["runs"] for row in rows("one/summary.csv")}
    assert f"{runs.pop()} replications, seed 7." in said
    assert f"user {slowest}'s first transfer" in said


def test_page_is_suggested_only_to_those_who_did_not_ask_for_it(call, file):
    assert "--report" in call("run", file)[1]
    assert "--report" not in call("run", file, "--report")[1]


def test_explanation_after_a_run(printed, file):
    """The mean download time of a run is that of the explanation that the run suggests."""
    (explain,), said = printed("run", file, *CHANGES, "--runs", "3", "--set", "users.0.count=1")
    (took,) = re.findall(r"the download took (.+?) s ", said)
    _, said = printed(*words(explain))
    assert f" took {took} s " in said


def test_compare(printed, call, file):
    more = ("--with", "tcp.linux.control=bbr", "--with", "wired.loss=0.05; wired.delay=20 ms")
    options = ("--margin", "0.1", "--metric", "download_s", "--explain", "1")
    printed("compare", file, *CHANGES, *more, *options, "--report", "one.html", "--out", "one")
    assert call(*again("one.html", out="two", report="two.html"))[0] == 0
    assert rows("one/comparison.csv") == rows("two/comparison.csv")
    assert rows("one/causes.csv") == rows("two/causes.csv")
    assert rows("one/comparison.csv")[0]["baseline"] != rows("one/comparison.csv")[0]["scenario"]
    pages = [Path(name).read_text().replace(name, "") for name in ("one.html", "two.html")]
    assert pages[0] == pages[1]


def test_compare_of_files(printed, call, file):
    Path("other.toml").write_text(SCENARIO.replace("0.1", "0.3").replace("seed = 3", "seed = 4"))
    printed("compare", file, "other.toml", *CHANGES[:4], "--report", "one.html", "--out", "one")
    assert call(*again("one.html", out="two", report="two.html"))[0] == 0
    assert rows("one/comparison.csv") == rows("two/comparison.csv")


@pytest.mark.parametrize("options", [(), ("--what-if",), ("--beside", "0")])
def test_explain(printed, call, file, options):
    whose = ("--user", "1", "--runs", "3")
    commands, _ = printed("explain", file, *CHANGES, *whose, *options, "--report", "one.html")
    assert call(*again("one.html", report="two.html"))[0] == 0
    pages = [Path(name).read_text().replace(name, "") for name in ("one.html", "two.html")]
    assert pages[0] == pages[1]
    for command in commands:
        assert "user 1's first transfer" in printed(*words(command))[1]


def test_sweep(printed, call, file):
    keys = '"wired.delay" = ["10 ms", "50 ms"]\n"radio.dch.bler" = [0.0, 0.3]\n'
    file.write_text(f"{SCENARIO}[sweep]\n{keys}")
    options = ("--metric", "download_s", "--out", "a sweep's", "--report")
    (plot,), _ = printed("sweep", file, *options)
    page = Path("a sweep's/report.html").read_text()
    assert page.count("<figure") == 2
    assert call(*again("a sweep's/report.html"), "--out", "two")[0] == 0
    assert Path("two/report.html").read_text() == page
    assert call(*words(plot), "--out", "one.svg")[0] == 0
    assert Path("one.svg").exists()
    note = call("run", file)[2]
    (sweep,) = re.findall(r"`(nodeb sweep .+?)`", note)
    assert call(*words(sweep))[0] == 0


def test_life(printed, file):
    (explain,), _ = printed("life", file, *CHANGES, "--user", "1", "--out", "one")
    assert "user 1's first transfer" in printed(*words(explain))[1]


def test_reproduce(printed, call):
    chosen = ("--quick", "--item", "Table 13", "--seed", "2")
    printed("reproduce", "wang", *chosen, "--out", "one")
    assert call(*again("one/report.html", out="two"))[0] == 0
    assert rows("one/cells.csv") == rows("two/cells.csv")


def test_emulation_and_replay(call, real_packets, link):
    options = ("--set", "wired.delay=30 ms", "--report", "page.html", "--record", "a log")
    program = ("sh", "-c", "exit 3")
    assert call("emulate", link, *options, "--", *program)[0] == 3
    assert again("page.html")[-4:] == ["--", *program]
    assert again("page.html")[:4] == ["emulate", str(link), "--set", "wired.delay=30 ms"]
    assert call("replay", "a log", "--report", "one.html")[0] == 0
    assert call(*again("one.html", report="two.html"))[0] == 0
    pages = [Path(name).read_text().replace(name, "") for name in ("one.html", "two.html")]
    assert pages[0] == pages[1]


def test_file_that_is_no_trace_is_converted(call, file):
    Path("a phone's CQIs.csv").write_text("time_s,cqi\n0,10\n0.1,12\n0.2,11\n")
    hsdpa = SCENARIO.replace("radio.dch.bler = 0.1", "radio.hsdpa = {}")
    file.write_text(f'{hsdpa}ue.channel.trace.file = "a phone\'s CQIs.csv"\n')
    status, _, err = call("run", file)
    assert status == 2
    (command,) = re.findall(r"`(nodeb import .+?)`", err)
    assert call(*words(command))[0] == 0
    assert Path("a phone's CQIs.trace").exists()


def test_options_are_words_of_a_shell():
    given = Arguments(Path("-a b"), {"set": ["x=$y", "z=-1"], "runs": 2, "seed": None})
    command = given.command("run", runs=None, report=True, margin="-1", user=[0, 1], quick=False)
    assert shlex.split(command) == [
        *("nodeb", "run", "./-a b", "--set", "x=$y", "--set", "z=-1", "--report", "--margin=-1"),
        *("--user", "0", "--user", "1"),
    ]
    assert shlex.split(command_line("emulate", program=["a", "b c"])) == [
        *("nodeb", "emulate", "--", "a", "b c"),
    ]
