"""Tests of scenarios that are loaded, built, changed and run."""

import ast
import copy
import pickle
import re
import tomllib
from functools import reduce

import numpy as np
import pytest

import nodeb
from nodeb import Scenario, _core
from nodeb.inputs import trace as traces
from nodeb.replication.cells import Replicated
from nodeb.replication.engine import Single
from nodeb.replication.rules import rule_of
from nodeb.replication.work import Source
from nodeb.scenario_types import Dch, Ftp, HsDsch, Linux, Lte, MaxCi, Uplink, UserGroup, Wired
from nodeb.stats import Precision, mean_interval
from scenarios import Fails


def test_building_in_code_equals_loading(small):
    built = Scenario(
        name="small",
        runs=4,
        radio=Dch(bler=0.1),
        users=[UserGroup(count=2, traffic=Ftp(size="20 kB"))],
    )
    assert built.resolved() == small


DOWNLOAD = [UserGroup(traffic=Ftp(size="20 kB"))]


def test_radio_brings_defaults_of_its_network():
    plain = Scenario(radio=Lte(), users=DOWNLOAD).resolved()
    assert plain == Scenario(radio="lte", users=DOWNLOAD).resolved()
    assert (plain.wired.rate, plain.wired.delay) == ("1 Gbps", "10 ms")
    assert isinstance(plain.tcp, Linux)
    assert "scheduled" in plain.radio.to_dict()["lte"]["uplink"]
    slow = Scenario(radio=Lte(), wired=Wired(rate="10 Mbps"), uplink=Uplink(), users=DOWNLOAD)
    assert (slow.resolved().wired.rate, slow.resolved().wired.delay) == ("10 Mbps", "10 ms")
    assert "plain" in slow.resolved().radio.to_dict()["lte"]["uplink"]
    assert slow.with_({"wired.rate": None}).wired.rate == "1 Gbps"
    assert Scenario(radio=HsDsch(), users=DOWNLOAD).resolved().wired.rate == "10 Mbps"


def test_stored_scenario_names_defaults_of_the_radio(tmp_path):
    scenario = Scenario(radio=Lte(), users=DOWNLOAD, duration="2 s").resolved()
    text = scenario.to_toml()
    assert text.count("# default of radio.lte") == 3
    (tmp_path / "again.toml").write_text(text)
    assert nodeb.load(tmp_path / "again.toml") == scenario


def test_with_changes_modifies_a_copy(small):
    other = small.with_(
        **{"wired.delay": "50 ms", "radio.dch.bler": 0.01, "tcp.classic.limited_transmit": True}
    )
    assert (other.wired.delay, other.radio.bler) == ("50 ms", 0.01)
    assert other.tcp.limited_transmit
    assert small.wired.delay == "110 ms"


def test_with_changes_accepts_parts_and_removes_keys(small):
    precise = small.with_(precision=0.05)
    assert precise.precision == 0.05
    assert precise.with_(precision=None).precision is None
    shared = small.with_(radio=HsDsch(channels=2), name='a "quoted" näme')
    assert isinstance(shared.radio, HsDsch)
    assert shared.name == 'a "quoted" näme'


@pytest.mark.parametrize(
    "changes",
    [
        {"tcp.linux.control": "bbr"},
        {"tcp.linux.control": "bbr", "tcp.linux.pacing": True},
        {"tcp.classic": None, "tcp.linux.control": "bbr"},
        {"wired.queue.codel.target": "7 ms"},
        {"radio.dch.rlc.am.max_dat": 5},
        {"tcp.linux.control.bbr.probe_rtt": "100 ms", "wired.loss": 0.01},
    ],
)
def test_key_of_another_variant_replaces_the_default_as_on_the_command_line(scenario_file, changes):
    settings = [
        f"{key}={str(value).lower() if isinstance(value, bool) else value}"
        for key, value in changes.items()
        if value is not None
    ]
    assert nodeb.load(scenario_file).with_(changes) == nodeb.load(scenario_file, settings)


