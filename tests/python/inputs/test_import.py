"""Tests of `nodeb import`, which converts logs to trace files."""

import gzip
import shlex
from pathlib import Path

import numpy as np
import pytest

from nodeb.inputs import trace
from nodeb.inputs.recording import by_tti
from nodeb.inputs.trace import Trace

DRIVE = "Timestamp,Operator,RSRP,SNR,CQI,DL_bitrate,UL_bitrate\n"
MISSING = "time_s,cqi\n0,-\n1,5\n2,nan\n3,\n4,7\n"
UNIX = 1453121791


def imported(call, tmp_path, text, options=""):
    """Returns the trace of a log, and what the command printed."""
    content = text if isinstance(text, bytes) else text.encode()
    (tmp_path / "log.csv").write_bytes(content)
    status, out, err = call("import", "log.csv", *shlex.split(options))
    assert (status, err) == (0, ""), err
    return trace.read(tmp_path / "log.trace"), out


def test_gaps_are_reported(call, tmp_path):
    rows = "10:00:00,1\n10:00:01,1\n10:00:02,1\n10:00:30,20\n10:00:31,1\n"
    assert "28 s from 2 s" in imported(call, tmp_path, "time,throughput_mbps\n" + rows)[1]


def entries(found):
    """Returns the time in s and the value of each entry, and then the end of the last one."""
    (values,) = found.columns.values()
    step = found.step_ns
    times = found.times_ns if step is None else np.arange(len(found)) * step
    ends = [] if found.kind == "traffic" else [found.duration_ns / 1e9]
    return [*zip((times / 1e9).tolist(), values.tolist(), strict=True), *ends]


