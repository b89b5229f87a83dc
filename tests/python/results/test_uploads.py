"""Tests of results, answers, explanations and timelines of uploads."""

import numpy as np
import pyarrow.compute as pc
import pytest

import nodeb
from nodeb.answer import text as text_of
from nodeb.errors import InputError
from nodeb.explanation.what_if import what_if
from nodeb.report.run import html
from nodeb.report.tracks import phones
from nodeb.results.answer import answer
from nodeb.results.metrics import by_run

BOTH = {
    "name": "viewer",
    "count": 2,
    "traffic": {"ftp": {"size": "30 kB"}},
    "upload": {"ftp": {"size": "10 kB"}},
}
SENDER = {"name": "sender", "upload": {"ftp": {"size": "20 kB"}}}


def scenario(*users, **more):
    radio = {"dch": {"bler": 0.1}}
    return nodeb.Scenario.from_dict({"radio": radio, "users": list(users), **more})


def scheduled(*users, **more):
    lte = {"bandwidth": "5 MHz", "uplink": {"scheduled": {}}}
    return scenario(*users, radio={"lte": lte}, tcp={"linux": {}}, **more)


@pytest.fixture(scope="module")
def mixed():
    return scenario(BOTH, SENDER).run(runs=3)


def test_connections_have_numbers_directions_and_phones(mixed):
    flows = mixed.flows.where(mixed.flows["run"] == 0)
    assert flows["user"].tolist() == [0, 1, 2, 3, 4]
    assert flows["direction"].tolist() == ["down", "down", "up", "up", "up"]
    assert flows["phone"].tolist() == [0, 1, 2, 0, 1]
    assert flows["group"].tolist() == ["viewer", "viewer", "sender", "viewer up", "viewer up"]


def test_tables_without_uploads_have_no_directions():
    flows = scenario({"traffic": {"ftp": {"size": "30 kB"}}}).run(runs=1).flows
    assert not {"direction", "phone"} & set(flows.columns)


def test_group_of_all_has_downloads_and_another_the_uploads(mixed):
    groups = mixed.summary.distinct("group")
    assert groups == ["viewer", "sender", "viewer up", "all", "all up"]
    table = by_run(mixed.tables)
    is_up = mixed.flows["direction"] == "up"
    for group, mine in (("all", ~is_up), ("all up", is_up)):
        found = table["download_s"][table["group"] == group]
        expected = [
            mixed.flows["download_s"][mine & (mixed.flows["run"] == run)].mean() for run in range(3)
        ]
        assert found == pytest.approx(expected)


def test_metrics_of_channels_exist_with_both_directions():
    radio = {"fach_dch": {}}
    result = scenario(BOTH, SENDER, radio=radio, duration="60 s").run(runs=2)
    found = {(row["group"], row["metric"]): row["mean"] for row in result.summary}
    assert ("all", "dch_share") in found
    # Transfers of a phone in both directions count.
    flows, channels = result.flows, result.channels
    expected = []
    for run, user in zip(channels["run"], channels["user"], strict=True):
        mine = (flows["run"] == run) & (flows["phone"] == user)
        switches = (channels["set_ups"] + channels["releases"])[
            (channels["run"] == run) & (channels["user"] == user)
        ]
        expected.append(switches.sum() / flows["transfers"][mine].sum())
    assert found["all", "switches_per_transfer"] == pytest.approx(np.mean(expected))


def test_answer_tells_directions_apart(mixed):
    text = text_of(answer(mixed), everything=True)
    assert "2 phones receive" in text
    assert "an upload took" in text.lower()
    alone = text_of(answer(scenario(SENDER).run(runs=3)))
    assert "the upload took" in alone.lower()
    assert "download" not in alone