def test_variant_that_is_not_the_default_is_replaced_only_as_a_whole(small):
    own = small.with_({"tcp.classic.limited_transmit": True})
    with pytest.raises(nodeb.ScenarioError) as refused:
        own.with_({"tcp.linux.control": "bbr", "tcp.linux.pacing": True})
    assert str(refused.value).startswith("tcp.linux.control: ")
    (remedy,) = re.findall(r"with_\((.+)\)$", str(refused.value))
    changed = own.with_(ast.literal_eval(remedy))
    assert changed.tcp == small.with_({"tcp.linux.control": "bbr", "tcp.linux.pacing": True}).tcp
    assert (
        own.with_({"tcp": None, "tcp.linux.control": "bbr"}).tcp
        == small.with_({"tcp.linux.control": "bbr"}).tcp
    )
    with pytest.raises(nodeb.ScenarioError, match=r"^users\.0\.traffic\.web: "):
        small.with_({"users.0.traffic.web": {}})


def test_setting_of_another_variant_than_the_file_has_names_the_remedy(tmp_path):
    file = tmp_path / "a.toml"
    file.write_text('radio.dch.bler = 0.1\nusers = [{ traffic.ftp.size = "20 kB" }]\n')
    with pytest.raises(nodeb.ScenarioError) as refused:
        nodeb.load(file, ["radio.hs_dsch.channels=3", "radio.hs_dsch.scheduler=max_ci"])
    remedy = re.findall(r"`(radio=.+?)` replaces radio\.dch", str(refused.value))
    assert nodeb.load(file, remedy).radio == HsDsch(channels=3, scheduler=MaxCi())


def test_wrong_key_or_value_in_code_is_reported(small):
    with pytest.raises(nodeb.ScenarioError, match="did you mean `delay`"):
        small.with_(**{"wired.dleay": "5 ms"})
    small.wired.delay = "5 kB"
    with pytest.raises(nodeb.ScenarioError, match="not a unit of a time"):
        small.run()


def test_to_toml_writes_the_resolved_scenario(small, tmp_path):
    path = tmp_path / "again.toml"
    path.write_text(small.to_toml(), encoding="utf-8")
    assert tomllib.loads(small.to_toml())["tcp"]["classic"]["max_window"] == 42
    assert nodeb.load(path) == small


def tables_equal(first, second):
    assert first.tables.keys() == second.tables.keys()
    for name, table in first.tables.items():
        assert table.columns == second.tables[name].columns
        for column in table.columns:
            np.testing.assert_array_equal(table[column], second.tables[name][column])


def test_results_do_not_depend_on_the_number_of_jobs(small):
    recorded = small.with_(**{"record.cwnd": True, "record.segments": True})
    one, three = recorded.run(runs=7, jobs=1), recorded.run(runs=7, jobs=3)
    tables_equal(one, three)
    assert one.flows["run"].tolist() == [r for r in range(7) for _ in range(2)]


def test_precision_stops_at_the_same_run_for_any_number_of_jobs(small):
    one, four = small.run(precision=0.02, jobs=1), small.run(precision=0.02, jobs=4)
    tables_equal(one, four)
    assert one.provenance.precision_reached
    rates = one.flows["application_bps"].reshape(-1, 2).mean(axis=1)
    assert mean_interval(rates).relative_half_width <= 0.02
    assert mean_interval(rates[:-1]).relative_half_width > 0.02


def test_missed_precision_is_reported(small):
    result = small.with_(max_runs=6).run(precision=1e-6)
    assert result.provenance.runs == 6
    assert result.provenance.precision_reached is False
    assert "not reached" in result.provenance.stopping


def test_saved_choices_reproduce_the_result(small):
    result = small.run(runs=3, seed=9)
    tables_equal(result, result.scenario.run())
    assert result.provenance.seed == 9
    assert small.run(runs=3, seed=10).flows["transfer_s"][0] != result.flows["transfer_s"][0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"runs": 0},
        {"runs": 3, "precision": 0.1},
        {"precision": 0.0},
        {"precision": 1.5},
        {"jobs": 0},
        {"seed": -1},
        {"seed": 2**64},
    ],
)
def test_invalid_arguments_are_rejected(small, wrong):
    with pytest.raises(nodeb.InputError):
        small.run(**wrong)


def test_progress_is_reported_and_never_decreases(small):
    told = []
    big = small.with_(users=[UserGroup(traffic=Ftp(size="3 MB"))])
    big.run(runs=4, progress=lambda fraction, text: told.append((fraction, text)))
    fractions = [fraction for fraction, _ in told]
    assert told
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] <= fractions[-1] <= 1
    assert "of 4 replications" in told[0][1]


