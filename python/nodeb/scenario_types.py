"""The types of a scenario. Generated from its JSON Schema by `make types`; do not edit.

Every class is a table of the scenario file, every field a key. A quantity is a string with its
unit, such as "110 ms". A component that comes in variants (radio, scheduler, traffic, ...) is
given as an object of the variant's class, or by its name alone when its defaults will do.
"""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from nodeb.inputs.parts import Part, field

__all__ = [
    "Advances",
    "AlwaysDch",
    "AlwaysFach",
    "Am",
    "Arq",
    "AtEnd",
    "AtMaxDat",
    "Averaging",
    "Bbr",
    "Bbr3",
    "Cbr",
    "Cell",
    "Channel",
    "Chase",
    "Classic",
    "Codel",
    "Combining",
    "Congestion",
    "Constant",
    "ConstantDuration",
    "ConstantSize",
    "Control",
    "Cost231Hata",
    "CqiReports",
    "Cubic",
    "CubicRfc9438",
    "DataList",
    "Dch",
    "Decoding",
    "DelayEstimate",
    "Delivered",
    "Distance",
    "DropTail",
    "Duration",
    "EarliestDeadline",
    "EqualPaths",
    "Era",
    "Error",
    "ErrorModel",
    "Estimator",
    "ExponentialDuration",
    "ExponentialSize",
    "External",
    "FachDch",
    "Fading",
    "Fixed",
    "Fixed2",
    "FixedLevel",
    "FqCodel",
    "Ftp",
    "GilbertElliott",
    "GilbertElliottErrors",
    "Handover",
    "HeldData",
    "Hexagonal",
    "HiddenMarkov",
    "HsDsch",
    "Hsdpa",
    "IncrementalRedundancy",
    "IndependentErrors",
    "Interference",
    "Iub",
    "Jitter",
    "LinkAdaptation",
    "LinkBearer",
    "LinkCurves",
    "Linux",
    "LinuxReno",
    "Load",
    "LogDistance",
    "LogNormalDuration",
    "LogNormalSize",
    "LongestQueue",
    "Loss",
    "LossList",
    "Map",
    "MaxCi",
    "Mean",
    "Minimum",
    "Movement",
    "NewReno",
    "NoCombining",
    "NonPreemptive",
    "NormalJitter",
    "Normalized",
    "OnOff",
    "OneStep",
    "Opener",
    "Opportunities",
    "OtherCells",
    "Outage",
    "OutdoorToIndoor",
    "OuterLoop",
    "ParetoDuration",
    "ParetoSize",
    "PathLoss",
    "PerUser",
    "PeriodicLoss",
    "PhonePower",
    "Pie",
    "Place",
    "Polling",
    "Power",
    "Preemptive",
    "Probability",
    "Profile",
    "ProfileSpec",
    "ProportionalFair",
    "Proxy",
    "Queue",
    "Radio",
    "RandomLoss",
    "Rate",
    "Record",
    "RecordedErrors",
    "Red",
    "RedMode",
    "Reno",
    "Reordering",
    "Replay",
    "Reports",
    "Rlc",
    "RlcMode",
    "Rnf",
    "RoundRobin",
    "RoundTrip",
    "Rounding",
    "Row",
    "Sack",
    "Scalable",
    "ScenarioFields",
    "Scheduler",
    "Selection",
    "Shadowing",
    "Shannon",
    "Sharing",
    "Size",
    "SizeLaw",
    "Slotted",
    "SlowStart",
    "Smoothed",
    "Snoop",
    "Speed",
    "Split",
    "StatusFormat",
    "Switching",
    "Tahoe",
    "Tap",
    "Taps",
    "Tcp",
    "TcpAware",
    "Thresholds",
    "Ticks",
    "TimeLaw",
    "Trace",
    "TraceBearer",
    "Traffic",
    "TrafficVolume",
    "Ue",
    "UnacknowledgedMode",
    "UniformJitter",
    "Unit",
    "Uplink",
    "UserGroup",
    "Vegas",
    "VehicularB",
    "Veno",
    "Wcdma",
    "Web",
    "Westwood",
    "Wired",
    "WithinBlock",
]


Probability: TypeAlias = float
"""A probability, from 0 to 1."""

Duration: TypeAlias = str
"""A time with its unit, such as "110 ms"."""

Rate: TypeAlias = str
"""A bit rate with its unit, such as "384 kbps"."""

Size: TypeAlias = str
"""A size with its unit, such as "50 kB"."""

RedMode: TypeAlias = Literal["packets", "bytes"]
"""Unit of the queue length and its thresholds.

`packets`: Packets: every packet is dropped or marked with the same probability.

`bytes`: Bytes: a packet is dropped or marked with a probability proportional to its size.
"""

DelayEstimate: TypeAlias = Literal["timestamp", "departure_rate"]
"""Method by which PIE estimates the queueing delay (RFC 8033, section 4.3).

`timestamp`: The waiting time of the packet that departed last.

`departure_rate`: The bytes waiting, divided by a departure rate that is measured while at
least 16 KiB wait (section 5.2).
"""

Era: TypeAlias = str
"""Version of ns-2: a date such as "2003-06-01", or a release: ns-2.1b7a, ns-2.1b8, ns-2.1b9,
ns-2.1b9a, ns-2.26, ns-2.27, ns-2.28, ns-2.29, ns-2.30, ns-2.31, ns-2.32, ns-2.33, ns-2.34,
ns-2.35.
"""

Opener: TypeAlias = Literal["phone", "server"]
"""The end that opens a connection.

`phone`: The phone sends the first SYN; the server's SYN answers it.

`server`: The server sends its SYN first, like ns-2's one-way agents.
"""

SlowStart: TypeAlias = Literal["standard", "hystart", "hystart++"]
"""Method that ends slow start before a loss.

`standard`: No early end: slow start lasts up to the threshold or to a loss (RFC 5681).

`hystart`: Long trains of ACKs, or growing round-trip times (Linux).

`hystart++`: Growing round-trip times, confirmed by a slower slow start (RFC 9406).
"""

Unit: TypeAlias = Literal["block", "pdu"]
"""Part of the transmitted data that one step of an error process decides.

`block`: A block: all PDUs coded together in one TTI.

`pdu`: A PDU: a block takes as many steps as it has PDUs.
"""

Advances: TypeAlias = Literal["with_time", "with_blocks"]
"""Rule for the steps of an error process: when it advances.

`with_time`: With time: every TTI takes the steps of its blocks, even if none are sent.

`with_blocks`: With blocks: only blocks that are sent take steps.
"""

Delivered: TypeAlias = Literal["in_sequence", "out_of_sequence"]
"""Order in which packets leave a bearer.

`in_sequence`: A packet waits until all earlier ones are complete.

`out_of_sequence`: A packet leaves as soon as it is complete.
"""

AtMaxDat: TypeAlias = Literal["discard", "reset"]
"""Action when a PDU reaches the limit of transmissions.

`discard`: Discards the PDU's packets and earlier ones (9.7.3.3).

`reset`: Resets the protocol: every packet of which a part was sent is lost (9.7.3.4, 11.4).
"""

StatusFormat: TypeAlias = Literal["list", "bitmap"]
"""Encoding of missing PDUs in a status report (TS 25.322, 9.2.2.11).

`list`: The first number of each run and its length (LIST).

`bitmap`: A bit for each PDU (BITMAP).
"""

Rounding: TypeAlias = Literal["down", "nearest"]
"""Rounding of fractional CQIs.

`down`: Down: the CQI whose block fails with at most 10 %.

`nearest`: To the nearest CQI.
"""

Decoding: TypeAlias = Literal["independent", "one_number"]
"""Method that determines whether a block is decoded.

`independent`: Each transmission fails independently with the BLER at the SNR combined so
far.

`one_number`: One random number per block, as in EURANE: the block is decoded once the BLER
at the SNR combined so far falls below it.
"""

Distance: TypeAlias = str
"""A distance with its unit, such as "450 m"."""

HeldData: TypeAlias = Literal["lost", "forwarded"]
"""Handling of a user's data in the Node B that it leaves.

`lost`: MAC-hs is reset, and the Node B's data is lost.

`forwarded`: MAC-hs continues in the new cell without a reset: the Node B's data is
forwarded, and blocks not yet decoded restart with a first transmission.
"""

Power: TypeAlias = str
"""A power with its unit, such as "700 mW"."""

Averaging: TypeAlias = Literal["cells", "connections", "typical_cell"]
"""Mean over the other cells that defines alpha, their rate.

`cells`: Over cells with any connection, with equal weights (`hossain`: alpha = E{m}).

`connections`: Over connections, so that cells with many connections weigh more. The rate is
then lower, as these cells use low rates; alpha G is the mean power of a cell.

`typical_cell`: The rate of a cell with exactly the mean number of connections.
"""

Sharing: TypeAlias = Literal["one_packet", "any_packets", "apart"]
"""Rule that determines which frames of a connection may be sent in the same slot.

`one_packet`: Retransmitted frames of any packets, and new ones of one packet: a packet
starts with a slot.

`any_packets`: Retransmitted and new frames of any packets.

`apart`: Either retransmitted frames or new ones of one packet.
"""

AtEnd: TypeAlias = Literal["loop", "stop"]
"""Behaviour at the end of a recording.

`loop`: The recording starts again.

`stop`: No further opportunities follow.
"""

Speed: TypeAlias = str
"""A speed with its unit, such as "3 km/h"."""

Movement: TypeAlias = Literal["stays", "circle", "straight"]
"""Movement of a user. The speed determines the rate of fading in any case.

`stays`: Does not move: path loss and shadowing are constant, as in a session that is short
compared with their changes.

`circle`: Moves around the Node B in the middle: path loss is constant, shadowing changes.

`straight`: Moves straight, and at the edge of its area back inside at a random angle.
"""

Profile: TypeAlias = Literal["flat", "pedestrian_a", "pedestrian_b", "vehicular_a", "vehicular_b"]
"""Named profiles.

`flat`: One path: flat Rayleigh fading.

`pedestrian_a`: Outdoor to indoor and pedestrian, channel A.

`pedestrian_b`: Outdoor to indoor and pedestrian, channel B.

`vehicular_a`: Vehicular, channel A.

`vehicular_b`: Vehicular, channel B.
"""


