"""How fast is TCP when packets are lost? The law of Mathis and others, measured again.

    nodeb reproduce examples/mathis.py --quick

M. Mathis, J. Semke, J. Mahdavi, T. Ott: The Macroscopic Behavior of the TCP Congestion Avoidance
Algorithm, ACM Computer Communication Review 27(3), 1997. Its equation (3) says that a connection
that loses packets with probability p gets C / sqrt(p) segments per round trip; Table 1 gives C.
"""

import nodeb
from nodeb.scenario_types import Classic, Ftp, LinkBearer, UserGroup, Wired
from nodeb.study import Axis, Effort, Quick, Study, at_most, between, each, metric

study = Study(
    __file__,
    title="The macroscopic behavior of TCP",
    reference="M. Mathis and others, ACM Computer Communication Review 27(3), 1997",
    effort=Effort(runs=20),
    quick=Quick(runs=4),
)
LOSS = Axis({f"{100 * p:g} %": p for p in (0.001, 0.003, 0.01)}, label="Packets lost", short="loss")
ACKS = Axis({"every packet": "0 s", "every second packet": "100 ms"}, label="Acknowledged")
EVERY, SECOND = ACKS


@study.scenario(endless=True)  # the download is cut off after five minutes
def download(acks, loss):
    return nodeb.Scenario(
        duration="300 s",
        wired=Wired(rate="1 Gbps", delay="50 ms", loss=loss),
        radio=LinkBearer(rate="1 Gbps"),
        tcp=Classic(control="sack", delayed_ack=acks, max_window=10_000),
        users=[UserGroup(traffic=Ftp(size="10 GB"))],
    )


@metric()
def constant(m, loss):
    segments_per_s = m.delivered_bytes[..., 0] / m["bearers.end_s"][..., 0] / 1460
    return segments_per_s * m.rtt_mean_s[..., 0] * loss**0.5


CELLS = {a: {p: constant(loss=p.value).of(download)(a, p) for p in LOSS} for a in ACKS}
printed = "1.31 1.31 1.31\n0.93 0.93 0.93"
study.table("Table 1", "C where losses are random", CELLS, printed, digits=2, near_percent=10)


@study.claim("2", "Table 1")
def the_law_is_a_bound():
    """TCP gets at most what the law says, as the law knows no timeouts."""
    for acks, loss in each(ACKS, LOSS):
        yield at_most(CELLS[acks][loss], 1.31 if acks is EVERY else 0.93, acks, loss, digits=2)


@study.claim("2", "Table 1")
def delayed_acknowledgements_cost_a_third():
    """With an acknowledgement for every second packet C is 0.71 of that for every packet (10 %)."""
    for loss in LOSS:
        yield between(CELLS[SECOND][loss] / CELLS[EVERY][loss], 0.64, 0.78, loss, digits=2)
