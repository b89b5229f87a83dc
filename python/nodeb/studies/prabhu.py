"""TCP over FACH and DCH: B. J. Prabhu and others, VTC fall 2003, section by section.

Phones receive bursts of data on the slow FACH, which all phones share, or on a fast dedicated
channel, which takes time to set up and to release. The question is when a phone should request and
release it. The paper has text and plots without numbers. Its wording is interpreted uniformly:
"close to" and "around" as 5 points to either side, "very close" as within 5 %, "marginally" and
"not significantly" as at most 10 %, "significantly" as more. Assumptions: `prabhu.toml`.
"""

import numpy as np

from nodeb.studies import prabhu_bursts
from nodeb.study import (
    Axis,
    Effort,
    Mark,
    Quick,
    Study,
    at_least,
    at_most,
    between,
    change,
    each,
    falling,
    least,
    least_at,
    metric,
    most,
    most_at,
    ordered,
    rising,
)

study = Study(
    __file__,
    title="TCP over FACH and DCH",
    reference="B. J. Prabhu, E. Altman, K. Avrachenkov, J. Abadia Dominguez, A Simulation Study of "
    "TCP Performance over UMTS Downlink, IEEE Vehicular Technology Conference, fall 2003.",
    effort=Effort(runs=10, cost=5),
    quick=Quick(runs=3, cost=15, warm_up_s=500, changes={"duration": "1500 s"}),
    warm_up_s=2500,
    minutes={"quick": 0.8, "full": 45},
)
base = study.load("prabhu_base.toml")

# ----------------------------------------------- Sections II, III and V: quantities that are varied

CONNECTIONS = Axis({f"N = {n}": n for n in range(2, 9)}, label="Connections (N_tcp)")
FIVE, EIGHT = BOTH = CONNECTIONS["N = 5", "N = 8"]
THRESHOLD = Axis(range(16), label="Threshold T_h (packets)", short="T_h =")
T = list(THRESHOLD)
EARLY = T[0], T[2], T[4]
"""Thresholds at which policies are compared, unless each is compared at its own best threshold."""
# The paper does not print T_out. It is assumed to be 0.25 and 0.5 s; 1 s is shown in addition.
POLICY = Axis(
    {
        "original (T_out = 0)": ("threshold", {}),
        "pe, T_out = 0.25 s": ("preemptive", {"timeout": "250 ms"}),
        "pe, T_out = 0.5 s": ("preemptive", {"timeout": "500 ms"}),
        "pe, T_out = 1 s": ("preemptive", {"timeout": "1 s"}),
        "npe, T_out = 0.25 s": ("non_preemptive", {"timeout": "250 ms"}),
        "npe, T_out = 0.5 s": ("non_preemptive", {"timeout": "500 ms"}),
        "npe, T_out = 1 s": ("non_preemptive", {"timeout": "1 s"}),
        "longest queue, 0.45 s": ("longest_queue", {"timeout": "450 ms"}),
    },
    label="Policy",
)
ORIGINAL, PE_250, PE_500, PE_1000, NPE_250, NPE_500, NPE_1000, LONGEST = POLICY
MODIFIED = [PE_250, PE_500, PE_1000, NPE_250, NPE_500, NPE_1000]
PRE_EMPTIVE, NON_PRE_EMPTIVE = (PE_250, PE_500), (NPE_250, NPE_500)
JUDGED = [*PRE_EMPTIVE, *NON_PRE_EMPTIVE]
INTERPRETATION = Axis(
    {
        "as chosen": {},
        "round trip of 30 ms, 15 ms each way": {"wired.delay": "15 ms", "uplink.rate": "10 Mbps"},
        "delay measured at the phone": {},
        "a timeout halves the packets outstanding, not the window": {
            "tcp.classic.half_of_flight": True
        },
        "spurious timeouts undone (Eifel)": {"tcp.classic.eifel": True},
        "no Limited Transmit, as until November 2001": {"tcp.classic.limited_transmit": False},
        "ns-2 until May 2001": {"tcp.classic.era": "ns-2.1b7a"},
        "no slow start after idle times": {"tcp.classic.slow_start_restart": False},
        "retransmission timeout from 200 ms": {"tcp.classic.min_rto": "200 ms"},
        "Tahoe": {"tcp.classic.control": "tahoe"},
        "delayed acknowledgements": {"tcp.classic.delayed_ack": "100 ms"},
        "uplink of 10 Mb/s": {"uplink.rate": "10 Mbps"},
        "uplink with 50 ms more": {"uplink.delay": "50 ms"},
        "30 kB with headers": {"users.0.traffic.on_off.burst.pareto.mean": "26.25 kB"},
        "open loop": {"users.0.traffic.on_off.closed_loop": False},
        "no delay before an acknowledgement": {"uplink.rate": "10 Mbps", "wired.delay": "0 s"},
    },
    label="Interpretation",
)
AS_CHOSEN, ROUND_TRIP, AT_PHONE = INTERPRETATION[
    "as chosen", "round trip of 30 ms, 15 ms each way", "delay measured at the phone"
]
NO_DELAY = INTERPRETATION["no delay before an acknowledgement"]