class Wired(Part):
    """A link of the fixed network, both ways."""

    name: str | None = None
    """Name of the link in the table `links`. Default: `wired` or `core`, followed by its position
    if the core network has several links.
    """

    rate: Rate = "10 Mbps"
    """Bit rate in each direction."""

    delay: Duration = "110 ms"
    """Propagation delay in each direction."""

    loss: Probability | Loss = 0.0
    """Loss of packets towards the phone: a probability, or a model."""

    ack_loss: Probability | Loss = 0.0
    """Loss of packets towards the server: a probability, or a model."""

    queue: Queue = field(default_factory=lambda: DropTail())
    """Queue in each direction."""

    jitter: Jitter | None = None
    """Extra delay of each packet in each direction; keeps the order of packets."""

    reordering: Reordering | None = None
    """Reordering in each direction: delays some packets so that others overtake them."""


class RandomLoss(Part):
    """Every packet with the same probability, independently of the others."""

    tag: ClassVar[str | None] = "random"

    p: Probability
    """Probability that a packet is lost."""


class PeriodicLoss(Part):
    """One packet of every n."""

    tag: ClassVar[str | None] = "periodic"

    every: int
    """Period of the loss in packets: one packet in this many is lost.

    At least 1.
    """

    offset: int = 0
    """Position of the first packet lost in the order of arrival, from 0."""


class LossList(Part):
    """Packets at listed positions in the order of arrival."""

    tag: ClassVar[str | None] = "list"

    positions: list[int]
    """Positions of the packets to lose in the order of arrival, from 0."""


class DataList(Part):
    """The server's data segments at listed positions; other packets are not counted."""

    tag: ClassVar[str | None] = "data_list"

    positions: list[int]
    """Positions of the data segments to lose in the order of arrival, retransmissions included,
    from 1. Position 0 is the first packet without data, the server's SYN.
    """


class GilbertElliott(Part):
    """Loss in bursts: a good and a bad state, each with its own probability."""

    tag: ClassVar[str | None] = "gilbert_elliott"

    p: Probability
    """Probability of a change from the good to the bad state after a packet."""

    r: Probability
    """Probability of a change from the bad to the good state after a packet."""

    loss_in_good: Probability = 0.0
    """Probability that a packet is lost in the good state."""

    loss_in_bad: Probability = 1.0
    """Probability that a packet is lost in the bad state."""


class DropTail(Part):
    """First in, first out; packets that find the queue full are dropped."""

    tag: ClassVar[str | None] = "drop_tail"

    limit: int = 1000
    """Limit in packets. As in ns-2, the packet being transmitted does not count, and an arriving
    packet is dropped if it would be the `limit`-th to wait.

    At least 1.
    """

    limit_bytes: Size | None = None
    """Limit in bytes, if any: an arriving packet is dropped if the waiting packets would exceed
    it.
    """


class Red(Part):
    """Random early detection: the drop probability grows with the average queue."""

    tag: ClassVar[str | None] = "red"

    limit: int = 1000
    """Largest number of packets waiting, in mode `bytes` counted in packets of the mean size.

    At least 1.
    """

    min_threshold: float = 5.0
    """Average queue length in packets from which packets are dropped or marked at random."""

    max_threshold: float = 15.0
    """Average queue length in packets at which `max_probability` is reached."""

    max_probability: Probability = 0.1
    """Probability of a drop or mark at `max_threshold`, before drops are spaced evenly."""

    weight: float = 0.002
    """Weight of the current queue length in its moving average."""

    gentle: bool = True
    """Increases the probability up to 1 at twice `max_threshold`, instead of a jump to 1 at
    `max_threshold`.
    """

    mode: RedMode = "packets"
    """Unit of the queue length."""

    mean_packet: Size = "1.5 kB"
    """Mean size of a packet. It converts the thresholds to bytes in mode `bytes`, and idle times
    to packets that could have been sent.
    """

    ecn: bool = True
    """Marks ECN-capable packets instead of dropping them while the average is below
    `max_threshold` (RFC 3168, section 7).
    """


class Codel(Part):
    """Controlled delay: drops packets at an increasing rate while all wait longer than a target."""

    tag: ClassVar[str | None] = "codel"

    limit: int = 1000
    """Largest number of packets waiting.

    At least 1.
    """

    target: Duration = "5 ms"
    """Acceptable standing queueing delay (RFC 8289, section 4.4)."""

    interval: Duration = "100 ms"
    """Time for which the delay must exceed the target before a packet is dropped; about the
    longest round-trip time (RFC 8289, section 4.3).
    """

    ecn: bool = True
    """Marks ECN-capable packets instead of dropping them."""


class FqCodel(Part):
    """One CoDel queue per flow, served by deficit round robin; new flows come first."""

    tag: ClassVar[str | None] = "fq_codel"

    limit: int = 10240
    """Largest number of packets waiting in all queues; beyond it, the queue with most bytes drops
    packets from its head.

    At least 1.
    """

    flows: int = 1024
    """Number of queues to which flows are hashed.

    At least 1.
    """

    quantum: Size = "1.514 kB"
    """Bytes that a queue may send per round."""

    target: Duration = "5 ms"
    """Acceptable standing queueing delay in each queue."""

    interval: Duration = "100 ms"
    """Time for which the delay must exceed the target before a packet is dropped."""

    ecn: bool = True
    """Marks ECN-capable packets instead of dropping them."""


class Pie(Part):
    """A proportional-integral controller computes the drop probability from the queueing delay."""

    tag: ClassVar[str | None] = "pie"

    limit: int = 1000
    """Largest number of packets waiting.

    At least 1.
    """

    target: Duration = "15 ms"
    """Target of the queueing delay, QDELAY_REF."""

    update: Duration = "15 ms"
    """Time between updates of the drop probability, T_UPDATE."""

    burst: Duration = "150 ms"
    """Length of a burst that passes without drops after a calm period, MAX_BURST."""

    alpha: float = 0.125
    """Gain on the deviation from the target, per second."""

    beta: float = 1.25
    """Gain on the change of the delay, per second."""

    delay_estimate: DelayEstimate = "timestamp"
    """Method by which the queueing delay is estimated."""

    derandomize: bool = False
    """Spaces drops evenly by accumulating the probability between them (section 5.4)."""

    mean_packet: Size = "1.5 kB"
    """Mean size of a packet; no packet is dropped while at most two of this size wait."""

    ecn: bool = True
    """Marks ECN-capable packets instead of dropping them."""

    ecn_threshold: Probability = 0.1
    """Drop probability from which ECN-capable packets are dropped too, MAX_ECNTH."""


class UniformJitter(Part):
    """Uniform between 0 and a maximum."""

    tag: ClassVar[str | None] = "uniform"

    most: Duration = "10 ms"
    """Largest extra delay."""


class NormalJitter(Part):
    """Normal, with negative values replaced by 0."""

    tag: ClassVar[str | None] = "normal"

    mean: Duration = "10 ms"
    """Mean of the distribution, before negative values are replaced by 0."""

    deviation: Duration = "3 ms"
    """Standard deviation of the distribution, before negative values are replaced by 0."""


class Reordering(Part):
    """Packets that are delayed further, so that later ones overtake them."""

    share: Probability
    """Share of packets that are delayed further, each independently of the others."""

    delay: Duration
    """Delay of these packets in addition to the link's delay and jitter."""


class Split(Part):
    """Ends the server's connection and relays its data over a second one (HTTP proxy)."""

    tag: ClassVar[str | None] = "split"

    tcp: Tcp | None = None
    """TCP between proxy and phone; absent: the same as between server and proxy."""


class Rnf(Part):
    """Split connection whose window the RNC's bandwidth reports set."""

    tag: ClassVar[str | None] = "rnf"

    tcp: Tcp | None = None
    """TCP between proxy and phone, which recovers losses; absent: the same as between server and
    proxy.
    """

    q_ref: float = 36.0
    """Target number of packets that wait at the RNC for the phone."""

    interval: Duration = "80 ms"
    """Time over which the RNC averages the bandwidth for each message."""

    delay: Duration | None = None
    """Delay of messages from the RNC to the proxy; absent: that of the links between them."""

    loss: Probability | Loss = 0.0
    """Loss of messages: a probability, or a model."""

    rtt: RoundTrip = field(default_factory=lambda: Minimum())
    """Proxy's estimate of the round-trip time without queueing."""

    queue_feedback: float | None = None
    """Gain of the queue feedback: with every message the window grows by this fraction of the
    packets missing in the queue. Absent: the window follows the bandwidth alone, as in the
    study.
    """


class Classic(Part):
    """As in ns-2 and the studies: counts segments, times one segment at a time, goes back N."""

    tag: ClassVar[str | None] = "classic"

    control: Control = field(default_factory=lambda: NewReno())
    """Loss recovery of the sender."""

    era: Era = "ns-2.1b8"
    """Version of ns-2 whose defaults apply to absent keys: a release (`"ns-2.26"`) or a date."""

    packet_size: Size = "1.5 kB"
    """Size of a full-sized segment on the wire, with 40 B of IP and TCP headers."""

    initial_window: int | None = None
    """Initial congestion window in packets; absent: the era's default.

    At least 1.
    """

    max_window: int = 42
    """Advertised window of the receiver in packets.

    At least 1.
    """

    initial_ssthresh: int = 40
    """Initial slow-start threshold in packets.

    At least 1.
    """

    min_rto: Duration | None = None
    """Smallest retransmission timeout, before backoff; absent: the era's default."""

    max_rto: Duration | None = None
    """Largest retransmission timeout, backoff included; absent: the era's default."""

    initial_rto: Duration | None = None
    """Retransmission timeout until the first round-trip time is measured (RFC 2988, 2.1, requires
    3 s); absent: the era's default.
    """

    backoff_from_minimum: bool | None = None
    """Whether backoff also multiplies the smallest timeout (RFC 2988, 2.4 and 5.5; ns-2's
    `rfc2988_`), or only the estimate; absent: the era's default.
    """

    estimator: Estimator = field(default_factory=lambda: Ticks())
    """Round-trip estimator, which also determines the segments that are timed."""

    slow_start_restart: bool = True
    """Whether the window is reset to one segment if nothing was sent for a retransmission timeout
    (ns-2's `slow_start_restart_`; RFC 2581, 4.1, uses the initial window instead).
    """

    half_of_flight: bool = False
    """Whether a timeout sets the slow-start threshold to half of the data outstanding (RFC 2581,
    3.1), so that a second timeout leaves it unchanged. Otherwise it is half of the window as in
    ns-2, and two packets after a second timeout.
    """

    clock: Duration | None = None
    """Tick of the clock that measures round-trip times (ns-2's `tcpTick_`); absent: the era's
    default.
    """

    clock_phase: Duration = "0 s"
    """Phase of that clock at the start of the simulation; less than one tick."""

    limited_transmit: bool | None = None
    """Send a new segment on each of the first two duplicate ACKs (RFC 3042); absent: the era's
    default.
    """

    fractional_halves: bool | None = None
    """Whether half of a window, after a loss, may be a fraction of packets (ns-2's
    `precisionReduce_`) or is rounded down; absent: the era's default.
    """

    eifel: bool = False
    """Detect spurious retransmissions by a bit that their ACKs lack (Eifel, RFC 3522), and undo
    their effects (RFC 4015).
    """

    delayed_ack: Duration = "100 ms"
    """Delay of the ACK of a single segment; 0 acknowledges each segment at once."""

    delayed_syn_ack: bool | None = None
    """Whether the ACK of the server's SYN is delayed as well, if the server opens the connection;
    absent: the era's default.
    """

    opened_by: Opener = "phone"
    """End that opens the connection."""


