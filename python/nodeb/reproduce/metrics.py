"""The metrics of study files: functions of the mean quantities of a scenario's replications."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nodeb.errors import InputError
from nodeb.reproduce.arrays import Array
from nodeb.reproduce.specs import nearest

Means = Mapping[str, Array]
BITS_PER_KILOBYTE = 8 / 1000  # bytes/s -> kb/s


@dataclass(frozen=True)
class Metric:
    """A function of the mean quantities per user (last axis: users).

    Attributes:
        name: as written in study files.
        unit: unit of its values.
        text: what it is.
        of: means, parameters -> value.
    """

    name: str
    unit: str
    text: str
    of: Callable[[Means, Mapping[str, Any]], Array]


def _application(means: Means) -> Array:
    return means["app_bytes"] / means["transfer_s"] * BITS_PER_KILOBYTE


def _retransmit(means: Means) -> Array:
    carried = means["ip_bytes"] / means["transfer_s"] * BITS_PER_KILOBYTE
    return np.asarray(carried / (1 - means["bler"]))


def _utilization(means: Means) -> Array:
    """Of a channel per user: each over its own time. Of a shared one: all over the last time.

    With a single user the two are the same.
    """
    if means["bearers"].flat[0] > 1:
        return _mean(np.asarray(100 * 1000 * _retransmit(means) / means["channel_rate_bps"]))
    everything = np.sum(means["ip_bytes"], axis=-1) / means["last_s"][..., 0] * 8
    channel = means["channel_rate_bps"][..., 0] * (1 - means["bler"][..., 0])
    return np.asarray(100 * everything / channel)


def _mean(values: Array) -> Array:
    return np.asarray(np.mean(values, axis=-1))


def _total(means: Means, quantity: str) -> Array:
    """A quantity of all users."""
    return np.asarray(np.sum(means[quantity], axis=-1))


def _per(means: Means, quantity: str, other: str) -> Array:
    """Ratio of two quantities of all users; NaN or infinite where there is none of the other."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return _total(means, quantity) / _total(means, other)


def _goodput(means: Means) -> Array:
    """Bytes of the bursts that ended, over the time observed, mean over users."""
    observed = means["observed_s"][..., 0] * means["bursts"].shape[-1]
    return np.asarray(_total(means, "burst_bytes") / observed * BITS_PER_KILOBYTE)


def _throughput(means: Means, params: Mapping[str, Any]) -> Array:
    """Segments in order at the phone, over time, mean over users.

    A segment of `data_bytes` counts `segment_bytes`, for studies that know of no headers.
    """
    rate = means["delivered_bytes"] / means["end_s"] * BITS_PER_KILOBYTE
    return _mean(rate * (params["segment_bytes"] / params["data_bytes"]))


def _effective(means: Means, params: Mapping[str, Any]) -> Array:
    """The same without the check bits of the frames' code."""
    from nodeb.formulas import wcdma  # needs the extension

    share = wcdma.effective_share(params["frame_bits"], params["correctable"])
    return np.asarray(share * _throughput(means, params))


def _burst_delay(means: Means, params: Mapping[str, Any]) -> Array:
    """Until the sender has the last ACK, or the phone the last byte."""
    until = "burst_download_s" if params.get("until") == "phone" else "burst_delay_s"
    return _per(means, until, "bursts")


def _little_delay(means: Means, params: Mapping[str, Any]) -> Array:
    """`N = X (D + Z)` solved for D: bursts that never end count as well."""
    users_s = means["observed_s"][..., 0] * means["bursts"].shape[-1]
    with np.errstate(divide="ignore"):
        return np.asarray(users_s / _total(means, "bursts") - params["think_s"])


