"""A proxy with radio network feedback over HSDPA: Fiorenzi and others, 2007, section by section.

A phone downloads while 29 others load web pages. A proxy between the server and the operator's
network splits the connection, and the RNC informs it of the phone's available bandwidth (radio
network feedback, RNF). The paper's figures are plots without numbers, so the claims are those of
its text. Assumptions where the text is silent: `fiorenzi.toml`.
"""

from functools import partial

from nodeb.studies import fiorenzi_session
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
    flat,
    metric,
    most_at,
    ordered,
)

study = Study(
    __file__,
    title="A proxy with radio network feedback over HSDPA",
    reference="M. Fiorenzi, D. Girella, N. Möller, Å. Arvidsson, R. Skog, J. Petersson, "
    "P. Karlsson, C. Fischione, K. H. Johansson, Enhancing TCP over HSDPA by Cross-Layer "
    "Signalling, IEEE Globecom 2007.",
    effort=Effort(runs=20, cost=2),
    quick=Quick(runs=4, cost=8),  # In the short version each point has 4 sessions.
    minutes={"quick": 0.65, "full": 4},
)
base = study.load("fiorenzi_base.toml")

# ------------------------------------------------------------------ Section IV.A: simulation set-up

VEHICULAR = {"profile": "vehicular_a", "speed": "120 km/h"}

ENVIRONMENT = Axis(
    {
        "Pedestrian A": {},
        "Vehicular A": {
            f"users.{group}.ue.channel.cell.{key}": value
            for group in (0, 1)
            for key, value in VEHICULAR.items()
        },
    },
    label="Environment",
)
DISTANCE = Axis(["450 m", "800 m"], label="Distance")
SCHEDULER = Axis(
    {"round robin": "round_robin", "Max C/I": "max_ci", "proportional fair": "proportional_fair"},
    label="Scheduler",
)
RNF_SETTINGS = {"rnf": {"q_ref": 36}}
SNOOP = {"eifel": True}
TCP = Axis(
    {
        "RNF-PROXY+": {"proxy": RNF_SETTINGS, "snoop": SNOOP},
        "RNF-PROXY": {"proxy": RNF_SETTINGS},
        "HTTP-PROXY": {"proxy": "split"},
        "R+S+E": {"snoop": SNOOP},
        "Reno": {},
    },
    label="TCP",
)
INTERVAL = Axis(
    ["80 ms", "250 ms", "500 ms"], label="RNF interval (ms)", x=lambda text: int(text.split()[0])
)
# Another interpretation of the cell, which the paper does not describe.
OTHER_CELL = {
    "radio.hsdpa.cell.orthogonality": 0.9,
    "radio.hsdpa.cell.shadowing.correlation_distance": "20 m",
}
# The settings chosen where the paper prints none, then changes of them: other interpretations, and
# tests of the influence of the other phones, the queue, ns-2's window and the queue feedback.
SETTING = Axis(
    {
        "72 packets at the RNC": {},
        "52 packets at the RNC": {"radio.hsdpa.buffer": 52},
        "50 packets at the RNC": {"radio.hsdpa.buffer": 50},
        "orthogonality 0.9, shadowing over 20 m": OTHER_CELL,
        "the same, 50 packets at the RNC": {**OTHER_CELL, "radio.hsdpa.buffer": 50},
        "other phones idle": {"users.1.traffic": {"ftp": {"size": "1 B"}}},
        "all 30 phones download": {
            "users.1.traffic": {"ftp": {"size": "100 MB"}},
            "users.1.stagger": "0 s",
        },
        "13 packets at the RNC": {"radio.hsdpa.buffer": 13},
        "1000 packets at the RNC": {"radio.hsdpa.buffer": 1000},
        "EURANE's Iub": {"radio.hsdpa.iub.room": "10 kB"},
        "ns-2's window of 20": {"tcp.classic.max_window": 20, "tcp.classic.initial_ssthresh": 20},
        "with queue feedback": {"proxy.rnf.queue_feedback": 0.05},
    },
    label="Setting",
)

