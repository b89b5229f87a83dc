"""Tests of `nodeb import`, which converts recordings to trace files."""

import numpy as np
import pytest

from nodeb.inputs import trace_reader
from nodeb.inputs.trace_file import Trace
from nodeb.inputs.ttis import by_tti


def imported(call, tmp_path, text, *arguments):
    (tmp_path / "log.txt").write_text(text)
    status, out, err = call("import", "log.txt", *arguments)
    assert (status, err) == (0, ""), err
    return trace_reader.read(tmp_path / "log.trace"), out


def test_mahimahi_traces_are_converted_to_rates_without_loss(call, tmp_path):
    trace, out = imported(call, tmp_path, "0\n1\n1\n3\n7\n40\n")
    assert "read: column 1 as times in ms\nassumed: format mahimahi; 1500 bytes each" in out
    assert (trace.kind, trace.step_ns, len(trace)) == ("rate", 2_000_000, 20)
    rates = trace.columns["rate_bps"]
    assert list(rates[:4]) == [18e6, 6e6, 0, 6e6]
    assert rates[-1] == 6e6
    assert rates.sum() * 0.002 == 6 * 1500 * 8
    trace, _ = imported(call, tmp_path, "0\n50\n", "--bytes", "1504")
    assert trace.columns["rate_bps"][0] == 1504 * 8 / 0.002


@pytest.mark.parametrize(
    ("lines", "mbps"),
    [(["1"], 12.0), (["5"], 2.4), (range(1, 11), 12.0), (range(3, 3001, 3), 4.0)],
)
def test_looped_mahimahi_trace_keeps_its_rate(call, tmp_path, lines, mbps):
    """A looped trace keeps its rate, because its period is its last time.

    The source is mahimahi's `link_queue.cc`: `base_timestamp_ += schedule_.back()`.
    """
    text = "".join(f"{one}\n" for one in lines)
    trace, _ = imported(call, tmp_path, text, "--as", "mahimahi")
    assert trace.columns["rate_bps"].mean() == pytest.approx(mbps * 1e6, rel=1e-12)


def test_mahimahi_trace_of_zero_length_is_rejected(call, tmp_path):
    (tmp_path / "log.txt").write_text("0\n0\n")
    status, _, err = call("import", "log.txt", "--as", "mahimahi")
    assert status == 2
    assert "lasts until its last time, and that is 0 ms" in err


def test_last_tti_has_the_mean_of_its_part():
    trace = Trace("rate", {"rate_bps": np.array([1e6, 2e6, 3e6])}, "x", step_ns=1_500_000)
    assert by_tti(trace)["rate_bps"].tolist() == [1.25e6, 2.5e6, 3e6]


def test_columns_of_cqis_are_imported(call, tmp_path):
    trace, _ = imported(call, tmp_path, "12\n30\n0\n", "--as", "cqi", "--step", "20 ms")
    assert (trace.kind, trace.step_ns) == ("cqi", 20_000_000)
    assert list(trace.columns["cqi"]) == [12, 30, 0]
    text = "time_ms;cell;CQI\n500;a;7\n540;b;9\n620;a;8\n"
    trace, out = imported(call, tmp_path, text)
    assert "times count from the first, 500 ms" in out
    assert list(trace.columns["cqi"]) == [7, 9, 8]
    assert (list(trace.times_ns), trace.end_ns) == ([0, 40_000_000, 120_000_000], 160_000_000)


def test_times_and_rates_are_imported(call, tmp_path):
    trace, out = imported(call, tmp_path, "time_s,throughput_mbps\n0,1.5\n1,2\n2,0\n")
    assert "format rates" in out
    assert (trace.step_ns, list(trace.columns["rate_bps"])) == (10**9, [1.5e6, 2e6, 0])
    trace, out = imported(call, tmp_path, "0 1.5\n1 2\n", "--as", "rates", "--unit", "kbps")
    assert "times in s" in out
    assert list(trace.columns["rate_bps"]) == [1500, 2000]
    trace, _ = imported(
        call, tmp_path, "a,b,c\n1,10,0\n2,20,5\n", "--as", "rates", "--unit", "bps",
        "--column", "b", "--time-column", "3", "--time-unit", "ms",
    )  # fmt: skip
    assert (trace.step_ns, list(trace.columns["rate_bps"])) == (5_000_000, [10, 20])


def test_snrs_traffic_and_eurane_traces_are_imported(call, tmp_path):
    trace, out = imported(call, tmp_path, "# drive\n-3.25\n4\n")
    assert "format snr; SNRs in dB; entries are 2 ms apart, a TTI of HSDPA" in out
    assert list(trace.columns["snr_db"]) == [-3.25, 4]
    trace, _ = imported(call, tmp_path, "1.5,100\n2,30\n", "--as", "traffic")
    assert (list(trace.times_ns), list(trace.columns["bytes"])) == (
        [1_500_000_000, 2 * 10**9],
        [100, 30],
    )
    trace, out = imported(call, tmp_path, "-10.5 -7.5 -5.7 6\n-2 1 2.8 14\n")
    assert "format eurane" in out
    assert list(trace.columns["third_db"]) == [-5.7, 2.8]