@study.scenario(reduce=prabhu_bursts.reduce)
def bursts(connections, policy, threshold, switch="250 ms", channels=1, interpretation=AS_CHOSEN):
    kind, timer = policy
    return base.with_(
        {
            "users.0.count": connections,
            "radio.fach_dch.policy": {kind: {"high": threshold, "low": 1, **timer}},
            "radio.fach_dch.switch_time": switch,
            "radio.fach_dch.dch_channels": channels,
            **interpretation,
        }
    )


# The metrics cover all phones together. A burst counts if it ends after the warm-up.

KBPS = 8 / 1000  # Converts bytes per second to kbit/s.
THINK_S = 1.851  # This is the mean time between two bursts of a connection.
STATES = ("pch_s", "paging_s", "fach_s", "setting_up_s", "dch_s", "releasing_s")


def observed_s(tables, warm_up_s):
    """Returns the time after the warm-up. A phone's times in its states sum to the whole run."""
    spent = np.sum([tables["channels"][state] for state in STATES], axis=0)
    return spent[:1] - warm_up_s


def connection_time(m):
    """Returns the observed time, summed over all connections, s."""
    return m[observed_s][..., 0] * m.bursts.shape[-1]


def per_burst(values, bursts):
    with np.errstate(divide="ignore", invalid="ignore"):
        return values.sum(axis=-1) / bursts.sum(axis=-1)


@metric("s")
def burst_delay(m):
    """Time from a burst's beginning to its last acknowledgement at the sender."""
    return per_burst(m.burst_delay_s, m.bursts)


@metric("s")
def burst_download(m):
    """Time from a burst's beginning to its last byte at the phone."""
    return per_burst(m.burst_download_s, m.bursts)


@metric("s")
def little_delay(m):
    """Delay D by Little's law, N = X (D + Z); it includes the time of bursts that never end."""
    with np.errstate(divide="ignore"):
        return connection_time(m) / m.bursts.sum(axis=-1) - THINK_S


@metric("kb/s")
def goodput(m):
    """Bytes of the completed bursts over time, as a mean over connections."""
    return m.burst_bytes.sum(axis=-1) / connection_time(m) * KBPS


@metric("kb/s")
def rate_of_a_burst(m):
    """Size over delay, as a mean over bursts."""
    return KBPS * per_burst(m.burst_rate, m.bursts)


@metric("per burst")
def set_ups_per_burst(m):
    """Set-ups of dedicated channels per burst in the whole run."""
    return per_burst(m["channels.set_ups"], m.all_bursts)


delay, throughput = burst_delay.of(bursts), goodput.of(bursts)
set_ups = set_ups_per_burst.of(bursts)


