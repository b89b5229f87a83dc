"""TCP over HS-DSCH and DCH: X. Wang's thesis of 2004, chapter by chapter.

Phones download files, either over a dedicated channel, which retransmits blocks after about 100 ms,
or over the shared channel of HSDPA, which retransmits them after about 10 ms. Assumptions where the
thesis is silent: `wang.toml`.
"""

import numpy as np

from nodeb.formulas import analytics
from nodeb.scenario_types import Dch
from nodeb.study import (
    Axis,
    Effort,
    Quick,
    Study,
    at_least,
    at_most,
    between,
    change,
    each,
    falling,
    flat,
    label_of,
    metric,
    ordered,
    rising,
    rms,
)

study = Study(
    __file__,
    title="TCP over HS-DSCH and DCH",
    reference="X. Wang, 3G HSDPA Performance In Mobile Internet Connections, Master of Science "
    "thesis IMIT/LCN 2004-02, KTH Stockholm, March 2004.",
    # The replications of a case continue until its mean download time is known to within 1 %.
    effort=Effort(runs=400, max_runs=2000, precision=0.01),
    quick=Quick(runs=20, cost=200),
    minutes={"quick": 0.1, "full": 0.7},
)
base = study.load("wang_base.toml")
LONG = Effort(runs=10, max_runs=20, precision=0.002, cost=100)
POINTS = "points"

# The metrics. As in the thesis, a rate is the amount of data divided by the mean download time.


def application(m):
    return m.app_bytes / m.transfer_s * (8 / 1000)


def retransmit(m):
    carried = m.ip_bytes / m.transfer_s * (8 / 1000)
    return carried / (1 - m["bearers.bler"][..., :1])


@metric("kb/s")
def application_rate(m):
    """File size over mean transfer time, as a mean over users."""
    return application(m).mean(axis=-1)


@metric("kb/s")
def user_rate(m, user):
    return application(m)[..., user]


@metric("kb/s")
def spread(m):
    """Standard deviation of the users' mean bit rates."""
    return application(m).std(axis=-1, ddof=1)


@metric("kb/s")
def spread_of_a_run(m):
    """Standard deviation of the users' bit rates in one replication, as a mean over replications.

    Unlike `spread`, it includes the randomness of single replications.
    """
    return m[rate_deviation][..., 0] / 1000


def rate_deviation(tables):
    flows = tables["flows"]
    return np.std(flows["app_bytes"] * 8 / flows["transfer_s"], ddof=1)


@metric("kb/s")
def retransmit_rate(m):
    """Bytes with headers, divided by the mean transfer time and by the share of good blocks."""
    return retransmit(m).mean(axis=-1)


@metric("%")
def utilization(m):
    """Utilization of each user's own channel, as a mean over users, or of the shared channel.

    A user's own channel is considered during the user's download, the shared channel during all
    downloads together.
    """
    rate = m["bearers.channel_rate_bps"][..., :1]
    if m["bearers.bler"].shape[-1] > 1:
        return (100 * 1000 * retransmit(m) / rate).mean(axis=-1)
    everything = m.ip_bytes.sum(axis=-1) / m[last_end][..., 0] * 8
    return 100 * everything / (rate[..., 0] * (1 - m["bearers.bler"][..., 0]))


def last_end(tables):
    """Returns the end of the last download, s, from the start of the first."""
    flows = tables["flows"]
    return np.max(flows["start_s"] + flows["transfer_s"]) - np.min(flows["start_s"])


@metric("ms")
def round_trip(m):
    return 1000 * m.rtt_mean_s.mean(axis=-1)


@metric("packets")
def retransmitted(m):
    return m.packets_retransmitted.sum(axis=-1)


@metric("timeouts per 1000 packets")
def timeouts(m):
    return 1000 * m.timeouts.sum(axis=-1) / m.packets_sent.sum(axis=-1)


# The axes are the quantities that the tables and figures of the thesis vary.

BLER = Axis(
    {"1 %": 0.01, "10 %": 0.10, "20 %": 0.20},
    label="BLER target (%)",
    short="BLER",
    x=lambda share: round(100 * share),
)
LOW, MIDDLE, HIGH = BLER
SIZE = Axis(["16 MB", "100 kB", "50 kB", "20 kB"], label="File size")
SMALL = SIZE["100 kB", "50 kB", "20 kB"]
LARGE, KB_100, KB_50, KB_20 = SIZE


def dch(bler):
    """Returns the settings of a DCH: 12 channels of 32 kb/s.

    A failed block is retransmitted 89 ms after its TTI of 10 ms.
    """
    return {
        "radio": Dch(
            channels=12,
            tti="10 ms",
            pdu_size="40 B",
            pdus_per_tti=1,
            bler=bler,
            retransmission_delay="99 ms",
            delivery="in_sequence",
        )
    }