def test_explained_upload_over_scheduled_uplink_is_mostly_transmission():
    """Most of the time of a saturated uplink is charged to transmission. The waits for grants, such
    as the first one, take less than 20 %.
    """
    data = {"upload": {"ftp": {"size": "2 MB"}}, "ue": {"channel": {"constant": {"snr_db": 8.0}}}}
    wired = {"rate": "1 Gbps", "delay": "1 ms"}
    found = nodeb.explain(scheduled(data, wired=wired, duration="60 s"), runs=1)
    shares = {row["cause"]: row["share"] for row in found.table}
    assert max(shares, key=shares.__getitem__) == "transmission"
    assert 0 < shares["uplink grant"] < 0.2


def test_uploads_of_phones_that_download_are_explained_by_their_number():
    asked = scheduled(BOTH, SENDER, duration="60 s")
    for user in range(5):
        assert nodeb.explain(asked, user=user, runs=1).complete
    with pytest.raises(InputError, match="no user 5; expected 0 to 4"):
        nodeb.explain(asked, user=5, runs=1)


def test_what_if_simulates_changes_of_uploads():
    found = nodeb.explain(scheduled(BOTH, SENDER, duration="60 s"), user=3, runs=2)
    names = {one.name for one in what_if(found, jobs=1)}
    assert {"alone in the cell", "requests in every subframe"} <= names
    assert "a server that answers at once" not in names


def test_timeline_hands_data_over_at_the_server():
    life = scenario(SENDER).life()
    data = life.packets.filter(pc.equal(life.packets["purpose"], "data"))
    assert set(data["origin"].to_pylist()) == {"phone"}
    assert sum(at > 0 for at in data["handed_ns"].to_pylist()) > 10


def test_files_of_uploads_arrive_whole(mixed):
    assert np.all(mixed.flows["complete"] > 0)
    assert np.array_equal(mixed.flows["delivered_bytes"], mixed.flows["app_bytes"])


def test_figure_of_a_cell_shows_downloads_only(mixed):
    assert "6 phones in 3 replications" in str(phones(mixed))
    assert phones(scenario(SENDER, {**SENDER, "name": "other"}).run(runs=1)) is None


def test_headline_of_a_cell_of_uploads_is_about_uploads():
    """The bearers of the cell carry only ACKs, so the answer is not about their rate."""
    result = nodeb.Scenario.from_toml(
        'duration = "2 s"\nruns = 2\nradio.lte.uplink.scheduled = {}\n'
        '[[users]]\ncount = 4\nupload.ftp.size = "10 MB"\nue.channel.constant.snr_db = 15.0\n'
    ).run()
    assert "delivers" not in result.answer.headline


def test_headline_of_a_cell_counts_the_phones_that_download():
    result = nodeb.Scenario.from_toml(
        'duration = "5 s"\nruns = 2\nradio.lte = {}\n'
        '[[users]]\nname = "d"\ncount = 3\ntraffic.ftp.size = "10 kB"\n'
        '[[users]]\nname = "u"\nupload.ftp.size = "10 kB"\n'
    ).run()
    assert "to 3 phones" in result.answer.headline


def test_note_on_groups_without_data_fits_both_directions(call, tmp_path):
    """Data of an upload arrives at the server, not at the phone."""
    late = 'start = "2990 ms"\n{}.ftp.size = "20 kB"\n'
    users = [
        '[[users]]\nname = "on time"\nupload.ftp.size = "20 kB"\n',
        f'[[users]]\nname = "sender"\n{late.format("upload")}',
        f'[[users]]\nname = "reader"\n{late.format("traffic")}',
    ]
    file = tmp_path / "late.toml"
    for count, whose in ((2, "group sender"), (3, "groups sender and reader")):
        file.write_text('duration = "3 s"\nradio.dch = {}\n' + "".join(users[:count]))
        status, _, notes = call("run", file, "--runs", 1)
        assert status == 0
        assert f"note: no data of {whose} arrived in 3 s; is the run long enough" in notes


def test_page_does_not_say_that_uploads_reach_the_phone():
    page = html(scenario(SENDER, runs=1).run())
    assert "From the sender to the receiver, of the packets" in page
    assert "to the phone" not in page