def by_threshold(of, *case, **how):
    return {t: of(*case, t, **how) for t in THRESHOLD}


def best(*case, **how):
    """Returns the mean burst delay at the threshold at which it is smallest."""
    return least(by_threshold(delay, *case, **how))


# ----------------------------------------------------------- Tables that only this reproduction has

study.table(
    "Table A",
    "Policies at T_h = 2",
    {
        (n, p): {
            "Delay": delay(n, p, T[2]),
            "Delay by Little's law": little_delay.of(bursts)(n, p, T[2]),
            "Throughput": throughput(n, p, T[2]),
            "Set-ups": set_ups(n, p, T[2]),
        }
        for n, p in each(BOTH, POLICY)
    },
    unit="",
    digits=2,
)


def gain_of_4(of, connections):
    """Returns the change of a quantity by a threshold of 4 instead of 0, in %."""
    return change(of(connections, ORIGINAL, T[4]), of(connections, ORIGINAL, T[0]))


study.table(
    "Table B",
    "Changes from T_h = 0 to T_h = 4, the best threshold for eight connections",
    {
        n: {
            "Delay": gain_of_4(delay, n),
            "Throughput": gain_of_4(throughput, n),
            "Rate of a burst": gain_of_4(rate_of_a_burst.of(bursts), n),
        }
        for n in CONNECTIONS
    },
)


def under(interpretation, connections, policy, threshold):
    """Returns the burst delay under an interpretation.

    It ends with the last acknowledgement at the sender, or for `AT_PHONE` with the last byte at the
    phone.
    """
    of = burst_download.of(bursts) if interpretation is AT_PHONE else delay
    return of(connections, policy, threshold, interpretation=interpretation)


def interpretations():
    rows = {}
    for n, interpretation in each(BOTH, INTERPRETATION):
        none, at_2, at_4, at_6 = (under(interpretation, n, ORIGINAL, T[t]) for t in (0, 2, 4, 6))
        npe = under(interpretation, n, NPE_500, T[0])
        rows[n, interpretation] = {
            "T_h = 0": none,
            "T_h = 4": at_4,
            "T_h = 2 against 0": change(at_2, none),
            "T_h = 4 against 0": change(at_4, none),
            "T_h = 6 against 0": change(at_6, none),
            "npe at 0": npe,
            "npe against original": change(npe, none),
            "Set-ups at T_h = 4": set_ups(n, ORIGINAL, T[4], interpretation=interpretation),
        }
    return rows


study.table(
    "Table C",
    "Other interpretations: delay with five and with eight connections",
    interpretations(),
    digits=2,
)
study.show(
    "Policies at T_h = 2 (Table A), measured with 95 % interval",
    "Table A",
    ["Delay", "Throughput", "Set-ups"],
)

# ----------------------------------------------------------------------------- Figures of the paper

SLOW = {"switch": "500 ms"}
TWO = {"channels": 2}
BY_POLICY = {
    "Figure 5": ("N = 5", FIVE, {}),
    "Figure 6": ("N = 8", EIGHT, {}),
    "Figure 7": ("N = 5, D_sw = 500 ms", FIVE, SLOW),
    "Figure 8": ("N = 8, D_sw = 500 ms", EIGHT, SLOW),
    "Figure 9": ("N = 8, N_dch = 2", EIGHT, TWO),
}


def by_connections(of):
    """Returns curves of `of` over the threshold, one for each number of connections.

    The policy is the original one.
    """
    return {n: by_threshold(of, n, ORIGINAL) for n in CONNECTIONS}


def by_connections_paired(of):
    return {
        n: {t: change(of(n, ORIGINAL, t), of(n, ORIGINAL, T[0])) for t in THRESHOLD}
        for n in CONNECTIONS
    }


def by_policy(connections, how):
    return {p: by_threshold(delay, connections, p, **how) for p in [ORIGINAL, *MODIFIED]}