READ = {
    "exact names": ("time_s,cqi\n0,15\n0.1,17\n0.2,12\n", "", [(0, 15), (0.1, 17), (0.2, 12), 0.3]),
    "unequal steps": (
        "time_ms;cell;CQI\n500;a;7\n540;b;9\n620;a;8\n", "",
        [(0, 7), (0.04, 9), (0.12, 8), 0.16],
    ),
    "clock with dots": (
        "Timestamp,SNR\n2020.02.14_09.38.22,5\n2020.02.14_09.38.23,6\n", "", [(0, 5), (1, 6), 2],
    ),
    "clock with fractions": (
        "Time;x;SINR [dB];CQI\n12:30:00.000;;5.5;7\n12:30:00.250;;-6;8\n", "--as snr",
        [(0, 5.5), (0.25, -6), 0.5],
    ),
    "past midnight": ("time,cqi\n23:59:59,5\n00:00:01,6\n", "", [(0, 5), (2, 6), 4]),
    "ISO with zones": (
        "time,cqi\n2020-10-25T02:59:59+02:00,5\n2020-10-25 02:00:00.5+0100,6\n", "",
        [(0, 5), (1.5, 6), 3],
    ),
    "month's end": ("t,cqi\n2020-02-28 23:59:59Z,5\n2020-03-01 00:00:00Z,6\n", "",
        [(0, 5), (86401, 6), 172802]),
    "step for a clock": ("Timestamp,SNR\n2020.02.14_09.38.22,5\n,6\n", "--step '1 s'",
        [(0, 5), (1, 6), 2]),
    "two rows a second": (
        "time,snr\n09:38:22,1\n09:38:22,2\n09:38:23,3\n09:38:23,4\n09:38:23,5\n09:39:24,6\n", "",
        [(0, 1), (0.5, 2), (1, 3), (1 + 1 / 3, 4), (1 + 2 / 3, 5), (62, 6), 63],
    ),
    "missing, held": (MISSING, "--missing hold", [(0, 5), (1, 5), (2, 5), (3, 7), 4]),
    "missing, skipped": (MISSING, "--missing skip", [(0, 5), (1, 7), 2]),
    "missing without times": ("cqi\n5\nN/A\n7\n", "--missing hold --step '1 s'",
        [(0, 5), (1, 5), (2, 7), 3]),
    "missing traffic": ("t,bytes\n1,5\n2,\n3,7\n", "--missing skip", [(1, 5), (3, 7)]),
    "commas in quotes": ('time_s,place,snr_db\n0,"Dublin, Ireland",10\n1,"Cork, Ireland",12\n', "",
        [(0, 10), (1, 12), 2]),
    "quotes everywhere": (
        '"No.","Time","Length","Info"\n"1","0.0","1500","GET /a?x=1,2"\n"2","0.5","60","ok"\n',
        "--as traffic --value Length", [(0, 1500), (0.5, 60)],
    ),
    "quoted names": ('"time (s)",  "rate, raw (kbit/s)"\r\n"0"," 800"\r\n"1.5", "900"\r\n',
        "--as rates --unit kbps", [(0, 8e5), (1.5, 9e5), 3]),
    "epoch of traffic": (f"time_s,bytes\n{UNIX}.5,1500\n{UNIX}.5,1500\n{UNIX + 1}.25,700\n", "",
        [(0, 1500), (0, 1500), (0.75, 700)]),
    "zero of traffic": ("time_s,bytes\n1.5,100\n2,30\n", "", [(1.5, 100), (2, 30)]),
    "Unix ms": (f"timestamp,cqi\n{UNIX}000,5\n{UNIX}500,6\n", "", [(0, 5), (0.5, 6), 1]),
    "Unix us": (f"timestamp,cqi\n{UNIX}000000,5\n{UNIX}500000,6\n", "", [(0, 5), (0.5, 6), 1]),
    "no names": (
        f"{UNIX} 549 51.03 3.73 239078 1006\n{UNIX + 1} 1549 51.03 3.73 48 1000\n",
        "--as traffic --time 2 --time-unit ms --value 5", [(0.549, 239078), (1.549, 48)],
    ),
    "no names, rates": ("0\t1.5\n1\t2\n", "--as rates --time 1 --value 2 --unit Mbps",
        [(0, 1.5e6), (1, 2e6), 2]),
    "decimal commas": ("Time;SNR\n12:30:00,5;5,5\n12:30:01,5;-6\n", "--decimal ,",
        [(0, 5.5), (1, -6), 2]),
    "decimal commas in quotes": ('t,snr\n0,"1,5"\n"0,5",2\n', "--decimal ,",
        [(0, 1.5), (0.5, 2), 1]),
    "decimal commas in one column": ("SNR [dB]\n1,5\n2,5\n", "--decimal , --step '1 s'",
        [(0, 1.5), (1, 2.5), 2]),
    "one of a drive test": (f"{DRIVE}12:00:00,A,-90,5,7,1,2\n12:00:01,A,-91,6,8,3,4\n",
        "--as rates --value UL_bitrate --unit kbit/s", [(0, 2e3), (1, 4e3), 2]),
    "unit over name": ("time_s,rate_kbps\n0,1\n1,2\n", "--unit Mbit/s", [(0, 1e6), (1, 2e6), 2]),
    "time unit over name": ("time_s,cqi\n0,1\n1,2\n", "--time-unit ms", [(0, 1), (1e-3, 2), 2e-3]),
    "column over name": ("time_s,cqi,x\n0,1,3\n1,2,4\n", "--value x --as cqi", [(0, 3), (1, 4), 2]),
    "exact rates": ("t_ms,throughput [MB/s]\n0,0.1\n5,0\n", "", [(0, 8e5), (5e-3, 0), 1e-2]),
    "amounts": ("seconds,size_KiB\n0,1.5\n1,2\n", "", [(0, 1536), (1, 2048)]),
    "gzip": (gzip.compress(b"time_s,cqi\n0,1\n1,2\n"), "", [(0, 1), (1, 2), 2]),
    "UTF-16": ("time_s\tcqi\n0\t1\n1\t2\n".encode("utf-16"), "", [(0, 1), (1, 2), 2]),
    "another encoding": ("time_s,Ort,cqi\n0,Köln,1\n1,,2\n".encode("latin-1"), "",
        [(0, 1), (1, 2), 2]),
    "comments and blank lines": (
        b"\xef\xbb\xbf# \"a\" log\n\n time_s  cqi\r\n0   1\r\n# on\r\n\r\n 1  2 \r\n", "",
        [(0, 1), (1, 2), 2],
    ),
    "trailing separators": ("time_s;cqi\n0;1;\n1;2;\n", "", [(0, 1), (1, 2), 2]),
    "mahimahi": ("0\n1\n1\n3\n6\n", "--as mahimahi",
        [(0, 18e6), (2e-3, 6e6), (4e-3, 6e6), 6e-3]),
    "mahimahi, other size": ("0\n2\n", "--as mahimahi --bytes 1000", [(0, 8e6), 2e-3]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "options", "wanted"), READ.values(), ids=READ)
