"""Tests of advice and figures of explanations."""

from itertools import pairwise

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import nodeb
from explanations import advice
from nodeb.answer import number
from nodeb.answer.paints import CAUSES
from nodeb.explanation.answer import answer
from nodeb.plot.causes import HATCHES
from nodeb.plot.style import NARROW
from nodeb.results.causes import cause_bars, cause_name
from nodeb.scenario_types import Dch, Ftp, Hsdpa, UserGroup
from scenarios import EXAMPLES


def download(radio, size="20 kB", count=1, **more):
    users = [UserGroup(count=count, traffic=Ftp(size=size))]
    return nodeb.Scenario(radio=radio, users=users, **more)


@pytest.mark.parametrize("runs", [1, 4, 20])
def test_times_and_shares_add_up_to_the_headline(runs):
    found = nodeb.explain(download(Dch(bler=0.1), "50 kB"), runs=runs)
    bars = cause_bars(found).bars
    times = [float(bar.value.split()[0]) for bar in bars]
    assert f"{sum(times):.2f} s" == number(found.time.mean, "s")
    assert sum(int(bar.note.removesuffix(" %")) for bar in bars) == 100


def test_a_cause_has_the_same_share_everywhere():
    found = nodeb.explain(download(Dch(bler=0.1), "50 kB"), runs=3)
    rows = found.answer.everything[0].rows
    own = {cause: row[3] for cause, row in zip(found.causes, rows, strict=True)}
    few, many = ({bar.name: bar.note for bar in cause_bars(found, small=s).bars} for s in (0.3, 0))
    assert many == {cause_name(cause): share for cause, share in own.items()}
    assert many.items() >= {name: few[name] for name in many if name in few}.items()
    assert f"{found.causes[0]}, {own[found.causes[0]]} of the time" in advice(found)


def test_most_is_only_said_of_what_was_simulated():
    found = nodeb.explain(download(Dch(bler=0.1), "50 kB"), runs=2)
    for text in (found.answer.headline, advice(found)):
        assert not {"most", "best", "largest"} & set(text.split())
    assert "largest" in answer(found, found.what_if()).headline


def test_interval_of_a_time_is_limited_by_the_run():
    scenario = nodeb.Scenario.from_toml(
        'duration = "100000 s"\nradio.hs_dsch = { bler = 0.1, max_transmissions = 1 }\n'
        '[[users]]\ntraffic.ftp.size = "20 kB"\n'
    )
    found = nodeb.explain(scenario, runs=2)
    assert found.time.high > 100_000
    assert " s (95 %: 0 to 100000 s)" in found.answer.headline


def test_waiting_users_need_fewer_users_or_a_better_channel():
    crowded = nodeb.explain(download(Hsdpa(), "500 kB", count=12, duration="600 s"), runs=2)
    far = {"traffic": {"ftp": {"size": "20 kB"}}, "ue": {"channel": {"constant": {"snr_db": -40}}}}
    data = {"duration": "20 s", "radio": {"hsdpa": {}}, "users": [far]}
    alone = nodeb.explain(nodeb.Scenario.from_dict(data), runs=1)
    for found, step, word in (
        (crowded, "others served", "users"),
        (alone, "not served", "channel"),
    ):
        assert found.causes[0] == "waiting for the scheduler"
        assert found.step("waiting for the scheduler") == step
        assert word in advice(found)


@pytest.mark.parametrize("users", [1, 9, 100])
def test_labels_of_many_users_do_not_overlap(users):
    one = nodeb.explain(download(Dch(bler=0.1)), runs=2)
    drawn = nodeb.plot.causes("", {f"user {user}": one for user in range(users)}, size=NARROW)
    canvas = FigureCanvasAgg(drawn)
    canvas.draw()
    ticks = drawn.axes[0].get_yticklabels()
    boxes = [label.get_window_extent(canvas.get_renderer()) for label in ticks]
    assert len(boxes) == users
    assert all(below.y1 < above.y0 for above, below in pairwise(boxes))
    if users < 5:
        assert drawn.get_size_inches()[1] == NARROW[1]


def test_figures_tell_all_causes_apart():
    found = nodeb.explain(nodeb.load(EXAMPLES[0].parent / "lte-sleep.toml"), runs=1)
    assert "uplink grant" in found.causes
    assert len(HATCHES) == 1 + max(paint.texture for paint in CAUSES.values())
    fills = {cause: (paint.family, paint.texture) for cause, paint in CAUSES.items()}
    assert len(set(fills.values())) == len(fills)
    for shares in (False, True):
        drawn = nodeb.plot.causes("", {"sleeping": found}, shares=shares)
        FigureCanvasAgg(drawn).draw()