def by_policy_paired(connections, how):
    original = by_threshold(delay, connections, ORIGINAL, **how)
    return {
        p: {t: change(delay(connections, p, t, **how), original[t]) for t in THRESHOLD}
        for p in MODIFIED
    }


study.figure(
    "Figure 3",
    "Average delay, original policy",
    by_connections(delay),
    "Mean burst delay (s)",
    digits=2,
    marks=[Mark("paper: minimum", x=4)],
)
study.figure(
    "Figure 4",
    "Throughput per connection, original policy",
    by_connections(throughput),
    "Throughput per connection (kb/s)",
    marks=[Mark("paper: maximum", x=4)],
)
for name, (where, connections, how) in BY_POLICY.items():
    study.figure(
        name,
        f"Average delay by policy, {where}",
        by_policy(connections, how),
        "Mean burst delay (s)",
        digits=2,
    )
study.figure(
    "Figure 3, paired",
    "Average delay against that at T_h = 0",
    by_connections_paired(delay),
    "Difference of delay (%)",
    from_zero=False,
)
study.figure(
    "Figure 4, paired",
    "Throughput against that at T_h = 0",
    by_connections_paired(throughput),
    "Difference of throughput (%)",
    from_zero=False,
)
# The paper's text states that the delay is less by "close to 20 % at T_h = 0".
STATED = {p: {T[0]: -20} for p in NON_PRE_EMPTIVE}
for name, (where, connections, how) in BY_POLICY.items():
    study.figure(
        f"{name}, paired",
        f"Average delay against the original policy, {where}",
        by_policy_paired(connections, how),
        "Difference of delay (%)",
        from_zero=False,
        printed=STATED if name == "Figure 5" else None,
    )

# ---------------------------------------------------- Section IV: statements on the original policy

POINTS = "points"
SET_UPS = "set-ups per burst"
ONE_PER_BURST = 1.05  # "One set-up per burst" is accepted up to this value, 5 % more than one.


def least_delay(places, n, **how):
    """Returns a check that the original policy's delay is least at `places` (`least_at`)."""
    return least_at(by_threshold(delay, n, ORIGINAL, **how), places, n, digits=2)


def less(of, against):
    """Returns the reduction of a delay relative to another, in %."""
    return 0 - change(of, against)


@study.claim("IV", "Figure 3")
def delay_has_an_optimum():
    """The delay first falls and then rises with T_h, for every number of connections."""
    for n in CONNECTIONS:
        yield least_delay(None, n)


@study.claim("IV", "Figure 3")
def optimum_at_4():
    """The delay is lowest at T_h = 4, for every number of connections."""
    for n in CONNECTIONS:
        yield least_delay([T[4]], n)


@study.claim("IV", "Figure 3")
def optimum_at_4_of_8():
    """With eight connections the delay is lowest at T_h = 4."""
    yield least_delay([T[4]], EIGHT)


@study.claim("IV", "Figure 3")
def delay_rises_after_the_optimum():
    """Beyond the optimum the delay rises with T_h, as more time is spent on the FACH (T_h = 6, 8,
    10, 12, 15)."""
    for n in CONNECTIONS:
        yield rising({T[t]: delay(n, ORIGINAL, T[t]) for t in (6, 8, 10, 12, 15)}, n, digits=2)


@study.claim("IV", "Figure 3")
def redundant_switches():
    """Small thresholds lead to redundant switches: the set-ups per burst fall from T_h = 0 to 2 and
    4."""
    for n in CONNECTIONS:
        yield falling({t: set_ups(n, ORIGINAL, t) for t in EARLY}, n, unit=SET_UPS, digits=2)


@study.claim("IV", "Figure 3")
def five_packets_end_switching():
    """Five packets in the queue (T_h = 4) are enough that bursts are not switched back and forth:
    at most 1.05 set-ups per burst."""
    for n in CONNECTIONS:
        yield at_most(set_ups(n, ORIGINAL, T[4]), ONE_PER_BURST, n, unit=SET_UPS, digits=2)


