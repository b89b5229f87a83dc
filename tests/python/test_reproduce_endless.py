"""Studies whose downloads never end, and the one that has them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from nodeb import _core
from nodeb.reproduce import cells, grid, study
from nodeb.reproduce.log import Log, reduce
from nodeb.reproduce.metrics import metric

COUNTED = {"segment_bytes": 576, "data_bytes": 536}


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


def test_every_scenario_of_the_study_can_be_run() -> None:
    hossain = study.load("hossain")
    assert hossain.endless
    selections = [s for f in hossain.figures.values() for s in cells.figure_selections(hossain, f)]
    selections += [s for t in hossain.tables.values() for s in cells.table_selections(hossain, t)]
    texts = {json.dumps(grid.scenario(hossain, s)) for s in selections}
    assert len(texts) > 400
    for text in texts:
        _core.resolve(text)
