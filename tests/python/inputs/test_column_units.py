"""Tests: `nodeb import` determines the unit of a column exactly, or rejects the column."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeb.errors import InputError
from nodeb.inputs import formats
from nodeb.inputs.column_units import RATES

NS_PER = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
PREFIXES = {"": 1, "k": 1000, "M": 1000**2, "G": 1000**3, "Ki": 1024, "Mi": 1024**2, "Gi": 1024**3}
WORDS = {"k": "kilo", "M": "mega", "G": "giga", "Ki": "kibi", "Mi": "mebi", "Gi": "gibi", "": ""}
BASES = {"b": 1, "bit": 1, "bits": 1, "B": 8, "byte": 8, "bytes": 8, "Byte": 8, "Bytes": 8}


def read(text, wanted=None, **options):
    return formats.read(text.encode(), Path("log.csv"), wanted, formats.Options(**options))


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


def dressed(unit):
    """Returns a strategy that draws names of columns with a unit in them."""
    shapes = ["rate_{}", "throughput ({})", "goodput [{}]", "{}", "bandwidth {}", "dl_rate_{}_mean"]
    return st.sampled_from(shapes).map(lambda shape: shape.format(unit))


@given(st.data(), st.lists(st.integers(1, 1000), min_size=2, max_size=5))
def test_every_spelling_of_a_rate_unit_is_understood(data, values):
    spelled, factor = data.draw(rate_units())
    time = data.draw(st.sampled_from([*NS_PER]))
    step = 100 if time == "ns" else 1
    name = data.draw(dressed(spelled))
    rows = "".join(f"{step * i},{value / 1000}\n" for i, value in enumerate(values))
    found = read(f"time_{time},{name}\n{rows}", "rates")
    wanted = [round(Fraction(value, 1000) * factor) for value in values]
    assert np.abs(found.trace.columns["rate_bps"] - wanted).max() <= 0.5
    assert found.trace.step_ns == step * NS_PER[time]
    assert found.read[0].startswith(f"column `{name}` as rates in ")
    assert found.read[1] == f"column `time_{time}` as times in {time}"


@given(rate_units(), rate_units())
def test_conflicting_units_in_name_and_option_are_rejected(named, given_):
    (spelled, factor), (_, other_factor) = named, given_
    unit = next(one for one, bits in RATES.items() if bits == other_factor)
    text = f"time_s,rate_{spelled}\n0,1\n1,2\n"
    if factor == other_factor:
        assert read(text, unit=unit).trace.columns["rate_bps"][0] == factor
    else:
        with pytest.raises(InputError, match=r"by its name, not in .*; leave out --unit"):
            read(text, unit=unit)


@given(st.sampled_from(["k", "M", "Ki"]), st.sampled_from(["B", "byte"]), st.integers(1, 99))
def test_amounts_are_whole_bytes(prefix, base, value):
    found = read(f"t_ms,size_{prefix}{base}\n1,{value}\n2.5,{value}\n")
    assert found.trace.columns["bytes"].tolist() == [value * PREFIXES[prefix]] * 2
    assert found.trace.times_ns.tolist() == [1_000_000, 2_500_000]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rate_KBps", "it may be kB/s or KiB/s; give --unit kB/s or KiB/s"),
        ("rate_MBPS", "it may be Mbit/s or MB/s"),
        ("rate_mbit", "it does not say per which time; give --unit Mbit/s"),
        ("rate_mb", "it does not say per which time; give --unit Mbit/s or MB/s"),
        ("rate_Tbps", "`bps` is not a supported unit; convert it to one of bit/s, kbit/s"),
        ("rate_kB_per_min", "it is per min, not per s"),
        ("rate_kbit/ms", "it is per ms, not per s"),
        ("rate_kbps_or_MBps", "it states more than one unit"),
        ("rate", "the unit of the rates in column `rate` is not known; give --unit"),
    ],
)
def test_rate_without_exact_unit_is_rejected(name, message):
    with pytest.raises(InputError) as error:
        read(f"time_s,{name}\n0,1\n1,2\n", "rates")
    assert message in str(error.value)


def test_option_resolves_an_ambiguous_name():
    found = read("time_s,rate_KBps\n0,1\n1,2\n", unit="KiB/s")
    assert found.trace.columns["rate_bps"].tolist() == [8192, 16384]
    with pytest.raises(InputError, match=r"is in kB/s or KiB/s by its name, not in Mbit/s"):
        read("time_s,rate_KBps\n0,1\n1,2\n", unit="Mbit/s")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("time_days", "`days` is not a supported unit of time; convert it to one of ns, us"),
        ("t_m", "`m` is not a supported unit of time"),
        ("time_ticks", "`ticks` is a count, not a unit of time; give --time-unit ns or us"),
        ("time_s_ms", "it states more than one unit"),
    ],
)
def test_times_without_exact_unit_are_rejected(name, message):
    with pytest.raises(InputError) as error:
        read(f"{name},rate_bps\n0,1\n1,2\n")
    assert message in str(error.value)


def test_conflicting_option_and_name_of_a_time_column_are_rejected():
    with pytest.raises(InputError, match="`time_ms` is in ms by its name, not in s"):
        read("time_ms,rate_bps\n0,1\n1,2\n", time_unit="s")
    assert read("time,rate_bps\n0,1\n1,2\n", time_unit="ms").trace.step_ns == 1_000_000


@pytest.mark.parametrize("name", ["elapsed_us", "us", "ts_us", "sinceUs", "clock [µs]"])
def test_time_columns_are_recognised_by_many_names(name):
    found = read(f"{name},rate_bps\n0,1\n3000,2\n").trace
    assert found.step_ns == 3_000_000


def test_possible_time_column_needs_an_option():
    text = "delay_ms,rate_bps\n3,1\n9,2\n"
    with pytest.raises(InputError, match="`delay_ms` may have the times; give --time-column"):
        read(text)
    found = read(text, step_ns=10**6)
    assert found.read == ["column `rate_bps` as rates in bit/s", "column `delay_ms` not at all"]
    with pytest.raises(InputError, match="not certain; give --time-column time_s or elapsed_s"):
        read("time_s,elapsed_s,rate_bps\n0,0,1\n1,1,2\n")


@pytest.mark.parametrize(
    ("text", "wanted", "options", "option"),
    [
        ("1\n2\n", "cqi", {"unit": "Mbit/s"}, "--unit"),
        ("1\n2\n", "mahimahi", {"time_unit": "s"}, "--time-unit"),
        ("1\n2\n", "snr", {"time_unit": "s"}, "--time-unit"),
        ("time_s,snr_db\n0,1\n1,2\n", "snr", {"step_ns": 10**6}, "--step"),
        ("1\n2\n", "snr", {"opportunity_bytes": 100}, "--bytes"),
    ],
)
def test_option_without_effect_is_rejected(text, wanted, options, option):
    with pytest.raises(InputError, match=f"{option} has no effect on such a recording of {wanted}"):
        read(text, wanted, **options)


def test_snr_not_in_db_is_rejected():
    for name in ("snr_linear", "sinr_dbm", "SNR (ratio)"):
        with pytest.raises(InputError, match="is no SNR in dB by its name"):
            read(f"time_s,{name}\n0,1\n1,2\n")
    assert "SNRs in dB" in read("time_s,snr\n0,1\n1,2\n").assumed
    assert "SNRs in dB" not in read("time_s,snr_db\n0,1\n1,2\n").assumed


def test_mahimahi_times_are_in_ms():
    with pytest.raises(InputError, match="column `time_s` is not in ms by its name"):
        read("time_s\n0\n3\n", "mahimahi")


def test_last_entry_lasts_the_median_step_and_gaps_are_reported():
    found = read("time_s,rate_bps\n0,1\n1,2\n100,3\n")
    assert found.trace.end_ns == 101 * 10**9
    assert found.assumed[-2:] == [
        "the last entry lasts 1 s, the median step",
        "values are held through 1 gap of more than 10 median steps, the longest 99 s from 1 s",
    ]


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=20))
def test_trace_ends_a_median_step_after_its_last_time(steps):
    times = np.cumsum([0, *steps])
    rows = "".join(f"{time},5\n" for time in times)
    found = read("time_us,rate_bps\n" + rows).trace
    lasts = (found.duration_ns - 1000 * int(times[-1])) // 1000
    assert lasts in steps
    assert 2 * sum(step < lasts for step in steps) < len(steps) + 1
    assert 2 * sum(step <= lasts for step in steps) >= len(steps)


def test_name_with_blanks_of_the_only_column_is_accepted():
    found = read("Throughput (Mbit/s)\n1.5\n2\n", step_ns=10**9)
    assert found.trace.columns["rate_bps"].tolist() == [1.5e6, 2e6]