@study.claim("IV", "Table C")
def five_packets_bridge_30_ms():
    """Five packets, which last 33 ms on the DCH, are enough if the round trip is 30 ms: at most
    1.05 set-ups per burst at T_h = 4."""
    for n in BOTH:
        of = set_ups(n, ORIGINAL, T[4], interpretation=ROUND_TRIP)
        yield at_most(of, ONE_PER_BURST, n, ROUND_TRIP, unit=SET_UPS, digits=2)


@study.claim("IV", "Table C")
def ack_delay_makes_the_optimum():
    """The delay falls at first because of the time until acknowledgements reach the source: the
    better of T_h = 2 and 4 has a lower delay than T_h = 0, and gains less without that time."""

    def dip(n, interpretation):
        none, *some = (under(interpretation, n, ORIGINAL, t) for t in EARLY)
        return less(least(some), none)

    for n in BOTH:
        yield ordered({"reduction of delay (%)": dip(n, AS_CHOSEN), "none": 0}, n, unit=POINTS)
    for n in BOTH:
        terms = {
            "reduction of delay (%)": dip(n, AS_CHOSEN),
            "without the time (%)": dip(n, NO_DELAY),
        }
        yield ordered(terms, n, unit=POINTS)


@study.claim("IV", "Figure 3")
def delay_rises_with_connections():
    """For a given T_h the delay rises with the number of connections (T_h = 0, 4, 8, 12)."""
    for t in T[:13:4]:
        yield rising({n: delay(n, ORIGINAL, t) for n in CONNECTIONS}, t, digits=2)


@study.claim("IV", "Figure 4")
def throughput_has_an_optimum():
    """The throughput first rises and then falls with T_h, for every number of connections."""
    for n in CONNECTIONS:
        yield most_at(by_threshold(throughput, n, ORIGINAL), None, n)


@study.claim("IV", "Figure 3", "Figure 4")
def throughput_improves_more():
    """A threshold improves throughput (in %) more than delay: both relative to T_h = 0, each at its
    own best threshold."""
    for n in CONNECTIONS:
        rates = by_threshold(throughput, n, ORIGINAL)
        terms = {
            "throughput (%)": change(most(rates), rates[T[0]]),
            "reduction of delay (%)": less(best(n, ORIGINAL), delay(n, ORIGINAL, T[0])),
        }
        yield ordered(terms, n, unit=POINTS)


@study.claim("IV", "Figure 4")
def throughput_falls_with_connections():
    """For a given T_h the throughput falls with the number of connections (T_h = 0, 4, 8, 12)."""
    for t in T[:13:4]:
        yield falling({n: throughput(n, ORIGINAL, t) for n in CONNECTIONS}, t)


# -------------------------------------------------- Section VI: statements on the modified policies

AGAINST = "against the original"
BEST_AGAINST_NONE = "best against T_h = 0"


def loss_at_12(n, *policy, **how):
    """Returns a check that a threshold of 12 has at least 10 % more delay than the best one."""
    case = n, *(policy or [ORIGINAL])
    loss = change(delay(*case, T[12], **how), best(*case, **how))
    return at_least(loss, 10, n, *policy, name="T_h = 12 against the best")


def gain(n, **how):
    """Returns how much the best threshold, instead of 0, changes the original policy's delay, %."""
    return change(best(n, ORIGINAL, **how), delay(n, ORIGINAL, T[0], **how))


def against_original(n, policy, **how):
    """Returns the change of delay against the original policy, in %, each at its best threshold."""
    return change(best(n, policy, **how), best(n, ORIGINAL, **how))


def optimum(n, policy, **how):
    """Returns a check that a policy's delay is least at a threshold strictly between 0 and 15."""
    return least_at(by_threshold(delay, n, policy, **how), None, n, policy, digits=2)


