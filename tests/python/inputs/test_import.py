"""Tests of `nodeb import`, which converts recordings to trace files."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeb.errors import InputError
from nodeb.inputs import formats, trace_reader
from nodeb.inputs.column_units import RATES
from nodeb.inputs.trace_file import Trace
from nodeb.inputs.ttis import by_tti

NS_PER = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
PREFIXES = {"": 1, "k": 1000, "M": 1000**2, "G": 1000**3, "Ki": 1024, "Mi": 1024**2, "Gi": 1024**3}
WORDS = {"k": "kilo", "M": "mega", "G": "giga", "Ki": "kibi", "Mi": "mebi", "Gi": "gibi", "": ""}
BASES = {"b": 1, "bit": 1, "bits": 1, "B": 8, "byte": 8, "bytes": 8, "Byte": 8, "Bytes": 8}


def imported(call, tmp_path, text, *arguments):
    (tmp_path / "log.txt").write_text(text)
    status, out, err = call("import", "log.txt", *arguments)
    assert (status, err) == (0, ""), err
    return trace_reader.read(tmp_path / "log.trace"), out


def read(text, wanted=None, **options):
    return formats.read(text.encode(), Path("log.csv"), wanted, formats.Options(**options))


# --- Tests of formats ---


def test_mahimahi_traces_are_converted_to_rates_without_loss(call, tmp_path):
    trace, _ = imported(call, tmp_path, "0\n1\n1\n3\n7\n40\n")
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
    """The period is the last time: `base_timestamp_ += schedule_.back()` in link_queue.cc."""
    text = "".join(f"{one}\n" for one in lines)
    trace, _ = imported(call, tmp_path, text, "--as", "mahimahi")
    assert trace.columns["rate_bps"].mean() == pytest.approx(mbps * 1e6, rel=1e-12)


def test_last_tti_has_the_mean_of_its_part():
    trace = Trace("rate", {"rate_bps": np.array([1e6, 2e6, 3e6])}, "x", step_ns=1_500_000)
    assert by_tti(trace)["rate_bps"].tolist() == [1.25e6, 2.5e6, 3e6]


def test_columns_of_cqis_are_imported(call, tmp_path):
    trace, _ = imported(call, tmp_path, "12\n30\n0\n", "--as", "cqi", "--step", "20 ms")
    assert (trace.kind, trace.step_ns) == ("cqi", 20_000_000)
    assert list(trace.columns["cqi"]) == [12, 30, 0]
    trace, _ = imported(call, tmp_path, "time_ms;cell;CQI\n500;a;7\n540;b;9\n620;a;8\n")
    assert list(trace.columns["cqi"]) == [7, 9, 8]
    assert (list(trace.times_ns), trace.end_ns) == ([0, 40_000_000, 120_000_000], 160_000_000)


def test_times_and_rates_are_imported(call, tmp_path):
    trace, _ = imported(call, tmp_path, "time_s,throughput_mbps\n0,1.5\n1,2\n2,0\n")
    assert (trace.step_ns, list(trace.columns["rate_bps"])) == (10**9, [1.5e6, 2e6, 0])
    trace, _ = imported(call, tmp_path, "0 1.5\n1 2\n", "--as", "rates", "--unit", "kbps")
    assert list(trace.columns["rate_bps"]) == [1500, 2000]
    trace, _ = imported(
        call, tmp_path, "a,b,c\n1,10,0\n2,20,5\n", "--as", "rates", "--unit", "bps",
        "--column", "b", "--time-column", "3", "--time-unit", "ms",
    )  # fmt: skip
    assert (trace.step_ns, list(trace.columns["rate_bps"])) == (5_000_000, [10, 20])


def test_snrs_traffic_and_eurane_traces_are_imported(call, tmp_path):
    trace, _ = imported(call, tmp_path, "# drive\n-3.25\n4\n")
    assert list(trace.columns["snr_db"]) == [-3.25, 4]
    trace, _ = imported(call, tmp_path, "1.5,100\n2,30\n", "--as", "traffic")
    assert list(trace.times_ns) == [1_500_000_000, 2 * 10**9]
    assert list(trace.columns["bytes"]) == [100, 30]
    trace, _ = imported(call, tmp_path, "-10.5 -7.5 -5.7 6\n-2 1 2.8 14\n")
    assert list(trace.columns["third_db"]) == [-5.7, 2.8]


def test_written_files_are_read_back(call, tmp_path):
    rng = np.random.default_rng(1)
    times = np.cumsum(rng.integers(1, 10**6, 6000)) / 1e6
    rates = rng.integers(0, 10**7, 6000)
    rows = "".join(f"{t:.6f},{r}\n" for t, r in zip(times, rates, strict=True))
    trace, _ = imported(call, tmp_path, "time_s,rate_bps\n" + rows)
    assert np.array_equal(trace.columns["rate_bps"], rates)
    assert np.array_equal(trace.times_ns, np.rint((times - times[0]) * 1e9))


@pytest.mark.parametrize(
    ("text", "arguments", "place"),
    [
        ("12\n13\n11\n", [], "--as cqi or snr"),
        ("1,2\n3,4\n", [], "rates or traffic"),
        ("hello world\n1 2\n", [], "--as mahimahi or"),
        ("hello world\n", [], "log.txt:1: "),
        ("", ["--as", "snr"], "no entries"),
        ("1\nx\n", ["--as", "snr"], "log.txt:2: `x`"),
        ("nan\n1\n2\n", [], "log.txt"),
        ("1" * 400 + "\n2\n", [], "log.txt"),
        ("1e308\n1e308\n", ["--as", "mahimahi"], "log.txt"),
        ("0\n0\n", ["--as", "mahimahi"], "0 ms"),
        ("3\n2\n", ["--as", "mahimahi"], "log.txt:2: 2 "),
        ("3\n99999999999\n", ["--as", "mahimahi"], "log.txt:2: 1e+11"),
        ("time_s,rate_kbps\n0,5\n1,6\n", ["--as", "snr"], "log.txt:1: column `rate_kbps`"),
        ("snr_db\n5\n6\n", ["--as", "cqi"], "column `snr_db`"),
        ('"cqi\n5\n', ["--as", "cqi"], "log.txt:1: "),
        ('t;cqi\n0;"1,5"\n', ["--as", "cqi"], "log.txt:2: `1,5`"),
        ("3\n40\n", ["--as", "cqi"], "log.txt:2: 40"),
        ("0,1\n1,2\n", ["--as", "rates"], "--unit"),
        ("0 1\n0 2\n", ["--as", "rates", "--unit", "bps"], "log.txt:2: 0 s"),
        ("a,b\n0,2\n", ["--as", "snr"], "SNRs"),
        ("a,b\n0,2\n", ["--as", "snr", "--column", "c"], "`c`: columns a, b"),
        ("1\n", ["--as", "mahi"], "`mahimahi`"),
        ("1\n", ["--as", "snr", "--step", "2"], "--step 2"),
        ("1\n", ["--as", "snr", "--out", "log.txt"], "log.txt"),
        ("# nodeb trace 1\n", [], "already"),
        ("time_s;rate_kbps\n0;1,5\n1;2,5\n", [], "log.txt:2: "),
        ("rate_mbps\n1,5\n", [], "log.txt:2: "),
        ("time_s,rate_bps\n0,5\n1,6\n", ["--column", "2", "--time-column", "2"], "--column"),
        ("1,5\n0,3\n", ["--as", "rates", "--unit", "bps"], "log.txt:2: 0 s"),
        ("1\n2\n", ["--as", "cqi", "--unit", "Mbit/s"], "--unit"),
        ("1\n2\n", ["--as", "mahimahi", "--time-unit", "s"], "--time-unit"),
        ("1\n2\n", ["--as", "snr", "--bytes", "100"], "--bytes"),
        ("time_s\n0\n3\n", ["--as", "mahimahi"], "`time_s`"),
    ],
)
def test_invalid_input_is_rejected_and_nothing_is_written(call, tmp_path, text, arguments, place):
    (tmp_path / "log.txt").write_text(text)
    status, out, err = call("import", "log.txt", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert place in err
    assert [file.name for file in tmp_path.iterdir()] == ["log.txt"]
    assert (tmp_path / "log.txt").read_text() == text


def test_foreign_file_is_not_replaced(call, tmp_path):
    (tmp_path / "log.trace").write_text("mine")
    (tmp_path / "log.txt").write_text("-1\n")
    status, _, err = call("import", "log.txt")
    assert (status, "log.trace" in err) == (2, True)
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
    rows = [[one for one in text.splitlines() if one[:2] == "  "] for text in (out, again)]
    assert rows[0] == rows[1]


@pytest.mark.parametrize(
    "text",
    [
        '"time (s)","rate, raw (kbit/s)"\n"0","800"\n"1.5","900"\n',
        '"time (s)";"rate, raw (kbit/s)"\n"0";800\n1.5;"900"\n',
        '# from "a" phone\n"time (s)",  "rate (kbit/s)"\r\n"0"," 800"\r\n"1.5", "900"\r\n',
        '"time_s" "rate_kbps"\n"0" "800"\n"1.5" "900"\n',
        "time_s;rate_kbps\n0;800;\n1;900;\n",
    ],
)
def test_cells_may_be_quoted_and_lines_end_with_a_separator(call, tmp_path, text):
    trace, _ = imported(call, tmp_path, text, "--as", "rates")
    assert trace.columns["rate_bps"].tolist() == [800e3, 900e3]


# --- Tests of units ---


@st.composite
def rate_units(draw):
    """Draws a spelling of a unit of bit rates, and returns it with its value in bit/s."""
    prefix, base = draw(st.sampled_from([*PREFIXES])), draw(st.sampled_from([*BASES]))
    per = draw(st.sampled_from(["/s", "ps", " per s", "_per_second", "/sec", " / s"]))
    if len(base) > 1 and draw(st.booleans()):
        return WORDS[prefix] + base + per, PREFIXES[prefix] * BASES[base]
    spelled = prefix + base + per
    if BASES[base] == 1 and draw(st.booleans()):  # A lower-case `b` stands for bits too.
        spelled = spelled.lower()
    return spelled, PREFIXES[prefix] * BASES[base]


@given(st.data(), st.lists(st.integers(1, 1000), min_size=2, max_size=5))
def test_every_spelling_of_a_rate_unit_is_understood(data, values):
    spelled, factor = data.draw(rate_units())
    time = data.draw(st.sampled_from([*NS_PER]))
    step = 100 if time == "ns" else 1
    shape = data.draw(st.sampled_from(["rate_{}", "throughput ({})", "{}", "dl_rate_{}_mean"]))
    rows = "".join(f"{step * i},{value / 1000}\n" for i, value in enumerate(values))
    found = read(f"time_{time},{shape.format(spelled)}\n{rows}", "rates")
    wanted = [round(Fraction(value, 1000) * factor) for value in values]
    assert np.abs(found.trace.columns["rate_bps"] - wanted).max() <= 0.5
    assert found.trace.step_ns == step * NS_PER[time]


@given(rate_units(), rate_units())
def test_conflicting_units_in_name_and_option_are_rejected(named, given_):
    (spelled, factor), (_, other_factor) = named, given_
    unit = next(one for one, bits in RATES.items() if bits == other_factor)
    text = f"time_s,rate_{spelled}\n0,1\n1,2\n"
    if factor == other_factor:
        assert read(text, unit=unit).trace.columns["rate_bps"][0] == factor
    else:
        with pytest.raises(InputError, match="--unit"):
            read(text, unit=unit)


@given(st.sampled_from(["k", "M", "Ki"]), st.sampled_from(["B", "byte"]), st.integers(1, 99))
def test_amounts_are_whole_bytes(prefix, base, value):
    found = read(f"t_ms,size_{prefix}{base}\n1,{value}\n2.5,{value}\n")
    assert found.trace.columns["bytes"].tolist() == [value * PREFIXES[prefix]] * 2
    assert found.trace.times_ns.tolist() == [1_000_000, 2_500_000]


@pytest.mark.parametrize(
    "names",
    [
        *("time_s,rate_KBps", "time_s,rate_MBPS", "time_s,rate_mbit", "time_s,rate_Tbps"),
        *("time_s,rate_kB_per_min", "time_s,rate_kbit/ms", "time_s,rate_kbps_or_MBps"),
        *("time_s,rate", "time_days,rate_bps", "t_m,rate_bps", "time_ticks,rate_bps"),
        *("time_s_ms,rate_bps", "time_s,snr_linear", "time_s,sinr_dbm", "delay_ms,rate_bps"),
    ],
)
def test_column_without_exact_unit_is_rejected_by_name(names):
    time, value = names.split(",")
    with pytest.raises(InputError) as error:
        read(f"{names}\n0,1\n1,2\n")
    assert f"`{time}`" in str(error.value) or f"`{value}`" in str(error.value)


def test_options_decide_over_ambiguous_names():
    found = read("time_s,rate_KBps\n0,1\n1,2\n", unit="KiB/s")
    assert found.trace.columns["rate_bps"].tolist() == [8192, 16384]
    assert read("time,rate_bps\n0,1\n1,2\n", time_unit="ms").trace.step_ns == 1_000_000
    with pytest.raises(InputError, match="`time_ms`"):
        read("time_ms,rate_bps\n0,1\n1,2\n", time_unit="s")


@pytest.mark.parametrize("name", ["elapsed_us", "us", "ts_us", "sinceUs", "clock [µs]"])
def test_time_columns_are_recognised_by_many_names(name):
    assert read(f"{name},rate_bps\n0,1\n3000,2\n").trace.step_ns == 3_000_000


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=20))
def test_trace_ends_a_median_step_after_its_last_time(steps):
    times = np.cumsum([0, *steps])
    rows = "".join(f"{time},5\n" for time in times)
    trace = read("time_us,rate_bps\n" + rows).trace
    lasts = (trace.duration_ns - 1000 * int(times[-1])) // 1000
    assert lasts in steps
    assert 2 * sum(step < lasts for step in steps) < len(steps) + 1
    assert 2 * sum(step <= lasts for step in steps) >= len(steps)
