"""Fixtures of many folders of tests; what else they share is in `helpers`."""

import fcntl
import os
import signal

import pytest
from hypothesis import settings

import emulations
from scenarios import SMALL

settings.register_profile("same every time", derandomize=True, deadline=None)
settings.load_profile("same every time")


def pytest_configure():
    """Signals reach the processes that tests start, also where all this runs in the background.

    A shell has those ignore Ctrl-C, and `nohup` the end of the terminal; children would inherit it.
    """
    for name, usual in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


@pytest.fixture(autouse=True)
def same_signals():
    """Fails a test after which signals do something else: processes of later tests inherit it."""
    numbers = signal.valid_signals()
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    assert {number: signal.getsignal(number) for number in numbers} == before


@pytest.fixture
def scenario_file(tmp_path):
    """A small scenario with chance in it, as a file."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    """Calls the command line in a folder of its own; returns status, stdout, stderr."""
    from nodeb import cli

    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        status = cli.invoke([str(argument) for argument in arguments])
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def small(scenario_file):
    """The same, loaded."""
    import nodeb

    return nodeb.load(scenario_file)


@pytest.fixture
def real_packets():
    """Skips where the machine does not let real packets through, and says why."""
    if why := emulations.forbidden():
        pytest.skip(f"real packets are not let through here: {why}")


@pytest.fixture
def link(tmp_path):
    """A phone whose packets are real and three others on a plain link, as a file."""
    file = tmp_path / "link.toml"
    file.write_text(emulations.LINK)
    return file


@pytest.fixture(scope="module")
def browser():
    """Chromium, driven by playwright."""
    from browsers import chromium

    with chromium() as one:
        yield one


@pytest.fixture(scope="session")
def quick_wang(tmp_path_factory):
    """The folder of a quick reproduction of Wang's study, made once for all workers: only read it.

    A reproduction goes on from what is there, so a copy gives what `run` returns at once.
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