PEDESTRIAN, IN_VEHICLES = ENVIRONMENT
NEAR, FAR = DISTANCE
ROUND_ROBIN, MAX_CI, PROPORTIONAL_FAIR = SCHEDULER
STUDIED = [ROUND_ROBIN, MAX_CI]
RNF_PLUS, RNF, HTTP, RSE, RENO = TCP
OFTEN, MIDDLE, SELDOM = INTERVAL
AS_CHOSEN, BUFFER_52, BUFFER_50, CELL, CELL_50, ALONE, *FURTHER = SETTING
PLACES = list(each(ENVIRONMENT, DISTANCE, STUDIED))
"""The paper's scenarios: environment, position and scheduler."""
SHOWN = PEDESTRIAN, NEAR, ROUND_ROBIN
"""The scenario of Figures 4 and 5 and of Tables A, C and F."""


@study.scenario(reduce=fiorenzi_session.reduce, endless=True)
def session(environment, distance, scheduler, tcp, interval=OFTEN, setting=AS_CHOSEN):
    changes = {
        **environment,
        "users.0.ue.channel.cell.distance": distance,
        "radio.hsdpa.scheduler": scheduler,
        **tcp,
        "proxy.rnf.interval": interval,
        **setting,
    }
    # Without a proxy, no element of the path receives the RNC's messages, so their settings are
    # removed.
    if tcp.get("proxy") != RNF_SETTINGS:
        changes = {key: value for key, value in changes.items() if "proxy.rnf." not in key}
    return base.with_(changes)


# The metrics of a session. As in the paper, a rate is an amount divided by the duration of the
# session; metrics whose names end in `_in` are about one second of it. Congestion windows are
# sampled at the ends of bins.

KBPS = 8 / 1000  # Converts bytes per second to kbit/s.


def bins_of_second(values, second):
    return values[..., 2 * (second - 1) : 2 * second]


def second_kbps(m, values, second):
    bin_s = m.session_s[..., 0] / values.shape[-1]
    return bins_of_second(values, second).mean(axis=-1) / bin_s * KBPS


@metric("kb/s")
def throughput(m):
    """Rate of the packets, with headers, that reached the phone, kbit/s."""
    return m.bin_received_bytes.sum(axis=-1) / m.session_s[..., 0] * KBPS


@metric("kb/s")
def available(m):
    """Mean bandwidth that the radio could have given to the phone, kbit/s."""
    return m.bin_available_bytes.sum(axis=-1) / m.session_s[..., 0] * KBPS


@metric("%")
def used(m):
    """Received bytes as a share of the bytes that the radio could have carried to the phone, %."""
    return 100 * (m.bin_received_bytes.sum(axis=-1) / m.bin_available_bytes.sum(axis=-1))


@metric("kb/s")
def throughput_in(m, second):
    return second_kbps(m, m.bin_received_bytes, second)


@metric("kb/s")
def available_in(m, second):
    return second_kbps(m, m.bin_available_bytes, second)


@metric("packets")
def window_in(m, second):
    return bins_of_second(m.bin_window, second).mean(axis=-1)


@metric("%")
def tracking_error(m):
    """RMS of received minus available bytes in 0.5 s, relative to the mean available bytes."""
    return 100 * m.gap_square[..., 0] ** 0.5 / m.bin_available_bytes.mean(axis=-1)


@metric("%")
def roughness(m):
    """Mean absolute change of the window between bins of 0.5 s, relative to the mean window."""
    return 100 * m.window_step[..., 0] / m.bin_window.mean(axis=-1)


@metric("timeouts")
def server_timeouts(m):
    """Timeouts of the server's connection to the proxy in a session."""
    return m.server_timeouts[..., 0]


@metric("a session")
def timeouts(m):
    """Timeouts of the connection to the phone in a session."""
    return m.timeouts[..., fiorenzi_session.REFERENCE]