class Linux(Part):
    """As in today's Linux: byte counts, SACK, RACK-TLP, PRR, CUBIC with HyStart, timestamps."""

    tag: ClassVar[str | None] = "linux"

    control: Congestion = field(default_factory=lambda: Cubic())
    """Congestion control: size of the window and pacing rate."""

    packet_size: Size = "1.5 kB"
    """Size of a full-sized segment on the wire, with 40 B of IP and TCP headers and the options."""

    initial_window: int = 10
    """Initial congestion window in segments (RFC 6928).

    At least 1.
    """

    timestamps: bool = True
    """Timestamps in every segment (RFC 7323): 12 B."""

    sack: bool = True
    """Selective acknowledgements (RFC 2018): up to three blocks of 8 B in an ACK."""

    dsack: bool = True
    """Report duplicates in the first SACK block (RFC 2883)."""

    rack: bool = True
    """Detect losses by time (RACK, RFC 8985) rather than by counting (RFC 6675). Needs SACK."""

    tail_loss_probe: bool = True
    """Probe for a lost tail before the timeout (TLP, RFC 8985, section 7). Needs RACK."""

    undo: bool = True
    """Undo a reduction if timestamps (RFC 3522) or D-SACKs (RFC 3708) show that nothing was lost
    (RFC 4015).
    """

    frto: bool = True
    """Detect a spurious timeout from the segments that the following ACKs deliver (F-RTO, RFC
    5682), and undo its reduction.
    """

    ecn: bool = False
    """Let queues mark segments instead of dropping them (RFC 3168)."""

    pacing: bool = False
    """Spread the segments of every congestion control over the round trip, as Linux's queueing
    discipline `fq` does. BBR paces itself without it.
    """

    slow_start_after_idle: bool = True
    """Halve the window once per timeout of a pause (RFC 2861; Linux: `tcp_slow_start_after_idle`).
    BBR never does.
    """

    min_rto: Duration = "200 ms"
    """Lower bound of the variation term of the retransmission timeout. As in Linux, the timeout is
    the smoothed round-trip time plus at least this.
    """

    max_rto: Duration = "2 min"
    """Largest retransmission timeout, backoff included."""

    initial_rto: Duration = "1 s"
    """Retransmission timeout until the first round-trip time is measured (RFC 6298, 2.1)."""

    delayed_ack: Duration = "40 ms"
    """Smallest delay of the ACK of a single segment; the delay adapts to the time between
    segments. 0 acknowledges each segment at once.
    """

    quick_acks: int = 16
    """Number of segments that the receiver acknowledges without delay to speed up slow start: at
    the start, after a pause, and after a duplicate; at most 2 after an ECN mark. While its
    window opens, every segment is acknowledged without delay.
    """

    receive_buffer: Size = "20.97152 MB"
    """Maximum size of the receive buffer; bounds the window."""

    initial_receive_buffer: Size = "81.92 kB"
    """Initial size of the receive buffer. The buffer grows with the data received per round trip
    (dynamic right-sizing); if this equals `receive_buffer`, its size is fixed.
    """

    send_buffer: Size = "4.194304 MB"
    """Maximum memory of the send buffer (the largest `tcp_wmem`). Up to this limit it has room for
    two windows.
    """

    read_rate: Rate | None = None
    """Reading rate of the application at the phone; absent: it reads immediately."""

    opened_by: Opener = "phone"
    """End that opens the connection."""


class Tahoe(Part):
    """Tahoe: after any loss, slow start from one segment."""

    tag: ClassVar[str | None] = "tahoe"


class Reno(Part):
    """Reno (RFC 2581): fast recovery until the first new ACK."""

    tag: ClassVar[str | None] = "reno"

    clean_exit: bool | None = None
    """Whether duplicate ACKs inflate the window only in fast recovery, and not after a timeout;
    absent: the era's default.
    """


class NewReno(Part):
    """NewReno (RFC 6582): stays in fast recovery until the whole window is acknowledged."""

    tag: ClassVar[str | None] = "newreno"

    impatient: bool | None = None
    """Whether only the first partial ACK of a recovery restarts the timer (impatient), instead of
    each (slow but steady); absent: the era's default.
    """

    partial_deflation: bool | None = None
    """Whether a partial ACK deflates the window by what it acknowledges, instead of by all that
    duplicate ACKs have added; absent: the era's default.
    """

    clean_exit: bool | None = None
    """Whether duplicate ACKs inflate the window only in fast recovery, and not after a timeout;
    absent: the era's default.
    """


class Sack(Part):
    """SACK (RFC 2018) with ns-2's pipe algorithm: retransmits only missing segments."""

    tag: ClassVar[str | None] = "sack"


class Ticks(Part):
    """Jacobson's estimator in ns-2's fixed-point form: one segment is timed at a time."""

    tag: ClassVar[str | None] = "ticks"


class Smoothed(Part):
    """Exponential averages of mean and deviation: every segment that is sent only once is timed."""

    tag: ClassVar[str | None] = "smoothed"

    gain: Probability = 0.1
    """Weight of a new round-trip time, and of its deviation from the mean (the study's c)."""

    initial_rtt: Duration | None = None
    """Mean before the first measurement. If absent, the first round-trip time becomes the mean,
    and half of it the deviation.
    """


class LinuxReno(Part):
    """Reno (RFC 5681) with byte counting (RFC 3465): one segment more per round trip."""

    tag: ClassVar[str | None] = "reno"


class Cubic(Part):
    """CUBIC with HyStart as in Linux: the window grows with the time since the last reduction."""

    tag: ClassVar[str | None] = "cubic"

    beta: float = 0.7
    """Share of the window that remains after a reduction; rounded to 1/1024."""

    c: float = 0.4
    """Aggressiveness in segments per second cubed; rounded to 10/1024."""

    fast_convergence: bool = True
    """Release bandwidth to new flows: store less than the window at a loss."""

    tcp_friendliness: bool = True
    """Grow at least as fast as Reno."""

    slow_start: SlowStart = "hystart"
    """Method that ends slow start before a loss."""


class CubicRfc9438(Part):
    """CUBIC by RFC 9438, with HyStart++ (RFC 9406)."""

    tag: ClassVar[str | None] = "cubic_rfc9438"

    beta: float = 0.7
    """Share of the window that remains after a reduction, `beta_cubic` (RFC 9438, 4.6)."""

    c: float = 0.4
    """Aggressiveness in segments per second cubed, `C` (RFC 9438, 5)."""

    fast_convergence: bool = True
    """Release bandwidth to new flows: store less than the window at a loss (RFC 9438, 4.7)."""

    slow_start: SlowStart = "hystart++"
    """Method that ends slow start before a loss."""


class Bbr(Part):
    """BBR version 1: paced at the measured bandwidth, with a short queue."""

    tag: ClassVar[str | None] = "bbr"

    min_rtt_window: Duration = "10 s"
    """Time for which the smallest round-trip time is valid before it is measured again (Linux:
    `bbr_min_rtt_win_sec`).
    """

    probe_rtt: Duration = "200 ms"
    """Time for which the window is kept small for that measurement (Linux:
    `bbr_probe_rtt_mode_ms`).
    """


class Bbr3(Part):
    """BBR version 3: also bounds the data in flight by the losses that it causes."""

    tag: ClassVar[str | None] = "bbr3"

    loss_threshold: float = 0.02
    """Share of a round trip's data that may be lost while probing (2.8: `LossThresh`)."""

    beta: float = 0.7
    """Minimum share of a bound that remains after a round trip with loss (2.8: `Beta`)."""

    headroom: float = 0.15
    """Share of the largest safe volume that is left to other flows (2.8: `Headroom`)."""

    min_rtt_window: Duration = "10 s"
    """Time for which the smallest round-trip time is valid (2.16.1: `MinRTTFilterLen`)."""

    probe_rtt_interval: Duration = "5 s"
    """Time between measurements of the round-trip time (2.16.2: `ProbeRTTInterval`)."""

    probe_rtt: Duration = "200 ms"
    """Time for which the window is kept small for a measurement (2.16.2: `ProbeRTTDuration`)."""


class Westwood(Part):
    """Westwood+: a loss reduces the window to the measured rate times the shortest round trip."""

    tag: ClassVar[str | None] = "westwood"


class Vegas(Part):
    """Vegas: keeps two to four segments in the queue and so avoids loss."""

    tag: ClassVar[str | None] = "vegas"

    alpha: int = 2
    """Number of segments below which the window grows."""

    beta: int = 4
    """Number of segments above which the window shrinks."""

    gamma: int = 1
    """Number of segments above which slow start ends."""


class Scalable(Part):
    """Scalable TCP: the window grows and shrinks in proportion to its size; for long fat paths."""

    tag: ClassVar[str | None] = "scalable"

    increase: float = 0.01
    """Growth per byte acknowledged (section 3 of the paper: `a`)."""

    decrease: float = 0.125
    """Share of the window by which a loss reduces it (`b`)."""

    legacy_window: int = 16
    """Number of segments up to which the window follows Reno (`lwnd`)."""


class Veno(Part):
    """Veno: Reno that attributes a loss with a short queue to the radio link."""

    tag: ClassVar[str | None] = "veno"

    beta: int = 3
    """Number of segments in the queue below which a loss is not attributed to congestion."""