def test_logs_are_read_rightly(call, tmp_path, text, options, wanted):
    found = entries(imported(call, tmp_path, text, options)[0])
    flat = [np.hstack(one) for one in (found, wanted)]
    assert flat[0] == pytest.approx(flat[1], abs=1e-9)


REMEDIES = {
    "unit of a rate": ("time_s,DL_bitrate\n0,5178\n1,6024\n", "", "--unit", "--unit kbit/s"),
    "missing value": (MISSING, "", "--missing", "--missing hold"),
    "missing traffic": ("t,bytes\n1,5\n2,\n", "", "--missing", "--missing skip"),
    "decimal comma": ("t;snr\n0;1,5\n1;2\n", "", "--decimal", "--decimal ,"),
    "no times": ("cqi\n1\n2\n", "", "--step", "--step '1 s'"),
    "one time": ("time_s,cqi\n5,1\n5,2\n", "", "--step", "--step '1 s'"),
    "two columns of times": ("time_s,time_ms,cqi\n0,1,2\n1,3,4\n", "", "--time", "--time time_s"),
    "no names": ("0 1 5\n1 2 6\n", "--as cqi --time 1", "--value", "--as cqi --time 1 --value 2"),
    "several quantities": ("time_s,snr,cqi\n0,1,2\n1,2,3\n", "", "--as cqi or snr", "--as cqi"),
    "no exact name": ("time_s,quality\n0,1\n1,2\n", "", "--as cqi or", "--as cqi"),
    "ambiguous unit": ("time_s,rate_KBps\n0,1\n1,2\n", "--as rates", "--unit",
        "--as rates --unit KiB/s"),
    "RSRP": ("t,RSRP,x_snr\n0,-90,5\n1,-91,6\n", "--as snr --value RSRP", "--value",
        "--as snr --value x_snr"),
    "CQI as SNR": ("t,cqi\n0,9\n1,9\n", "--as snr --value cqi", "--as cqi", "--as cqi"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "options", "named", "remedy"), REMEDIES.values(), ids=REMEDIES)
def test_what_is_not_certain_is_refused_with_a_remedy_that_works(
    call, tmp_path, text, options, named, remedy
):
    (tmp_path / "log.csv").write_text(text)
    status, _, err = call("import", "log.csv", *shlex.split(options))
    assert (status, named in err) == (2, True), err
    imported(call, tmp_path, text, remedy)


@pytest.mark.parametrize(
    "name",
    ["DL_bitrate", "bitrate", "UL_bitrate", "dlBitrate", "DL bitrate", "bit_rate", "Throughput"],
)
def test_unit_of_rates_is_that_of_the_option(call, tmp_path, name):
    found, _ = imported(call, tmp_path, f"time_s,{name}\n0,5\n1,6\n", "--unit kbit/s")
    assert found.columns["rate_bps"].tolist() == [5e3, 6e3]


@pytest.mark.parametrize(
    ("unit", "bps"),
    [("bps", 1), ("kbps", 1e3), ("Mbps", 1e6), ("mbps", 1e6), ("Gbit/s", 1e9), ("B/s", 8),
     ("kBps", 8e3), ("MB/s", 8e6), ("KiB/s", 8192), ("Mibit/s", 2**20)],
)  # fmt: skip
def test_units_of_rates(call, tmp_path, unit, bps):
    for name, option in ((f"rate ({unit})", ""), ("rate", f"--unit {unit}")):
        found, _ = imported(call, tmp_path, f"time_s,{name}\n0,3\n1,6\n", option)
        assert found.columns["rate_bps"].tolist() == [3 * bps, 6 * bps]