rate, bandwidth = throughput.of(session), available.of(session)
error, change_of_window = tracking_error.of(session), roughness.of(session)

QUANTITY = {
    "throughput": rate,
    "of the bandwidth": used.of(session),
    "tracking error": error,
    "change of the window": change_of_window,
    "timeouts": timeouts.of(session),
}
BANDWIDTH = "available bandwidth"


def rates(*place, **how):
    """Returns the available bandwidth with RNF-PROXY, and the throughput of each point of `TCP`."""
    return {BANDWIDTH: bandwidth(*place, RNF, **how), **{t: rate(*place, t, **how) for t in TCP}}


# ----------------------------------------------------------- Tables that only this reproduction has

study.table(
    "Table A",
    "The arrangements; Pedestrian A, 450 m, round robin, 80 ms",
    {t: {name: of(*SHOWN, t) for name, of in QUANTITY.items()} for t in TCP},
    unit="",
)
study.table(
    "Table B",
    "Throughput in all scenarios; RNF every 80 ms",
    {place: rates(*place) for place in each(ENVIRONMENT, DISTANCE, SCHEDULER)},
    digits=0,
)
study.table(
    "Table C",
    "The assumptions and other interpretations; Pedestrian A, 450 m, round robin, 80 ms",
    {setting: rates(*SHOWN, setting=setting) for setting in SETTING},
    digits=0,
)
study.table(
    "Table D",
    "Available bandwidth; with RNF-PROXY",
    {
        (e, d): {s: bandwidth(e, d, s, RNF) for s in SCHEDULER}
        for e, d in each(ENVIRONMENT, DISTANCE)
    },
    digits=0,
)


def gain(environment, distance, tcp, setting=AS_CHOSEN):
    """Returns the gain of throughput of Max C/I over round robin, in %."""
    best_first, in_turn = (
        rate(environment, distance, s, tcp, setting=setting) for s in (MAX_CI, ROUND_ROBIN)
    )
    return change(best_first, in_turn)


study.table(
    "Table E",
    "Throughput under Max C/I against round robin, with the others idle and as in the figures; "
    "RNF every 80 ms",
    {
        (e, d, setting): {t: gain(e, d, t, setting) for t in TCP}
        for e, d, setting in each(ENVIRONMENT, DISTANCE, [ALONE, AS_CHOSEN])
    },
)
study.table(
    "Table F",
    "RNF-PROXY+ by the queue at the RNC and the interval of messages; Pedestrian A, 450 m, round "
    "robin",
    {
        (setting, i): {name: of(*SHOWN, RNF_PLUS, i, setting) for name, of in QUANTITY.items()}
        for setting, i in each([AS_CHOSEN, BUFFER_52, BUFFER_50], INTERVAL)
    },
    unit="",
)
study.show(
    "Throughput of the reference phone, RNF every 80 ms (kb/s): measured with 95 % interval",
    "Table B",
    [BANDWIDTH, *map(str, TCP)],
)

# ----------------------------------------- Section IV.B, Figures 4 and 5: single sessions over time

SECOND = Axis(range(1, 16), label="Time (s)", x=lambda second: second - 0.5)


def over_time(metric, tcp):
    return {s: metric(second=s.value).of(session)(*SHOWN, tcp) for s in SECOND}


study.figure(
    "Figure 4",
    "Throughput over time, Pedestrian A, 450 m, mean of all sessions",
    {BANDWIDTH: over_time(available_in, RNF), **{t: over_time(throughput_in, t) for t in TCP}},
    "Throughput (kb/s)",
    digits=0,
)
study.figure(
    "Figure 5",
    "Congestion window over time, Pedestrian A, 450 m, mean of all sessions",
    {t: over_time(window_in, t) for t in TCP},
    "Congestion window (packets)",
)


