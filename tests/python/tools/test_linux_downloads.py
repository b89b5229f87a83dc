"""Tests that compare nodeb's TCP with a Linux kernel's, on the same paths with the same losses."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import linux_downloads as kernel
import pytest

from nodeb.errors import InputError, ScenarioError

CASES, MORE, SATURATED = kernel.FILES
LARGE_BYTES = 1_000_000
FAR = {"nosack_nots"}
"""Variants of saturated links with wider limits."""


@cache
def rows(file: Path) -> dict[tuple[str, str, int], kernel.Row]:
    return {(row.case, row.control, row.size_bytes): row for row in kernel.compare(file)}


def keys(*files: Path) -> list[tuple[str, str, int]]:
    downloads = [one for file in files for one in kernel.read(file)]
    return list(dict.fromkeys((o.label, o.control, o.size_bytes) for o in downloads))


def params(failing: dict[tuple[str, str, int], str], *files: Path) -> list[object]:
    """Returns the cases of files as test parameters.

    Cases in `failing` must fail, until they are removed from it.
    """
    marks = {key: pytest.mark.xfail(reason=why, strict=True) for key, why in failing.items()}
    assert set(failing) <= set(keys(*files))
    return [
        pytest.param(key, marks=marks.get(key, ()), id="-".join(map(str, key)))
        for key in keys(*files)
    ]


def single(key: tuple[str, str, int]) -> kernel.Row:
    """Returns the row that compares all measured downloads of a case."""
    return (rows(CASES) | rows(MORE))[key]


def like(case: str, controls: str, size: int, why: str) -> dict[tuple[str, str, int], str]:
    return {(case, control, size): why for control in controls.split()}


BUSY = "the machine was busy: repeated on an idle one, the kernel takes 0.543 s, as nodeb does"
PARITY = "whether the last ACK is delayed decides by 80 ms, and here it is not"
NOISE = "uneven arrivals raise BBR's bandwidth, and so its queue; whether they did is not shown"
PHASE = "whole milliseconds of its timestamps decide in which round trip the phone's window opens"
HANDSHAKE = "in one of three a slow SYN made RACK take the probe's answer for the original's"
ALIKE = "BBR without SACK overruns the queue after a loss, here as there; how far, chance decides"
CYCLE = "the phase of BBR's gains decides: of 24 stalls, 5 repeat over 50 segments there, 7 here"
UNKNOWN = "not known"

LATE: dict[tuple[str, str, int], str] = {
    **like("d_five20", "cubic reno", 100_000, BUSY),
    **like("d_last", "cubic", 100_000, PARITY),
    **like("loss1_5m_nosack_nots", "bbr", 2_000_000, ALIKE),
    **like("loss1_5m_nosack_nots", "cubic", 2_000_000, UNKNOWN),
    **like("loss2_2m_nosack", "bbr", 1_000_000, ALIKE),
    **like("stall1_3m_nosack", "reno", 3_000_000, UNKNOWN),
    **like("tail2_5m", "cubic", 200_000, HANDSHAKE),
}
REPEATS: dict[tuple[str, str, int], str] = {
    **like("loss1_4m", "bbr", 2_000_000, UNKNOWN),
    **like("loss2_2m_nosack", "bbr cubic reno", 1_000_000, UNKNOWN),
    **like("loss2_2m_nosack_nots", "bbr", 1_000_000, ALIKE),
    **like("stall1_3m", "reno", 3_000_000, UNKNOWN),
    **like("stall1_3m_nosack", "reno", 3_000_000, UNKNOWN),
    **like("stall1_3m_nosack_nots", "bbr cubic", 3_000_000, UNKNOWN),
    **like("stall1_3m_nots", "bbr", 3_000_000, CYCLE),
    **like("stall1_3m_nots", "reno", 3_000_000, UNKNOWN),
    **like("stall3_3m", "reno", 3_000_000, PHASE),
}
QUEUES: dict[tuple[str, str, int], str] = {
    **like("stall15", "bbr", 12_000_000, NOISE),
    **like("stall15_nots", "bbr", 12_000_000, NOISE),
    **like("loss1_5m_nosack", "bbr", 2_000_000, ALIKE),
    **like("stall1_3m_nosack", "reno", 3_000_000, UNKNOWN),
}


@pytest.mark.parametrize("key", params(LATE, CASES, MORE))
def test_downloads_take_the_time_of_the_kernel(key: tuple[str, str, int]) -> None:
    row = single(key)
    strict = row.size_bytes >= LARGE_BYTES and row.kernel_repeated > 0
    assert row.ratio == pytest.approx(1, abs=0.03 if strict else 0.05)


@pytest.mark.parametrize("key", params(REPEATS, CASES, MORE))
def test_retransmissions_match_the_kernel(key: tuple[str, str, int]) -> None:
    row = single(key)
    far = abs(row.nodeb_repeated - row.kernel_repeated)
    assert far <= max(0.1 * row.kernel_repeated, 3) + 1e-9


@pytest.mark.parametrize("key", params(QUEUES, CASES, MORE))
def test_queue_lengths_match_the_kernel(key: tuple[str, str, int]) -> None:
    row = single(key)
    assert row.delay_ratio == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("key", params({}, SATURATED))
def test_saturated_link_takes_the_time_of_the_kernel(key: tuple[str, str, int]) -> None:
    variant = key[0].partition(",")[0]
    assert rows(SATURATED)[key].ratio == pytest.approx(1, abs=0.03 if variant in FAR else 0.01)


HEAD = (
    "case,control,size_bytes,repetition,transfer_s,"
    "repeated_segments,mean_one_way_delay_ms,lost_positions"
)
PATH = '["far*"]\nradio.link.rate = "2 Mbps"\nuplink.rate = "2 Mbps"\n'


def written(folder: Path, rows: str, paths: str = PATH, head: str = HEAD) -> Path:
    (folder / "mine.csv").write_text(f"{head}\n{rows}")
    (folder / "mine.toml").write_text(paths)
    return folder / "mine.csv"


def test_custom_cases_are_rebuilt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, "far1,reno,100000,1,1.2,1,50,3\nfar1,reno,100000,2,1.0,3,70,3 4 80\n")
    (row,) = kernel.compare(file)
    assert (row.case, row.kernel_repeated) == ("far1", 2.0)
    assert row.kernel_s == pytest.approx((1.1, 1.0, 1.2))
    # The 80th segment is not lost, because the download has fewer segments.
    assert row.nodeb_repeated == 1.5
    kernel.main([str(file)])
    assert "far1  reno" in capsys.readouterr().out


def test_syn_can_be_lost(tmp_path: Path) -> None:
    file = written(tmp_path, "far1,reno,1000,1,1.2,0,50,0\nfar2,reno,1000,1,1.2,0,50,\n")
    lost, whole = kernel.compare(file)
    assert lost.nodeb_s == pytest.approx(whole.nodeb_s + 1.0, abs=0.1)
    assert lost.nodeb_repeated == 0


def test_invalid_case_files_are_reported(tmp_path: Path) -> None:
    row = "far1,reno,1000,1,1.2,0,50,\n"
    with pytest.raises(InputError, match=r"mine\.csv:3: .*'soon'"):
        kernel.compare(written(tmp_path, row + row.replace("1.2", "soon")))
    with pytest.raises(InputError, match=r"mine\.csv:2: .*'control'"):
        kernel.compare(written(tmp_path, row, head=HEAD.replace("control", "other")))
    with pytest.raises(InputError, match="`near`"):
        kernel.compare(written(tmp_path, row.replace("far1", "near"), PATH + '["*"]\n'))
    with pytest.raises(ScenarioError, match=r"`far1`.*rate"):
        kernel.compare(written(tmp_path, row, PATH.replace("2 Mbps", "fast")))