def hs_dsch(**changes):
    """Returns a function from a BLER to the settings of an HS-DSCH, with `changes`.

    Without `changes`, the HS-DSCH has three code channels, each with one PDU per TTI of 2 ms; with
    PDUs of 32 bytes it has 384 kb/s.
    """
    keys = {f"radio.hs_dsch.{key}": value for key, value in changes.items()}
    return lambda bler: {"radio.hs_dsch.bler": bler, **keys}


CHANNEL = Axis(
    {
        "DCH 384 kb/s": dch,
        "HS-DSCH 360 kb/s": hs_dsch(pdu_size="30 B"),
        "HS-DSCH 384 kb/s": hs_dsch(pdu_size="32 B"),
    },
    label="Channel",
)
DCH, HS_360, HS_384 = CHANNEL


@study.scenario(effort=lambda size: LONG if size == "16 MB" else study.effort)
def download(channel, size, bler):
    return base.with_({**channel(bler), "users.0.traffic.ftp.size": size})


used = utilization.of(download)
rate = application_rate.of(download)
carried = retransmit_rate.of(download)
repeated = retransmitted.of(download)

# ------------------------------------------------ Sections 3.2 and 8.2: TCP over a lossy radio link

PAIR = Axis({"DCH": dch, "HS-DSCH": hs_dsch(pdu_size="32 B")}, label="Channel")


@study.scenario(effort=Effort(runs=100, max_runs=2000, precision=0.002))
def stop_and_wait(channel, bler):
    """Downloads one packet at a time, so that no queueing prolongs the round trips."""
    return base.with_(
        {
            **channel(bler),
            "tcp.classic.initial_window": 1,
            "tcp.classic.max_window": 1,
            "tcp.classic.delayed_ack": "0 s",
            "tcp.classic.clock": "1 ms",
            "users.0.traffic.ftp.size": "150 kB",
        }
    )


rtt = round_trip.of(stop_and_wait)


@study.claim("3.2, 9.1", "Table 8", "Table 11")
def timeouts_rare():
    """At a BLER of 10 %, spurious timeouts of TCP are rare (at most 1 timeout per 1000 packets)."""
    for channel in CHANNEL:
        yield at_most(timeouts.of(download)(channel, LARGE, MIDDLE), 1, channel, digits=3)
    for channel in PAIR:
        yield at_most(timeouts.of(stop_and_wait)(channel, MIDDLE), 1, channel, digits=3)


def harm(channel, key):
    """Yields checks that out-of-sequence delivery causes retransmissions and lowers the rate."""
    where = channel, KB_100, MIDDLE
    for name, first, then in (
        ("out of sequence", repeated, "in sequence"),
        ("in sequence", rate, "out of sequence"),
    ):
        yield ordered(
            {one: first(*where).under({key: one.replace(" ", "_")}) for one in (name, then)},
            *where[1:],
            unit="packets retransmitted" if first is repeated else None,
        )


@study.claim("3.2, 8.2")
def out_of_sequence_harms_dch():
    """On DCH, delivery out of sequence makes TCP retransmit without need and slows it down."""
    yield from harm(DCH, "radio.dch.delivery")


@study.claim("3.2, 8.2")
def out_of_sequence_harms_hs_dsch():
    """On HS-DSCH, delivery out of sequence makes TCP retransmit without need and slows it down."""
    yield from harm(HS_384, "radio.hs_dsch.delivery")


# ----------------------------------------------- Section 4.2: results calculated without simulation

RATES = Axis({f"{k} kb/s": 1000 * k for k in (32, 64, 128, 256, 384)}, label="Channel bit rate")
RTTS = Axis({"50 ms": 0.05, "150 ms": 0.15, "300 ms": 0.3}, label="Round-trip time")
SEGMENTS = Axis({"536 bytes": 536, "1460 bytes": 1460}, label="Segment size")
FAST = RATES["384 kb/s"]
BY_RULE = "22.5 kB over four round trips of the product of equation (1):"


def product(kbps, round_trip_s):
    return analytics.bandwidth_delay_product(rate_bps=kbps.value, rtt_s=round_trip_s)


def cycles(kbps, segment, round_trip):
    return analytics.slow_start_cycles(
        rate_bps=kbps.value, rtt_s=round_trip.value, packet_bytes=segment.value, bdp_scale=0.8
    )


study.table(
    "Table 1",
    "Bandwidth-delay products",
    {r: {t: product(r, t.value) / 1000 for t in RTTS} for r in RATES},
    """0.16  0.48   0.64
       0.32  0.96   1.92
       0.64  1.92   3.84
       1.28  3.84   7.68
       1.92  5.76  11.52""",
    unit="kB",
    digits=2,
    near_percent=1,
)
study.table(
    "Table 2",
    "Slow-start cycles until the bandwidth-delay product is reached",
    {
        r: {(s, t): cycles(r, s, t) for s, t in each(SEGMENTS, RTTS["150 ms", "300 ms"])}
        for r in RATES
    },
    """1  2  1  1
       2  3  1  2
       3  4  2  2
       4  4  2  3
       5  6  3  4""",
    unit="cycles",
    digits=0,
    near=0.5,
)


