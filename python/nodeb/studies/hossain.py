"""TCP over a WCDMA downlink: E. Hossain and others, ICPWC 2000.

All phones of a cell receive at the same time, on codes whose rate decreases with their number. The
paper's figures are plots without numbers, and eta, G, E_b/N_o, t and R_max are not printed. Two
sets of these values are used: one for the two numbers of the text, another for the figures. Their
choice and the other assumptions: `hossain.toml`.
"""

from nodeb.formulas import wcdma
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
    flat,
    metric,
    ordered,
    rising,
)

study = Study(
    __file__,
    title="TCP over a WCDMA downlink",
    reference="E. Hossain, D. I. Kim, C. Scholefield, V. K. Bhargava, TCP Performance in "
    "WCDMA-Based Cellular Wireless IP Networks, IEEE International Conference on Personal Wireless "
    "Communications, 2000.",
    effort=Effort(runs=6, max_runs=40, precision=0.02),
    quick=Quick(runs=2, cost=2, changes={"duration": "30 s"}),
    minutes={"quick": 0.15, "full": 1.2},
)
base = study.load("hossain_base.toml")

# --------------------------------------------------------- Section IV.A: quantities that are varied

MODEL = Axis(
    {
        "model A": {"equal_paths": {"paths": 4}},
        "model B": {"vehicular_b": {}},
        "model B, first two taps one path": {"vehicular_b": {"resolution": "610 ns"}},
    },
    label="Channel model",
)
MODELS = A, B = MODEL["model A", "model B"]

CONNECTIONS = Axis([1, 2, 3, 4, 5, 6, 8, 10, 12, 15], label="Connections (N_c)", short="N_c =")
ONE, FIVE, TEN, FIFTEEN = CONNECTIONS["1", "5", "10", "15"]
SOME = CONNECTIONS["1", "2", "5", "10", "15"]

ETA = Axis({f"eta = {eta}": eta for eta in (0.2, 0.35, 0.7)}, label="Other-cell factor")
LOAD = Axis({f"G = {load}": float(load) for load in (1, 2, 5, 10, 20)}, label="Load")
ENERGY = Axis(
    {f"{db} dB": float(db) for db in (5, 10, 15, 20, 25)}, label="E_b/N_o", short="E_b/N_o ="
)
CODE = Axis({f"t = {bits}": bits for bits in (0, 1, 2, 4)}, label="Errors corrected")
ATTEMPTS = Axis({f"R_max = {slots}": slots for slots in (2, 5, 10)}, label="R_max")
WINDOW = Axis([1, 2, 3, 4, 5, 6, 10, 18, 30], label="Window W (segments)", short="W =")
DELAY = Axis({f"{ms} ms": ms for ms in (20, 50, 100, 200, 400)}, label="Delay D_wd", short="D_wd =")

# --------------------------------------------------------- Section IV.A: the two baseline scenarios


def downlink(model, connections, eta, load, energy, code, attempts, window, delay):
    """Returns a scenario of unlimited downloads that all start at the same time."""
    # Round-trip time in ms: 2 (D_wd + 5 ms), and the 36 slots of a segment at the basic rate.
    rtt_0 = 2 * (delay + 5) + 360
    return base.with_(
        {
            "users.0.count": connections,
            "radio.wcdma.profile": model,
            "radio.wcdma.other_cells.mean.factor": eta,
            "radio.wcdma.other_cells.mean.load.connections": load,
            "radio.wcdma.eb_n0_db": energy,
            "radio.wcdma.correctable_bits": code,
            "radio.wcdma.max_failed_slots": attempts,
            "wired.delay": f"{delay} ms",
            "tcp.classic.max_window": window,
            "tcp.classic.estimator.smoothed.initial_rtt": f"{rtt_0} ms",
        }
    )


@study.scenario(endless=True)
def anchors(
    model, connections, eta=0.6, load=2.0, energy=20.0, code=0, attempts=5, window=5, delay=50
):
    """Scenario of the two throughputs that the paper's text states, 84 and 80 kb/s."""
    return downlink(model, connections, eta, load, energy, code, attempts, window, delay)


@study.scenario(endless=True)
def curves(
    model, connections, eta=0.35, load=10.0, energy=10.0, code=2, attempts=10, window=5, delay=50
):
    """Scenario of the paper's figures and of the text about them; each varies one argument."""
    return downlink(model, connections, eta, load, energy, code, attempts, window, delay)


# ------------------------------------------------------- Section IV.A: quantities that are measured

FRAME_BITS = 128


def rate_at_sink(m):
    """Returns the rate of segments in order, kb/s by user; a segment of 536 bytes counts as 576."""
    return m.delivered_bytes / m["bearers.end_s"][..., :1] * (8 / 1000) * (576 / 536)


