"""Instruction counts: output of callgrind, stored counts, and functions named in failures."""

from pathlib import Path

import callgrind
import instructions
from instructions import Found, judge

ROOT = Path(__file__).parents[3]
PROGRAM = Path("/somewhere/simulate")

# The program calls a function of its own, memcpy, and a function that selects a variant by the
# processor.
OUTPUT = """\
# callgrind format
version: 1
cmd: /somewhere/simulate
positions: line
events: Ir

ob=(1) /lib/ld.so
fl=(1) rtld.c
fn=(1) _dl_start
0 5000
cob=(2) /somewhere/simulate
cfi=(2) ???
cfn=(2) main
calls=1 0
0 9999

ob=(2)
fl=(2)
fn=(2)
10 40
cfn=(3) nodeb::work.llvm.123
calls=100 7
+1 900
fi=(3) inlined.rs
* 3
fe=(2)
-1 2
cob=(3) /lib/libc.so
cfi=(4) memcpy.S
cfn=(4) __memcpy_avx_unaligned_erms
calls=100 1
+2 6000
cfn=(5) rand_chacha::guts::refill_wide
calls=10 1
+2 500

fn=(3)
7 600
cfn=(3)
calls=3 7
* 70
+1 300

fn=(5)
1 20
cfn=(6) rand_chacha::guts::refill_wide::impl_avx2
calls=10 1
2 480

fn=(6)
1 480

ob=(3)
fl=(4)
fn=(4)
1 6000

totals: 12445
"""


def test_only_functions_of_the_program_count():
    functions, _ = callgrind.read(OUTPUT, PROGRAM)
    assert functions == {"main": 45, "nodeb::work": 900}


def test_external_calls_count_under_the_same_name_on_every_processor():
    _, outside = callgrind.read(OUTPUT, PROGRAM)
    assert outside == {"memcpy": 100, "rand_chacha::guts::refill_wide": 10}
    other = OUTPUT.replace("__memcpy_avx_unaligned_erms", "__memmove_sse2_unaligned")
    assert callgrind.read(other, PROGRAM)[1]["memmove"] == 100


def row(instructions=1000.0, calls=1.0, peak=None, short=None, **functions):
    outside = {"malloc": calls}
    functions = functions or {"send": instructions}
    return Found("packet", instructions, calls, peak, "abc", functions, outside, short)


def test_two_percent_more_passes_and_any_more_fails():
    assert judge("wire", row(calls=0.0), row(1020.0, calls=0.0)) == []
    assert judge("wire", row(calls=0.0), row(1020.1, calls=0.0))[0].startswith("FAIL")
    assert judge("wire", row(calls=0.0), row(979.9, calls=0.0))[0].startswith("lower")


def test_slowest_regression_is_named_first():
    before = row(send=600.0, receive=300.0, queue=100.0)
    now = row(1052.5, send=610.0, receive=380.0, queue=60.0)
    said = judge("wire", before, now)
    assert "wire: 1050.00 -> 1102.50" in said[0]
    assert [line.split()[-1] for line in said[1:]] == ["receive", "send"]
    assert "+80.000" in said[1]


def test_call_counts_as_fifty_instructions():
    said = judge("wire", row(950.0, calls=1.0), row(950.0, calls=1.5))
    assert said[1].endswith("calls of malloc")
    assert said[1].split()[0] == "+25.000"
    assert judge("wire", row(950.0, calls=1.0), row(950.0, calls=1.4)) == []
    assert judge("wire", row(950.0, calls=1.0), row(920.0, calls=1.6)) == []


def test_memory_is_compared_with_what_is_stored_and_with_the_shorter_run():
    def said(stored, short, now):
        return [line[:5] for line in judge("wire", row(peak=stored), row(peak=now, short=short))]

    assert said(1000, 1000, 1000) == []
    assert said(1000, 999, 1000) == said(900, 1000, 1000) == said(None, 1000, 1000) == ["FAIL "]
    assert said(1100, 1000, 1000) == ["lower"]


def test_unrecorded_row_fails():
    (said,) = judge("wire", None, row())
    assert said.startswith("FAIL")
    assert "wire" in said


def test_every_row_is_recorded_and_no_other():
    kept = instructions.read()
    assert list(kept) == [row.name for row in instructions.ROWS]
    assert all(one.commit and one.functions for one in kept.values())
    assert all(
        (kept[row.name].peak_bytes is not None) == bool(row.memory) for row in instructions.ROWS
    )


def test_commands_of_a_row_have_equal_length():
    for row in instructions.ROWS:
        for short, long in ((row.short, row.long), row.memory or ("", "")):
            assert len(short) == len(long), row.name
            assert short != long or not short
        assert (ROOT / row.file).is_file() or row.file in instructions.WRITTEN