@study.claim("4.2", "Table 2")
def cycles_fall_with_rtt_and_mss():
    """Slow start fills the channel in fewer cycles with a shorter round trip or a larger segment,
    and needs at least three at 384 kb/s."""
    (small, large), (_, short, long) = SEGMENTS, RTTS
    near, far = cycles(FAST, large, short), cycles(FAST, large, long)
    terms = {"1460 bytes and 300 ms": far, "1460 bytes and 150 ms": near}
    yield ordered(terms, unit="cycles", digits=0)
    terms = {
        "536 bytes and 150 ms": cycles(FAST, small, short),
        "1460 bytes and 150 ms": near,
        "two": 2,
    }
    yield ordered(terms, unit="cycles", digits=0)


@study.claim(
    "4.2",
    "Table 1",
    cause="Equation (1) of the thesis gives 10 %, and its Table 1, which is 0.8 times it, 13 %.",
)
def first_round_trip_12_percent():
    """At 384 kb/s and 300 ms the first packet uses 12 % of the channel in the first round trip."""
    name = "1500 bytes over the product of equation (1):"
    yield between(1500 / product(FAST, 0.3), 0.115, 0.125, name=name, digits=3)


@study.claim(
    "4.2",
    "Table 1",
    cause="It is right with Table 1, which is 0.8 times the thesis's own equation (1).",
)
def file_of_22_kilobytes():
    """A file of 22.5 kB uses half of a channel of 384 kb/s with a round trip of 300 ms."""
    yield between(22500 / product(FAST, 1.2), 0.45, 0.55, name=BY_RULE, digits=3)


@study.claim("4.2")
def rtt_model():
    """Equation (3) gives about 300 ms at 1 % and about 450 ms at 10 % block errors in both
    directions."""
    for bler, k, low, high in (("1 %", 1.5, 0.285, 0.315), ("10 %", 3, 0.435, 0.465)):
        value = analytics.rtt_model(k=k, rlc_rtt_s=0.1, internet_s=0.05, core_s=0.02)
        yield between(value, low, high, name=f"{bler}:", unit="s", digits=3)


# -------------------------------------------------------------------- Section 9.1: round-trip times


def growth(channel):
    return rtt(channel, MIDDLE) - rtt(channel, LOW)


def relative_growth(channel):
    return change(rtt(channel, MIDDLE), rtt(channel, LOW))


study.table(
    "Table 8",
    "Round-trip times, one packet at a time",
    {
        channel: {
            LOW: rtt(channel, LOW),
            MIDDLE: rtt(channel, MIDDLE),
            "Difference": growth(channel),
            "Relative": relative_growth(channel),
        }
        for channel in PAIR
    },
    """264  346  82  31
       248  256   8   3""",
    near=10,
)


@study.claim("9.1", "Table 8")
def rtt_growth_small_on_hs_dsch():
    """From 1 to 10 % BLER the round-trip time grows by about a third on DCH (82 ms) and hardly on
    HS-DSCH (8 ms)."""
    (slow, fast) = PAIR
    yield between(relative_growth(slow), 24, 38, slow)
    yield between(relative_growth(fast), 0, 5, fast)


@study.claim("9.1", "Table 8")
def rtt_growth_factor_ten():
    """The growth of the round-trip time differs by a factor of about ten between the channels, as
    their retransmission delays do."""
    slow, fast = map(growth, PAIR)
    yield between(slow / fast, 8, 12.5, name="growth on DCH over growth on HS-DSCH")


@study.claim(
    "9.1",
    "Table 8",
    cause="The delays of the thesis's Table 6 alone add up to 286 ms.",
)
def rtt_like_live_network():
    """The simulated round-trip time on DCH at 1 % BLER agrees with the 250 ms of a live network
    (within 20 ms)."""
    yield between(rtt(PAIR["DCH"], LOW), 230, 270)


@study.claim("9.1", "Table 8")
def rtt_growth_below_model():
    """From 1 to 10 % BLER on the downlink alone, the round-trip time on DCH grows by less than the
    150 ms that equation (3) gives for both directions."""
    yield ordered({"equation (3)": 150, "growth on DCH": growth(PAIR["DCH"])})


# ---------------------------------------------------- Section 9.2: downloads of files of four sizes

PAYLOAD = 0.9733
"""Size of a file without TCP/IP headers, as a fraction of its size with them."""
PRINTED = {
    LARGE: """98.3  99.7  99.4
              98.2  99.7  99.4
              98.3  99.8  99.4""",
    KB_100: """59  64  62
               55  67  65
               54  69  68""",
    KB_50: """42  48  46
              38  50  48
              36  53  51""",
    KB_20: """25  29  28
              21  31  30
              21  33  32""",
}
of_size = {
    size: study.table(
        f"Table {number}",
        f"Channel utilization, files of {size}",
        {b: {channel: used(channel, size, b) for channel in CHANNEL} for b in BLER},
        PRINTED[size],
        digits=2 if size is LARGE else 1,
        runs=1 if size is LARGE else 10,
        near=1.0 if size is LARGE else 1.5,
    )
    for number, size in enumerate(SIZE, 11)
}
study.show(
    "Channel utilization, 50 kB file (Table 13): published | measured with 95 % interval",
    "Table 13",
    ["DCH 384 kb/s", "HS-DSCH 384 kb/s"],
)