@metric("kb/s")
def throughput(m):
    """Throughput per connection, kb/s."""
    return rate_at_sink(m).mean(axis=-1)


@metric("kb/s")
def effective_throughput(m, code):
    """Throughput without the check bits of a code, by the Varshamov-Gilbert bound (footnote 3)."""
    return wcdma.effective_share(FRAME_BITS, code) * rate_at_sink(m).mean(axis=-1)


rate = throughput.of(curves)
anchor = throughput.of(anchors)


def effective(model, connections, code, **others):
    of = effective_throughput(code=code.value).of(curves)
    return of(model, connections, code=code, **others)


# -------------------------------------------------------- Section IV.B: the two numbers of the text


@study.claim("IV.B")
def error_free():
    """Without errors one connection reaches 92.16 kb/s, 36 frames in 5 slots (less the slow start
    of the first seconds: above 91.5)."""
    clean = anchor(A, ONE, energy=60.0, code=8, eta=0.0)
    yield between(clean, 91.5, 92.17, ONE, certain=True)


@study.claim("IV.B", "Table A")
def anchor_a():
    """With W = 5 and D_wd = 50 ms one connection has about 84 kb/s in model A (within 5 %)."""
    yield between(anchor(A, ONE), 79.8, 88.2, A, ONE)


@study.claim("IV.B", "Table A")
def anchor_b():
    """With W = 5 and D_wd = 50 ms one connection has about 80 kb/s in model B (within 5 %)."""
    yield between(anchor(B, ONE), 76.0, 84.0, B, ONE)


INTERPRETATION = Axis(
    {
        "as assumed": {},
        "frames of any packets share a slot": {"radio.wcdma.sharing": "any_packets"},
        "retransmitted frames have a slot of their own": {"radio.wcdma.sharing": "apart"},
        "retransmission in the next slot": {"radio.wcdma.ack_delay": "0 s"},
        "alpha as a mean over connections": {
            "radio.wcdma.other_cells.mean.load.averaging": "connections"
        },
        "alpha of a cell with G connections": {
            "radio.wcdma.other_cells.mean.load.averaging": "typical_cell"
        },
        "D_wd is both directions together": {
            "wired.delay": "25 ms",
            "tcp.classic.estimator.smoothed.initial_rtt": "420 ms",
        },
        "TCP acknowledgements take no time on the air": {"uplink.delay": "0 s"},
        "1 % of TCP acknowledgements lost": {"uplink.loss": 0.01},
        "only connections with frames to send count": {"radio.wcdma.connection_timeout": "0 s"},
        "R_max = 10": {"radio.wcdma.max_failed_slots": 10},
        "ns-2's estimator, minimum timeout 1 s": {
            "tcp.classic.estimator": "ticks",
            "tcp.classic.min_rto": "1 s",
        },
        "Tahoe": {"tcp.classic.control": "tahoe"},
    },
    label="Interpretation",
)

study.table(
    "Table A",
    "Other interpretations: throughput per connection",
    {
        interpretation: {
            (model, n): anchor(model, n).under(interpretation.value)
            for model, n in each(MODEL, (ONE, FIVE, FIFTEEN))
        }
        for interpretation in INTERPRETATION
    },
)
study.show(
    "One connection (Table A), measured with 95 % interval; the paper has 84 kb/s (model A) and "
    "80 kb/s (model B)",
    "Table A",
    ["model A, 1", "model B, 1"],
)
study.table(
    "Table B",
    "Windows at N_c = 1, model A",
    {d: {w: anchor(A, ONE, window=w, delay=d) for w in WINDOW} for d in DELAY},
)
study.table(
    "Table C",
    "Other values of the open parameters: throughput at N_c = 1",
    {
        (energy, code): {
            (model, load): anchor(model, ONE, energy=energy, code=code, load=load)
            for model, load in each(MODELS, LOAD["G = 1", "G = 2", "G = 5", "G = 10"])
        }
        for energy, code in each(ENERGY["10 dB", "15 dB", "20 dB"], CODE["t = 0", "t = 1", "t = 2"])
    },
)

# ----------------------------------------- Section IV.B, Figures 3 and 4: effect of the other cells

WITHOUT_ERRORS = Mark("paper: maximum without errors", y=92.16)

study.figure(
    "Figure 3",
    "Throughput per connection for different eta",
    {(m, eta): {n: rate(m, n, eta=eta) for n in CONNECTIONS} for m, eta in each(MODELS, ETA)},
    "Throughput (kb/s)",
    marks=[WITHOUT_ERRORS],
)
study.figure(
    "Figure 4",
    "Throughput per connection for different G",
    {
        (m, load): {n: rate(m, n, load=load) for n in CONNECTIONS}
        for m, load in each(MODELS, LOAD["G = 5", "G = 10", "G = 20"])
    },
    "Throughput (kb/s)",
    marks=[WITHOUT_ERRORS],
)


