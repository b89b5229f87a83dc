"""Tests of the layout of answers in a terminal."""

import pytest

from nodeb.answer import Answer, Bar, Bars, Fact, Mark, Rows, shown, text
from nodeb.answer.numbers import parts
from nodeb.answer.words import counted, fraction, joined, part_percent, percent

ANSWER = Answer(
    command="nodeb run",
    subject="fifty \x1b[31mkB",
    headline="the download took 3.01 s.",
    picture=Bars("Where", [Bar("slow start", "1.13 s", 1.13, note="37 %"), Bar("rest", "0 ms", 0)]),
    facts=[
        Fact("received", shown(133041.0, 130620.8, 135462.1, "bit/s")),
        Fact("round-trip time", shown(0.4466, 0.4395, 0.4536, "s"), "†"),
    ],
    marks=[Mark("†", "Only of those that finished. " * 6)],
    notes=["20 replications, seed 1."],
    everything=[Rows(["", ""], [["timeouts", shown(0.0, 0.0, 0.0)]], "All metrics")],
)


def test_answer_comes_first_and_fits_into_80_columns():
    lines = text(ANSWER).splitlines()
    assert lines[0] == "fifty \\x1b[31mkB: the download took 3.01 s."
    assert max(map(len, lines)) <= 80
    assert [line.rstrip() for line in lines[2:4]] == [
        f"  {'slow start':24}  1.13 s   37 %  {'█' * 30}",
        f"  {'rest':24}     0 ms",
    ]
    assert lines[5] == f"  {'received':24}  133.0 kbit/s  130.6 to 135.5 kbit/s"
    assert lines[6] == f"  {'round-trip time':24}    447 ms †        440 to 454 ms"
    assert lines[-1] == "20 replications, seed 1."
    assert [line[:6] for line in lines[8:10]] == ["\N{DAGGER} Only", "  fini"]


def test_all_prints_everything():
    assert "All metrics" not in text(ANSWER)
    assert "timeouts" in text(ANSWER, everything=True)


def test_ascii_terminal_gets_all_information():
    plain = text(ANSWER, encoding="ascii")
    assert plain.isascii()
    assert "#" * 30 in plain


def test_bars_of_losses_and_gains_start_at_a_common_line():
    bars = Bars("", [Bar("less", "\N{MINUS SIGN}2 s", -2.0), Bar("more", "+1 s", 1.0)])
    less, more = text(Answer("", "", "same.", picture=bars)).splitlines()[2:4]
    assert less.endswith("█" * 30 + "│")
    assert more.endswith("│" + "█" * 15)
    assert less.index("│") == more.index("│")


def test_picture_without_bars_is_no_error():
    assert "same." in text(Answer("", "", "same.", picture=Bars("", [])))


def test_shares_lists_and_counts_in_words():
    assert [fraction(x) for x in (0.66, 0.5, 0.41)] == ["two thirds", "half", ""]
    assert [percent(x) for x in (0.0, 0.001, 0.999, 1.0)] == [
        "0 %",
        "less than 1 %",
        "more than 99 %",
        "100 %",
    ]
    assert [joined(x) for x in ([], ["a"], ["a", "b", "c"])] == ["", "a", "a, b and c"]
    assert [counted(n, "phone") for n in (1, 30)] == ["1 phone", "30 phones"]


def percents(shares):
    return [part_percent(shares, [at]) for at in range(len(shares))]


def test_rounded_parts_add_up_to_the_rounded_whole():
    assert parts([1.142, 0.8784, 0.3901, 0.3754, 0.225], "s") == [
        *("1.14 s", "0.88 s", "0.39 s", "0.38 s", "0.22 s"),
    ]
    assert parts([2.999, 0.001], "s") == ["3.00 s", "1 ms"]
    assert parts([-0.8784, 0.2623, -0.0465], "s") == [
        *("\N{MINUS SIGN}878 ms", "262 ms", "\N{MINUS SIGN}47 ms"),
    ]
    assert parts([0.0, 0.0], "s") == ["0 ms", "0 ms"]
    assert percents([0.334, 0.333, 0.333]) == ["34 %", "33 %", "33 %"]
    assert percents([0.9999, 0.0001]) == ["more than 99 %", "less than 1 %"]
    assert percents([0.947, 0.028, 0.0195, 0.0055]) == ["95 %", "3 %", "2 %", "less than 1 %"]
    assert part_percent([0.334, 0.333, 0.333], [0, 1]) == "67 %"
    assert parts([3600.0, 2.6, 1.2, 1.0], "s") == ["3600 s", "2.60 s", "1.20 s", "1 s"]


GROUPS = [f"group {number}" for number in range(15)]
WIDE = Answer(
    command="nodeb run",
    subject="",
    headline="the cell delivers 2.44 Mbit/s (95 %: 2.31 to 2.57 Mbit/s) to 30 phones.",
    picture=Bars("Where", [Bar("waiting for the scheduler", "1.13 s", 1.13, note="37 %")]),
    facts=[Fact("download time of the median phone", shown(12.1, 11.9, 12.4, "s"))],
    table=Rows(["metric", "a", "b", "difference"], [["rate", "1", "2", "+1 (0 to +2) kbit/s"]]),
    everything=[
        Rows(
            ["", *(cell for group in GROUPS for cell in (group, ""))],
            [["rate", *(cell for _ in GROUPS for cell in (shown(1.0, unit="s"), "0.9 to 1.1 s"))]],
        )
    ],
    folded="each group",
)


@pytest.mark.parametrize("width", [1, 20, 30, 40, 60, 80, 200])
def test_output_fits_the_terminal_width(width):
    lines = text(WIDE, everything=True, width=width).splitlines()
    # A name is never split within a word, so a line with a long name may exceed the width.
    assert max(map(len, lines)) <= max(width, 26)
    whole = " ".join(" ".join(lines).split())
    assert "1.13 s 37 %" in whole
    assert whole.count("0.9 to 1.1 s") == 15
    assert all(group in whole for group in GROUPS)


def test_long_names_and_headers_are_split_before_a_table_becomes_blocks():
    edge, long = "received at the cell's", "4 (3 to 5) kbit/s, a text of 40 columns"
    rows = Rows(["", "dch-50k", "scheduler=max_ci"], [[f"{edge} edge (5 %)", "12", long]])
    lines = text(Answer("", "", "x.", table=rows)).splitlines()[2:]
    assert [" ".join(line.split()) for line in lines] == [
        "dch-50k scheduler=max_ci",
        f"{edge} 12 {long}",
        "edge (5 %)",
    ]


def test_empty_columns_are_omitted():
    rows = Rows(["change", "saves", "95 % interval"], [["none", shown(1.0, unit="s"), ""]])
    assert "interval" not in text(Answer("", "", "x.", table=rows))


def test_hint_on_all_appears_unless_all_is_given():
    assert "--all prints each group." in text(WIDE)
    assert "--all" not in text(WIDE, everything=True)