def implied(size, of):
    """Returns the values of a figure that follow from the printed utilization of the same files."""
    kbps = {DCH: 384, HS_360: 360, HS_384: 384}
    printed = of_size[size].printed
    return {c: {b: of(printed[b][c], kbps[c], b.value) for b in BLER} for c in CHANNEL}


for at, size in enumerate(SIZE):
    for number, name, of, over in (
        (8 + 2 * at, "Application", rate, lambda u, k, b: u / 100 * k * (1 - b) * PAYLOAD),
        (9 + 2 * at, "Retransmit", carried, lambda u, k, b: u / 100 * k),
    ):
        study.figure(
            f"Figure {number}",
            f"{name} bit rate, files of {size}",
            {channel: {b: of(channel, size, b) for b in BLER} for channel in CHANNEL},
            f"{name} bit rate (kb/s)",
            printed=implied(size, over),
        )
study.figure(
    "Table 13 as a picture",
    "Channel utilization, files of 50 kB",
    {channel: {b: used(channel, KB_50, b) for b in BLER} for channel in CHANNEL},
    "Channel utilization (%)",
    printed=implied(KB_50, lambda percent, kbps, bler: percent),
    bars=True,
    extra=True,
)


@study.claim("9.2.1", "Figure 8")
def large_application_rate_falls():
    """Files of 16 MB: the application bit rate falls as BLER rises, on every channel."""
    for channel in CHANNEL:
        yield falling({b: rate(channel, LARGE, b) for b in BLER}, channel)


@study.claim("9.2.1", "Figure 8")
def large_no_tcp_retransmissions():
    """Files of 16 MB without packet loss: TCP retransmits nothing."""
    for channel, b in each(CHANNEL, BLER):
        yield at_most(repeated(channel, LARGE, b), 0, channel, b, digits=2)


@study.claim("9.2.1", "Figure 9")
def large_retransmit_rate_constant():
    """Files of 16 MB: the retransmit bit rate does not change with BLER (within 1 %)."""
    for channel in CHANNEL:
        yield flat({b: carried(channel, LARGE, b) for b in BLER}, 0.01, channel)


@study.claim("9.2.1", "Table 11")
def large_channel_nearly_full():
    """Files of 16 MB nearly fill every channel (above 97 %)."""
    for channel, b in each(CHANNEL, BLER):
        yield between(used(channel, LARGE, b), 97, 100.0001, channel, b)


@study.claim("9.2.1", "Table 11")
def large_little_difference():
    """Files of 16 MB: the utilizations of DCH and HS-DSCH of 384 kb/s differ by at most 3
    percentage points."""
    for b in BLER:
        difference = used(HS_384, LARGE, b) - used(DCH, LARGE, b)
        yield between(difference, -3, 3, b, unit=POINTS, digits=2)


@study.claim("9.2.2-9.2.4", "Figure 10", "Figure 12", "Figure 14")
def small_application_rate_falls():
    """Files of 100, 50 and 20 kB: the application bit rate falls as BLER rises, on every
    channel."""
    for channel, size in each(CHANNEL, SMALL):
        yield falling({b: rate(channel, size, b) for b in BLER}, channel, size)


@study.claim("9.2.2-9.2.4", "Figure 10", "Figure 12", "Figure 14")
def hs_dsch_rate_falls_slower():
    """Between 1 and 20 % BLER the application bit rate of HS-DSCH falls less than that of DCH, for
    every small file."""

    def fall(channel, size):
        return change(rate(channel, size, HIGH), rate(channel, size, LOW))

    for channel, size in each((HS_360, HS_384), SMALL):
        terms = {f"change on {channel} (%)": fall(channel, size), "on DCH (%)": fall(DCH, size)}
        yield ordered(terms, size, unit=POINTS)


@study.claim("9.2.2", "Figure 11", "Figure 13", "Figure 15")
def dch_retransmit_rate_falls():
    """The retransmit bit rate of DCH falls as BLER rises, for every small file."""
    for size in SMALL:
        yield falling({b: carried(DCH, size, b) for b in BLER}, DCH, size)


@study.claim("abstract, 9.2.2-9.2.5", "Table 12", "Table 13", "Table 14")
def hs_dsch_utilization_rises():
    """The retransmit bit rate of HS-DSCH, and so the utilization, rises with BLER, for every small
    file."""
    for channel, size in each((HS_360, HS_384), SMALL):
        yield rising({b: used(channel, size, b) for b in BLER}, channel, size)


def uses(size, low, high):
    for channel, b in each(CHANNEL, BLER):
        yield between(used(channel, size, b), low, high, channel, b)