class Interrupter:
    """Progress callback that acts like Ctrl-C after `when` replications have finished."""

    def __init__(self, when=1):
        self.when = when

    def __call__(self, fraction, text):
        if int(text.split()[0]) >= self.when:
            raise KeyboardInterrupt


def test_interrupted_run_keeps_the_first_replications(small):
    # There are so many replications that some are left when the first ones have finished.
    whole = small.run(runs=5000)
    with pytest.raises(nodeb.Interrupted) as caught:
        small.run(runs=5000, progress=Interrupter())
    part = caught.value.result
    n = part.provenance.runs
    assert 1 <= n < 5000
    assert "interrupted" in part.provenance.stopping
    np.testing.assert_array_equal(part.flows["transfer_s"], whole.flows["transfer_s"][: 2 * n])


class Failing:
    """Compiled scenario whose simulation fails with `error`."""

    def __init__(self, scenario, error):
        self.scenario, self.error = scenario, error

    def __getattr__(self, name):
        return getattr(self.scenario, name)

    def run_many(self, *_):
        raise self.error


def have_fail(monkeypatch, error):
    """Makes every simulation fail with `error`."""
    compiled = Source.compiled
    monkeypatch.setattr(Source, "compiled", lambda self: Failing(compiled(self), error))


def test_failing_replication_raises_run_error(small, monkeypatch):
    have_fail(monkeypatch, ValueError("something odd"))
    with pytest.raises(nodeb.RunError, match=r"replication 0 \(seed 1\) failed: something odd"):
        small.run(runs=2, jobs=1)


def test_internal_error_is_reported_as_run_error(small, monkeypatch):
    with pytest.raises(_core.InternalError) as caught:
        _core.fail_on_purpose("scenario `small`, seed 1, replication 0")
    message = str(caught.value)
    assert message.startswith("nodeb itself failed, please report it: on purpose (")
    assert message.endswith("; scenario `small`, seed 1, replication 0)")
    have_fail(monkeypatch, caught.value)
    with pytest.raises(nodeb.RunError) as told:
        small.run(runs=2, jobs=1)
    assert str(told.value) == message


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_failure_beyond_the_stopping_point_is_ignored(small, jobs):
    wanted = Precision(0.5, 3, 8)
    for wrong, fails in [(2, True), (3, False), (5, False)]:
        run = Replicated(Fails(small, wrong), rule_of(wanted))
        engine = Single(run, 1, jobs, None, "")
        if fails:
            with pytest.raises(nodeb.RunError, match=r"replication 2 \(seed 1\)"):
                engine.run()
        else:
            engine.run()
            assert run.runs == 3


@pytest.mark.parametrize("users", [1, 20])
@pytest.mark.parametrize("radio", ["dch", "fach_dch"])
def test_many_replications_equal_single_ones(small, users, radio):
    series = {f"record.{name}": True for name in ("cwnd", "segments", "rtt", "queue", "transfers")}
    scenario = small.with_({"users.0.count": users, "radio": radio, **series}).compiled()
    many = scenario.run_many(5, 2, 40, _core.Control())
    single = [scenario.run(5, run, _core.Control()) for run in range(2, 42)]
    assert list(many) == list(single[0])
    for name, table in many.items():
        assert list(table) == list(single[0][name])
        for column, values in table.items():
            expected = np.concatenate([one[name][column] for one in single])
            np.testing.assert_array_equal(values, expected)
            assert values.dtype == expected.dtype


CROWD = """
precision = 0.2
runs = 5
max_runs = 40
duration = "20 s"
radio = "hs_dsch"
[[users]]
count = 10
stagger = "1 s"
traffic.ftp.size = "SIZE"
"""


def test_precision_rule_counts_unfinished_users(tmp_path):
    path = tmp_path / "crowd.toml"
    path.write_text(CROWD.replace("SIZE", "100 kB"))
    some = nodeb.load(path).run()
    assert 0 < some.flows["complete"].mean() < 1
    assert "of the mean bit rate received (not every transfer was completed)" in (
        some.provenance.stopping
    )
    received = some.flows["received_bps"].reshape(-1, 10).mean(axis=1)
    found = mean_interval(received).relative_half_width
    assert some.provenance.precision_reached is bool(found <= 0.2)
    path.write_text(CROWD.replace("SIZE", "2 kB"))
    everybody = nodeb.load(path).run()
    assert everybody.flows["complete"].all()
    assert "of the mean application bit rate" in everybody.provenance.stopping


