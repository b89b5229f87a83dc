"""An answer in a terminal."""

from nodeb.answer import Answer, Bar, Bars, Fact, Mark, Rows, shown, text
from nodeb.answer.words import counted, joined, percent, share

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


def test_the_answer_comes_first_and_everything_fits_into_80_columns():
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


def test_everything_is_printed_when_asked_for():
    assert "All metrics" not in text(ANSWER)
    assert "timeouts" in text(ANSWER, everything=True)


def test_a_terminal_that_knows_only_ascii_loses_nothing():
    plain = text(ANSWER, encoding="ascii")
    assert plain.isascii()
    assert "#" * 30 in plain


def test_bars_of_losses_and_gains_stand_on_both_sides_of_a_line():
    bars = Bars("", [Bar("less", "\N{MINUS SIGN}2 s", -2.0), Bar("more", "+1 s", 1.0)])
    less, more = text(Answer("", "", "same.", picture=bars)).splitlines()[2:4]
    assert less.endswith("█" * 30 + "│")
    assert more.endswith("│" + "█" * 15)
    assert less.index("│") == more.index("│")


def test_words():
    assert [share(x) for x in (0.66, 0.5, 0.41)] == ["two thirds", "half", "41 %"]
    assert [percent(x) for x in (0.0, 0.001, 0.999, 1.0)] == [
        "0 %",
        "less than 1 %",
        "more than 99 %",
        "100 %",
    ]
    assert [joined(x) for x in ([], ["a"], ["a", "b", "c"])] == ["", "a", "a, b and c"]
    assert [counted(n, "phone") for n in (1, 30)] == ["1 phone", "30 phones"]