@study.claim("IV.B", "Figure 3")
def falls_with_connections():
    """Throughput per connection falls with every further connection."""
    for model in MODELS:
        yield falling({n: rate(model, n) for n in CONNECTIONS}, model)


@study.claim("IV.B", "Figure 3")
def falls_rapidly():
    """Throughput per connection falls rapidly: with ten connections it is less than half of that
    of one."""
    for model in MODELS:
        ratio = rate(model, TEN) / rate(model, ONE)
        yield at_most(ratio, 0.5, model, digits=3, name="N_c = 10 over 1")


@study.claim("IV.B", "Figure 3")
def eta_improves():
    """A lower outer-cell factor improves throughput (0.35 against 0.7)."""
    for model, n in each(MODELS, SOME):
        yield ordered({e: rate(model, n, eta=e) for e in ETA["eta = 0.35", "eta = 0.7"]}, model, n)


@study.claim("IV.B", "Figure 3")
def eta_not_significant():
    """The improvement by a lower outer-cell factor is not significant: less than 10 % from half the
    factor (0.35 against 0.7)."""
    half, whole = ETA["eta = 0.35", "eta = 0.7"]
    for model, n in each(MODELS, SOME):
        gain = change(rate(model, n, eta=half), rate(model, n, eta=whole))
        yield at_most(gain, 10, model, n, name="eta = 0.35 against 0.7")


@study.claim("IV.B", "Figure 4")
def load_improves():
    """A lower load of the other cells improves throughput (G = 5 against 10)."""
    for model, n in each(MODELS, SOME):
        yield ordered({g: rate(model, n, load=g) for g in LOAD["G = 5", "G = 10"]}, model, n)


@study.claim("IV.B", "Figure 4")
def load_not_significant():
    """The improvement by a lower load of the other cells is not significant: less than 10 % from
    half the load (G = 5 against 10)."""
    half, whole = LOAD["G = 5", "G = 10"]
    for model, n in each(MODELS, SOME):
        gain = change(rate(model, n, load=half), rate(model, n, load=whole))
        yield at_most(gain, 10, model, n, name="G = 5 against 10")


# ---------------------------------- Section IV.B, Figures 5 and 6: energy per bit, error correction

study.figure(
    "Figure 5",
    "Throughput per connection for different E_b/N_o, model B",
    {energy: {n: rate(B, n, energy=energy) for n in CONNECTIONS} for energy in ENERGY},
    "Throughput (kb/s)",
)
study.figure(
    "Figure 6",
    "Effective throughput per connection for different t, model B",
    {code: {n: effective(B, n, code) for n in CONNECTIONS} for code in CODE},
    "Effective throughput (kb/s)",
)


@study.claim("IV.B", "Figure 5")
def energy_improves():
    """Throughput rises with E_b/N_o."""
    for n in SOME:
        yield rising({energy: rate(B, n, energy=energy) for energy in ENERGY}, n)


@study.claim("IV.B", "Figure 5")
def energy_diminishing():
    """The gain by a higher E_b/N_o diminishes: each further 5 dB adds less than the 5 dB before."""
    for n in SOME:
        at = {energy.value: rate(B, n, energy=energy) for energy in ENERGY}
        gains = {
            "5 to 10 dB": at[10] - at[5],
            "10 to 15 dB": at[15] - at[10],
            "15 to 20 dB": at[20] - at[15],
            "20 to 25 dB": at[25] - at[20],
        }
        yield ordered(gains, n)


@study.claim("IV.B", "Figure 6")
def code_costs_few():
    """With few connections a higher t may reduce the effective throughput (N_c = 1: lower at t = 4
    than at t = 2)."""
    yield falling({code: effective(B, ONE, code) for code in CODE["t = 2", "t = 4"]}, ONE)


@study.claim("IV.B", "Figure 6")
def code_pays_many():
    """With many connections the effective throughput rises with t."""
    for n in CONNECTIONS["10", "12", "15"]:
        yield rising({code: effective(B, n, code) for code in CODE}, n)


def cost_of_code(**others):
    """Returns the gain in effective throughput of t = 4 over t = 1 at N_c = 1, in %.

    It is negative for a loss.
    """
    more, less = CODE["t = 4", "t = 1"]
    return change(effective(B, ONE, more, **others), effective(B, ONE, less, **others))


@study.claim("IV.B")
def code_costs_more_with_small_windows():
    """The loss by a higher t is more pronounced with smaller windows (N_c = 1, t = 4 against 1)."""
    gains = {f"{w.context} (%)": cost_of_code(window=w) for w in WINDOW["5", "2"]}
    yield ordered(gains, ONE, unit="points")