@study.claim("9.2.2", "Table 12")
def utilization_100_kb():
    """Files of 100 kB use only 50 to 70 % of the channel (to the nearest percent)."""
    yield from uses(KB_100, 49.5, 70.5)


@study.claim("9.2.3", "Table 13")
def utilization_50_kb():
    """Files of 50 kB use only 35 to 55 % of the channel (to the nearest percent)."""
    yield from uses(KB_50, 34.5, 55.5)


@study.claim(
    "9.2.4", "Table 14", cause="The thesis's own table prints 33 % in the cell that is above 32 %."
)
def utilization_20_kb():
    """Files of 20 kB use only 20 to 32 % of the channel (to the nearest percent)."""
    yield from uses(KB_20, 19.5, 32.5)


@study.claim("9.2.2-9.2.4", "Table 11", "Table 12", "Table 13", "Table 14")
def smaller_files_use_less():
    """The smaller the file, the less of the channel it uses."""
    for channel, b in each(CHANNEL, BLER):
        yield falling({size: used(channel, size, b) for size in SIZE}, channel, b)


@study.claim("abstract, 9.2.5", "Table 11", "Table 12", "Table 13", "Table 14")
def hs_dsch_better_than_dch():
    """With the same channel bit rate, the application bit rate is higher on HS-DSCH than on DCH,
    for every file size and BLER."""
    for size, b in each(SIZE, BLER):
        yield ordered({"HS-DSCH": rate(HS_384, size, b), "DCH": rate(DCH, size, b)}, size, b)


def gain(size, bler):
    return change(rate(HS_384, size, bler), rate(DCH, size, bler))


@study.claim("9.2.5", "Table 12", "Table 13", "Table 14")
def gain_rises_with_bler():
    """The gain of HS-DSCH over DCH grows with BLER, for every small file."""
    names = {"gain at 20 % BLER (%)": HIGH, "at 10 % (%)": MIDDLE, "at 1 % (%)": LOW}
    for size in SMALL:
        yield ordered({name: gain(size, b) for name, b in names.items()}, size, unit=POINTS)


@study.claim("9.2.5", "Table 14")
def gain_significant_at_20_kb():
    """For files of 20 kB the gain of HS-DSCH over DCH is significant (above 10 %)."""
    for b in BLER:
        yield at_least(gain(KB_20, b), 10, b)


@study.claim("9.2.5")
def combining_weakens_bler():
    """With soft combining, the bit rate falls less with the BLER than without."""
    for size in SMALL:
        fall = change(rate(HS_384, size, HIGH), rate(HS_384, size, LOW))
        terms = {
            "change from 1 to 20 % BLER with Chase combining (%)": fall.under(
                {"radio.hs_dsch.combining": "chase"}
            ),
            "without (%)": fall,
        }
        yield ordered(terms, HS_384, size, unit=POINTS)


@study.claim("8.3")
def six_retransmissions_suffice():
    """With at most six retransmissions the result is the same as without a limit (application bit
    rate within 1 %)."""
    for size, b in each((KB_100, KB_50), (LOW, MIDDLE)):
        without = rate(HS_384, size, b)
        seven = without.under({"radio.hs_dsch.max_transmissions": 7})
        yield between(change(seven, without), -1, 1, HS_384, size, b, digits=2)


# ------------------------------------------------------ Section 9.3: retransmission delay of blocks

DELAY = Axis(
    {
        "DCH, 89 ms": dch,
        "HS-DSCH, 89 ms": hs_dsch(retransmission_delay="89 ms"),
        "HS-DSCH, 50 ms": hs_dsch(retransmission_delay="50 ms"),
        "HS-DSCH, 9.5 ms": hs_dsch(),
    },
    label="Channel",
)
DCH_89, HS_89, HS_50, HS_9 = DELAY

study.table(
    "Table 15",
    "Channel utilization by retransmission delay, files of 50 kB",
    {b: {channel: used(channel, KB_50, b) for channel in DELAY} for b in BLER},
    """42  43  44  46
       38  39  44  48
       36  37  44  51""",
    runs=10,
    near=1.5,
)
study.figure(
    "Table 15 as a picture",
    "Utilization by retransmission delay, files of 50 kB",
    {channel: {b: used(channel, KB_50, b) for b in BLER} for channel in DELAY},
    "Channel utilization (%)",
    extra=True,
)


@study.claim("9.2.5, 9.3", "Table 15")
def delay_decides_utilization():
    """The short retransmission delay lets the utilization of HS-DSCH rise with BLER: with 9.5 ms
    the utilization rises, with DCH's 89 ms it falls as on DCH."""
    yield rising({b: used(HS_9, KB_50, b) for b in BLER}, HS_9)
    for channel in (HS_89, DCH_89):
        yield falling({b: used(channel, KB_50, b) for b in BLER}, channel)


@study.claim("9.3", "Table 15")
def shorter_delay_uses_more():
    """A shorter retransmission delay raises the utilization at every BLER."""
    names = {"9.5 ms": HS_9, "50 ms": HS_50, "89 ms": HS_89}
    for b in BLER:
        terms = {name: used(channel, KB_50, b) for name, channel in names.items()}
        yield ordered(terms, b, unit=POINTS)


