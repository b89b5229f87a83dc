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
    found = callgrind.read(OUTPUT, PROGRAM)
    assert found.functions == {"main": 45, "nodeb::work": 900}
    assert found.instructions == 945


def test_external_calls_count_under_the_same_name_on_every_processor():
    found = callgrind.read(OUTPUT, PROGRAM)
    assert found.outside == {"memcpy": 100, "rand_chacha::guts::refill_wide": 10}
    assert found.calls == 110
    other = OUTPUT.replace("__memcpy_avx_unaligned_erms", "__memmove_sse2_unaligned")
    assert callgrind.read(other, PROGRAM).outside["memmove"] == 100


def row(instructions=1000.0, calls=1.0, peak=None, short=None, **functions):
    outside = {"malloc": calls}
    functions = functions or {"send": instructions}
    return Found("packet", instructions, calls, peak, "abc", functions, outside, short)


def test_two_percent_more_passes_and_any_more_fails():
    assert judge("wire", row(calls=0.0), row(1020.0, calls=0.0)) == (True, [])
    good, _ = judge("wire", row(calls=0.0), row(1020.1, calls=0.0))
    assert not good


def test_slowest_regression_is_named_first():
    before = row(send=600.0, receive=300.0, queue=100.0)
    now = row(1052.5, send=610.0, receive=380.0, queue=60.0)
    good, said = judge("wire", before, now)
    assert not good
    assert "wire: 1050.00 -> 1102.50" in said[0]
    assert [line.split()[-1] for line in said[1:]] == ["receive", "send"]
    assert "+80.000" in said[1]


def test_call_counts_as_fifty_instructions():
    good, said = judge("wire", row(950.0, calls=1.0), row(950.0, calls=1.5))
    assert not good
    assert said[1].endswith("calls of malloc")
    assert said[1].split()[0] == "+25.000"
    assert judge("wire", row(950.0, calls=1.0), row(950.0, calls=1.4)) == (True, [])
    assert judge("wire", row(950.0, calls=1.0), row(920.0, calls=1.6)) == (True, [])


def test_unrecorded_row_fails():
    good, (said,) = judge("wire", None, row())
    assert not good
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
        for short, long in ((row.short, row.long), row.memory or ((), ())):
            assert [len(word) for word in short] == [len(word) for word in long], row.name
            assert short != long or not short
        assert (ROOT / row.file).is_file() or row.file in instructions.WRITTEN