def test_precision_rule_gives_up_if_nothing_arrives(tmp_path):
    path = tmp_path / "dead.toml"
    early = {"SIZE": "2 kB", "20 s": "10 ms", "1 s": "0 s"}
    path.write_text(reduce(lambda text, one: text.replace(*one), early.items(), CROWD))
    dead = nodeb.load(path).run()
    assert (dead.provenance.runs, dead.provenance.precision_reached) == (5, False)
    assert "there is no mean bit rate received" in dead.provenance.stopping


def test_field_changed_after_reading_takes_effect(small):
    small.resolved().compiled()
    before = small.to_toml()
    small.users[0].count += 1
    small.seed = 12
    assert len(small.compiled().connections) == small.users[0].count
    assert small.compiled().seed == 12
    small.users[0].count -= 1
    assert small.with_(seed=nodeb.Scenario.from_toml(before).seed).to_toml() == before


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))]
)
def test_copied_and_pickled_scenarios_are_equal(small, again):
    read = nodeb.Scenario.from_toml(small.to_toml())
    assert again(read) == read
    assert again(read).to_toml() == read.to_toml()


def test_notes_on_keys_belong_to_the_file_even_if_it_names_another(tmp_path):
    trace = traces.Trace("traffic", {"bytes": np.array([5.0])}, "x", times_ns=np.array([0]))
    traces.write(tmp_path / "a.trace", trace)
    keys = "errors.process.bsc.error_rate = 0.1\nbler = 0.01"
    replay = '[[users]]\ntraffic.replay.file = "a.trace"\n'
    (tmp_path / "s.toml").write_text(f"[radio.dch]\n{keys}\n{replay}")
    (note,) = nodeb.load(tmp_path / "s.toml").compiled().superfluous()
    assert note.startswith(f"{tmp_path / 's.toml'}:3: radio.dch.bler: this has no effect")


DCH = """name = "s"
radio.dch.bler = 0.1
[wired]
rate = "1 Mbps"
[[users]]
traffic.ftp.size = "50 kB"
"""


def read(*settings, text=DCH):
    return Scenario.from_toml(text, "s.toml", settings)


def test_setting_without_value_removes_a_key():
    assert read("radio.dch.bler=").radio.bler == read("radio=dch").radio.bler
    assert read("wired= ") == Scenario.from_toml(
        DCH.replace('[wired]\nrate = "1 Mbps"', ""), "s.toml"
    )
    assert read('name=""').name == ""


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("wired.delay=", "a key, but the file has no `delay` there; it has rate"),
        ("users.1.traffic=", "the file has no `traffic` there"),
        ("radio.hsdpa.cell=", "the file has no `cell` there"),
        ("name.more=", "the file has no `more` there"),
        ("=", "a key of the path is empty"),
    ],
)  # fmt: skip
def test_absent_key_cannot_be_removed(setting, message):
    with pytest.raises(nodeb.ScenarioError) as error:
        read(setting)
    assert message in str(error.value)


def test_sizes_are_whole_numbers_of_bytes():
    with pytest.raises(nodeb.ScenarioError) as error:
        read(text=DCH.replace("50 kB", "1.5 B"))
    assert str(error.value) == (
        "s.toml:6: users.0.traffic.ftp.size: `1.5 B` is 1.5 bytes; expected a whole number of bytes"
    )
    assert read(text=DCH.replace("50 kB", "1.5 kB")).users[0].traffic.size == "1.5 kB"


def test_keys_are_read_by_their_path(small):
    assert small["radio.dch.bler"] == small.radio.bler
    assert small["users.0.count"] == small.users[0].count
    assert small["precision"] is None
    for key, expected in (
        ("radio.dch.blr", "did you mean `bler`"),
        ("radio.lte.bandwidth", "not radio.lte"),
        ("users.7.count", "no `users.7`"),
    ):
        with pytest.raises(nodeb.InputError, match=expected):
            small[key]
    with pytest.raises(TypeError):
        _ = "runs" in small


def test_scenario_is_shown_in_a_line_and_as_its_file_in_notebooks(small):
    assert len(repr(small)) < 80
    assert "'small'" in repr(small)
    assert "bler" in small._repr_html_()