SHORT = {
    ORIGINAL: "original",
    PE_250: "pe, 0.25 s",
    PE_500: "pe, 0.5 s",
    NPE_250: "npe, 0.25 s",
    NPE_500: "npe, 0.5 s",
}
BETTER = (ORIGINAL, NPE_250), (ORIGINAL, NPE_500), (PE_250, NPE_250), (PE_500, NPE_500)
"""Pairs of policies; the second is the one that is better according to the paper."""


def more(of, one, other, connections, unit=None, **how):
    """Yields checks that `of` is larger for policy `one` than for `other` at T_h = 0, 2 and 4."""
    for n, t in each(connections, EARLY):
        terms = {SHORT[p]: of(n, p, t, **how) for p in (one, other)}
        yield ordered(terms, n, t, unit=unit, digits=2)


@study.claim("VI", "Figure 3")
def high_thresholds_cost():
    """A threshold above the best one raises the delay significantly: by more than 10 % at T_h =
    12."""
    for n in CONNECTIONS:
        yield loss_at_12(n)


@study.claim("VI", "Figure 5", "Figure 6")
def modified_has_an_optimum():
    """The modified policies too have their lowest delay at a threshold between 0 and 15."""
    for n, p in each(BOTH, JUDGED):
        yield optimum(n, p)


@study.claim("VI", "Figure 5")
def pre_emptive_marginally_better():
    """With five connections the pre-emptive scheme is marginally better than the original policy:
    its delay is lower, by at most 10 %, each at its own best threshold."""
    for p in PRE_EMPTIVE:
        yield between(against_original(FIVE, p), -10, 0, FIVE, p, name=AGAINST)


@study.claim("VI", "Figure 6")
def pre_emptive_close_with_8():
    """With eight connections the delay of the pre-emptive scheme is very close to that of the
    original policy (within 5 % at T_h = 0, 2 and 4)."""
    for t, p in each(EARLY, PRE_EMPTIVE):
        of = change(delay(EIGHT, p, t), delay(EIGHT, ORIGINAL, t))
        yield between(of, -5, 5, EIGHT, t, p, name=AGAINST)


@study.claim("VI", "Figure 5", "Figure 6")
def pre_emptive_gains_more_with_5():
    """The pre-emptive scheme gains more with five connections than with eight, each policy at its
    own best threshold."""
    for p in PRE_EMPTIVE:
        terms = {
            "reduction of delay with 5 (%)": 0 - against_original(FIVE, p),
            "with 8 (%)": 0 - against_original(EIGHT, p),
        }
        yield ordered(terms, p, unit=POINTS)


@study.claim("VI", "Figure 5", "Figure 6")
def non_pre_emptive_best():
    """The non pre-emptive scheme has a lower delay than the original policy and the pre-emptive
    scheme, at T_h = 0, 2 and 4."""
    for worse, better in BETTER:
        yield from more(delay, worse, better, BOTH)


@study.claim("VI", "Figure 5", name="non-pre-emptive-20-percent")
def close_to_20_percent():
    """With five connections and T_h = 0 the delay of the non pre-emptive scheme is close to 20 %
    lower than that of the original policy (15 to 25 %)."""
    for p in NON_PRE_EMPTIVE:
        of = change(delay(FIVE, p, T[0]), delay(FIVE, ORIGINAL, T[0]))
        yield between(of, -25, -15, FIVE, T[0], p, name=AGAINST)


@study.claim("VI", "Figure 5", "Figure 6")
def non_pre_emptive_keeps_the_channel():
    """In the non pre-emptive scheme a session keeps its channel to the end: fewer set-ups per burst
    than in the original policy, and at most 1.05."""
    for p in NON_PRE_EMPTIVE:
        yield from more(set_ups, ORIGINAL, p, BOTH, unit=SET_UPS)
    for n, t, p in each(BOTH, EARLY, NON_PRE_EMPTIVE):
        yield at_most(set_ups(n, p, t), ONE_PER_BURST, n, t, p, unit=SET_UPS, digits=2)