class Minimum(Part):
    """Minimum that TCP has measured between proxy and phone."""

    tag: ClassVar[str | None] = "minimum"


class Fixed(Part):
    """A constant round-trip time."""

    tag: ClassVar[str | None] = "fixed"

    value: Duration
    """Round-trip time."""


class Snoop(Part):
    """Snoop agent: its parameters. The defaults are those of ns-2's `snoop.h`."""

    cache: int = 100
    """Maximum number of segments cached per connection; further ones pass without caching.

    At least 1.
    """

    dup_threshold: int = 1
    """Number of duplicate ACKs after which a segment is retransmitted.

    At least 1.
    """

    min_timeout: Duration = "100 ms"
    """Minimum timeout of a local retransmission."""

    max_retransmissions: int = 10
    """Maximum number of local retransmissions of a segment; beyond it the sender retransmits."""

    eifel: bool = False
    """Whether agent and phone distinguish originals from retransmissions (Eifel): round trips of
    retransmitted segments are measured too, and an unnecessary retransmission causes no further
    ones.
    """


class Uplink(Part):
    """A phone's dedicated uplink."""

    rate: Rate = "64 kbps"
    """Bit rate."""

    delay: Duration = "20 ms"
    """Delay from the end of a transmission to the arrival at the Node B."""

    loss: Probability | Loss = 0.0
    """Loss of packets: a probability, or a model."""

    queue: Queue = field(default_factory=lambda: DropTail())
    """Queue at the phone."""

    jitter: Jitter | None = None
    """Extra delay of each packet; keeps the order of packets."""

    reordering: Reordering | None = None
    """Reordering: delays some packets so that others overtake them."""


class Dch(Part):
    """Dedicated channels, one bearer per user (Release 99)."""

    tag: ClassVar[str | None] = "dch"

    channels: int = 12
    """Parallel channels; each sends one block per TTI.

    At least 1.
    """

    tti: Duration = "10 ms"
    """Transmission time interval."""

    pdu_size: Size = "40 B"
    """Payload of a PDU, or its whole size if the RLC mode has headers. With `rlc = "arq"` a packet
    takes whole PDUs; the last one is padded and not shared with the next packet.
    """

    pdus_per_tti: int = 1
    """PDUs in a block.

    At least 1.
    """

    bler: Probability = 0.01
    """Block error rate."""

    errors: ErrorModel | None = None
    """Model of block errors, which replaces `bler`."""

    retransmission_delay: Duration = "99 ms"
    """Time from the start of a failed TTI to the earliest retransmission of its block, at a TTI
    boundary. Only with `rlc = "arq"`.
    """

    max_transmissions: int | None = None
    """Largest number of transmissions of a block, after which it is discarded. Default: unlimited.
    Only with `rlc = "arq"`.

    At least 1.
    """

    delivery: Delivered = "in_sequence"
    """Order in which packets leave the bearer."""

    rlc: Rlc = field(default_factory=lambda: Arq())
    """RLC mode: method by which PDUs are retransmitted."""

    buffer: int = 1000
    """Capacity of the buffer, in packets.

    At least 1.
    """


class HsDsch(Part):
    """The high-speed downlink shared channel: one bearer for all users (Release 5)."""

    tag: ClassVar[str | None] = "hs_dsch"

    channels: int = 3
    """Code channels; each sends one block per TTI.

    At least 1.
    """

    tti: Duration = "2 ms"
    """Transmission time interval."""

    pdu_size: Size = "32 B"
    """Payload of a PDU, or its whole size if the RLC mode has headers. With `rlc = "arq"` a packet
    takes whole PDUs; the last one is padded and not shared with the next packet.
    """

    pdus_per_tti: int = 1
    """PDUs in a block at constant rate. For a user with a C/I process, the C/I value of the TTI is
    the number of PDUs instead.

    At least 1.
    """

    bler: Probability = 0.01
    """Block error rate of a first transmission."""

    errors: ErrorModel | None = None
    """Model of block errors, which replaces `bler`. Each user has an independent process."""

    retransmission_delay: Duration = "9.5 ms"
    """Time from the start of a failed TTI to the earliest retransmission of its block, at a TTI
    boundary.
    """

    max_transmissions: int | None = None
    """Largest number of transmissions of a block, after which it is discarded. Default: unlimited.

    At least 1.
    """

    combining: Combining = field(default_factory=lambda: NoCombining())
    """Soft combining of the transmissions of a block."""

    scheduler: Scheduler = field(default_factory=lambda: RoundRobin())
    """Scheduler that selects the user of each TTI."""

    delivery: Delivered = "in_sequence"
    """Order in which packets leave the bearer."""

    rlc: Rlc = field(default_factory=lambda: Arq())
    """RLC mode: method by which PDUs are retransmitted that hybrid ARQ could not deliver."""

    buffer: int = 1000
    """Capacity of each user's buffer, in packets.

    At least 1.
    """


class Hsdpa(Part):
    """HS-DSCH in detail: cells with fading, CQI, HARQ processes, Iub (Release 5 to 7)."""

    tag: ClassVar[str | None] = "hsdpa"

    codes: int = 15
    """Number of HS-PDSCH codes of the cell, at most 15.

    At least 1.
    """

    users_per_tti: int = 1
    """Largest number of users served in one TTI, at most 4. They share the codes and, equally, the
    power.

    At least 1.
    """

    scheduler: Scheduler = field(default_factory=lambda: RoundRobin())
    """Scheduler that selects the users of each TTI."""

    link_adaptation: LinkAdaptation = field(default_factory=lambda: CqiReports())
    """Link adaptation: selection of the block that a user is sent in a TTI."""

    link_curve: LinkCurves | None = None
    """Measured BLER curves. Default: the published formula."""

    processes: int = 6
    """Number of HARQ processes per user, at most 8.

    At least 1.
    """

    retransmission_delay: Duration = "12 ms"
    """Time from the start of a TTI until its answer is known and the process may send again.
    Default: the smallest that 6 processes fill, 6 TTIs.
    """

    max_transmissions: int | None = None
    """Largest number of transmissions of a block, after which it is discarded. Default: unlimited.

    At least 1.
    """

    combining: Combining = field(default_factory=lambda: Chase())
    """Soft combining of the transmissions of a block in the UE."""

    decoding: Decoding = "independent"
    """Method that determines whether a block is decoded."""

    ack_error: Probability = 0.0
    """Probability that the Node B receives an ACK as a NACK."""

    nack_error: Probability = 0.0
    """Probability that the Node B receives a NACK as an ACK."""

    reordering_window: int = 32
    """Receive window of the reordering queue in blocks, at most 32.

    At least 1.
    """

    t1: Duration = "50 ms"
    """Timer T1 of the reordering queue, rounded up to whole TTIs."""

    pdu_size: Size = "40 B"
    """Payload of an RLC PDU."""

    rlc: RlcMode = field(default_factory=lambda: UnacknowledgedMode())
    """RLC mode: handling of PDUs that MAC-hs gives up."""

    segmentation: bool = True
    """Whether blocks carry octets of PDUs (MAC-ehs) instead of whole PDUs (MAC-hs), which do not
    fit in small blocks.
    """

    buffer: int = 1000
    """Capacity of each user's buffer in packets, from the RNC to the phone.

    At least 1.
    """

    iub: Iub | None = None
    """The Iub. Default: none; packets wait at the Node B, and `core` includes the path from the
    RNC.
    """

    cell: Cell = field(default_factory=lambda: Cell())
    """The cell and its Node B."""

    handover: Handover | None = None
    """Handover between the cell and its neighbours. Default: none, the cell in the middle serves
    all users.
    """


class FachDch(Part):
    """A shared FACH and a pool of dedicated channels, between which users switch (Release 99)."""

    tag: ClassVar[str | None] = "fach_dch"

    fach_rate: Rate = "33 kbps"
    """Bit rate of the FACH."""

    signalling_rate: Rate = "24 kbps"
    """Bit rate of signalling on the FACH, which precedes users' packets."""

    signalling_size: Size = "1 kB"
    """Size of a signalling packet."""

    dch_channels: int = 1
    """Number of dedicated channels in the cell.

    At least 1.
    """

    dch_rate: Rate = "384 kbps"
    """Bit rate of a dedicated channel."""

    switch_time: Duration = "250 ms"
    """Duration of the set-up of a dedicated channel, and of its release. The user's queue is not
    served meanwhile.
    """

    paging_time: Duration = "600 ms"
    """Duration of the switch from the paging channel to the FACH."""

    policy: Switching = field(default_factory=lambda: Thresholds())
    """Switching policy."""

    buffer: int = 1000
    """Capacity of each user's buffer, in packets.

    At least 1.
    """

    power: PhonePower = field(default_factory=lambda: PhonePower())
    """Power of a phone's radio in each state."""


class Wcdma(Part):
    """Codes that all users receive at the same time, with a variable spreading factor."""

    tag: ClassVar[str | None] = "wcdma"

    slot: Duration = "10 ms"
    """Length of a slot, in which a connection sends as many frames as its rate."""

    frame_size: Size = "16 B"
    """Size of a frame; one frame per slot is the basic rate."""

    spreading: int = 128
    """Chips per bit at the basic rate.

    At least 1.
    """

    rates: list[int] = field(default_factory=lambda: [1, 2, 3, 4, 5, 6, 7, 8])
    """Selectable rates in frames per slot, in ascending order."""

    selection: Selection = field(default_factory=lambda: OneStep())
    """Method of rate selection."""

    connection_timeout: Duration | None = None
    """Time without data after which a connection becomes inactive. Default: never."""

    profile: ProfileSpec = field(default_factory=lambda: EqualPaths())
    """Distribution of the received power over paths."""

    eb_n0_db: float = 20.0
    """Energy per bit over noise density, in dB. With a map it applies at two thirds of the cell
    radius.
    """

    correctable_bits: int = 0
    """Number of errors per frame that the code corrects."""

    frame_errors: bool = True
    """Whether frames fail. If not, all frames arrive, but rates are selected as if frames could
    fail.
    """

    other_cells: OtherCells = field(default_factory=lambda: Mean())
    """Interference from other cells."""

    ack_delay: Duration = "10 ms"
    """Time from the end of a slot until the Node B knows its failed frames; retransmissions start
    with a slot.
    """

    sharing: Sharing = "one_packet"
    """Rule that determines which frames of a connection may be sent in the same slot."""

    max_failed_slots: int | None = None
    """Number of consecutive slots of a connection in which all frames fail after which the packet
    of the oldest frame in the last of them is given up. Default: unlimited.

    At least 1.
    """

    delivery: Delivered = "in_sequence"
    """Order in which packets leave the bearer."""

    buffer: int = 1000
    """Capacity of each connection's buffer, in packets.

    At least 1.
    """


