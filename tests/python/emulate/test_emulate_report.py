"""Tests of the status line, the page and the time series of an emulation."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import fake_emulation
from emulations import PATIENT, forbidden, nodeb, python, replay
from nodeb import _core
from nodeb.base.table import Table
from nodeb.emulate import page_file
from nodeb.emulate.page import of_emulation
from nodeb.emulate.status import StatusLine, status_text
from nodeb.emulate.time_means import means
from nodeb.errors import InputError, OutputError

ANY = {
    "time_s": 0.0,
    "down_packets": 0,
    "down_bytes": 0,
    "up_bytes": 0,
    "lost": 0,
    "waiting": 0,
    "queued_down": 0,
    "queued_up": 0,
    "cqi": float("nan"),
    "delays_s": 0.0,
    "late_p99_s": 0.0,
}
CQI = {"cqi": 15.2}


def test_status_line_shows_the_state():
    before = ANY | {"time_s": 10.0, "down_packets": 5, "down_bytes": 1000, "delays_s": 1.0}
    now = before | {"time_s": 12.0, "down_packets": 9, "down_bytes": 251_000, "up_bytes": 2_500}
    now |= {"delays_s": 1.4, "queued_down": 82, "queued_up": 3, "late_p99_s": 120e-6, "lost": 4}
    text = "12 s down 1 Mb/s up 10 kb/s delay 100 ms queue 82/3"
    assert status_text(now, before) == f"{text} late 120 us lost 4"
    assert status_text(now | CQI, before) == f"{text} CQI 15 late 120 us lost 4"


def test_status_line_fits_for_any_values():
    most = ANY | {"time_s": 99_999.0, "down_packets": 10**9, "down_bytes": 123_456_789_000}
    most |= {"up_bytes": 1_234_567_890, "delays_s": 123e6, "lost": 10**9, "late_p99_s": 1.23e-4}
    most |= {"queued_down": 123_456, "queued_up": 123_456} | CQI
    before = ANY | {"time_s": 99_998.0}
    for columns in (20, 40, 80):
        text = status_text(most, before, columns)
        assert len(text) < columns
        assert text.startswith("99999 s")
    assert "queue 123456/123456" in text
    usual = most | {"down_bytes": 1_230_000, "up_bytes": 12_300, "queued_down": 82, "queued_up": 3}
    assert "CQI 15" in status_text(usual, before)
    assert "late 123 us" in status_text(usual, before)


def test_status_line_has_no_delay_without_packets():
    assert "delay -" in status_text(ANY | {"time_s": 1.0}, ANY)


def test_status_line_is_shown_on_terminals_only():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    seen = {}
    for stream in (Terminal(), io.StringIO()):
        with StatusLine(stream) as line:
            for time_s in (0.0, 0.2, 0.4, 1.2):
                line(ANY | {"time_s": time_s})
        seen[type(stream)] = stream.getvalue()
    assert seen[io.StringIO] == ""
    assert seen[Terminal].count("queue 0/0") == 2
    assert seen[Terminal].endswith("\r\x1b[K")
    with StatusLine(None) as line:
        line(ANY)


@pytest.fixture(scope="module")
def outcome():
    return fake_emulation.outcome()


def page(outcome):
    return of_emulation(fake_emulation.plan(), fake_emulation.options(), outcome)


def test_page_shows_emulation_and_measurements(outcome):
    text = page(outcome)
    said = re.sub(r"<[^>]+>", " ", text).replace("\N{NO-BREAK SPACE}", " ")
    for wanted in (
        "a made-up emulation",
        "n = 1",
        "curl &#39;http://10.64.0.1/a file&#39;",
        "python3 -m http.server",
        "It kept time: 99 of 100 deliveries were at most 90 us late, and none more than 2 ms.",
        "95 % intervals from 10 batch means",
        "no room in a queue",
        "destination not behind the cell",
    ):
        assert wanted in said, wanted
    figures = set(re.findall(r'<figure id="([^"]+)"', text))
    ways = {f"{what}-{way}" for what in ("rates", "delays") for way in ("down", "up")}
    assert figures == ways | {"losses", "queues", "cqi", "late", "delay-shares", "late-shares"}
    assert "did not keep time" not in text
    assert not re.search(r'(src|href)="(?!#)', text)
    assert "<script" not in text


def test_page_of_a_late_run_says_so_first():
    text = page(fake_emulation.outcome(late_share=0.05))
    assert "<h1>It did not keep time: 5.00% of the deliveries" in text


def test_page_of_an_empty_run_has_the_remaining_parts():
    text = page(fake_emulation.outcome(empty=True))
    figures = set(re.findall(r'<figure id="([^"]+)"', text))
    assert figures == {"rates-down", "rates-up", "queues", "cqi"}


def series(values):
    """Returns time series of one phone that receives at `values` kbit/s in successive intervals of
    0.1 s.
    """
    count = len(values)
    spans = {"begin_s": np.arange(count) / 10, "end_s": np.arange(1, count + 1) / 10}
    phones = spans | {
        "user": np.zeros(count, int),
        "way": np.full(count, "down"),
        "arrived_bytes": np.asarray(values) * 12.5,
        "queue_packets": np.zeros(count),
        "cqi": np.full(count, np.nan),
    }
    return Table(phones), Table(spans | {"simulated_down_bytes": np.zeros(count)})


def test_means_cover_whole_intervals_and_have_confidence_intervals():
    random = np.random.default_rng(1)
    found = means(*series([*random.normal(500, 20, 200), 1e6]), {0: "phone"})
    (row,) = found.rows
    name, mean, interval, _ = row
    assert name == "phone down, kbit/s"
    low, high = map(float, interval.split(" to "))
    half = (high - low) / 2
    assert abs(float(mean) - 500) < 3 * half
    assert 0 < half < 20


def test_too_few_or_empty_intervals_give_no_mean():
    assert means(*series(np.arange(30)), {0: "phone"}).rows == []
    assert means(*series(np.zeros(100)), {0: "phone"}).rows == []


def test_page_is_written_to_the_requested_path(tmp_path):
    out = tmp_path / "out"
    assert page_file.checked(None, out) is None
    assert page_file.checked(Path("page.html"), out) == out / "page.html"
    assert page_file.checked(out / "page.html", out) == out / "page.html"
    assert page_file.checked(tmp_path / "page.html", out) == tmp_path / "page.html"
    assert page_file.checked(tmp_path / "page.html", None) == tmp_path / "page.html"


def test_impossible_page_is_rejected_before_the_emulation(tmp_path):
    with pytest.raises(InputError, match="expected the name of a page"):
        page_file.checked(tmp_path / "page", None)
    with pytest.raises(OutputError, match="there is no folder"):
        page_file.checked(tmp_path / "none" / "page.html", None)
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(OutputError, match="a folder, device or pipe"):
        page_file.checked(tmp_path / "folder.html", None, force=True)


def test_existing_page_is_replaced_only_on_request(tmp_path):
    """An existing page of nodeb is replaced only with `--force`; other files are never replaced."""
    page = tmp_path / "page.html"
    ours = '<!doctype html>\n<meta name="generator" content="nodeb 1">'
    page.write_text(ours)
    with pytest.raises(OutputError, match="exists; give another --report, or replace"):
        page_file.checked(page, None)
    assert page_file.checked(page, None, force=True) == page
    assert page_file.write(page, "new", force=True) == page
    with pytest.raises(OutputError, match="is not a page that nodeb made"):
        page_file.checked(page, None, force=True)
    assert page.read_text() == "new"


def test_page_written_meanwhile_is_not_replaced(tmp_path):
    page = tmp_path / "page.html"
    assert page_file.write(page, "first") == page
    assert page_file.write(page, "second") == tmp_path / "page-2.html"
    assert page_file.write(page, "third") == tmp_path / "page-3.html"
    assert page.read_text() == "first"


def test_tables_have_units_and_meanings():
    tables = {name: columns for name, _, columns in _core.emulation_tables()}
    assert set(tables) == {"emulation", "emulation_cell", "emulation_delays", "emulation_lateness"}
    for columns in tables.values():
        assert columns[0][0] == "run"
        assert all(meaning.endswith(".") for _, _, meaning in columns)


CELL = """
name = "a cell"
[wired]
delay = "10 ms"
[uplink]
delay = "10 ms"
[radio.hsdpa]
[[users]]
name = "phone"
traffic = "external"
[[users]]
name = "others"
count = 2
traffic.ftp.size = "10 MB"
"""
ECHOES = """
import os, socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5)
for number in range(30):
    s.sendto(bytes(400), (os.environ["NODEB_SERVER"], 5000))
    s.recv(1000)
    time.sleep(0.03)