@study.stage()
def sessions(at):
    """Draws Figures 4 and 5 for one session of each arrangement."""
    # This imports matplotlib, which is slow.
    from nodeb.studies.fiorenzi_pictures import Session, draw

    watched = [Session.of(str(t), at.campaign.replication(session(*SHOWN, t), 0, {})) for t in TCP]
    draw(watched, at)


@study.claim("IV.B", "Table A")
def follows():
    """RNF-PROXY and RNF-PROXY+ follow the bandwidth more closely than the others (tracking
    error)."""
    for notified, other in each([RNF, RNF_PLUS], [HTTP, RSE, RENO]):
        yield ordered({other: error(*SHOWN, other), notified: error(*SHOWN, notified)})


@study.claim("IV.B", "Table A")
def follows_well():
    """RNF-PROXY and RNF-PROXY+ follow the bandwidth quite well (tracking error at most 25 %)."""
    for notified in (RNF_PLUS, RNF):
        yield at_most(error(*SHOWN, notified), 25, notified)


@study.claim("IV.B", "Table A")
def smooth():
    """The windows of RNF-PROXY and RNF-PROXY+ are smooth, those of the others fluctuate (mean
    change of the window from one bin of 0.5 s to the next)."""
    for notified, other in each([RNF, RNF_PLUS], [HTTP, RSE, RENO]):
        yield ordered({one: change_of_window(*SHOWN, one) for one in (other, notified)})


@study.claim("IV.B")
def server_calm():
    """With the RNF proxies the server's connections are in congestion avoidance all the time
    (at most 0.1 timeouts of the server per session)."""
    for *place, notified in each(ENVIRONMENT, DISTANCE, STUDIED, [RNF, RNF_PLUS]):
        yield at_most(
            server_timeouts.of(session)(*place, notified), 0.1, *place, notified, digits=2
        )


# ---------------------------------- Section IV.B, Figures 6 to 9: by interval of the RNC's messages

FIGURES = {
    "Figure 6": (PEDESTRIAN, NEAR),
    "Figure 7": (PEDESTRIAN, FAR),
    "Figure 8": (IN_VEHICLES, NEAR),
    "Figure 9": (IN_VEHICLES, FAR),
}
PEDESTRIAN_BY_INTERVAL = "Figure 6, by interval", "Figure 7, by interval"
VEHICULAR_BY_INTERVAL = "Figure 8, by interval", "Figure 9, by interval"
QUEUES = [AS_CHOSEN, BUFFER_52, BUFFER_50]
BEST = [Mark("paper: best", x=250)]
DIFFERENCE = "Difference of throughput (%)"


def curves(of, settings, environment, distance):
    """Returns curves over the interval of messages, one per setting, scheduler and key of `of`.

    `of` returns quantities by key for one interval.
    """
    found = {}
    for setting, s in each(settings, STUDIED):
        at = {i: of(environment, distance, s, interval=i, setting=setting) for i in INTERVAL}
        found |= {(setting, s, name): {i: at[i][name] for i in INTERVAL} for name in at[OFTEN]}
    return found


def against_reno(*place, **how):
    reno = rate(*place, RENO, **how)
    return {t: change(rate(*place, t, **how), reno) for t in (RNF_PLUS, RNF, HTTP, RSE)}


def against_80_ms(*place, interval, setting):
    return {
        t: change(
            rate(*place, t, interval, setting=setting), rate(*place, t, OFTEN, setting=setting)
        )
        for t in (RNF_PLUS, RNF)
    }


for name, (environment, distance) in FIGURES.items():
    study.figure(
        name,
        f"Throughput by the interval of messages, {environment}, {distance}",
        curves(rates, QUEUES, environment, distance),
        "Throughput (kb/s)",
        digits=0,
        marks=BEST,
        panels=True,  # The panels are by queue limit and scheduler.
    )
for name, (environment, distance) in FIGURES.items():
    study.figure(
        f"{name}, paired",
        f"Throughput against Reno's, {environment}, {distance}",
        curves(against_reno, QUEUES, environment, distance),
        DIFFERENCE,
        from_zero=False,
        panels=True,  # The panels are by queue limit and scheduler.
    )