# -------------------------------------------------------- Section 9.4: three users with packet loss

LOSS = Axis(
    {"0 %": 0.0, "1 %": 0.01, "3 %": 0.03},
    label="Packet loss on the Internet (%)",
    short="loss",
    x=lambda share: round(100 * share),
)
NONE, SOME, MANY = LOSS
SHARING = Axis({"DCH": dch, "HS-DSCH": hs_dsch(channels=9, pdu_size="32 B")}, label="Channel")
OWN, SHARED = SHARING


def effort_of(users):
    """Returns the effort of a case in which each of `users` users downloads 16 MB."""
    return Effort(runs=20, cost=100 * users)


@study.scenario(effort=effort_of(3))
def three_users(channel, bler, loss=SOME):
    size = {"users.0.traffic.ftp.size": "16 MB", "users.0.count": 3}
    return base.with_({**channel(bler), **size, "wired.loss": loss})


QUANTITIES = Axis(
    {
        "Application bit rate": application_rate.of(three_users),
        "Retransmit bit rate": retransmit_rate.of(three_users),
        "Channel utilization": utilization.of(three_users),
    },
    label="Quantity",
)
for item, bler, printed in (
    (
        "Table 16",
        LOW,
        """270.33  306.76  36.43  13
           280.51  318.32  37.81  13
               73      79      6   8""",
    ),
    (
        "Table 17",
        MIDDLE,
        """214.96  292.94  77.98  36
           245.37  334.38  89.01  36
               64      85     21  33""",
    ),
):  # The thesis prints differences only in % of DCH; absolute ones follow from its printed values.
    study.table(
        item,
        f"Three users, 1 % packet loss, BLER {bler}",
        {
            name: {
                **{channel: of(channel, bler) for channel in SHARING},
                "Difference": of(SHARED, bler) - of(OWN, bler),
                "Difference, relative": change(of(SHARED, bler), of(OWN, bler)),
            }
            for name, of in ((one, one.value) for one in QUANTITIES)
        },
        printed,
        runs=1,
        near_percent=5,
    )


@study.claim("9.4", "Table 16", "Table 17")
def sharing_uses_more():
    """With 1 % packet loss three users use a shared channel better than three dedicated ones,
    because other users take the capacity that a user with a reduced window leaves unused."""
    for metric_, unit in ((utilization, POINTS), (application_rate, None)):
        of = metric_.of(three_users)
        for b in (LOW, MIDDLE):
            yield ordered({"HS-DSCH": of(SHARED, b), "DCH": of(OWN, b)}, b, unit=unit)


# ---------------------------------------------------- Section 9.5: schedulers of the shared channel

SCHEDULER = Axis(
    {"RR": "round_robin", "Max C/I": "max_ci", "PF": "proportional_fair"}, label="Scheduler"
)
RR, MAX_CI, PF = SCHEDULER
CI = {  # These are the probabilities of the C/I values 1 to 5 in Table 18.
    "A": [0.09, 0.60, 0.24, 0.05, 0.02],
    "B": [0.04, 0.32, 0.43, 0.09, 0.12],
    "C": [0.02, 0.16, 0.23, 0.20, 0.37],
}
USERS = Axis({"3 users, types A, B, C": 1, "6 users, two of each type": 2}, label="Users")
THREE, SIX = USERS
LOSSES = {THREE: list(LOSS), SIX: [SOME, MANY]}


@study.scenario(effort=lambda each_type: effort_of(3 * each_type))
def cell(each_type, scheduler, loss):
    """Returns a scenario with three users on three code channels, or with six users on six.

    With a C/I value of v, a code channel carries v PDUs of 30 bytes per TTI.
    """
    users = [
        {"name": kind, "count": each_type, "traffic": {"ftp": {"size": "16 MB"}}, "ci": ci}
        for kind, ci in CI.items()
    ]
    channel = hs_dsch(channels=3 * each_type, pdu_size="30 B")
    changes = {"users": users, "radio.hs_dsch.scheduler": scheduler, "wired.loss": loss}
    return base.with_({**channel(0.01), **changes})


mean, deviation = application_rate.of(cell), spread.of(cell)

MEASURES = {"MVA": mean, "STD": deviation, "STD in one run": spread_of_a_run.of(cell)}
# The paper prints the STD of a single run, which includes randomness. It is compared with the
# spread of the users' means over runs, as in Table A.1, and with the spread within one run.
for item, users, count, printed in (
    (
        "Table 19",
        THREE,
        "three",
        """365.27  282.91  155.56
           604.46  309.61  164.67
           486.32  288.81  164.55
            61.41   23.41    4.21
           293.26   57.63   13.80
           104.83   14.71    8.45""",
    ),
    (
        "Table 20",
        SIX,
        "six",
        """279.41  170.28
           315.70  169.63
           301.65  170.37
            22.45    7.51
            31.64    8.10
            23.65    6.11""",
    ),
):
    deviations = printed.splitlines()[-len(SCHEDULER) :]
    study.table(
        item,
        f"Schedulers with {count} users: mean (MVA) and spread (STD) of application bit rates",
        {
            (name, s): {loss: of(users, s, loss) for loss in LOSSES[users]}
            for (name, of), s in each(MEASURES.items(), SCHEDULER)
        },
        "\n".join([printed, *deviations]),
        runs=1,
        near_percent=10,
    )