class LinkBearer(Part):
    """No radio: a plain link with a rate, a delay and a queue, one per user."""

    tag: ClassVar[str | None] = "link"

    rate: Rate = "384 kbps"
    """Bit rate."""

    delay: Duration = "0 s"
    """Propagation delay."""

    queue: Queue = field(default_factory=lambda: DropTail())
    """Queue at the Node B."""

    loss: Probability | Loss = 0.0
    """Loss of packets: a probability, or a model."""

    drop_list: list[int] = field(default_factory=list)
    """Packets to lose, by position in the order of arrival, from 0. Short form of
    `loss.list.positions`; excludes `loss`.
    """

    outages: list[Outage] | None = None
    """Outages, in order of time: intervals in which no transmission starts and packets queue."""

    jitter: Jitter | None = None
    """Extra delay of each packet; keeps the order of packets."""

    reordering: Reordering | None = None
    """Reordering: delays some packets so that others overtake them."""


class TraceBearer(Part):
    """No radio: a link that sends at recorded delivery opportunities, one per user."""

    tag: ClassVar[str | None] = "trace"

    down: Opportunities = field(default_factory=lambda: Opportunities())
    """Delivery opportunities towards a phone; each phone has all of them for itself."""

    up: Opportunities | None = None
    """Opportunities at which a phone can send, instead of `uplink.rate`. The other keys of
    `uplink` still apply. Default: none, `uplink.rate` applies.
    """

    at_end: AtEnd = "loop"
    """Behaviour at the end of a trace."""

    opportunity: Size = "1.504 kB"
    """Bytes of an opportunity."""

    header: Size = "4 B"
    """Bytes that each packet takes in addition to its IP packet. In mahimahi packets have the
    4-byte header of a TUN device.
    """

    delay: Duration = "0 s"
    """Propagation delay towards the phone."""

    queue: Queue = field(default_factory=lambda: DropTail())
    """Queue at the Node B, in which every packet waits for an opportunity."""

    loss: Probability | Loss = 0.0
    """Loss of packets towards the phone: a probability, or a model."""

    jitter: Jitter | None = None
    """Extra delay of each packet towards the phone; keeps the order of packets."""

    reordering: Reordering | None = None
    """Reordering towards the phone: delays some packets so that others overtake them."""


class ErrorModel(Part):
    """Model of the errors on a radio link.

    A model file, as written by `nodeb fit`, sets all keys except `advances`.
    """

    file: str | None = None
    """Path of a model file that sets the other keys, relative to the scenario file's folder."""

    unit: Unit = "block"
    """Meaning of a step of the process."""

    pdus_per_block: int | None = None
    """Number of PDUs per block for which the model is valid. Default: any number.

    At least 1.
    """

    process: Error | None = None
    """Process that yields the errors."""

    within_block: WithinBlock | None = None
    """Distribution of the PDUs in error within a failed block, if a step is a block. Default: all
    PDUs.
    """

    advances: Advances = "with_time"
    """Progress of the process: with time or with blocks."""


class IndependentErrors(Part):
    """Independent errors with the same probability in every step."""

    tag: ClassVar[str | None] = "bsc"

    error_rate: Probability
    """Probability of an error in a step."""


class GilbertElliottErrors(Part):
    """Errors in bursts: a good and a bad state, each with its own probability."""

    tag: ClassVar[str | None] = "gilbert_elliott"

    p: Probability
    """Probability of a change from the good to the bad state after a step."""

    r: Probability
    """Probability of a change from the bad to the good state after a step."""

    error_in_good: Probability = 0.0
    """Probability of an error in the good state."""

    error_in_bad: Probability = 1.0
    """Probability of an error in the bad state."""


class HiddenMarkov(Part):
    """A hidden Markov model: any number of states, each with its own error probability."""

    tag: ClassVar[str | None] = "hmm"

    start: list[float] | None = None
    """Probability of each state in the first step. Default: the stationary distribution."""

    transition: list[list[float]]
    """Probabilities of the next state after a step: one row per state."""

    error: list[Probability]
    """Probability of an error in each state."""


class RecordedErrors(Part):
    """A recorded sequence, repeated in a loop."""

    tag: ClassVar[str | None] = "recorded"

    errors: list[int]
    """Run lengths of the sequence: steps without errors, steps with errors, steps without errors,
    and so on. The first may be 0.
    """

    offset: int | None = None
    """First block of the sequence to be used. Default: a random one."""


class WithinBlock(Part):
    """Distribution of errors within a failed block; set either of the keys."""

    patterns: dict[str, object] | None = None
    """Probability of each pattern, such as `"0110" = 0.4`: a digit per PDU in order, 1 for a PDU
    in error.
    """

    count_law: list[float] | None = None
    """Probabilities of 1, 2, ... PDUs in error, up to the number of PDUs in a block; all choices
    of PDUs are equally likely.
    """


class Arq(Part):
    """Failed blocks are retransmitted after a fixed delay: no headers, windows or reports."""

    tag: ClassVar[str | None] = "arq"


class Am(Part):
    """Acknowledged mode (TS 25.322): windows, polling, STATUS reports, discard and reset."""

    tag: ClassVar[str | None] = "am"

    tx_window: int = 256
    """Largest number of PDUs sent and not yet acknowledged (Configured_Tx_Window_Size).

    At least 1.
    """

    rx_window: int = 256
    """Largest number of PDUs, from the first missing one, that the phone accepts
    (Configured_Rx_Window_Size).

    At least 1.
    """

    max_dat: int | None = None
    """Limit of transmissions of a PDU, plus one (MaxDAT): after `max_dat - 1` transmissions,
    packets are discarded or the protocol is reset. Default: unlimited.

    At least 1.
    """

    at_max_dat: AtMaxDat = "discard"
    """Action when a PDU reaches `max_dat`."""

    discard_timer: Duration | None = None
    """Age at which an unacknowledged packet is discarded (Timer_Discard). Default: never."""

    command_timer: Duration = "300 ms"
    """Time after which an unanswered command to the phone, to move its window (Timer_MRW) or to
    reset (Timer_RST), is retransmitted.
    """

    poll: Polling = field(default_factory=lambda: Polling())
    """Triggers of polls, by which the phone is asked for a status report."""

    status: Reports = field(default_factory=lambda: Reports())
    """Triggers, format and delay of status reports."""


class Slotted(Part):
    """A window of slots, each retransmitted until it is received; reports of a few PDUs."""

    tag: ClassVar[str | None] = "slotted"

    places: int = 15
    """Slots in a window, one PDU each.

    At least 1.
    """

    report_every: int = 5
    """PDUs per report.

    At least 1.
    """

    header: Size = "2 B"
    """Header of a PDU, included in its size."""

    report_delay: Duration = "20 ms"
    """Delay of a report, from the end of the TTI that brings its last PDU."""


class Polling(Part):
    """Triggers for setting the poll bit (TS 25.322, 9.7.1)."""

    last_pdu: bool = True
    """Polls in the last PDU that can be sent: the buffer is empty or the window is full."""

    last_retransmission: bool = True
    """Polls in the last PDU that waits for retransmission."""

    every_pdus: int | None = 32
    """Polls in every n-th PDU (Poll_PDU). Default: every 32nd.

    At least 1.
    """

    every_packets: int | None = None
    """Polls in the last PDU of every n-th packet (Poll_SDU). Default: none.

    At least 1.
    """

    window_share: Probability | None = 0.5
    """Polls while at least this share of the window is in use (Poll_Window)."""

    timer: Duration = "300 ms"
    """Polls again if a poll is not answered within this time (Timer_Poll)."""

    prohibit: Duration | None = None
    """Smallest time between polls (Timer_Poll_Prohibit). Default: none."""

    periodic: Duration | None = None
    """Polls periodically (Timer_Poll_Periodic). Default: none."""


class Reports(Part):
    """Triggers of the phone's STATUS PDUs (TS 25.322, 9.7.2), and their transfer to the sender."""

    on_missing: bool = True
    """Reports when the phone detects that a PDU is missing."""

    prohibit: Duration | None = "100 ms"
    """Smallest time between reports (Timer_Status_Prohibit)."""

    periodic: Duration | None = None
    """Reports periodically (Timer_Status_Periodic). Default: none."""

    format: StatusFormat = "list"
    """Encoding of missing PDUs. In a report of several PDUs, each acknowledges only what it
    reports on itself.
    """

    delay: Duration = "89 ms"
    """Delay of a report, from the end of the TTI that brings a PDU."""

    loss_rate: Probability = 0.0
    """Probability that a report or another answer of the phone is lost."""


class NoCombining(Part):
    """H-ARQ type I: failed blocks are discarded, each transmission is decoded on its own."""

    tag: ClassVar[str | None] = "none"


class Chase(Part):
    """Chase combining: retransmissions add up their energy."""

    tag: ClassVar[str | None] = "chase"

    efficiency: Probability = 0.93
    """Combining efficiency: share of the ideal gain that each further transmission keeps, 0.9 to
    1.
    """


class IncrementalRedundancy(Part):
    """Incremental redundancy: each transmission adds new parity."""

    tag: ClassVar[str | None] = "incremental_redundancy"


class RoundRobin(Part):
    """Users take turns."""

    tag: ClassVar[str | None] = "round_robin"


class MaxCi(Part):
    """The user with the best channel; of equals the one served least recently."""

    tag: ClassVar[str | None] = "max_ci"


class ProportionalFair(Part):
    """The user with the best channel relative to its mean rate so far."""

    tag: ClassVar[str | None] = "proportional_fair"

    window: Duration = "1.67 s"
    """Time constant `t_c` of the mean rate. Jalali et al. use 1000 slots of 1.67 ms."""


class Normalized(Part):
    """The user with the best channel relative to its own mean and deviation."""

    tag: ClassVar[str | None] = "normalized"

    memory: float = 0.999
    """Weight of the old mean and variance in a TTI in which the user waits; 0 to below 1."""


class EarliestDeadline(Part):
    """The user whose packet has the earliest deadline."""

    tag: ClassVar[str | None] = "earliest_deadline"