@study.claim("IV.B")
def code_costs_more_with_delay():
    """The loss by a higher t is more pronounced with longer delays (N_c = 1, t = 4 against 1)."""
    gains = {f"{d.context} (%)": cost_of_code(delay=d) for d in DELAY["50 ms", "200 ms"]}
    yield ordered(gains, ONE, unit="points")


# ------------------------------------------------ Section IV.B, Figure 7: retransmissions, by R_max

study.figure(
    "Figure 7",
    "Throughput per connection for different R_max",
    {(m, r): {n: rate(m, n, attempts=r) for n in CONNECTIONS} for m, r in each(MODELS, ATTEMPTS)},
    "Throughput (kb/s)",
)

# ---------------------------------------------------------- Section IV.B, Figure 8: maximum windows

study.figure(
    "Figure 8",
    "Throughput per connection for different W",
    {
        (m, w): {n: rate(m, n, window=w) for n in CONNECTIONS}
        for m, w in each(MODELS, WINDOW["2", "5", "30"])
    },
    "Throughput (kb/s)",
    printed={(A, WINDOW["5"]): {ONE: 84}, (B, WINDOW["5"]): {ONE: 80}},
)


def window_against(of, small, large, model, connections, **others):
    """Returns the gain of the smaller window over the larger, in %."""
    less = of(model, connections, window=WINDOW[str(small)], **others)
    return change(less, of(model, connections, window=WINDOW[str(large)], **others))


@study.claim("IV.B", "Figure 8")
def window_has_optimum():
    """For a given delay, one window gives the highest throughput: W = 1 and, because of timeouts, W
    = 30 give at least 1 % less than W = 5."""
    for w in (1, 30):
        for model, n in each(MODELS, (ONE, FIVE, FIFTEEN)):
            gain = window_against(rate, w, 5, model, n)
            yield at_most(gain, -1, model, n, name=f"W = {w} against 5")


@study.claim("IV.B", "Table B")
def window_of_equation_6():
    """The window of equation 6 (2, 4, 6, 10 and 18 at N_c = 1 and delays of 20, 50, 100, 200 and
    400 ms) fills the pipe: the throughput is at most 5 % lower than with a window of 30."""
    for delay, w in zip(DELAY, (2, 4, 6, 10, 18), strict=True):
        gain = window_against(anchor, w, 30, A, ONE, delay=delay)
        yield at_least(gain, -5, delay, name=f"W = {w} against 30")


@study.claim("IV.B", "Table B")
def smaller_windows_do_not():
    """Windows smaller than that of equation 6 (3, 4, 6 and 10 at delays of 50, 100, 200 and 400 ms)
    do not fill the pipe: they give over 5 % less than a window of 30."""
    delays = DELAY["50 ms", "100 ms", "200 ms", "400 ms"]
    for delay, w in zip(delays, (3, 4, 6, 10), strict=True):
        gain = window_against(anchor, w, 30, A, ONE, delay=delay)
        yield at_most(gain, -5, delay, name=f"W = {w} against 30")


@study.claim("IV.B", "Figure 8")
def least_window_falls():
    """With more connections a smaller window suffices: the throughput at W = 2 is within 5 % of
    that at W = 30 with 15 connections, and over 5 % lower with one connection."""
    name = "W = 2 against 30"
    for model in MODELS:
        gain = window_against(rate, 2, 30, model, FIFTEEN)
        yield at_least(gain, -5, model, FIFTEEN, name=name)
    for model in MODELS:
        gain = window_against(rate, 2, 30, model, ONE)
        yield at_most(gain, -5, model, ONE, name=name)


# ---------------------------------------------- Section IV.B, Figure 9: delays of the wired network

study.figure(
    "Figure 9",
    "Throughput per connection for different D_wd",
    {
        (m, d): {n: rate(m, n, delay=d) for n in CONNECTIONS}
        for m, d in each(MODELS, DELAY["50 ms", "200 ms", "400 ms"])
    },
    "Throughput (kb/s)",
    printed={(A, DELAY["50 ms"]): {ONE: 84}, (B, DELAY["50 ms"]): {ONE: 80}},
)


@study.claim("IV.B", "Figure 9")
def delay_costs_few():
    """With few connections throughput falls with the delay (N_c = 1, W = 5)."""
    for model in MODELS:
        delays = DELAY["50 ms", "100 ms", "200 ms", "400 ms"]
        yield falling({d: rate(model, ONE, delay=d) for d in delays}, model, ONE)


@study.claim("IV.B", "Figure 9")
def delay_does_not_matter_to_many():
    """With many connections (15) the throughput hardly depends on the delay (within 5 % up to 200
    ms)."""
    for model in MODELS:
        delays = DELAY["20 ms", "50 ms", "100 ms", "200 ms"]
        yield flat({d: rate(model, FIFTEEN, delay=d) for d in delays}, 0.05, model, FIFTEEN)