for name, (environment, distance) in FIGURES.items():
    study.figure(
        f"{name}, by interval",
        f"Throughput against that at 80 ms, {environment}, {distance}",
        curves(against_80_ms, [*QUEUES, CELL, CELL_50], environment, distance),
        DIFFERENCE,
        marks=BEST,
        from_zero=False,
        panels=True,  # The panels are by setting (queue limit or cell) and scheduler.
    )


def better(one, other, of=rate, digits=0, **how):
    """Yields checks that `one` has more throughput than `other`, in every scenario of `PLACES`.

    Both are points of `TCP`. `of` is another quantity to compare instead of throughput.
    """
    for place in PLACES:
        terms = {t: of(*place, t, **how) for t in (one, other)}
        yield ordered(terms, *place, digits=digits)


def gains(one, other):
    """Yields the gain of throughput of `one` over `other` in %, with each scenario of `PLACES`.

    Both are points of `TCP`.
    """
    for place in PLACES:
        yield change(rate(*place, one), rate(*place, other)), place


@study.claim("IV.B", *FIGURES)
def ceiling():
    """TCP's throughput is below the available bandwidth."""
    for place, t in each(PLACES, TCP):
        terms = {"available": bandwidth(*place, t), "received": rate(*place, t)}
        yield ordered(terms, *place, t, digits=0)


@study.claim("IV.B", *FIGURES)
def ceiling_is_one():
    """The available bandwidth does not depend on the interval of the messages (within 2 %)."""
    for place in PLACES:
        yield flat({i: bandwidth(*place, RNF, i) for i in INTERVAL}, 0.02, *place, RNF, digits=0)


@study.claim("IV.B", *FIGURES, name="distance")
def farther_away():
    """Throughput is lower at 800 m than at 450 m from the Node B."""
    for e, s, t in each(ENVIRONMENT, STUDIED, TCP):
        yield ordered({d: rate(e, d, s, t) for d in DISTANCE}, e, s, t, digits=0)


@study.claim("IV.B", *FIGURES)
def better_everywhere():
    """RNF-PROXY and RNF-PROXY+ are better than Reno, R+S+E and HTTP-PROXY in all scenarios."""
    for notified, other in each([RNF, RNF_PLUS], [HTTP, RSE, RENO]):
        yield from better(notified, other)


@study.claim("IV.B", *FIGURES)
def better_everywhere_52():
    """RNF-PROXY+ is better than Reno and HTTP-PROXY in all scenarios; with 52 packets at the RNC,
    messages every 80 ms."""
    for other in (HTTP, RENO):
        yield from better(RNF_PLUS, other, setting=BUFFER_52)


@study.claim("IV.B", *FIGURES)
def better_everywhere_50():
    """RNF-PROXY+ is better than Reno and HTTP-PROXY in all scenarios; with 50 packets at the RNC,
    messages every 80 ms."""
    for other in (HTTP, RENO):
        yield from better(RNF_PLUS, other, setting=BUFFER_50)


@study.claim("V", *FIGURES)
def significant():
    """The proxy with messages significantly increases throughput (RNF-PROXY over Reno by more than
    10 % in all scenarios)."""
    for of, place in gains(RNF, RENO):
        yield at_least(of, 10, *place)


@study.claim("abstract", *FIGURES)
def utilization():
    """The proxy with messages improves the utilization of radio resources: RNF-PROXY uses more of
    the available bandwidth than Reno."""
    yield from better(RNF, RENO, of=used.of(session), digits=1)


@study.claim("IV.B", *FIGURES)
def snoop_eifel_more():
    """Eifel and Snoop improve the throughput of Reno and of RNF-PROXY."""
    yield from better(RSE, RENO)
    yield from better(RNF_PLUS, RNF)