class TcpAware(Part):
    """Proportional fair, with priority for connections that have just begun."""

    tag: ClassVar[str | None] = "tcp_aware"

    window: Duration = "1.67 s"
    """Time constant of the mean rate."""

    head_start: Duration = "100 ms"
    """Air time within a burst at which the priority is twice that of proportional fair."""

    pause: Duration = "1 s"
    """Pause after which a user starts a new burst. It should exceed a round trip, as windows of
    slow start arrive one round trip apart.
    """


class CqiReports(Part):
    """CQI reports select among the transport formats of the UE category."""

    tag: ClassVar[str | None] = "cqi"

    delay: Duration = "6 ms"
    """Time from a measurement to the TTI in which the Node B uses its report; rounded up to whole
    TTIs.
    """

    cycle: Duration = "2 ms"
    """Time between two measurements: one or more whole TTIs."""

    error_db: float = 0.0
    """Standard deviation of the error of a measured SNR, in dB."""

    rounding: Rounding = "down"
    """Rounding of fractional CQIs."""

    table: list[Row] | None = None
    """User-defined table of blocks from CQI 1, instead of those of the UE categories. CQIs above
    the last row select its block.
    """

    outer_loop: OuterLoop | None = None
    """Outer loop. Default: none, reports are used unchanged."""


class Shannon(Part):
    """Capacity of the channel in the TTI, without errors: an upper bound."""

    tag: ClassVar[str | None] = "shannon"

    bandwidth_hz: float = 3840000.0
    """Bandwidth in Hz; default: the chip rate."""

    rate: Rate = "50 Mbps"
    """Upper limit of the bit rate."""


class Row(Part):
    """Row of a CQI table."""

    cqi: int
    """CQI, 1 to 30.

    From 0 to 255.
    """

    bits: int
    """Size of the block in bits."""

    codes: int
    """HS-PDSCH codes, 1 to 15."""


class OuterLoop(Part):
    """Parameters of the outer loop."""

    target_bler: Probability = 0.1
    """Target for the share of first transmissions that fail."""

    step_db: float = 0.5
    """Shift in dB at a NACK."""


class LinkCurves(Part):
    """Measured curves: each index of the three lists is a point.

    The file is text: the line `cqi,snr_db,bler`, then one line per point.
    """

    file: str | None = None
    """Path of a file with the lists, relative to the folder of the scenario file."""

    cqi: list[int] = field(default_factory=list)
    """CQI of the block sent."""

    snr_db: list[float] = field(default_factory=list)
    """SNR of all codes together, before despreading, in dB."""

    bler: list[float] = field(default_factory=list)
    """Block error rate of each point, 0 to 1."""


class UnacknowledgedMode(Part):
    """Unacknowledged mode: packets are lost with blocks that MAC-hs gives up."""

    tag: ClassVar[str | None] = "um"

    discard_timer: Duration | None = None
    """Age at which a packet is discarded if a part of it still waits at the RNC (Timer_Discard,
    without explicit signalling: TS 25.322, 9.7.3.2). Default: never.
    """


class Iub(Part):
    """The Iub and its flow control.

    Defaults: those of EURANE, that is, credits every 15 TTIs, a round trip of 30 ms, and 250
    PDUs of 40 octets in the Node B, which alone limits a user to 1.33 Mbps.
    """

    delay: Duration = "15 ms"
    """One-way delay between RNC and Node B."""

    rate: Rate | None = None
    """Rate of the link from RNC to Node B, shared by all users. Default: unlimited, frames take no
    time.
    """

    period: Duration = "30 ms"
    """Time between two allocations; whole TTIs."""

    room: Size = "10 kB"
    """Capacity of a user's queue at the Node B."""


class Cell(Part):
    """The cell. Defaults: TR 25.848, table A.3, unless another source is named."""

    radius: Distance = "1 km"
    """Distance from the Node B to the corners of its cell."""

    power_dbm: float = 44.0
    """Total transmit power of the Node B in dBm."""

    hs_share: Probability = 0.8
    """Share of the transmit power on HS-PDSCH."""

    antenna_gain_db: float = 14.0
    """Antenna gain of the Node B in dB, minus cable losses."""

    path_loss: PathLoss = field(default_factory=lambda: LogDistance())
    """Path loss model."""

    shadowing: Shadowing = field(default_factory=lambda: Shadowing())
    """Shadowing."""

    interference: Interference = field(default_factory=lambda: Hexagonal())
    """Interference from other cells."""

    noise_dbm: float = -99.2
    """Thermal noise of the phone including its noise figure, in dBm. Default: -108.2 dBm in 3.84
    MHz plus 9 dB.
    """

    orthogonality: Probability | None = None
    """Share of the own cell's power that does not interfere, whatever the paths. Default: none;
    each path receives interference from the power on the others, as in a rake receiver.
    """


class LogDistance(Part):
    """A loss at one kilometre and an exponent."""

    tag: ClassVar[str | None] = "log_distance"

    at_1km_db: float = 128.1
    """Loss in dB at a distance of 1 km."""

    exponent: float = 3.76
    """Exponent of the distance; 2 in free space."""


class Cost231Hata(Part):
    """COST 231's extension of Hata's model, for macro cells from 1.5 to 2 GHz."""

    tag: ClassVar[str | None] = "cost231_hata"

    frequency_mhz: float = 2000.0
    """Carrier frequency in MHz, 1500 to 2000."""

    base_height: Distance = "30 m"
    """Height of the Node B's antenna, 30 m to 200 m."""

    phone_height: Distance = "1.5 m"
    """Height of the phone's antenna, 1 m to 10 m."""

    metropolitan: bool = False
    """Whether the area is a metropolitan centre, which adds 3 dB."""


class OutdoorToIndoor(Part):
    """Outdoor to indoor and pedestrian, for micro cells."""

    tag: ClassVar[str | None] = "outdoor_to_indoor"

    frequency_mhz: float = 2000.0
    """Carrier frequency in MHz."""


class Shadowing(Part):
    """Parameters of shadowing. Defaults: TR 25.848, table A.3."""

    sigma_db: float = 8.0
    """Standard deviation in dB; 0 switches shadowing off."""

    correlation_distance: Distance = "50 m"
    """Distance `d_0` at which the correlation has decreased to 1/e."""

    site_correlation: Probability = 0.5
    """Correlation between two sites."""


class Hexagonal(Part):
    """Other Node Bs on a hexagonal grid around this one."""

    tag: ClassVar[str | None] = "hexagonal"

    rings: int = 1
    """Number of rings of sites around this one: 1 is 6 sites, 2 are 18."""

    load: Probability = 1.0
    """Share of their power that the other Node Bs transmit."""


class FixedLevel(Part):
    """A fixed level at every position."""

    tag: ClassVar[str | None] = "fixed"

    level_dbm: float = -70.0
    """Power received from all other cells together, in dBm."""


class Handover(Part):
    """Handover between the cells of several Node Bs."""

    cells: int = 2
    """Number of cells that serve users, 2 to 7: the first sites of the hexagonal grid, starting
    with the one in the middle, then its neighbours from east to north.
    """

    hysteresis_db: float = 3.0
    """Margin in dB by which another Node B must be received better than the serving one; H1d / 2
    of TS 25.331.
    """

    time_to_trigger: Duration = "320 ms"
    """Time for which another Node B must be better."""

    interruption: Duration = "100 ms"
    """Time without transmissions to a user at a change of cell."""

    data: HeldData = "lost"
    """Handling of a user's data in the Node B that it leaves."""


class AlwaysFach(Part):
    """All users stay on the FACH."""

    tag: ClassVar[str | None] = "always_fach"


class AlwaysDch(Part):
    """The first users get the dedicated channels and keep them."""

    tag: ClassVar[str | None] = "always_dch"


class Thresholds(Part):
    """To a dedicated channel if the queue is long; back if it is short and no channel is free."""

    tag: ClassVar[str | None] = "threshold"

    high: int = 4
    """Number of packets above which a dedicated channel is requested (T_h); 0 requests it at the
    first packet.
    """

    low: int = 1
    """Number of packets below which the channel is released (T_l); 0 keeps it."""


class Preemptive(Part):
    """Like `threshold`, but back after a timeout, or as soon as another user waits."""

    tag: ClassVar[str | None] = "preemptive"

    high: int = 4
    """Number of packets above which a dedicated channel is requested (T_h); 0 requests it at the
    first packet.
    """

    low: int = 1
    """Number of packets below which the timer runs (T_l); 0 keeps the channel."""

    timeout: Duration = "500 ms"
    """Length of the timer (T_out)."""


class NonPreemptive(Part):
    """Like `threshold`, but back at the end of a timeout if another user waits."""

    tag: ClassVar[str | None] = "non_preemptive"

    high: int = 4
    """Number of packets above which a dedicated channel is requested (T_h); 0 requests it at the
    first packet.
    """

    low: int = 1
    """Number of packets below which the timer runs (T_l); 0 keeps the channel."""

    timeout: Duration = "500 ms"
    """Length of the timer (T_out)."""


class TrafficVolume(Part):
    """By traffic volume and inactivity timers, as in deployed networks; idle phones are paged."""

    tag: ClassVar[str | None] = "traffic_volume"

    volume: Size = "475 B"
    """Number of bytes above which a dedicated channel is requested."""

    time_to_trigger: Duration = "0 s"
    """Time for which the volume must be exceeded."""

    dch_inactivity: Duration = "5 s"
    """Time from the last packet until the dedicated channel is released."""

    fach_inactivity: Duration = "12 s"
    """Time from the last packet on the FACH until the phone moves to the paging channel."""


class LongestQueue(Part):
    """Like `non_preemptive` without rounds; the longest queue gets the channel."""

    tag: ClassVar[str | None] = "longest_queue"

    high: int = 2
    """Number of packets above which a dedicated channel is requested; 0 requests it at the first
    packet.
    """

    low: int = 1
    """Number of packets below which the timer runs; 0 keeps the channel."""

    timeout: Duration = "450 ms"
    """Time for which a queue must be short before its user releases the channel to another."""


class PhonePower(Part):
    """Power of a phone's radio in each state, independent of traffic.

    Defaults: the 3G profile of AT&T's Application Resource Optimizer (Qian et al., MobiSys
    2011), measured with one carrier; for the paging channel 1 to 2 % of CELL_DCH, as in Pérez-
    Romero et al. (*Radio Resource Management Strategies in UMTS*, 2005).
    """

    pch: Power = "10 mW"
    """Power on the paging channel."""

    fach: Power = "350 mW"
    """Power on the FACH and during paging."""

    set_up: Power = "550 mW"
    """Power while a dedicated channel is being set up."""

    dch: Power = "700 mW"
    """Power on a dedicated channel and during its release."""