for item, users, count, printed in (
    (
        "Table A.1",
        THREE,
        "three",
        """313.71  257.06  155.10
           348.88  302.67  151.59
           433.21  288.99  159.98
           365.27  282.91  155.56
            61.41   23.41    4.21
           366.81  254.06  149.11
           514.36  305.66  175.41
           932.20  369.12  169.50
           604.46  309.61  164.67
           293.26   57.63   13.80
           395.89  274.20  156.48
           461.86  288.62  163.82
           601.22  303.62  173.34
           486.32  288.81  164.55
           104.83   14.71    8.45""",
    ),
    (  # The standard deviations of these bit rates are printed in Table 20.
        "Table A.2",
        SIX,
        "six",
        """252.63  166.63
           261.79  182.43
           296.87  174.17
           263.46  170.48
           298.21  160.32
           303.49  167.64
           279.41  170.28
            22.45    7.51
           283.62  169.71
           335.09  169.90
           360.65  183.83
           281.75  160.19
           301.93  163.55
           331.13  170.58
           315.70  169.63
            31.64    8.10
           300.37  174.22
           268.08  169.26
           339.74  165.04
           289.08  169.76
           309.21  180.25
           303.45  163.69
           301.65  170.37
            23.65    6.11""",
    ),
):
    of_users = {f"User{n}": user_rate(user=n).of(cell) for n in range(3 * users.value)}
    study.table(
        item,
        f"Schedulers with {count} users: application bit rate of each user",
        {
            (s, name): {loss: of(users, s, loss) for loss in LOSSES[users]}
            for s in SCHEDULER
            for name, of in {**of_users, "Average": mean, "STD": deviation}.items()
        },
        printed,
        runs=1,
        near_percent=10,
    )
study.figure(
    "Table 19 as a picture",
    "Mean application bit rate of three users",
    {s: {loss: mean(THREE, s, loss) for loss in LOSS} for s in SCHEDULER},
    "Mean application bit rate (kb/s)",
    bars=True,
    extra=True,
)


def in_order(of, schedulers, users, loss):
    return ordered({s: of(users, s, loss) for s in schedulers}, users, loss)


@study.claim("9.5", "Table 19")
def scheduler_throughput_order():
    """Without packet loss, the mean bit rate is highest with Max C/I, then proportional fair, then
    round robin."""
    yield in_order(mean, (MAX_CI, PF, RR), THREE, NONE)


@study.claim("9.5", "Table 19", "Table 20")
def max_ci_always_best():
    """The mean bit rate is highest with Max C/I, at every packet loss and number of users."""
    for users, other in each(USERS, (RR, PF)):
        for loss in LOSSES[users]:
            yield in_order(mean, (MAX_CI, other), users, loss)


@study.claim("9.5", "Table 19", "Table 20")
def round_robin_fairest():
    """The users' bit rates differ least with round robin, at every packet loss and number of users
    (compared with proportional fair)."""
    for users in USERS:
        for loss in LOSSES[users]:
            yield in_order(deviation, (PF, RR), users, loss)


@study.claim("9.5", "Table 19")
def round_robin_fairest_without_loss():
    """Without packet loss round robin is fairest, Max C/I least fair, proportional fair in the
    middle."""
    yield in_order(deviation, (MAX_CI, PF, RR), THREE, NONE)


@study.claim("abstract, 9.5", "Table 19")
def loss_levels_schedulers():
    """The more packets are lost, the less the schedulers differ in mean bit rate (Max C/I and round
    robin)."""
    names = {"lead of Max C/I over RR at 0 % loss": NONE, "at 1 %": SOME, "at 3 %": MANY}
    yield ordered({n: mean(THREE, MAX_CI, x) - mean(THREE, RR, x) for n, x in names.items()})


def alike(users, loss):
    for s in (MAX_CI, PF):
        gain = change(mean(users, s, loss), mean(users, RR, loss))
        yield between(gain, -10, 10, users, loss, s)


@study.claim("abstract, 9.5", "Table 19", "Table 20")
def schedulers_alike_at_3_percent():
    """At 3 % packet loss Max C/I and proportional fair gain little over round robin (within
    10 %)."""
    for users in USERS:
        yield from alike(users, MANY)


@study.claim("abstract", "Table 19")
def schedulers_alike_at_1_percent():
    """Already at 1 % packet loss the schedulers give similar results (within 10 % of round
    robin)."""
    yield from alike(THREE, SOME)