REFUSED = {
    "empty": ("", "--as snr", "log.csv"),
    "names alone": ("time_s,cqi\n", "", "log.csv"),
    "no number": ("cqi\n1\nx\n", "--step '1 s'", "log.csv:3: `x`"),
    "infinite": ("cqi\n1\ninf\n", "--step '1 s'", "log.csv:3: `inf`"),
    "out of range": ("cqi\n3\n\n40\n", "--step '1 s'", "log.csv:4: 40"),
    "no whole bytes": ("t,bytes\n0,1.5\n", "", "log.csv:2: 1.5"),
    "time missing": ("t,cqi\n0,1\n-,2\n", "", "log.csv:3: `-`"),
    "no time": ("t,cqi\n0,1\nsoon,2\n", "", "log.csv:3: `soon`"),
    "no clock": ("t,cqi\n12:30:00,1\n12:61:00,2\n", "", "log.csv:3: `12:61:00`"),
    "backward": ("t,cqi\n5,1\n6,1\n3,2\n", "", "log.csv:4: `3`"),
    "too long": ("t,cqi\n0,1\n99999999,2\n", "", "--time-unit"),
    "more cells": ("t,cqi\n0,1\n1,2,3\n", "", "log.csv:3: 3 cells"),
    "fewer cells": ("t,x,cqi\n0,1,2\n1,2\n", "", "log.csv:3: 2 cells"),
    "open quote": ('t,cqi\n0,"1\n1,2\n', "", "log.csv:"),
    "unknown column": ("t,cqi\n0,1\n1,2\n", "--value c", "`t`, `cqi`"),
    "one column for two": ("t,cqi\n0,1\n1,2\n", "--value 1", "--value"),
    "unknown unit": ("t,rate\n0,1\n1,2\n", "--unit KBps", "KiB/s"),
    "unknown format": ("1\n", "--as mahi", "`mahimahi`"),
    "step without unit": ("1\n", "--as snr --step 2", "--step 2"),
    "step and time": ("t,cqi\n0,1\n1,2\n", "--step '1 s' --time t", "--time"),
    "held traffic": ("t,bytes\n1,5\n2,\n", "--missing hold", "--missing skip"),
    "no way to miss": ("t,cqi\n1,5\n2,6\n", "--missing no", "--missing no"),
    "unit of CQIs": ("t,cqi\n1,5\n2,6\n", "--unit Mbit/s", "--unit"),
    "bytes of SNRs": ("t,snr\n1,5\n2,6\n", "--bytes 100", "--bytes"),
    "unit of mahimahi": ("1\n2\n", "--as mahimahi --time-unit s", "--time-unit"),
    "mahimahi at 0 ms": ("0\n0\n", "--as mahimahi", "0 "),
    "mahimahi falls": ("3\n2\n", "--as mahimahi", "log.csv:2: 2 "),
    "mahimahi too long": ("3\n99999999999\n", "--as mahimahi", "log.csv:2: "),
    "eurane": ("1 2 3\n", "--as eurane", "log.csv:1: 3 numbers"),
    "spreadsheet": (b"PK\x03\x04\0\0", "", "CSV"),
    "damaged gzip": (b"\x1f\x8b\x08\0abc", "", "gzip"),
    "input as output": ("-1\n", "--as snr --step '1 s' --out log.csv", "log.csv"),
    "trace": ("# nodeb trace 1\n", "", "already"),
}


@pytest.mark.parametrize(("text", "options", "place"), REFUSED.values(), ids=REFUSED)
def test_invalid_input_is_refused_and_nothing_is_written(call, tmp_path, text, options, place):
    content = text if isinstance(text, bytes) else text.encode()
    (tmp_path / "log.csv").write_bytes(content)
    status, out, err = call("import", "log.csv", *shlex.split(options))
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert place in err
    assert [file.name for file in tmp_path.iterdir()] == ["log.csv"]
    assert (tmp_path / "log.csv").read_bytes() == content


def test_first_and_last_row_and_changes_are_printed(call, tmp_path):
    _, out = imported(call, tmp_path, "# x\ntime_ms,rate_kbps\n7,\n507,5\n507,6\n1007,7\n",
                      "--missing skip")  # fmt: skip
    assert "line 4, `507,5`: 5000 bit/s at 0 s" in out
    assert "line 6, `1007,7`: 7000 bit/s at 500 ms" in out
    assert "1 of 4 rows" in out
    assert "1 rows have the time of the row before" in out