class OneStep(Part):
    """The same rate for all connections, the one with the highest throughput (`hossain`)."""

    tag: ClassVar[str | None] = "one_step"


class PerUser(Part):
    """A rate for each connection, higher where it increases throughput most."""

    tag: ClassVar[str | None] = "per_user"

    power: int = 32
    """Power of the cell for data, in units of a code of the basic rate: the rates of all
    connections sum to at most this. Each connection has at least the lowest rate, even beyond
    this power.

    At least 1.
    """


class Fixed2(Part):
    """The same constant rate for all connections."""

    tag: ClassVar[str | None] = "fixed"

    frames: int = 1
    """Frames per slot.

    At least 1.
    """


class EqualPaths(Part):
    """Paths of equal mean power (channel model A of `hossain`)."""

    tag: ClassVar[str | None] = "equal_paths"

    paths: int = 4
    """Number of paths.

    At least 1.
    """


class VehicularB(Part):
    """Vehicular B of ITU-R M.1225, for large cells (channel model B of `hossain`)."""

    tag: ClassVar[str | None] = "vehicular_b"

    resolution: Duration = "260 ns"
    """Distance of taps below which they form one path with the power of both. Default: a chip at
    3.84 Mcps, with which all six taps are paths.
    """


class Taps(Part):
    """User-defined mean powers."""

    tag: ClassVar[str | None] = "taps"

    powers: list[float]
    """Mean power of each path, linear. Only their ratios matter: they are divided by their sum."""


class Mean(Part):
    """Every phone receives the same mean power from other cells (`hossain`)."""

    tag: ClassVar[str | None] = "mean"

    factor: float = 0.6
    """Power received from all other cells divided by that from the own cell, if each transmits the
    same (eta in the study).
    """

    load: Load = field(default_factory=lambda: Load())
    """Load of the other cells, which determines the power of their interference."""


class Map(Part):
    """Each phone has a position on a map of hexagonal cells, with path loss and shadowing."""

    tag: ClassVar[str | None] = "map"

    exponent: float = 3.76
    """Path loss exponent."""

    shadowing_db: float = 10.0
    """Standard deviation of the shadowing in dB."""

    correlation: float = 0.5
    """Correlation of the shadowing between two sites."""

    load: Load = field(default_factory=lambda: Load())
    """Load of the other cells, which determines the power of their interference."""


class Load(Part):
    """Load of the other cells, which determines the power of their interference."""

    connections: float = 2.0
    """Mean number of connections per cell (G in the study)."""

    mean_rate: float | None = None
    """Mean rate of a connection in other cells (alpha). Default: computed self-consistently from
    the rate selection.
    """

    averaging: Averaging = "cells"
    """Mean that defines this rate, if it is computed."""


class Outage(Part):
    """Interval in which a link starts no transmission, and packets queue.

    A transmission under way is completed.
    """

    start: Duration
    """Start of the outage, from the start of the run."""

    length: Duration
    """Length of the outage."""


class Opportunities(Part):
    """Recorded delivery opportunities: each line of the file is the time of one, in ms."""

    file: str | None = None
    """Path of the recording, relative to the folder of the scenario file."""

    times_ms: list[int] | None = None
    """Time of each opportunity in ms from the start of the run, in ascending order. The last time
    must not be 0; it is also the length of the recording.
    """


class UserGroup(Part):
    """Group of phones with the same settings."""

    name: str = "phone"
    """Name of the group in tables and plots."""

    count: int = 1
    """Number of phones.

    At least 1.
    """

    start: Duration = "0 s"
    """Start time of the first phone."""

    stagger: Duration = "0 s"
    """Delay between the starts of successive phones of the group."""

    real: bool | None = None
    """Whether the phones are real: `nodeb emulate` runs commands on them and passes their packets
    through the cell.
    """

    traffic: Traffic | None = None
    """Traffic of each phone; required unless the phones are real."""

    tcp: Tcp | None = None
    """TCP of these phones and their servers; absent: the scenario's `tcp`."""

    ci: list[float] | None = None
    """Relative frequencies of the C/I values 1, 2, ...: one is drawn per TTI, and a block then
    carries that many PDUs. Absent at constant rate. HS-DSCH only.
    """

    ue: Ue | None = None
    """Category and channel of the phones; absent: their defaults. `hsdpa` only."""


class Ftp(Part):
    """Download of one file: connection set-up, request, then the bytes."""

    tag: ClassVar[str | None] = "ftp"

    size: Size
    """Size of the file, without headers."""

    request: Size = "0 B"
    """Payload of the request, which rides on the ACK that completes the connection's set-up. With
    0 the request is a packet of headers only.
    """

    server_delay: Duration = "0 s"
    """Time that the server takes for its answer, from the arrival of the request."""


class OnOff(Part):
    """Bursts of data with pauses between them, of configurable distributions."""

    tag: ClassVar[str | None] = "on_off"

    burst: SizeLaw = field(default_factory=lambda: ExponentialSize(mean="30 kB"))
    """Distribution of the size of a burst."""

    pause: TimeLaw = field(default_factory=lambda: ExponentialDuration(mean="5 s"))
    """Distribution of the pause before a burst."""

    silence_probability: Probability = 0.0
    """Probability that a burst is the last of its session, so that a silence replaces the next
    pause.
    """

    silence: TimeLaw = field(default_factory=lambda: ExponentialDuration(mean="5 s"))
    """Distribution of the silence between two sessions."""

    closed_loop: bool = True
    """Whether a pause begins when the previous burst has been acknowledged (closed loop). If
    false, it begins when that burst began (open loop), and the load does not depend on the
    network.
    """


class Web(Part):
    """Web pages with embedded objects and reading times."""

    tag: ClassVar[str | None] = "web"

    main: SizeLaw = field(
        default_factory=lambda: LogNormalSize(
            mean="10.71 kB", sd="25.032 kB", min="100 B", max="2 MB"
        )
    )
    """Distribution of the size of a page's main object."""

    embedded: SizeLaw = field(
        default_factory=lambda: LogNormalSize(
            mean="7.758 kB", sd="126.168 kB", min="50 B", max="2 MB"
        )
    )
    """Distribution of the size of an embedded object."""

    embedded_objects: float = 5.64
    """Mean number of embedded objects per page; Pareto distribution of shape 1.1, limited to
    `most_embedded`.
    """

    most_embedded: int = 53
    """Maximum number of embedded objects per page."""

    parsing: TimeLaw = field(default_factory=lambda: ExponentialDuration(mean="130 ms"))
    """Distribution of the time from the arrival of the main object's last ACK at the server until
    the embedded objects are requested.
    """

    reading: TimeLaw = field(default_factory=lambda: ExponentialDuration(mean="30 s"))
    """Distribution of the time from the arrival of a page's last ACK at the server until the next
    page is requested.
    """

    request: Size = "350 B"
    """Payload of each request."""

    server_delay: Duration = "0 s"
    """Time that the server takes for each answer, from the arrival of the request."""


class Cbr(Part):
    """Equal amounts of data at equal intervals."""

    tag: ClassVar[str | None] = "cbr"

    size: Size
    """Amount of data per interval."""

    interval: Duration
    """Time from the start of one amount to the start of the next."""


class Replay(Part):
    """Recorded list of times and bytes."""

    tag: ClassVar[str | None] = "replay"

    file: str | None = None
    """Recording from which both lists are read: a trace of traffic as written by `nodeb import`.
    The path is relative to the scenario file's folder.
    """

    times: list[Duration] = field(default_factory=list)
    """Times at which the amounts are written by the server, in ascending order."""

    bytes: list[Size] = field(default_factory=list)
    """Amounts of data, one per time."""


class External(Part):
    """Packets from outside, in both directions; only with `nodeb emulate`."""

    tag: ClassVar[str | None] = "external"


class ConstantSize(Part):
    """Constant size."""

    tag: ClassVar[str | None] = "constant"

    value: Size
    """Value of every draw."""


class ExponentialSize(Part):
    """Exponential distribution, given by its mean."""

    tag: ClassVar[str | None] = "exponential"

    mean: Size
    """Mean; greater than 0."""


class ParetoSize(Part):
    """Pareto with a mean and a shape."""

    tag: ClassVar[str | None] = "pareto"

    mean: Size
    """Mean of the distribution without `max`."""

    shape: float
    """Shape; greater than 1, as the mean would be infinite otherwise. Up to 2 the variance is
    infinite.
    """

    max: Size | None = None
    """Maximum; larger draws are reduced to it. Absent: no limit."""


class LogNormalSize(Part):
    """Log-normal with a mean and a standard deviation."""

    tag: ClassVar[str | None] = "log_normal"

    mean: Size
    """Mean of the distribution without `min` and `max`; greater than 0."""

    sd: Size
    """Standard deviation."""

    min: Size | None = None
    """Minimum; smaller draws are raised to it. Absent: no limit."""

    max: Size | None = None
    """Maximum; larger draws are reduced to it. Absent: no limit."""


class ConstantDuration(Part):
    """Constant time."""

    tag: ClassVar[str | None] = "constant"

    value: Duration
    """Value of every draw."""


class ExponentialDuration(Part):
    """Exponential distribution, given by its mean."""

    tag: ClassVar[str | None] = "exponential"

    mean: Duration
    """Mean; greater than 0."""


class ParetoDuration(Part):
    """Pareto with a mean and a shape."""

    tag: ClassVar[str | None] = "pareto"

    mean: Duration
    """Mean of the distribution without `max`."""

    shape: float
    """Shape; greater than 1, as the mean would be infinite otherwise. Up to 2 the variance is
    infinite.
    """

    max: Duration | None = None
    """Maximum; larger draws are reduced to it. Absent: no limit."""


class LogNormalDuration(Part):
    """Log-normal with a mean and a standard deviation."""

    tag: ClassVar[str | None] = "log_normal"

    mean: Duration
    """Mean of the distribution without `min` and `max`; greater than 0."""

    sd: Duration
    """Standard deviation."""

    min: Duration | None = None
    """Minimum; smaller draws are raised to it. Absent: no limit."""

    max: Duration | None = None
    """Maximum; larger draws are reduced to it. Absent: no limit."""


