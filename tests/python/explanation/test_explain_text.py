"""Tests of the texts of explanations, in the terminal and on their page."""

import html
from itertools import pairwise

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import nodeb
from nodeb.answer.paints import CAUSES
from nodeb.explanation.text import incomplete_note, remedy
from nodeb.plot.causes import HATCHES
from nodeb.plot.style import NARROW
from nodeb.report.explained import page
from nodeb.scenario_types import Classic, Dch, Ftp, Hsdpa, LinkBearer, UserGroup, Wired
from scenarios import EXAMPLES


def shown(found):
    """Returns the visible text of an explanation's page."""
    return html.unescape(page({"user 0": found})).replace("\u00a0", " ")


def download(radio, size="20 kB", count=1, **more):
    users = [UserGroup(count=count, traffic=Ftp(size=size))]
    return nodeb.Scenario(radio=radio, users=users, **more)


def test_page_and_table_show_the_same_time():
    slow = download(LinkBearer(rate="10 bps"), duration="24 h", tcp=Classic())
    found = nodeb.explain(slow, runs=1)
    seconds = found.time.mean
    assert seconds > 10_000
    assert f"{seconds:.0f} s" in shown(found)
    assert "e+0" not in shown(found)


def test_page_and_terminal_count_unfinished_runs_alike():
    cut = download(LinkBearer(rate="100 kbps", loss=0.05), "100 kB", duration="12 s")
    found = nodeb.explain(cut, runs=8)
    unfinished = sum(not path.complete for path in found.paths)
    assert 0 < unfinished < 8
    assert f"{unfinished} of 8 runs" in incomplete_note(found)
    text = shown(found)
    assert f"The transfer was not complete at the end of {unfinished} of 8 runs" in text
    assert "Not complete" not in text
    beside = page({"user 1": nodeb.explain(download(Dch()), runs=1), "user 0": found})
    assert f"User 0: the transfer was not complete at the end of {unfinished} of 8 runs" in beside


@pytest.mark.parametrize(
    ("duration", "end"),
    [("5 s", "it had not ended when the run did, after 5 s"), ("600 s", "it took 17.2 s")],
)
def test_page_states_its_end_time(duration, end):
    cut = download(LinkBearer(rate="100 kbps"), "200 kB", duration=duration)
    found = nodeb.explain(cut, runs=1)
    assert end in shown(found)


def advice(found):
    """Returns the suggested remedy without its first words and without the name of its cause."""
    assert found.causes[0] in remedy(found)
    return remedy(found).removeprefix("What would help most: ").split(" (")[0]


def test_single_user_without_service_needs_a_better_channel():
    group = {
        "traffic": {"ftp": {"size": "20 kB"}},
        "ue": {"channel": {"constant": {"snr_db": -40.0}}},
    }
    data = {"duration": "20 s", "radio": {"hsdpa": {}}, "users": [group]}
    found = nodeb.explain(nodeb.Scenario.from_dict(data), runs=1)
    assert found.causes[0] == "waiting for the scheduler"
    assert found.step("waiting for the scheduler") == "not served"
    assert advice(found) == "a better channel: nearer to the Node B, or less fading"


def test_waiting_user_needs_fewer_users():
    found = nodeb.explain(download(Hsdpa(), "500 kB", count=12, duration="600 s"), runs=2)
    assert found.causes[0] == "waiting for the scheduler"
    assert found.step("waiting for the scheduler") == "others served"
    assert advice(found).startswith("fewer other users in the cell")


def test_recovery_without_losses_suggests_a_longer_timeout():
    slow = download(LinkBearer(rate="100 kbps"), duration="20 h", wired=Wired(delay="30 min"))
    found = nodeb.explain(slow, runs=1)
    assert found.causes[0] == "recovery"
    assert "if nothing was lost, a longer retransmission timeout" in advice(found)


@pytest.mark.parametrize("users", [1, 9, 30, 100])
def test_labels_of_many_users_do_not_overlap(users):
    one = nodeb.explain(download(Dch(bler=0.1)), runs=2)
    drawn = nodeb.plot.causes("", {f"user {user}": one for user in range(users)}, size=NARROW)
    canvas = FigureCanvasAgg(drawn)
    canvas.draw()
    labels = [
        label.get_window_extent(canvas.get_renderer()) for label in drawn.axes[0].get_yticklabels()
    ]
    assert len(labels) == users
    assert all(below.y1 < above.y0 for above, below in pairwise(labels))
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