@study.claim("IV.B", *FIGURES)
def snoop_eifel_slightly():
    """Eifel and Snoop improve the throughput of Reno and of RNF-PROXY only slightly (by less than
    10 %)."""
    for one, other in ((RSE, RENO), (RNF_PLUS, RNF)):
        for of, place in gains(one, other):
            yield between(of, -10, 10, *place, name=f"{one} over {other}")


@study.claim("IV.B, V", *FIGURES)
def schedulers():
    """The differences between the schedulers are small (Max C/I within 10 % of round robin)."""
    for place in each(ENVIRONMENT, DISTANCE, TCP):
        yield between(gain(*place), -10, 10, *place)


@study.claim("IV.B, V", "Table E")
def schedulers_without_load():
    """The differences between the schedulers are small (Max C/I within 10 % of round robin) if the
    other phones are idle."""
    for place in each(ENVIRONMENT, DISTANCE, TCP):
        yield between(gain(*place, ALONE), -10, 10, *place)


@study.claim("V", *FIGURES)
def light_signalling():
    """Messages of low frequency are enough: at 500 ms the RNF proxies are still better than
    Reno."""
    for notified in (RNF, RNF_PLUS):
        yield from better(notified, RENO, interval=SELDOM)


@study.claim("V", *FIGURES)
def interval_costs_little():
    """A lower frequency of messages costs little throughput (500 ms within 10 % of 80 ms)."""
    for place, notified in each(PLACES, [RNF, RNF_PLUS]):
        yield between(
            change(rate(*place, notified, SELDOM), rate(*place, notified, OFTEN)),
            -10,
            10,
            *place,
            notified,
        )


# The following statements on the best interval of the messages are judged under each of these
# interpretations, because the interpretation can change the verdict.

INTERPRETATIONS = {
    "72": (AS_CHOSEN, "72 packets at the RNC"),
    "52": (BUFFER_52, "52 packets at the RNC"),
    "50": (BUFFER_50, "50 packets at the RNC"),
    "other-cell": (CELL, "orthogonality 0.9 and shadowing over 20 m"),
    "other-cell-50": (CELL_50, "orthogonality 0.9, shadowing over 20 m and 50 packets at the RNC"),
}


def by_interpretation(name, statement, *items):
    """Returns a decorator that turns a statement into one claim per interpretation."""

    def add(checks):
        for interpretation, (setting, words) in INTERPRETATIONS.items():
            text = f"{statement}; with {words}."
            study.claim("IV.B", *items, name=f"{name}-{interpretation}", text=text)(
                partial(checks, setting)
            )

    return add


@by_interpretation(
    "best-at-250",
    "RNF-PROXY+ is best at 250 ms, in any case of environment, position and scheduler",
    *PEDESTRIAN_BY_INTERVAL,
    *VEHICULAR_BY_INTERVAL,
)
def best_at_250(setting):
    for place in PLACES:
        along = {i: rate(*place, RNF_PLUS, i, setting) for i in INTERVAL}
        yield most_at(along, [MIDDLE], *place, digits=0)


@by_interpretation(
    "pedestrian-keeps",
    "For pedestrians more than 250 ms, until 500 ms, does not reduce the throughput of RNF-PROXY+ "
    "significantly (by less than 10 %)",
    *PEDESTRIAN_BY_INTERVAL,
)
def pedestrian_keeps(setting):
    for place in each(DISTANCE, STUDIED):
        seldom, middle = (rate(PEDESTRIAN, *place, RNF_PLUS, i, setting) for i in (SELDOM, MIDDLE))
        yield at_least(change(seldom, middle), -10, *place)


@by_interpretation(
    "vehicular-falls",
    "In vehicles the throughput of RNF-PROXY+ falls from 250 to 500 ms",
    *VEHICULAR_BY_INTERVAL,
)
def vehicular_falls(setting):
    for place in each(DISTANCE, STUDIED):
        along = {i: rate(IN_VEHICLES, *place, RNF_PLUS, i, setting) for i in (MIDDLE, SELDOM)}
        yield ordered(along, *place, digits=0)