@study.claim("9.5", "Table 19")
def spread_shrinks_with_loss():
    """The spread of bit rates among the users shrinks as packet loss grows, under every
    scheduler."""
    for s in SCHEDULER:
        yield falling({loss: deviation(THREE, s, loss) for loss in LOSS}, s)


@study.claim("9.5", "Table 19")
def loss_limits_everyone():
    """TCP's window, not the scheduler, limits the users when many packets are lost: every mean bit
    rate falls with loss."""
    for s in SCHEDULER:
        yield falling({loss: mean(THREE, s, loss) for loss in LOSS}, s)


@study.claim("9.5", "Table A.1")
def best_user_gives_way():
    """Under Max C/I losses make the user with the best radio give up the channel to the others: the
    lead of user 2 over user 0 shrinks."""
    best, worst = (user_rate(user=n).of(cell) for n in (2, 0))
    names = {"user 2 over user 0 at 0 % loss": NONE, "at 1 %": SOME, "at 3 %": MANY}
    lead = {n: best(THREE, MAX_CI, x) / worst(THREE, MAX_CI, x) for n, x in names.items()}
    yield ordered(lead, MAX_CI, digits=2)


# ----------------------------------------------------- Table C: other interpretations of the thesis


def acks_lost(scenario):
    """Makes the uplink lose acknowledgements with the probability with which data are lost."""
    return scenario.with_({"uplink.loss": scenario.wired.loss})


def rates_of_table_4(scenario):
    """Sets the C/I value 5 to 640 kb/s.

    A PDU of 10 bytes per TTI is 40 kb/s, and the rate of each C/I value is a multiple of that.
    """
    places = (2, 5, 8, 11, 15)
    changes = {"radio.hs_dsch.pdu_size": "10 B"}
    for number, ci in enumerate(CI.values()):
        by_place = dict(zip(places, ci, strict=True))
        changes[f"users.{number}.ci"] = [by_place.get(at, 0) for at in range(16)]
    return scenario.with_(changes)


TEN_PERCENT = {"radio.hs_dsch.bler": 0.10}
SHARES, ALL_THREE, ALL_SIX = "Tables 16 and 17", "Table 19", "Table 20"
SCHEDULED = (ALL_THREE, ALL_SIX)
EVERYWHERE = (SHARES, *SCHEDULED)


def of_groups(groups, *changes):
    return dict.fromkeys(groups, changes)


INTERPRETATIONS = {  # Changes of the scenario, by label of the interpretation and group of tables.
    "as assumed": {},
    "3 channels for six users": {ALL_SIX: [{"radio.hs_dsch.channels": 3}]},
    "5 channels for six users": {ALL_SIX: [{"radio.hs_dsch.channels": 5}]},
    "640 kb/s for C/I 5": of_groups(SCHEDULED, rates_of_table_4),
    "schedulers at 10 % BLER": of_groups(SCHEDULED, TEN_PERCENT),
    "ACKs lost too": of_groups(EVERYWHERE, acks_lost),
    "the last three together": {
        SHARES: [acks_lost],
        **of_groups(SCHEDULED, rates_of_table_4, TEN_PERCENT, acks_lost),
    },
    "half windows with fractions": of_groups(EVERYWHERE, {"tcp.classic.fractional_halves": True}),
    "ns-2.27": of_groups(EVERYWHERE, {"tcp.classic.era": "ns-2.27"}),
}


def printed_means():
    """Returns the printed mean rates by group and row, each with the quantity that measures it."""
    groups = {SHARES: {}, ALL_THREE: {}, ALL_SIX: {}}
    for group, items, row_of, columns in (
        (SHARES, ("Table 16", "Table 17"), "Application", SHARING),
        (ALL_THREE, ("Table 19",), "MVA", LOSS),
        (ALL_SIX, ("Table 20",), "MVA", LOSSES[SIX]),
    ):
        for item in items:
            table = study.tables[item]
            for row, column in each(table.rows, columns):
                name = label_of(row)
                if name.startswith(row_of):
                    cell = table.rows[row][column], table.printed[row][column]
                    groups[group][f"{item}: {name}, {column}"] = cell
    return groups


def other_interpretations():
    """Returns the deviations of measured from printed rates, in %, by interpretation.

    There is a row for each printed value, and one for the root mean square of each group and of all
    values.
    """
    groups = {
        group: {
            place: {
                interpretation: change(of.under(*changes.get(group, ())), value)
                for interpretation, changes in INTERPRETATIONS.items()
            }
            for place, (of, value) in cells.items()
        }
        for group, cells in printed_means().items()
    }
    rows = groups["all"] = {place: row for of in groups.values() for place, row in of.items()}
    return rows | {
        f"RMS, {group}": {
            interpretation: rms([row[interpretation] for row in of.values()])
            for interpretation in INTERPRETATIONS
        }
        for group, of in groups.items()
    }


study.table(
    "Table C",
    "Other interpretations: deviation of the mean application bit rates from the printed ones",
    other_interpretations(),
    unit="%",
)