def test_eurane(call, tmp_path):
    found, out = imported(call, tmp_path, "-10.5 -7.5 -5.7 6\n-2 1 2.8 14\n", "--as eurane")
    assert found.columns["third_db"].tolist() == [-5.7, 2.8]
    assert (found.columns["cqi"].tolist(), found.step_ns) == ([6, 14], 2_000_000)
    assert "CQI 14" in out


@pytest.mark.parametrize(
    ("lines", "mbps"),
    [(["1"], 12.0), (["5"], 2.4), (range(1, 11), 12.0), (range(3, 3001, 3), 4.0)],
)
def test_looped_mahimahi_trace_keeps_its_rate(call, tmp_path, lines, mbps):
    """The period is the last time: `base_timestamp_ += schedule_.back()` in link_queue.cc."""
    text = "".join(f"{one}\n" for one in lines)
    found, _ = imported(call, tmp_path, text, "--as mahimahi")
    assert found.columns["rate_bps"].mean() == pytest.approx(mbps * 1e6, rel=1e-12)


def test_last_tti_has_the_mean_of_its_part():
    found = Trace("rate", {"rate_bps": np.array([1e6, 2e6, 3e6])}, "x", step_ns=1_500_000)
    assert by_tti(found)["rate_bps"].tolist() == [1.25e6, 2.5e6, 3e6]


def test_written_files_are_read_back(call, tmp_path):
    rng = np.random.default_rng(1)
    times = np.cumsum(rng.integers(1, 10**6, 6000)) / 1e6
    rates = rng.integers(0, 10**7, 6000)
    rows = "".join(f"{t:.6f},{r}\n" for t, r in zip(times, rates, strict=True))
    found, _ = imported(call, tmp_path, "time_s,rate_bps\n" + rows)
    assert np.array_equal(found.columns["rate_bps"], rates)
    assert np.array_equal(found.times_ns, np.rint((times - times[0]) * 1e9))


def test_foreign_file_is_not_replaced(call, tmp_path):
    (tmp_path / "log.trace").write_text("mine")
    (tmp_path / "log.txt").write_text("-1\n")
    status, _, err = call("import", "log.txt", "--as", "snr", "--step", "1 s")
    assert (status, "log.trace" in err) == (2, True)
    assert (tmp_path / "log.trace").read_text() == "mine"


def test_trace_can_be_named_in_a_scenario(call, tmp_path):
    (tmp_path / "log.txt").write_text("0\n3\n3\n40\n")
    assert call("import", "log.txt", "--as", "mahimahi", "--out", "traces/bus.trace")[0] == 0
    (tmp_path / "s.toml").write_text(
        'runs = 1\nduration = "5 s"\nradio = "hsdpa"\n[[users]]\ntraffic.ftp.size = "20 kB"\n'
        'ue.channel.trace = { file = "traces/bus.trace", at_end = "loop" }\n'
    )
    status, out, err = call("run", "s.toml")
    assert status == 0, err
    # The folder of the run contains the recording, so the original is not needed any more.
    Path("traces/bus.trace").unlink()
    status, again, _ = call("run", "out/s/scenario.toml", "--out", "again")
    assert status == 0
    rows = [[one for one in text.splitlines() if one[:2] == "  "] for text in (out, again)]
    assert rows[0] == rows[1]


def test_large_gzip_file_is_refused_and_not_cut(call, tmp_path, monkeypatch):
    text = b"time_s,cqi\n" + b"".join(b"%d,15\n" % at for at in range(2_000))
    (tmp_path / "log.csv").write_bytes(gzip.compress(text))
    monkeypatch.setattr("nodeb.inputs.importing.MAX_BYTES", len(text) - 1)
    status, _, err = call("import", "log.csv")
    assert (status, "too large" in err) == (2, True)
    monkeypatch.setattr("nodeb.inputs.importing.MAX_BYTES", len(text))
    assert call("import", "log.csv")[0] == 0