@study.claim("VII", "Figure 3")
def threshold_gains_little():
    """A threshold does not improve the delay significantly: the best one gains 10 % at most."""
    for n in CONNECTIONS:
        yield at_least(gain(n), -10, n, name=BEST_AGAINST_NONE)


@study.claim("VII", "Figure 5", "Figure 6")
def timer_improves():
    """A timer on the DCH improves the delay: both schemes with a timer have a lower delay than the
    original policy, each at its own best threshold."""
    for n, p in each(BOTH, JUDGED):
        yield at_most(against_original(n, p), 0, n, p, name=AGAINST)


# --------------------------------------------------------- Section VI: statements on Figures 7 to 9


@study.claim("VI", "Figure 7", "Figure 8")
def slow_switch_optimum():
    """With D_sw = 500 ms the best threshold of the original policy is higher than with 250 ms,
    where the paper has 4."""
    for n in BOTH:
        yield least_delay(T[5:], n, **SLOW)


@study.claim("VI", "Figure 7", "Figure 8")
def slow_switch_gain_10_percent():
    """With D_sw = 500 ms the delay at the best threshold is around 10 % (5 to 15 %) lower than at
    T_h = 0."""
    for n in BOTH:
        yield between(gain(n, **SLOW), -15, -5, n, name=BEST_AGAINST_NONE)


@study.claim("VI", "Figure 5", "Figure 6", "Figure 7", "Figure 8")
def slow_switch_gains_more():
    """With D_sw = 500 ms the best threshold reduces the delay by more than with 250 ms."""
    for n in BOTH:
        terms = {
            "reduction of delay at 500 ms (%)": 0 - gain(n, **SLOW),
            "at 250 ms (%)": 0 - gain(n),
        }
        yield ordered(terms, n, unit=POINTS)


@study.claim("VI", "Figure 7", "Figure 8")
def slow_switch_non_pre_emptive_best():
    """With D_sw = 500 ms the non pre-emptive scheme has a lower delay than the original policy and
    the pre-emptive scheme, at T_h = 0, 2 and 4."""
    for worse, better in BETTER:
        yield from more(delay, worse, better, BOTH, **SLOW)


@study.claim("VI", "Figure 9")
def two_channels_optimum():
    """With N_dch = 2, as with one, the delay of the original policy first falls and then rises with
    T_h."""
    yield least_delay(None, EIGHT, **TWO)


@study.claim("VI", "Figure 9")
def two_channels_modified_has_an_optimum():
    """With N_dch = 2, as with one, the modified policies too have their lowest delay at a threshold
    between 0 and 15."""
    for p in JUDGED:
        yield optimum(EIGHT, p, **TWO)


@study.claim("VI", "Figure 9")
def two_channels_pre_emptive_better():
    """With N_dch = 2, as with one, the pre-emptive scheme is better than the original policy, each
    at its own best threshold."""
    for p in PRE_EMPTIVE:
        yield at_most(against_original(EIGHT, p, **TWO), 0, EIGHT, p, name=AGAINST)


@study.claim("VI", "Figure 9")
def two_channels_non_pre_emptive_best():
    """With N_dch = 2, as with one, the non pre-emptive scheme has a lower delay than the original
    policy and the pre-emptive scheme, at T_h = 0, 2 and 4."""
    for worse, better in BETTER:
        yield from more(delay, worse, better, [EIGHT], **TWO)


@study.claim("VI", "Figure 9")
def two_channels_high_thresholds_cost():
    """With N_dch = 2 too a threshold above the best one raises the delay significantly: by more
    than 10 % at T_h = 12, with every policy."""
    for p in [ORIGINAL, *JUDGED]:
        yield loss_at_12(EIGHT, p, **TWO)