_METRICS = (
    Metric(
        "application_kbps",
        "kb/s",
        "application bit rate, mean over users: file size / mean transfer time",
        lambda means, _: _mean(_application(means)),
    ),
    Metric(
        "user_application_kbps",
        "kb/s",
        "application bit rate of user number `user`",
        lambda means, params: _application(means)[..., params["user"]],
    ),
    Metric(
        "application_stdev_kbps",
        "kb/s",
        "sample standard deviation over users of their application bit rates, each the mean of all "
        "replications: what the users differ in",
        lambda means, _: np.asarray(np.std(_application(means), axis=-1, ddof=1)),
    ),
    Metric(
        "application_run_stdev_kbps",
        "kb/s",
        "the same within one replication, chance included; mean over replications",
        lambda means, _: np.asarray(means["rate_stdev_bps"][..., 0] / 1000),
    ),
    Metric(
        "retransmit_kbps",
        "kb/s",
        "file with TCP/IP headers / mean transfer time / (1 - BLER), mean over users",
        lambda means, _: _mean(_retransmit(means)),
    ),
    Metric(
        "utilization_percent",
        "%",
        "retransmit bit rate / channel bit rate: mean over users, or on a shared channel that of "
        "all bytes over the time of the last user",
        lambda means, _: _utilization(means),
    ),
    Metric(
        "rtt_ms",
        "ms",
        "mean round-trip time of data packets as the TCP sender measures it",
        lambda means, _: 1000 * _mean(means["rtt_mean_s"]),
    ),
    Metric(
        "transfer_s",
        "s",
        "mean transfer time",
        lambda means, _: _mean(means["transfer_s"]),
    ),
    Metric(
        "retransmitted_packets",
        "packets",
        "data packets that TCP sent again, per replication, all users",
        lambda means, _: np.asarray(np.sum(means["packets_retransmitted"], axis=-1)),
    ),
    Metric(
        "timeouts_per_1000_packets",
        "",
        "retransmission timeouts per thousand data packets sent",
        lambda means, _: np.asarray(
            1000 * np.sum(means["timeouts"], axis=-1) / np.sum(means["packets_sent"], axis=-1)
        ),
    ),
    Metric(
        "delivered_megabytes",
        "MB",
        "bytes in order at the phones by the end of the run, all users",
        lambda means, _: _total(means, "delivered_bytes") / 1e6,
    ),
    Metric(
        "timeouts",
        "timeouts",
        "retransmission timeouts per replication, all users",
        lambda means, _: _total(means, "timeouts"),
    ),
    Metric(
        "fast_retransmits",
        "fast retransmits",
        "fast retransmits per replication, all users",
        lambda means, _: _total(means, "fast_retransmits"),
    ),
    Metric(
        "throughput_kbps",
        "kb/s",
        "segments of `segment_bytes` in order at the phone, over time, mean over users",
        _throughput,
    ),
    Metric(
        "effective_throughput_kbps",
        "kb/s",
        "the same without the check bits of a code for `correctable` errors in `frame_bits` bits",
        _effective,
    ),
    Metric(
        "burst_delay_s",
        "s",
        "mean time from a burst's beginning to its last ACK, or to its last byte at the "
        "phone if `until` is `phone`, over the bursts that ended",
        _burst_delay,
    ),
    Metric(
        "little_delay_s",
        "s",
        "the same by Little's law, from the bursts per second of all users and the mean time "
        "`think_s` between two bursts of one",
        _little_delay,
    ),
    Metric(
        "goodput_kbps",
        "kb/s",
        "bytes of the bursts that ended, over time, mean over users",
        lambda means, _: _goodput(means),
    ),
    Metric(
        "burst_rate_kbps",
        "kb/s",
        "mean over the bursts that ended of size / delay",
        lambda means, _: BITS_PER_KILOBYTE * _per(means, "burst_rate", "bursts"),
    ),
    Metric(
        "set_ups_per_burst",
        "",
        "set-ups of dedicated channels per burst, of the whole run",
        lambda means, _: _per(means, "set_ups", "all_bursts"),
    ),
)
METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _METRICS}


def metric(name: str) -> Metric:
    """Look up a metric.

    Raises:
        InputError: if there is no such metric.
    """
    try:
        return METRICS[name]
    except KeyError:
        raise InputError(f"unknown metric `{name}`; {nearest(name, METRICS)}") from None
