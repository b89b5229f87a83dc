"""Studies whose downloads never end, and the one that has them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from nodeb import _core
from nodeb.reproduce import cells, grid, study
from nodeb.reproduce.campaign import Campaign, CoreSimulator
from nodeb.reproduce.log import Log, reduce
from nodeb.reproduce.measure import estimate
from nodeb.reproduce.metrics import metric

COUNTED = {"segment_bytes": 576, "data_bytes": 536}
HOSSAIN = study.load("hossain")


def select(*selectors: str) -> study.Selection:
    return tuple(choice for choices in HOSSAIN.select(selectors) for choice in choices)


def replication(*delivered: int) -> dict[str, dict[str, object]]:
    """Tables of downloads that are cut off after 100 s."""
    n = len(delivered)
    numbers = {name: np.ones(n) for name in ("app_bytes", "ip_bytes", "packets_sent")}
    zeros = {
        name: np.zeros(n)
        for name in ("packets_retransmitted", "timeouts", "fast_retransmits", "start_s")
    }
    never = {name: np.full(n, np.nan) for name in ("transfer_s", "download_s", "rtt_mean_s")}
    flows = {
        **numbers,
        **zeros,
        **never,
        "user": np.arange(n),
        "complete": np.zeros(n, dtype=bool),
        "delivered_bytes": np.array(delivered),
    }
    bearers = {"bler": [0.0], "channel_rate_bps": [102_400.0], "end_s": [100.0]}
    return {"flows": flows, "bearers": bearers}


def test_what_was_delivered_counts_and_nothing_is_unfinished() -> None:
    log = Log()
    for delivered in ((536_000, 1_072_000), (536_000, 1_072_000), (670_000, 938_000)):
        log.add(reduce(replication(*delivered), endless=True))
    assert log.unfinished == 0
    means = {name: values.mean(axis=0) for name, values in log.stacked().items()}
    # 1500 segments of 576 bytes in 100 s, in the mean.
    assert metric("throughput_kbps").of(means, COUNTED) == pytest.approx(1500 * 576 * 8 / 1e5)
    coded = {**COUNTED, "frame_bits": 128, "correctable": 1}
    effective = metric("effective_throughput_kbps").of(means, coded)
    assert effective == pytest.approx(1500 * 576 * 8 / 1e5 * 120 / 128)


def test_precision_is_that_of_the_amount_delivered() -> None:
    log = Log()
    for delivered in (900_000, 1_100_000):
        log.add(reduce(replication(delivered), endless=True))
    assert log.relative_half_width() == pytest.approx(12.706 * 0.1, rel=1e-3)


def test_a_download_that_should_end_is_unfinished() -> None:
    assert reduce(replication(1, 2)).unfinished == 2


def radio(*selectors: str) -> dict[str, float]:
    """The open parameters of a scenario."""
    wcdma = grid.scenario(HOSSAIN, select(*selectors))["radio"]["wcdma"]
    others = wcdma["other_cells"]["mean"]
    names = ("eb_n0_db", "correctable_bits", "max_failed_slots")
    return {
        "factor": others["factor"],
        "load": others["load"]["connections"],
        **{name: wcdma[name] for name in names},
    }


def test_figures_have_a_baseline_of_their_own() -> None:
    assert radio("baseline:anchors") == radio()
    curves = radio("baseline:curves")
    assert all(curves[name] != value for name, value in radio().items())
    varied = {"eta:eta70": "factor", "load:G5": "load", "energy:20dB": "eb_n0_db"}
    varied |= {"code:t4": "correctable_bits", "attempts:R2": "max_failed_slots"}
    for choice, name in varied.items():
        found = radio("baseline:curves", choice)
        assert [key for key in curves if found[key] != curves[key]] == [name], choice
    for figure in HOSSAIN.figures.values():
        assert "baseline:curves" in figure.fixed
    for table in HOSSAIN.tables.values():
        assert "baseline:anchors" in table.fixed


def test_statements_are_judged_from_the_baseline_of_their_items() -> None:
    anchors = {"error-free", "anchor-a", "anchor-b"}
    for claim in HOSSAIN.claims:
        known = {"baseline:curves" in check["at"] for check in claim["checks"]}
        assert known == {claim["id"] not in anchors and claim["items"] != ["Table B"]}, claim["id"]


def test_giving_packets_up_is_what_stops_fifteen_connections() -> None:
    work = Campaign(HOSSAIN, CoreSimulator(), seed=1, quick=True)

    def kbps(*selectors: str) -> float:
        chosen = select("baseline:anchors", "counted", "model:B", "connections:15", *selectors)
        return estimate(cells.quantity(work, chosen, "throughput_kbps")).value

    assert kbps("attempts:R5") < 0.6 * kbps("attempts:R10")


def test_every_scenario_of_the_study_can_be_run() -> None:
    assert HOSSAIN.endless
    selections = [s for f in HOSSAIN.figures.values() for s in cells.figure_selections(HOSSAIN, f)]
    selections += [s for t in HOSSAIN.tables.values() for s in cells.table_selections(HOSSAIN, t)]
    texts = {json.dumps(grid.scenario(HOSSAIN, s)) for s in selections}
    assert len(texts) > 400
    for text in texts:
        _core.resolve(text)