class Ue(Part):
    """Phones of a group on `hsdpa`."""

    category: int = 6
    """UE category, 1 to 12 (TS 25.306, table 5.1a): determines block sizes, codes and the minimum
    distance of TTIs.

    From 0 to 255.
    """

    channel: Channel = field(default_factory=lambda: Place())
    """Channel: source of the SNR."""

    delay_budget: Duration = "300 ms"
    """Time that a packet may wait at the Node B, for schedulers that use deadlines."""


class Place(Part):
    """A position in the cell: path loss, shadowing, interference and fading."""

    tag: ClassVar[str | None] = "cell"

    distance: Distance | None = None
    """Distance from the Node B, in a random direction. Default: random, uniform in the cell."""

    position_m: list[float] | None = None
    """Position in metres east and north of the Node B; excludes `distance`."""

    speed: Speed = "3 km/h"
    """Speed."""

    movement: Movement = "stays"
    """Movement of the user."""

    heading_deg: float | None = None
    """Initial direction of a user who moves `straight`, in degrees from east to north. Default:
    random.
    """

    profile: Profile = "pedestrian_a"
    """Named power-delay profile."""

    taps: list[Tap] | None = None
    """User-defined paths, instead of a named profile."""


class Fading(Part):
    """Fading around a given mean SNR."""

    tag: ClassVar[str | None] = "fading"

    mean_snr_db: float = 5.0
    """Mean SNR on HS-PDSCH in dB, before despreading."""

    profile: Profile = "flat"
    """Named power-delay profile."""

    taps: list[Tap] | None = None
    """User-defined paths, instead of a named profile."""

    speed: Speed = "3 km/h"
    """Speed of the user, which determines the rate of fading."""


class Constant(Part):
    """The same SNR in every TTI."""

    tag: ClassVar[str | None] = "constant"

    snr_db: float = 5.0
    """SNR on HS-PDSCH in dB, before despreading."""


class Trace(Part):
    """A recording with one line per TTI."""

    tag: ClassVar[str | None] = "trace"

    file: str | None = None
    """Path of a recording with the lists, relative to the folder of the scenario file."""

    at_end: AtEnd | None = None
    """Behaviour at the end of the recording. Default: none, the run must not be longer than the
    recording.
    """

    rates: list[Rate] | None = None
    """Bit rate of each TTI instead of an SNR: its block is this rate times 2 ms and cannot fail."""

    snrs_db: list[float] = field(default_factory=list)
    """SNR of each TTI in dB, before despreading."""

    second_db: list[float] | None = None
    """SNR in dB after two transmissions of a block, the second one in that TTI. Default: computed
    by combining.
    """

    third_db: list[float] | None = None
    """SNR in dB after three transmissions of a block, the third one in that TTI. Default: computed
    by combining.
    """

    cqi: list[int] | None = None
    """CQI measured in each TTI. Default: computed from the SNR."""


class Tap(Part):
    """Path of a profile."""

    delay: Duration
    """Delay after the first path."""

    power_db: float
    """Mean power in dB, relative to the other paths."""


class Record(Part):
    """Time series to record. The memory for each grows with the length of the run."""

    cwnd: bool = False
    """Congestion window and slow-start threshold, at every change."""

    segments: bool = False
    """Every segment sent, delivered or dropped, and every ACK that reaches its sender."""

    rtt: bool = False
    """Every round-trip time that TCP measures."""

    queue: bool = False
    """Packets and bytes of each user at the Node B, at every change."""

    transfers: bool = False
    """Every completed transfer."""

    scheduler: bool = False
    """Users served in every TTI, with C/I value, PDUs and failed blocks."""

    bandwidth: bool | None = None
    """Bytes that each user could have been sent if data had always been waiting, and its CQI,
    every 20 ms. `hsdpa` only; measuring about doubles the simulation time.
    """


class ScenarioFields(Part):
    """Scenario: a server, a fixed network, a Node B, and phones that download."""

    name: str = ""
    """Short description of the scenario."""

    seed: int = 1
    """Seed of all random numbers."""

    runs: int = 10
    """Number of independent replications.

    At least 1.
    """

    precision: Probability | None = None
    """Replicate until the half-width of the 95 % confidence interval of the mean application bit
    rate is at most this fraction of the mean; replaces `runs`.
    """

    max_runs: int = 200
    """Maximum number of replications with `precision`.

    At least 1.
    """

    duration: Duration = "100000 s"
    """Simulated time after which a replication ends, even if transfers are incomplete."""

    wired: Wired = field(default_factory=lambda: Wired())
    """Link between server and gateway; it leads on to the Node B if there is no `core`."""

    core: Wired | list[Wired] | None = None
    """Link between gateway and Node B, or a list of links from the gateway on; absent: the gateway
    is at the Node B.
    """

    proxy: Proxy | None = None
    """Proxy at the gateway."""

    snoop: Snoop | None = None
    """Snoop agent at the Node B."""

    uplink: Uplink = field(default_factory=lambda: Uplink())
    """Uplink of each phone."""

    radio: Radio = field(default_factory=lambda: HsDsch())
    """Downlink over the air."""

    tcp: Tcp = field(default_factory=lambda: Classic())
    """TCP at the servers and the phones."""

    users: list[UserGroup] = field(default_factory=list)
    """Groups of phones with the same settings."""

    record: Record = field(default_factory=lambda: Record())
    """Time series to record."""


Loss: TypeAlias = RandomLoss | PeriodicLoss | LossList | DataList | GilbertElliott
"""The loss: a name, or a table with one key."""

Queue: TypeAlias = (
    DropTail | Red | Codel | FqCodel | Pie | Literal["drop_tail", "red", "codel", "fq_codel", "pie"]
)
"""The queue: a name, or a table with one key."""

Jitter: TypeAlias = UniformJitter | NormalJitter | Literal["uniform", "normal"]
"""The jitter: a name, or a table with one key."""

Proxy: TypeAlias = Split | Rnf | Literal["split", "rnf"]
"""The proxy: a name, or a table with one key."""

Tcp: TypeAlias = Classic | Linux | Literal["classic", "linux"]
"""The tcp: a name, or a table with one key."""

Control: TypeAlias = Tahoe | Reno | NewReno | Sack | Literal["tahoe", "reno", "newreno", "sack"]
"""The control: a name, or a table with one key."""

Estimator: TypeAlias = Ticks | Smoothed | Literal["ticks", "smoothed"]
"""The estimator: a name, or a table with one key."""

Congestion: TypeAlias = (
    LinuxReno
    | Cubic
    | CubicRfc9438
    | Bbr
    | Bbr3
    | Westwood
    | Vegas
    | Scalable
    | Veno
    | Literal[
        "reno", "cubic", "cubic_rfc9438", "bbr", "bbr3", "westwood", "vegas", "scalable", "veno"
    ]
)
"""The congestion control: a name, or a table with one key."""

RoundTrip: TypeAlias = Minimum | Fixed | Literal["minimum"]
"""The round trip: a name, or a table with one key."""

Radio: TypeAlias = (
    Dch
    | HsDsch
    | Hsdpa
    | FachDch
    | Wcdma
    | LinkBearer
    | TraceBearer
    | Literal["dch", "hs_dsch", "hsdpa", "fach_dch", "wcdma", "link", "trace"]
)
"""The radio: a name, or a table with one key."""

Error: TypeAlias = IndependentErrors | GilbertElliottErrors | HiddenMarkov | RecordedErrors
"""The errors: a name, or a table with one key."""

Rlc: TypeAlias = Arq | Am | Slotted | Literal["arq", "am", "slotted"]
"""The rlc: a name, or a table with one key."""

Combining: TypeAlias = (
    NoCombining | Chase | IncrementalRedundancy | Literal["none", "chase", "incremental_redundancy"]
)
"""The combining: a name, or a table with one key."""

Scheduler: TypeAlias = (
    RoundRobin
    | MaxCi
    | ProportionalFair
    | Normalized
    | EarliestDeadline
    | TcpAware
    | Literal[
        "round_robin", "max_ci", "proportional_fair", "normalized", "earliest_deadline", "tcp_aware"
    ]
)
"""The scheduler: a name, or a table with one key."""

LinkAdaptation: TypeAlias = CqiReports | Shannon | Literal["cqi", "shannon"]
"""The link adaptation: a name, or a table with one key."""

RlcMode: TypeAlias = UnacknowledgedMode | Am | Literal["um", "am"]
"""The RLC mode: a name, or a table with one key."""

PathLoss: TypeAlias = (
    LogDistance
    | Cost231Hata
    | OutdoorToIndoor
    | Literal["log_distance", "cost231_hata", "outdoor_to_indoor"]
)
"""The path loss: a name, or a table with one key."""

Interference: TypeAlias = Hexagonal | FixedLevel | Literal["hexagonal", "fixed"]
"""The interference: a name, or a table with one key."""

Switching: TypeAlias = (
    AlwaysFach
    | AlwaysDch
    | Thresholds
    | Preemptive
    | NonPreemptive
    | TrafficVolume
    | LongestQueue
    | Literal[
        "always_fach",
        "always_dch",
        "threshold",
        "preemptive",
        "non_preemptive",
        "traffic_volume",
        "longest_queue",
    ]
)
"""The switching policy: a name, or a table with one key."""

Selection: TypeAlias = OneStep | PerUser | Fixed2 | Literal["one_step", "per_user", "fixed"]
"""The rate selection: a name, or a table with one key."""

ProfileSpec: TypeAlias = EqualPaths | VehicularB | Taps | Literal["equal_paths", "vehicular_b"]
"""The profile: a name, or a table with one key."""

OtherCells: TypeAlias = Mean | Map | Literal["mean", "map"]
"""The other cells: a name, or a table with one key."""

Traffic: TypeAlias = (
    Ftp | OnOff | Web | Cbr | Replay | External | Literal["on_off", "web", "replay", "external"]
)
"""The traffic: a name, or a table with one key."""

SizeLaw: TypeAlias = ConstantSize | ExponentialSize | ParetoSize | LogNormalSize
"""The size distribution: a name, or a table with one key."""

TimeLaw: TypeAlias = ConstantDuration | ExponentialDuration | ParetoDuration | LogNormalDuration
"""The time distribution: a name, or a table with one key."""

Channel: TypeAlias = (
    Place | Fading | Constant | Trace | Literal["cell", "fading", "constant", "trace"]
)
"""The channel: a name, or a table with one key."""