def test_written_files_are_read_back(call, tmp_path):
    rng = np.random.default_rng(1)
    times = np.cumsum(rng.integers(1, 10**6, 60_000)) / 1e6
    rates = rng.integers(0, 10**7, 60_000)
    rows = "".join(f"{t:.6f},{r}\n" for t, r in zip(times, rates, strict=True))
    trace, _ = imported(call, tmp_path, "time_s,rate_bps\n" + rows)
    assert np.array_equal(trace.columns["rate_bps"], rates)
    assert np.array_equal(trace.times_ns, np.rint((times - times[0]) * 1e9))
    assert trace.source == "log.txt, as rates"


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("12\n13\n11\n", [], "this may be cqi or snr; say which with --as cqi or snr"),
        ("1,2\n3,4\n", [], "this may be rates or traffic"),
        ("hello world\n1 2\n", [], "the format is not known; say which with --as mahimahi or"),
        ("hello world\n", [], ":1: this only line is not of numbers, so it is read as names of"),
        ("", ["--as", "snr"], "the file has no entries"),
        ("1\nx\n", ["--as", "snr"], "log.txt:2: `x` is not a number"),
        ("3\n2\n", ["--as", "mahimahi"], "log.txt:2: 2 is no time in ms"),
        ("garbage words\n1\n2\n", ["--as", "mahimahi"], "log.txt:1: `garbage words` is no time"),
        (
            "time_s,rate_kbps\n0,5\n1,6\n",
            ["--as", "snr"],
            "log.txt:1: column `rate_kbps` has rates by its name, not SNRs; give --as rates, or "
            "another column with --column",
        ),
        ("snr_db\n5\n6\n", ["--as", "cqi"], "column `snr_db` has SNRs by its name, not CQIs"),
        ('"cqi\n5\n', ["--as", "cqi"], "log.txt:1: the quotes in this line cannot be understood"),
        ('t,cqi\n0,"1,5"\n', ["--as", "cqi"], "log.txt:2: `1,5` is not a number; expected one"),
        ('t;cqi\n0;"1,5"\n', ["--as", "cqi"], "log.txt:2: `1,5` is not a number; expected one"),
        ("3\n99999999999\n", ["--as", "mahimahi"], "log.txt:2: 1e+11 is no time in ms"),
        ("3\n40\n", ["--as", "cqi"], "log.txt:2: 40 is not a CQI"),
        (
            "0,1\n1,2\n",
            ["--as", "rates"],
            "in column 2 is not known; give --unit with one of bit/s",
        ),
        ("0 1\n0 2\n", ["--as", "rates", "--unit", "bps"], "log.txt:2: 0 s occurs twice"),
        ("a,b\n0,2\n", ["--as", "snr"], "the column of the SNRs is not certain"),
        ("a,b\n0,2\n", ["--as", "snr", "--column", "c"], "there is no column `c`: columns a, b"),
        ("1\n", ["--as", "mahi"], "there is no format `mahi`; did you mean `mahimahi`?"),
        ("1\n", ["--as", "snr", "--step", "2"], "--step 2: expected a time"),
        ("1\n", ["--as", "snr", "--out", "log.txt"], "log.txt is the input file"),
        ("# nodeb trace 1\n", [], "is already a trace"),
        (
            "time_s;rate_kbps\n0;1,5\n1;2,5\n",
            [],
            "log.txt:2: this line has 2 cells separated by commas, line 1 has 2 cells separated by "
            "semicolons; expected the same separator, and no more cells than in line 1; numbers "
            "need a decimal point, not a comma",
        ),
        (
            "time_s,rate_mbps\n0,1,5\n1,2,5\n",
            [],
            "log.txt:2: this line has 3 cells separated by commas, line 1 has 2 cells separated by "
            "commas; expected the same",
        ),
        ("rate_mbps\n1,5\n", [], "log.txt:2: this line has 2 cells separated by commas, line 1"),
        ("rate (mbps)\n1,5\n", [], "numbers need a decimal point"),
        ("1\n1 2\n", ["--as", "snr"], "log.txt:2: this line has 2 cells separated by blanks"),
        (
            "time_s,rate_mbps\n0,5\n1,6\n",
            ["--column", "rate_mbps", "--time-column", "rate_mbps"],
            "column `rate_mbps` cannot have both the rates and the times; give --column",
        ),
        ("1,5\n2,6\n", ["--as", "traffic", "--column", "1"], "cannot have both the amounts and"),
        (
            "1,5\n0,3\n",
            ["--as", "rates", "--unit", "bps", "--time-unit", "ms"],
            "log.txt:2: 0 ms goes backward in time",
        ),
    ],
)
def test_invalid_input_is_reported_and_nothing_is_written(call, tmp_path, text, arguments, message):
    (tmp_path / "log.txt").write_text(text)
    status, _, err = call("import", "log.txt", *arguments)
    assert status == 2
    assert message in err
    assert [file.name for file in tmp_path.iterdir()] == ["log.txt"]
    assert (tmp_path / "log.txt").read_text() == text