"""
ECHO_SERVER = (
    f"{sys.executable} -c '"
    "import os, socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
    's.bind((os.environ["NODEB_SERVER"], 5000)); '
    "[s.sendto(*s.recvfrom(65536)) for _ in iter(int, 1)]'"
)


@pytest.fixture(scope="module")
def replayed(tmp_path_factory):
    """Records an emulation with a page. Returns its folder and the finished process."""
    if why := forbidden():
        pytest.skip(f"real packets are not let through here: {why}")
    folder = tmp_path_factory.mktemp("replayed")
    (folder / "cell.toml").write_text(CELL)
    wanted = ["--out", folder / "out", "--report", "page.html", "--record", folder / "log"]
    found = nodeb(
        folder / "cell.toml", *PATIENT, *wanted, "--server", ECHO_SERVER, "--", *python(ECHOES)
    )
    assert found.returncode == 0, found.stderr
    return folder, found


def table(folder, name):
    columns = pq.read_table(folder / f"{name}.parquet").to_pydict()
    return {key: np.asarray(values) for key, values in columns.items()}


def test_series_add_up_to_the_report(replayed):
    folder, _ = replayed
    phones, cell = (table(folder / "out", name) for name in ("emulation", "emulation_cell"))
    for way in ("down", "up"):
        mine = phones["way"] == way
        assert phones["offered_packets"][mine].sum() == 30
        assert phones["arrived_packets"][mine].sum() == 30
        assert phones["arrived_bytes"][mine].sum() == 30 * 428
        arrived = phones["arrived_packets"][mine] > 0
        p50, p99, most = (phones[f"delay_{q}_s"][mine][arrived] for q in ("p50", "p99", "max"))
        assert (p50 <= p99 * (1 + 1e-9)).all()
        assert (p99 <= most * (1 + 1 / 16)).all()
        assert (p50 > 0.01).all()
    assert cell["deliveries"].sum() == 60
    assert cell["simulated_down_bytes"].sum() > 0
    down = phones["way"] == "down"
    assert np.allclose(phones["begin_s"][down], cell["begin_s"])
    assert np.isfinite(phones["cqi"][down]).all()
    assert (phones["cqi"][down] >= 0).all()
    assert (phones["cqi"][down] <= 30).all()
    assert np.isnan(phones["cqi"][~down]).all()
    some = phones["arrived_packets"] > 0
    for column in ("delay_p50_s", "delay_p99_s"):
        assert (phones[column][some] <= phones["delay_max_s"][some]).all()
        assert np.isnan(phones[column][~some]).all()
    delays = table(folder / "out", "emulation_delays")
    assert delays["packets"].sum() == 60
    assert table(folder / "out", "emulation_lateness")["deliveries"].sum() == 60


def test_page_in_the_folder_belongs_to_it(replayed):
    folder, found = replayed
    text = (folder / "out" / "page.html").read_text()
    assert "a cell" in text
    assert f"Page: {folder / 'out' / 'page.html'}" in found.stderr
    assert "page.html" in (folder / "out" / "provenance.json").read_text()


def test_replay_has_the_same_series_and_a_page(replayed):
    folder, _ = replayed
    wanted = ["--out", folder / "again", "--report", folder / "again.html"]
    found = replay(folder / "log", *wanted)
    assert found.returncode == 0, found.stderr
    assert "<h1>The same: " in (folder / "again.html").read_text()
    for name, *_ in _core.emulation_tables():
        first, second = (table(folder / where, name) for where in ("out", "again"))
        assert first.keys() == second.keys()
        for column in first:
            same = np.array_equal(
                first[column], second[column], equal_nan=first[column].dtype.kind == "f"
            )
            assert same, f"{name}.{column}"
