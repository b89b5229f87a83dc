"""Fixtures that several test folders use. Functions that they share are in `helpers`."""

import fcntl
import os
import shutil
import signal
from collections import Counter

import pytest
from hypothesis import settings

import emulations
from scenarios import SMALL

settings.register_profile("same every time", derandomize=True, deadline=None)
settings.load_profile("same every time")


def pytest_configure():
    """Restores the default handlers of signals, which processes started by tests inherit.

    Shells let background processes ignore SIGINT, and `nohup` lets them ignore SIGHUP.
    """
    for name, usual in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


def pytest_collection_modifyitems(items):
    """Puts files with slow tests first, so that no process begins the longest file last."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Skips a test marked `needs(PROGRAM, ...)` that lacks a program; `a|b` stands for either."""
    for marker in item.iter_markers("needs"):
        for names in marker.args:
            if not any(map(shutil.which, names.split("|"))):
                pytest.skip(f"needs {names.replace('|', ' or ')}")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session):
    """Prints as last line how many tests were skipped, by reason."""
    yield
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal and (skipped := terminal.stats.get("skipped")):
        reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
        texts = (f"{number} ({reason})" for reason, number in reasons.most_common())
        terminal.write_line(f"skipped {len(skipped)} tests: {', '.join(texts)}")


@pytest.fixture(autouse=True)
def same_signals():
    """Fails a test that leaves changed signal handlers, as later processes would inherit them."""
    numbers = signal.valid_signals()
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    assert {number: signal.getsignal(number) for number in numbers} == before


@pytest.fixture
def scenario_file(tmp_path):
    """Writes the scenario `SMALL`, which has random errors, to a file. Returns its path."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    """Returns a function that calls the command line in a folder of the test. The function returns
    the exit status, stdout and stderr.
    """
    from nodeb import cli

    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        status = cli.invoke([str(argument) for argument in arguments])
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def small(scenario_file):
    """Returns the loaded scenario `SMALL`."""
    import nodeb

    return nodeb.load(scenario_file)


@pytest.fixture
def real_packets():
    """Skips a test if the machine cannot carry real packets, and names the reason."""
    if why := emulations.forbidden():
        pytest.skip(f"real packets are not let through here: {why}")


@pytest.fixture
def link(tmp_path):
    """Writes a scenario with a plain link, one phone with real packets and three simulated phones.
    Returns its path.
    """
    file = tmp_path / "link.toml"
    file.write_text(emulations.LINK)
    return file


@pytest.fixture(scope="module")
def browser():
    """Starts Chromium under the control of playwright, and yields it."""
    from browsers import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def quick_wang(tmp_path_factory):
    """Returns a folder with a short reproduction of Wang's study, which all workers share and must
    not change.

    In a copy of the folder, `run` returns at once, as it resumes from existing replications.
    """
    from nodeb import reproduce

    root = tmp_path_factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    folder = root / "quick-wang"
    with (root / "quick-wang.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "report.html").exists():
            reproduce.run("wang", folder, quick=True)
    return folder