def test_foreign_file_is_not_replaced(call, tmp_path):
    (tmp_path / "log.trace").write_text("mine")
    (tmp_path / "log.txt").write_text("-1\n")
    status, _, err = call("import", "log.txt")
    assert status == 2
    assert "log.trace is there already and is not a trace" in err
    assert (tmp_path / "log.trace").read_text() == "mine"


def test_trace_can_be_named_in_a_scenario(call, tmp_path):
    (tmp_path / "log.txt").write_text("0\n3\n3\n40\n")
    assert call("import", "log.txt", "--out", "traces/bus.trace")[0] == 0
    (tmp_path / "s.toml").write_text(
        'runs = 1\nduration = "5 s"\nradio = "hsdpa"\n[[users]]\ntraffic.ftp.size = "20 kB"\n'
        'ue.channel.trace = { file = "traces/bus.trace", at_end = "loop" }\n'
    )
    status, out, err = call("run", "s.toml")
    assert status == 0, err
    # The folder of the run contains the recording, so the original is not needed any more.
    (tmp_path / "traces" / "bus.trace").unlink()
    status, again, _ = call("run", "out/s/scenario.toml", "--out", "again")
    assert status == 0
    of_both = [[one for one in text.splitlines() if one[:2] == "  "] for text in (out, again)]
    assert of_both[0] == of_both[1]


@pytest.mark.parametrize(
    "text", ["nan\n1\n2\n", "inf\n1\n2\n", "1" * 400 + "\n2\n", "1e308\n1e308\n"]
)
@pytest.mark.parametrize("more", [[], ["--as", "mahimahi"]])
def test_values_that_are_no_numbers_are_reported(call, tmp_path, text, more):
    (tmp_path / "log.txt").write_text(text)
    status, out, err = call("import", "log.txt", *more)
    assert (status, out) == (2, "")
    assert err.startswith("error: log.txt")
    assert "nodeb itself failed" not in err


@pytest.mark.parametrize(
    "text",
    [
        '"time (s)","rate, raw (kbit/s)"\n"0","800"\n"1.5","900"\n',
        '"time (s)";"rate, raw (kbit/s)"\n"0";800\n1.5;"900"\n',
        '# from "a" phone\n"time (s)",  "rate (kbit/s)"\r\n"0"," 800"\r\n"1.5", "900"\r\n',
        '"time_s" "rate_kbps"\n"0" "800"\n"1.5" "900"\n',
    ],
)
def test_cells_may_be_quoted(call, tmp_path, text):
    trace, _ = imported(call, tmp_path, text, "--as", "rates")
    assert trace.columns["rate_bps"].tolist() == [800e3, 900e3]


def test_line_may_end_with_a_separator(call, tmp_path):
    trace, _ = imported(call, tmp_path, "time_s;rate_bps\n0;800;\n1;900;\n")
    assert trace.columns["rate_bps"].tolist() == [800, 900]


def test_short_recordings_and_large_numbers_are_printed_in_plain_digits(call, tmp_path):
    _, out = imported(call, tmp_path, "time_ns,rate_mbps\n0,0\n4,2.166667\n")
    assert "log.trace: 2 entries of bit rates, 8 ns\n" in out
    assert "rate_bps: 0 to 2166667, mean 1083334\n" in out
    assert "in a run of more than 8 ns:" in out
    _, out = imported(call, tmp_path, "5\n", "--as", "cqi")
    assert "log.trace: 1 entry of CQIs, 2 ms\n" in out


def test_hint_names_the_file_and_the_keys_it_needs(call, tmp_path):
    (tmp_path / "log.txt").write_text("0,5\n1,6\n2,7\n")
    _, out, _ = call("import", "log.txt", "--as", "cqi", "--out", 'sub/a "b".trace')
    assert 'in a scenario here: ue.channel.trace.file = "sub/a \\"b\\".trace"\n' in out
    assert (
        'in a run of more than 3 s: ue.channel.trace.at_end = "loop" (or "stop") beside it' in out
    )
    _, out, _ = call("import", "log.txt", "--as", "traffic")
    assert 'traffic.replay.file = "log.trace"' in out
    assert "at_end" not in out
