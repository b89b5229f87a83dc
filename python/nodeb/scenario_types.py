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
    "Ahead",
    "AlwaysDch",
    "AlwaysFach",
    "Am",
    "Arq",
    "AtEnd",
    "AtMaxDat",
    "Averaging",
    "Bandwidth",
    "Bbr",
    "Bbr3",
    "Bearer",
    "Cbr",
    "Cell",
    "Channel",
    "Chase",
    "Classic",
    "Codel",
    "Combining",
    "Configured",
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
    "Drx",
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
    "FixedLevel",
    "FixedRate",
    "FqCodel",
    "Ftp",
    "GilbertElliott",
    "GilbertElliottErrors",
    "Grant",
    "GroupReports",
    "Handover",
    "HeadroomReports",
    "HeldData",
    "Hexagonal",
    "HiddenMarkov",
    "HsDsch",
    "Hsdpa",
    "IncrementalRedundancy",
    "IndependentErrors",
    "Interference",
    "InterferenceMap",
    "Iub",
    "Jitter",
    "LightTrace",
    "LinkAdaptation",
    "LinkBearer",
    "LinkCurves",
    "Linux",
    "LinuxReno",
    "LogDistance",
    "LogNormalDuration",
    "LogNormalSize",
    "LongestQueue",
    "Loss",
    "LossList",
    "Lte",
    "LteAm",
    "LteRlc",
    "LteUm",
    "MaxCi",
    "MeanInterference",
    "Minimum",
    "Movement",
    "NewReno",
    "NoCombining",
    "NonPreemptive",
    "NormalJitter",
    "Normalized",
    "OnOff",
    "OnRequest",
    "OneStepSelection",
    "Opener",
    "Opportunities",
    "OtherCells",
    "OtherCellsLoad",
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
    "Plain",
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
    "Rma",
    "Rnf",
    "RoundRobin",
    "RoundTrip",
    "Rounding",
    "Row",
    "Rrc",
    "RrcPower",
    "Sack",
    "Scalable",
    "ScenarioFields",
    "Scheduled",
    "Scheduler",
    "Selection",
    "Shadowing",
    "Shannon",
    "Sharing",
    "Site",
    "Size",
    "SizeLaw",
    "Slotted",
    "SlowStart",
    "Smoothed",
    "SnLength",
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
    "TraceJitter",
    "Traffic",
    "TrafficVolume",
    "Ue",
    "UmSnLength",
    "Uma",
    "Umi",
    "UnacknowledgedMode",
    "UniformJitter",
    "Unit",
    "Uplink",
    "UplinkSpec",
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
"""Unit in which RED measures the queue length and its thresholds.

`packets`: Packets: every packet is dropped or marked with the same probability.

`bytes`: Bytes: a packet is dropped or marked with a probability proportional to its size.
"""

DelayEstimate: TypeAlias = Literal["timestamp", "departure_rate"]
"""Method by which PIE estimates the queueing delay (RFC 8033, section 4.3).

`timestamp`: Waiting time of the packet that departed last.

`departure_rate`: Number of waiting bytes divided by a departure rate that is measured while
at least 16 KiB wait (RFC 8033, section 5.2).
"""

AtEnd: TypeAlias = Literal["loop", "stop"]
"""Behaviour at the end of a recording of delivery opportunities, of a channel or of delays.

`loop`: The recording starts again from its beginning.

`stop`: The recording is not repeated: after its end the last delay holds; without
opportunities or a channel, nothing is sent, and packets wait.
"""

Era: TypeAlias = str
"""Version of ns-2: a date such as "2003-06-01", or a release: ns-2.1b7a, ns-2.1b8, ns-2.1b9,
ns-2.1b9a, ns-2.26, ns-2.27, ns-2.28, ns-2.29, ns-2.30, ns-2.31, ns-2.32, ns-2.33, ns-2.34,
ns-2.35.
"""

Opener: TypeAlias = Literal["phone", "server"]
"""End that opens a connection.

`phone`: The phone sends the first SYN; the server's SYN answers it.

`server`: The server sends its SYN first, like ns-2's one-way agents.
"""

SlowStart: TypeAlias = Literal["standard", "hystart", "hystart++"]
"""Method that ends slow start before a loss.

`standard`: No early end: slow start lasts up to the threshold or to a loss (RFC 5681).

`hystart`: Ends slow start at long trains of ACKs, or at growing round-trip times (Linux).

`hystart++`: Ends slow start at growing round-trip times, if a phase of slower growth
confirms them (RFC 9406).
"""

Unit: TypeAlias = Literal["block", "pdu"]
"""Part of the transmitted data that one step of an error process decides.

`block`: A block: all PDUs coded together in one TTI.

`pdu`: A PDU: a block takes as many steps as it has PDUs.
"""

Advances: TypeAlias = Literal["with_time", "with_blocks"]
"""Rule that determines when an error process takes steps: with time or with blocks.

`with_time`: With time: in every TTI the process takes the steps of its blocks, even if none
are sent.

`with_blocks`: With blocks: the process takes steps only for blocks that are sent.
"""

Delivered: TypeAlias = Literal["in_sequence", "out_of_sequence"]
"""Order in which packets leave a bearer.

`in_sequence`: A packet waits until each earlier one is delivered or dropped.

`out_of_sequence`: A packet leaves as soon as it is complete.
"""

AtMaxDat: TypeAlias = Literal["discard", "reset"]
"""Action when a PDU reaches the limit of transmissions, `max_dat`.

`discard`: Discards the PDU's packets and earlier ones (TS 25.322, 9.7.3.3).

`reset`: Resets the protocol: every packet of which a part was sent is lost, unless it has
been delivered (TS 25.322, 9.7.3.4, 11.4).
"""

StatusFormat: TypeAlias = Literal["list", "bitmap"]
"""Encoding of missing PDUs in a status report (TS 25.322, 9.2.2.11).

`list`: List of runs of missing PDUs, each given by its first number and its length (LIST).

`bitmap`: Bitmap with one bit for each PDU (BITMAP).
"""

Rounding: TypeAlias = Literal["down", "nearest"]
"""Rounding of a measured, fractional CQI to a whole one.

`down`: Rounds down, to the CQI whose block fails with a probability of at most about 10 %.

`nearest`: Rounds to the nearest whole CQI.
"""

Decoding: TypeAlias = Literal["independent", "one_number", "error_free"]
"""Method that determines whether a block is decoded.

`independent`: Each transmission fails independently with the BLER at the SNR combined so
far.

`one_number`: One random number per block, as in EURANE: the block is decoded once the BLER
at the SNR combined so far is at most this number.

`error_free`: Every block is decoded at its first transmission, although blocks are selected
as if they could fail.
"""

Distance: TypeAlias = str
"""A distance with its unit, such as "450 m"."""

HeldData: TypeAlias = Literal["lost", "forwarded"]
"""Handling of the data that a Node B holds for a user when the user leaves its cell.

`lost`: MAC-hs is reset, and the Node B's data is lost.

`forwarded`: MAC-hs continues in the new cell without a reset. The old Node B forwards its
data, and blocks not yet decoded restart with a first transmission.
"""

Bandwidth: TypeAlias = Literal["1.4 MHz", "3 MHz", "5 MHz", "10 MHz", "15 MHz", "20 MHz"]
"""Channel bandwidth, with the number of resource blocks N_RB (TS 36.101, table 5.6-1).

`1.4 MHz`: 1.4 MHz, with 6 resource blocks.

`3 MHz`: 3 MHz, with 15 resource blocks.

`5 MHz`: 5 MHz, with 25 resource blocks.

`10 MHz`: 10 MHz, with 50 resource blocks.

`15 MHz`: 15 MHz, with 75 resource blocks.

`20 MHz`: 20 MHz, with 100 resource blocks.
"""

Power: TypeAlias = str
"""A power with its unit, such as "700 mW"."""

UmSnLength: TypeAlias = Literal["5 bit", "10 bit"]
"""Length of the sequence number of a UMD PDU (TS 36.322, 6.2.1.3).

`5 bit`: Sequence numbers of 5 bits.

`10 bit`: Sequence numbers of 10 bits.
"""

SnLength: TypeAlias = Literal["12 bit", "18 bit"]
"""Length of the sequence number of a data PDU (TS 36.323, 6.2).

`12 bit`: Sequence numbers of 12 bits.

`18 bit`: Sequence numbers of 18 bits.
"""

Averaging: TypeAlias = Literal["cells", "connections", "typical_cell"]
"""Method of averaging by which alpha, the mean rate of connections in other cells, is
computed.

`cells`: Mean over the cells with at least one connection, all with the same weight
(`hossain`: alpha = E{m}).

`connections`: Mean over the connections, so that cells with many connections weigh more. It
is lower than the mean over cells, as such cells use low rates. This mean times the mean
number of connections (`hossain`: alpha G) is a cell's mean power in units of a code of the
basic rate.

`typical_cell`: Rate of a cell whose number of connections is the mean number, rounded to a
whole number.
"""

Sharing: TypeAlias = Literal["one_packet", "any_packets", "apart"]
"""Rule that determines which frames of a connection may be sent in the same slot.

`one_packet`: Retransmitted frames of any packets, and new frames of one packet; the next
packet starts in a later slot.

`any_packets`: Retransmitted and new frames of any packets.

`apart`: Either retransmitted frames, or new frames of one packet, but never both.
"""

Speed: TypeAlias = str
"""A speed with its unit, such as "3 km/h"."""

Movement: TypeAlias = Literal["stays", "circle", "straight"]
"""Movement of a user, whose speed determines the rate of fading even if the user stays.

`stays`: The user does not move: path loss and shadowing are constant, as in a session that
is short compared with their changes.

`circle`: The user moves around the Node B in the middle, at a constant distance; shadowing
changes.

`straight`: The user moves straight, and at the edge of its area turns back inside at a
random angle.
"""

Profile: TypeAlias = Literal[
    "flat",
    "pedestrian_a",
    "pedestrian_b",
    "vehicular_a",
    "vehicular_b",
    "extended_pedestrian_a",
    "extended_vehicular_a",
    "extended_typical_urban",
]
"""Power-delay profile, by its name.

`flat`: One path: flat Rayleigh fading.

`pedestrian_a`: Outdoor to indoor and pedestrian, channel A (ITU-R M.1225).

`pedestrian_b`: Outdoor to indoor and pedestrian, channel B (ITU-R M.1225).

`vehicular_a`: Vehicular, channel A (ITU-R M.1225).

`vehicular_b`: Vehicular, channel B (ITU-R M.1225).

`extended_pedestrian_a`: Extended Pedestrian A of LTE.

`extended_vehicular_a`: Extended Vehicular A of LTE.

`extended_typical_urban`: Extended Typical Urban of LTE.
"""


class Wired(Part):
    """Link of the fixed network, with both directions."""

    name: str | None = None
    """Name of the link in the table `links`. Default: `wired` or `core`, followed by its position
    if the core network has several links.
    """

    rate: Rate | None = None
    """Bit rate in each direction. Default: `"10 Mbps"`; with `radio.lte`: `"1 Gbps"`."""

    delay: Duration | None = None
    """Propagation delay in each direction. Default: `"110 ms"`; with `radio.lte`: `"10 ms"`."""

    loss: Probability | Loss = 0.0
    """Loss of packets towards the phone: a probability, or a model."""

    ack_loss: Probability | Loss = 0.0
    """Loss of packets towards the server: a probability, or a model."""

    queue: Queue = field(default_factory=lambda: DropTail())
    """Queue discipline in each direction."""

    jitter: Jitter | None = None
    """Extra delay of each packet in each direction; keeps the order of packets."""

    reordering: Reordering | None = None
    """Reordering in each direction: delays some packets so that others overtake them."""


class RandomLoss(Part):
    """Each packet is lost with the same probability, independently of the others."""

    tag: ClassVar[str | None] = "random"

    p: Probability
    """Probability that a packet is lost."""


class PeriodicLoss(Part):
    """One packet of every n is lost."""

    tag: ClassVar[str | None] = "periodic"

    every: int
    """Period of the loss in packets: one packet in this many is lost.

    At least 1.
    """

    offset: int = 0
    """Position of the first packet lost in the order of arrival, from 0."""


class LossList(Part):
    """Packets at listed positions in the order of arrival are lost."""

    tag: ClassVar[str | None] = "list"

    positions: list[int]
    """Packets to lose, by their positions in the order of arrival, from 0."""


class DataList(Part):
    """Data segments at listed positions are lost; of other packets at most the first is."""

    tag: ClassVar[str | None] = "data_list"

    positions: list[int]
    """Data segments to lose, by their positions in the order of arrival, retransmissions included,
    from 1. Position 0 is the first packet without data, which is the SYN of the data's sender.
    """


class GilbertElliott(Part):
    """Packets are lost in bursts: a good and a bad state have a loss probability each."""

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
    """Largest number of packets waiting; in mode `bytes`, this number times `mean_packet` limits
    the waiting bytes.

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
    """Whether the probability rises to 1 at twice `max_threshold` (gentle), instead of jumping to
    1 at `max_threshold`.
    """

    mode: RedMode = "packets"
    """Unit of the queue length: packets or bytes."""

    mean_packet: Size = "1.5 kB"
    """Mean size of a packet. It converts the thresholds to bytes in mode `bytes`, and idle times
    to packets that could have been sent.
    """

    ecn: bool = True
    """Whether the queue marks ECN-capable packets instead of dropping them, while the average is
    below `max_threshold` (RFC 3168, section 7).
    """


class Codel(Part):
    """Controlled delay: drops packets at an increasing rate while the delay exceeds a target."""

    tag: ClassVar[str | None] = "codel"

    limit: int = 1000
    """Largest number of packets that wait in the queue.

    At least 1.
    """

    target: Duration = "5 ms"
    """Acceptable standing queueing delay (RFC 8289, section 4.4)."""

    interval: Duration = "100 ms"
    """Time for which the delay must exceed the target before a packet is dropped; about the
    longest round-trip time (RFC 8289, section 4.3).
    """

    ecn: bool = True
    """Whether the queue marks ECN-capable packets instead of dropping them."""


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
    """Bytes that each flow's queue may send per round of the round robin."""

    target: Duration = "5 ms"
    """Acceptable standing queueing delay in each queue."""

    interval: Duration = "100 ms"
    """Time for which the queueing delay must exceed the target before a packet is dropped."""

    ecn: bool = True
    """Whether the queue marks ECN-capable packets instead of dropping them."""


class Pie(Part):
    """A proportional-integral controller computes the drop probability from the queueing delay."""

    tag: ClassVar[str | None] = "pie"

    limit: int = 1000
    """Largest number of packets that wait in the queue.

    At least 1.
    """

    target: Duration = "15 ms"
    """Target of the queueing delay (QDELAY_REF)."""

    update: Duration = "15 ms"
    """Time between updates of the drop probability (T_UPDATE)."""

    burst: Duration = "150 ms"
    """Length of a burst that passes without drops after a period without congestion (MAX_BURST)."""

    alpha: float = 0.125
    """Gain of the drop probability on the difference between the queueing delay and `target`, per
    second.
    """

    beta: float = 1.25
    """Gain of the drop probability on the change of the queueing delay, per second."""

    delay_estimate: DelayEstimate = "timestamp"
    """Method by which the queueing delay is estimated."""

    derandomize: bool = False
    """Whether drops are spaced evenly, by accumulating the drop probability from one drop to the
    next (RFC 8033, section 5.4).
    """

    mean_packet: Size = "1.5 kB"
    """Mean size of a packet. No packet is dropped while at most two packets of this size wait."""

    ecn: bool = True
    """Whether the queue marks ECN-capable packets instead of dropping them."""

    ecn_threshold: Probability = 0.1
    """Drop probability from which ECN-capable packets are dropped instead of marked (MAX_ECNTH)."""


class UniformJitter(Part):
    """Delay that is distributed uniformly between 0 and a maximum."""

    tag: ClassVar[str | None] = "uniform"

    most: Duration = "10 ms"
    """Largest extra delay of a packet."""


class NormalJitter(Part):
    """Normally distributed delay, with negative values replaced by 0."""

    tag: ClassVar[str | None] = "normal"

    mean: Duration = "10 ms"
    """Mean of the distribution, before negative values are replaced by 0."""

    deviation: Duration = "3 ms"
    """Standard deviation of the distribution, before negative values are replaced by 0."""


class TraceJitter(Part):
    """Delay that follows a recording over time."""

    tag: ClassVar[str | None] = "trace"

    file: str | None = None
    """Path of a CSV file with the points, relative to the folder of the scenario file: a line
    `time_s,delay_ms` or `time_ms,delay_ms`, and then one line per point.
    """

    times: list[Duration] = field(default_factory=list)
    """Time of each point from the start of the run, in ascending order. The last time must not be
    0; it is also the length of the recording.
    """

    delays: list[Duration] = field(default_factory=list)
    """Extra delay of each point."""

    at_end: AtEnd = "loop"
    """Behaviour at the end of the recording."""


class Reordering(Part):
    """Parameters of reordering, which delays some packets so that later ones overtake them."""

    share: Probability
    """Probability that a packet is delayed further, independently of other packets."""

    delay: Duration
    """Further delay of a reordered packet, in addition to the link's delay and jitter."""


class Split(Part):
    """Ends the server's connection and relays its data over a second one (HTTP proxy)."""

    tag: ClassVar[str | None] = "split"

    tcp: Tcp | None = None
    """TCP between proxy and phone; absent: the same as between server and proxy."""


class Rnf(Part):
    """Split connection whose window is set by the RNC's reports of bandwidth."""

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
    """Loss of messages from the RNC to the proxy: a probability, or a model."""

    rtt: RoundTrip = field(default_factory=lambda: Minimum())
    """Proxy's estimate of the round-trip time without queueing."""

    queue_feedback: float | None = None
    """Gain of the queue feedback: each message adds this number times (`q_ref` - queue), in
    packets, to the window. The feedback pauses while the proxy holds less than a window of
    data. Absent: no feedback, as in `fiorenzi`.
    """


class Classic(Part):
    """TCP as in ns-2 and the studies: counts segments, times one by default, goes back N."""

    tag: ClassVar[str | None] = "classic"

    control: Control = field(default_factory=lambda: NewReno())
    """Loss recovery of the sender: Tahoe, Reno, NewReno or SACK."""

    era: Era = "ns-2.1b8"
    """Version of ns-2 whose defaults apply to absent keys: a release (`"ns-2.26"`) or a date."""

    packet_size: Size = "1.5 kB"
    """Size of a full-sized segment on the wire, with 40 B of IP and TCP headers."""

    initial_window: int | None = None
    """Initial congestion window in packets. Absent: the default of ns-2 at `era`.

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
    """Smallest retransmission timeout, before backoff if `backoff_from_minimum`, else after it.
    Absent: the default of ns-2 at `era`.
    """

    max_rto: Duration | None = None
    """Largest retransmission timeout, backoff included. Absent: the default of ns-2 at `era`."""

    initial_rto: Duration | None = None
    """Retransmission timeout until the first round-trip time is measured (RFC 2988, 2.1, requires
    3 s). Absent: the default of ns-2 at `era`.
    """

    backoff_from_minimum: bool | None = None
    """Whether backoff also multiplies the smallest timeout (RFC 2988, 2.4 and 5.5; ns-2's
    `rfc2988_`), or only the estimate. Absent: the default of ns-2 at `era`.
    """

    estimator: Estimator = field(default_factory=lambda: Ticks())
    """Round-trip estimator, which also determines the segments that are timed."""

    slow_start_restart: bool = True
    """Whether the window is reset to one segment if nothing was outstanding for a retransmission
    timeout (ns-2's `slow_start_restart_`; RFC 2581, 4.1, uses the initial window instead).
    """

    half_of_flight: bool = False
    """Whether a timeout sets the slow-start threshold to half of the data outstanding (RFC 2581,
    3.1), so that a second timeout leaves it unchanged. Otherwise it is half of the window as in
    ns-2, and two packets after a second timeout.
    """

    clock: Duration | None = None
    """Tick of the clock that measures round-trip times (ns-2's `tcpTick_`). Absent: the default of
    ns-2 at `era`.
    """

    clock_phase: Duration = "0 s"
    """Phase of the clock that measures round-trip times, at the start of the simulation; less than
    one tick.
    """

    limited_transmit: bool | None = None
    """Whether the sender sends a new segment on each of the first two duplicate ACKs (RFC 3042).
    Absent: the default of ns-2 at `era`.
    """

    fractional_halves: bool | None = None
    """Whether half of a window, after a loss, may be a fraction of packets (ns-2's
    `precisionReduce_`) or is rounded down. Absent: the default of ns-2 at `era`.
    """

    eifel: bool = False
    """Whether the sender detects spurious retransmissions (Eifel, RFC 3522) by a bit in ACKs that
    shows if a retransmission triggered them, and undoes their effects (RFC 4015).
    """

    delayed_ack: Duration = "100 ms"
    """Delay of the ACK of a single segment; 0 acknowledges each segment at once."""

    delayed_syn_ack: bool | None = None
    """Whether the ACK of the server's SYN is delayed as well, if the server opens the connection.
    Absent: the default of ns-2 at `era`.
    """

    opened_by: Opener = "phone"
    """End that opens the connection: the phone or the server."""


class Linux(Part):
    """TCP as in today's Linux: byte counts, SACK, RACK-TLP, PRR, CUBIC with HyStart."""

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
    """Whether every segment has timestamps (RFC 7323), which take 12 B."""

    sack: bool = True
    """Whether ACKs have selective acknowledgements (RFC 2018), up to three blocks of 8 B."""

    dsack: bool = True
    """Whether the first SACK block reports duplicate segments (D-SACK, RFC 2883)."""

    rack: bool = True
    """Whether losses are detected by time (RACK, RFC 8985) rather than by counting (RFC 6675).
    Needs SACK.
    """

    tail_loss_probe: bool = True
    """Whether the sender probes for a lost tail before the retransmission timeout (TLP, RFC 8985,
    section 7). Needs RACK.
    """

    undo: bool = True
    """Whether a window reduction is undone if timestamps (RFC 3522) or D-SACKs (RFC 3708) show
    that nothing was lost (RFC 4015).
    """

    frto: bool = True
    """Whether the sender detects a spurious timeout from the segments that the following ACKs
    deliver (F-RTO, RFC 5682), and undoes the window reduction.
    """

    ecn: bool = False
    """Whether queues may mark segments instead of dropping them (ECN, RFC 3168)."""

    pacing: bool = False
    """Whether every congestion control spreads its segments over the round trip, as Linux's
    queueing discipline `fq` does. BBR paces its segments in any case.
    """

    slow_start_after_idle: bool = True
    """Whether the window is halved once per retransmission timeout of a pause, and reduced if the
    application has not used all of it for a retransmission timeout (RFC 2861; Linux:
    `tcp_slow_start_after_idle`). BBR never reduces its window for these reasons.
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
    """Maximum size of the receive buffer, which bounds the advertised window."""

    initial_receive_buffer: Size = "81.92 kB"
    """Initial size of the receive buffer, which then grows with the data received per round trip
    (dynamic right-sizing). If it equals `receive_buffer`, the size is fixed.
    """

    send_buffer: Size = "4.194304 MB"
    """Maximum memory of the send buffer (the largest `tcp_wmem`). Up to this limit it has room for
    two windows.
    """

    read_rate: Rate | None = None
    """Reading rate of the application at the receiver; absent: it reads immediately."""

    opened_by: Opener = "phone"
    """End that opens the connection: the phone or the server."""


class Tahoe(Part):
    """Tahoe: after any loss, slow start from one segment."""

    tag: ClassVar[str | None] = "tahoe"


class Reno(Part):
    """Reno (RFC 2581): fast recovery until the first new ACK."""

    tag: ClassVar[str | None] = "reno"

    clean_exit: bool | None = None
    """Whether duplicate ACKs inflate the window only in fast recovery, and not after a timeout.
    Absent: the default of ns-2 at `era`.
    """


class NewReno(Part):
    """NewReno (RFC 6582): stays in fast recovery until the whole window is acknowledged."""

    tag: ClassVar[str | None] = "newreno"

    impatient: bool | None = None
    """Whether only the first partial ACK of a recovery restarts the retransmission timer
    (impatient), instead of every partial ACK (slow but steady). Absent: the default of ns-2 at
    `era`.
    """

    partial_deflation: bool | None = None
    """Whether a partial ACK deflates the window by the segments that it acknowledges, instead of
    by all that duplicate ACKs have added. Absent: the default of ns-2 at `era`.
    """

    clean_exit: bool | None = None
    """Whether duplicate ACKs inflate the window only in fast recovery, and not after a timeout.
    Absent: the default of ns-2 at `era`.
    """


class Sack(Part):
    """SACK (RFC 2018) with ns-2's pipe algorithm: retransmits only missing segments."""

    tag: ClassVar[str | None] = "sack"


class Ticks(Part):
    """Jacobson's estimator in ns-2's fixed-point form: one segment is timed at a time."""

    tag: ClassVar[str | None] = "ticks"


class Smoothed(Part):
    """Exponential averages of round-trip time and deviation; every new segment is timed."""

    tag: ClassVar[str | None] = "smoothed"

    gain: Probability = 0.1
    """Weight of a new round-trip time in the mean round-trip time, and weight of its deviation in
    the mean deviation (c in `hossain`).
    """

    initial_rtt: Duration | None = None
    """Mean round-trip time before the first measurement. If absent, the first measured time
    becomes the mean, and half of it the deviation.
    """


class LinuxReno(Part):
    """Reno (RFC 5681) with byte counting (RFC 3465): one segment more per round trip."""

    tag: ClassVar[str | None] = "reno"


class Cubic(Part):
    """CUBIC with HyStart as in Linux: the window grows with the time since the last reduction."""

    tag: ClassVar[str | None] = "cubic"

    beta: float = 0.7
    """Share of the window that remains after a reduction; rounded to a multiple of 1/1024."""

    c: float = 0.4
    """Factor C of the window's cubic growth, in segments per second cubed; rounded to a multiple
    of 10/1024.
    """

    fast_convergence: bool = True
    """Whether to release bandwidth to new flows: at a loss below the last maximum of the window,
    less than the window is stored as the new maximum.
    """

    tcp_friendliness: bool = True
    """Whether the window grows at least as fast as that of Reno."""

    slow_start: SlowStart = "hystart"
    """Method that ends slow start before a loss."""


class CubicRfc9438(Part):
    """CUBIC by RFC 9438, with HyStart++ (RFC 9406)."""

    tag: ClassVar[str | None] = "cubic_rfc9438"

    beta: float = 0.7
    """Share of the window that remains after a reduction, `beta_cubic` (RFC 9438, 4.6)."""

    c: float = 0.4
    """Factor `C` of the window's cubic growth, in segments per second cubed (RFC 9438, 5)."""

    fast_convergence: bool = True
    """Whether to release bandwidth to new flows: at a loss below the last maximum of the window,
    less than the window is stored as the new maximum (RFC 9438, 4.7).
    """

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
    """Time for which the window is kept small to measure the smallest round-trip time again
    (Linux: `bbr_probe_rtt_mode_ms`).
    """


class Bbr3(Part):
    """BBR version 3: also bounds the data in flight by the losses that it causes."""

    tag: ClassVar[str | None] = "bbr3"

    loss_threshold: float = 0.02
    """Share of a round trip's data that may be lost while BBRv3 probes for bandwidth (2.8:
    `LossThresh`).
    """

    beta: float = 0.7
    """Minimum share of a bound on bandwidth or data in flight that remains after a round trip with
    loss (2.8: `Beta`).
    """

    headroom: float = 0.15
    """Share of the largest safe volume in flight that is left to other flows (2.8: `Headroom`)."""

    min_rtt_window: Duration = "10 s"
    """Time for which the smallest round-trip time is valid (2.16.1: `MinRTTFilterLen`)."""

    probe_rtt_interval: Duration = "5 s"
    """Time between measurements of the smallest round-trip time (2.16.2: `ProbeRTTInterval`)."""

    probe_rtt: Duration = "200 ms"
    """Time for which the window is kept small to measure the smallest round-trip time (2.16.2:
    `ProbeRTTDuration`).
    """


class Westwood(Part):
    """Westwood+: a loss reduces the window to the measured rate times the shortest round trip."""

    tag: ClassVar[str | None] = "westwood"


class Vegas(Part):
    """Vegas: keeps two to four segments in the queue and so avoids loss."""

    tag: ClassVar[str | None] = "vegas"

    alpha: int = 2
    """Number of segments in the queue below which the window grows."""

    beta: int = 4
    """Number of segments in the queue above which the window shrinks."""

    gamma: int = 1
    """Number of segments in the queue above which slow start ends."""


class Scalable(Part):
    """Scalable TCP: the window grows and shrinks in proportion to its size; for long fat paths."""

    tag: ClassVar[str | None] = "scalable"

    increase: float = 0.01
    """Growth of the window in bytes per byte acknowledged (section 3 of the paper: `a`)."""

    decrease: float = 0.125
    """Share of the window by which a loss reduces it (section 3 of the paper: `b`)."""

    legacy_window: int = 16
    """Number of segments up to which the window follows Reno (`lwnd`)."""


class Veno(Part):
    """Veno: Reno that attributes a loss with a short queue to the radio link."""

    tag: ClassVar[str | None] = "veno"

    beta: int = 3
    """Number of segments in the queue below which a loss is not attributed to congestion."""


class Minimum(Part):
    """Smallest round-trip time that TCP has measured between proxy and phone."""

    tag: ClassVar[str | None] = "minimum"


class Fixed(Part):
    """A constant round-trip time, set in the scenario."""

    tag: ClassVar[str | None] = "fixed"

    value: Duration
    """Round-trip time between proxy and phone without queueing."""


class Snoop(Part):
    """Parameters of the Snoop agent at the Node B. The defaults are those of ns-2's `snoop.h`."""

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
    """Uplink that belongs to one phone."""

    rate: Rate = "64 kbps"
    """Bit rate of the uplink."""

    delay: Duration = "20 ms"
    """Delay from the end of a transmission to the arrival at the Node B."""

    loss: Probability | Loss = 0.0
    """Loss of packets: a probability, or a model."""

    queue: Queue = field(default_factory=lambda: DropTail())
    """Queue discipline at the phone, before the uplink."""

    jitter: Jitter | None = None
    """Extra delay of each packet; keeps the order of packets."""

    reordering: Reordering | None = None
    """Reordering: delays some packets so that others overtake them."""


class Dch(Part):
    """Dedicated channels, one bearer per user (Release 99)."""

    tag: ClassVar[str | None] = "dch"

    channels: int = 12
    """Number of parallel channels. Each sends at most one block per TTI.

    At least 1.
    """

    tti: Duration = "10 ms"
    """Length of a transmission time interval (TTI)."""

    pdu_size: Size = "40 B"
    """Payload of a PDU, or its whole size if the RLC mode has headers. With `rlc = "arq"` a packet
    takes whole PDUs; the last one is padded and not shared with the next packet.
    """

    pdus_per_tti: int = 1
    """Number of PDUs in a block, that is, per channel and TTI.

    At least 1.
    """

    bler: Probability = 0.01
    """Block error rate: probability that the transmission of a block fails."""

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
    """Capacity of the bearer's buffer, in packets.

    At least 1.
    """


class HsDsch(Part):
    """The high-speed downlink shared channel: one bearer for all users (Release 5)."""

    tag: ClassVar[str | None] = "hs_dsch"

    channels: int = 3
    """Number of code channels. Each sends at most one block per TTI.

    At least 1.
    """

    tti: Duration = "2 ms"
    """Length of a transmission time interval (TTI)."""

    pdu_size: Size = "32 B"
    """Payload of a PDU, or its whole size if the RLC mode has headers. With `rlc = "arq"` a packet
    takes whole PDUs; the last one is padded and not shared with the next packet.
    """

    pdus_per_tti: int = 1
    """Number of PDUs in a block at constant rate. For a user with a C/I process, the C/I value of
    the TTI is the number of PDUs instead.

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
    """RLC mode: method by which PDUs that hybrid ARQ could not deliver are retransmitted."""

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
    """Link adaptation: method that selects the block that a user is sent in a TTI."""

    link_curve: LinkCurves | None = None
    """Measured BLER curves of the blocks. Default: the curves follow a published formula."""

    processes: int = 6
    """Number of HARQ processes per user, at most 8.

    At least 1.
    """

    retransmission_delay: Duration = "12 ms"
    """Time from the start of a transmission until its ACK or NACK is known and the HARQ process
    may send again. Default: 6 TTIs, so that 6 processes can fill every TTI.
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
    """Time for which the reordering queue waits for a missing block (timer T1), rounded up to
    whole TTIs.
    """

    pdu_size: Size = "40 B"
    """Payload of an RLC PDU, without the RLC header."""

    rlc: RlcMode = field(default_factory=lambda: UnacknowledgedMode())
    """RLC mode, which determines whether PDUs that MAC-hs gives up are retransmitted."""

    segmentation: bool = True
    """Whether blocks carry octets of PDUs (MAC-ehs) instead of whole PDUs (MAC-hs), which do not
    fit in small blocks.
    """

    buffer: int = 1000
    """Capacity of each user's buffer in packets, from the RNC to the phone.

    At least 1.
    """

    iub: Iub | None = None
    """Iub between RNC and Node B. Default: none; packets wait at the Node B, and `core` includes
    the path from the RNC to it.
    """

    cell: Cell = field(default_factory=lambda: Cell())
    """Cell and its Node B."""

    handover: Handover | None = None
    """Handover between the cell and its neighbours. Default: none, the cell in the middle serves
    all users.
    """


class Lte(Part):
    """LTE cell, with fading in frequency and time (Releases 8 to 12)."""

    tag: ClassVar[str | None] = "lte"

    bandwidth: Bandwidth = "20 MHz"
    """Channel bandwidth, which determines the number of resource blocks."""

    carrier_ghz: float = 2.0
    """Carrier frequency in GHz, which determines Doppler shifts."""

    control_symbols: int = 3
    """Number of OFDM symbols of the control region in each subframe: 1 to 3, 2 to 4 at 1.4 MHz.

    From 0 to 255.
    """

    antenna_ports: int = 1
    """Number of antenna ports with reference signals, which take resource elements: 1, 2 or 4.

    From 0 to 255.
    """

    layers: int = 1
    """Largest number of layers sent to a phone, 1 to 4, within `antenna_ports` and the layers of
    its category. Phones report how many to send (open-loop spatial multiplexing). With 1, one
    antenna sends to one antenna.

    From 0 to 255.
    """

    qam256: bool = False
    """Whether phones whose category has 256QAM use it (Release 12)."""

    users_per_tti: int = 8
    """Largest number of users served in one TTI, at most 20.

    At least 1.
    """

    scheduler: Scheduler = field(default_factory=lambda: RoundRobin())
    """Scheduler that assigns groups of resource blocks to users."""

    cqi: GroupReports = field(default_factory=lambda: GroupReports())
    """CQI reports of phones, by which blocks are selected."""

    drx: Drx | None = None
    """Discontinuous reception. Default: none, phones always listen."""

    rrc: Rrc | None = None
    """RRC states, only with a scheduled uplink. Default: none, phones are always connected."""

    implementation_loss_db: float = 0.0
    """SNR in dB that phones need beyond the curves of block errors, which are those of an ideal
    receiver.
    """

    processes: int = 8
    """Number of HARQ processes per user, at most 8.

    At least 1.
    """

    max_transmissions: int | None = None
    """Largest number of transmissions of a block, after which it is discarded. Default: unlimited.

    At least 1.
    """

    combining: Combining = field(default_factory=lambda: Chase())
    """Soft combining of the transmissions of a block in the phone."""

    decoding: Decoding = "independent"
    """Method that determines whether a block is decoded."""

    ack_error: Probability = 0.0
    """Probability that the base station receives an ACK as a NACK."""

    nack_error: Probability = 0.0
    """Probability that the base station receives a NACK as an ACK."""

    rlc: LteRlc = field(default_factory=lambda: LteAm())
    """RLC mode of the downlink and of a scheduled uplink."""

    status_delay: Duration = "8 ms"
    """Time from the creation of a STATUS PDU to its arrival at the other end."""

    sn_length: SnLength = "12 bit"
    """Length of PDCP's sequence number."""

    discard_timer: Duration | None = None
    """Age at which PDCP discards a packet that RLC has not begun to send. Default: never."""

    queue: Queue = field(default_factory=lambda: DropTail())
    """Queue of each user in front of RLC."""

    cell: Site = field(default_factory=lambda: Site())
    """The base station and its surroundings."""

    uplink: UplinkSpec | None = None
    """Uplink: scheduled by the base station, or a plain link for each phone. Default:
    `"scheduled"`; with a table `uplink`: `"plain"`.
    """


class FachDch(Part):
    """A shared FACH and a pool of dedicated channels, between which users switch (Release 99)."""

    tag: ClassVar[str | None] = "fach_dch"

    fach_rate: Rate = "33 kbps"
    """Bit rate of the FACH."""

    signalling_rate: Rate = "24 kbps"
    """Bit rate of signalling on the FACH, which is sent before users' packets."""

    signalling_size: Size = "1 kB"
    """Size of a signalling packet on the FACH."""

    dch_channels: int = 1
    """Number of dedicated channels in the cell.

    At least 1.
    """

    dch_rate: Rate = "384 kbps"
    """Bit rate of a dedicated channel."""

    switch_time: Duration = "250 ms"
    """Duration of the set-up of a dedicated channel, and also of its release. The user's queue is
    not served during either.
    """

    paging_time: Duration = "600 ms"
    """Duration of the switch from the paging channel to the FACH."""

    policy: Switching = field(default_factory=lambda: Thresholds())
    """Policy that decides when users switch between the FACH and dedicated channels."""

    buffer: int = 1000
    """Capacity of each user's buffer, in packets.

    At least 1.
    """

    power: PhonePower = field(default_factory=lambda: PhonePower())
    """Power of a phone's radio in each state."""


class Wcdma(Part):
    """WCDMA: all users receive at the same time, on codes with a variable spreading factor."""

    tag: ClassVar[str | None] = "wcdma"

    slot: Duration = "10 ms"
    """Length of a slot. The rate of a connection is its largest number of frames per slot."""

    frame_size: Size = "16 B"
    """Size of a frame. One frame per slot is the basic rate."""

    spreading: int = 128
    """Spreading factor at the basic rate of one frame per slot, in chips per bit.

    At least 1.
    """

    rates: list[int] = field(default_factory=lambda: [1, 2, 3, 4, 5, 6, 7, 8])
    """Selectable rates in frames per slot, in ascending order."""

    selection: Selection = field(default_factory=lambda: OneStepSelection())
    """Method by which the rates of the connections are selected."""

    connection_timeout: Duration | None = None
    """Time without data after which a connection becomes inactive. Default: never."""

    profile: ProfileSpec = field(default_factory=lambda: EqualPaths())
    """Power delay profile: distribution of the received power over paths."""

    eb_n0_db: float = 20.0
    """Energy per bit over noise density, in dB. With a map it applies at two thirds of the cell
    radius.
    """

    correctable_bits: int = 0
    """Number of bit errors per frame that the code corrects."""

    frame_errors: bool = True
    """Whether frames can fail. If false, all frames arrive, but rates are selected as if frames
    could fail.
    """

    other_cells: OtherCells = field(default_factory=lambda: MeanInterference())
    """Model of the interference from other cells, and their load."""

    ack_delay: Duration = "10 ms"
    """Time from the end of a slot until the Node B is informed which frames of the slot failed. It
    can retransmit them in the first slot that starts then or later.
    """

    sharing: Sharing = "one_packet"
    """Rule that determines which frames of a connection may be sent in the same slot."""

    max_failed_slots: int | None = None
    """Number of consecutive slots in which all frames of a connection fail, after which a packet
    is given up: the oldest one with a frame in the last slot. Default: never.

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
    """Bit rate of the link to each user."""

    delay: Duration = "0 s"
    """Propagation delay of the link to each user."""

    queue: Queue = field(default_factory=lambda: DropTail())
    """Queue discipline at the Node B, for each user."""

    loss: Probability | Loss = 0.0
    """Loss of packets: a probability, or a model."""

    drop_list: list[int] = field(default_factory=list)
    """Packets to lose, by position in the order of arrival, from 0. Short form of
    `loss.list.positions`; cannot be combined with `loss`.
    """

    outages: list[Outage] | None = None
    """Outages, in order of time: intervals in which no transmission starts and packets queue."""

    jitter: Jitter | None = None
    """Extra delay of each packet; keeps the order of packets."""

    reordering: Reordering | None = None
    """Reordering: delays some packets so that others overtake them."""


class TraceBearer(Part):
    """No radio: one link per user, which sends at recorded delivery opportunities."""

    tag: ClassVar[str | None] = "trace"

    down: Opportunities = field(default_factory=lambda: Opportunities())
    """Delivery opportunities towards a phone. Each phone has a link of its own that uses all of
    them.
    """

    up: Opportunities | None = None
    """Opportunities at which a phone can send, instead of `uplink.rate`. The other keys of
    `uplink` still apply. Default: none, `uplink.rate` applies.
    """

    light: LightTrace | None = None
    """Second recording, of trains of packets. An idle link has its opportunities, a busy link
    those of `down` and `up`. Default: none, a link always has those of `down` and `up`.
    """

    at_end: AtEnd = "loop"
    """Behaviour at the end of a trace."""

    opportunity: Size = "1.504 kB"
    """Largest number of bytes that a delivery opportunity can carry."""

    header: Size = "4 B"
    """Bytes that each packet takes in addition to its own size. In mahimahi, packets have the
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

    A model file, as written by `nodeb fit`, sets all keys except `file` and `advances`.
    """

    file: str | None = None
    """Path of a model file that sets the other keys except `advances`, relative to the scenario
    file's folder.
    """

    unit: Unit = "block"
    """Data whose errors one step of the process decides: a block or a PDU."""

    pdus_per_block: int | None = None
    """Number of PDUs per block for which the model is valid. Default: any number.

    At least 1.
    """

    process: Error | None = None
    """Process that decides in each step whether an error occurs."""

    within_block: WithinBlock | None = None
    """Distribution of the PDUs in error within a failed block, for `unit = "block"`. Default: all
    PDUs are in error.
    """

    advances: Advances = "with_time"
    """Rule for the steps of the process: with time, or only with blocks that are sent."""


class IndependentErrors(Part):
    """Independent errors with the same probability in every step."""

    tag: ClassVar[str | None] = "bsc"

    error_rate: Probability
    """Probability of an error in a step of the process."""


class GilbertElliottErrors(Part):
    """Errors in bursts: a good and a bad state, each with its own probability."""

    tag: ClassVar[str | None] = "gilbert_elliott"

    p: Probability
    """Probability of a change from the good to the bad state after a step."""

    r: Probability
    """Probability of a change from the bad to the good state after a step."""

    error_in_good: Probability = 0.0
    """Probability of an error in a step in the good state."""

    error_in_bad: Probability = 1.0
    """Probability of an error in a step in the bad state."""


class HiddenMarkov(Part):
    """A hidden Markov model: any number of states, each with its own error probability."""

    tag: ClassVar[str | None] = "hmm"

    start: list[float] | None = None
    """Probability of each state in the first step. Default: the stationary distribution."""

    transition: list[list[float]]
    """Probabilities of the next state after a step: one row for each present state."""

    error: list[Probability]
    """Probability of an error in a step, for each state."""


class RecordedErrors(Part):
    """A recorded sequence of errors, repeated in a loop."""

    tag: ClassVar[str | None] = "recorded"

    errors: list[int]
    """Run lengths of the sequence: number of steps without errors, with errors, without errors,
    and so on. The first number may be 0.
    """

    offset: int | None = None
    """Number of the first block of the sequence to be used, from 0, modulo the number of whole
    blocks. Default: a random block.
    """


class WithinBlock(Part):
    """Distribution of the PDUs in error within a failed block. Exactly one key must be set."""

    patterns: dict[str, object] | None = None
    """Probability of each pattern, such as `"0110" = 0.4`: one digit per PDU in order, 1 for a PDU
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
    """Triggers, format and delay of the phone's status reports."""


class Slotted(Part):
    """A window of slots, in which each PDU is retransmitted in its slot until it is received."""

    tag: ClassVar[str | None] = "slotted"

    places: int = 15
    """Number of slots in the window; each holds one PDU.

    At least 1.
    """

    report_every: int = 5
    """Number of PDUs that a report covers.

    At least 1.
    """

    header: Size = "2 B"
    """Header of a PDU, included in its size."""

    report_delay: Duration = "20 ms"
    """Delay of a report, from the end of the TTI that brings its last PDU to its arrival at the
    sender.
    """


class Polling(Part):
    """Parameters of polling: triggers for setting the poll bit (TS 25.322, 9.7.1)."""

    last_pdu: bool = True
    """Whether the sender polls in the last PDU that it can send, as its buffer is then empty or
    its window full.
    """

    last_retransmission: bool = True
    """Whether the sender polls in a retransmitted PDU after which no other waits for
    retransmission.
    """

    every_pdus: int | None = 32
    """Number of PDUs after which the sender polls (Poll_PDU). Default: 32.

    At least 1.
    """

    every_packets: int | None = None
    """Number of packets after which the sender polls, in the last PDU of the packet (Poll_SDU).
    Default: none.

    At least 1.
    """

    window_share: Probability | None = 0.5
    """Share of the transmission window in use from which the sender polls (Poll_Window)."""

    timer: Duration = "300 ms"
    """Time after which the sender repeats an unanswered poll (Timer_Poll)."""

    prohibit: Duration | None = None
    """Smallest time between two polls (Timer_Poll_Prohibit). Default: none."""

    periodic: Duration | None = None
    """Time between periodic polls (Timer_Poll_Periodic). Default: none."""


class Reports(Part):
    """Triggers of the phone's STATUS PDUs (TS 25.322, 9.7.2), and their transfer to the sender."""

    on_missing: bool = True
    """Whether the phone sends a report when it detects that a PDU is missing."""

    prohibit: Duration | None = "100 ms"
    """Smallest time between two reports (Timer_Status_Prohibit)."""

    periodic: Duration | None = None
    """Time between periodic reports (Timer_Status_Periodic). Default: none."""

    format: StatusFormat = "list"
    """Encoding of missing PDUs in status reports. In a report of several STATUS PDUs, all but the
    first acknowledge only PDUs received in order.
    """

    delay: Duration = "89 ms"
    """Time that a status report or another answer of the phone takes to reach the sender."""

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
    """Incremental redundancy: each retransmission adds new parity bits."""

    tag: ClassVar[str | None] = "incremental_redundancy"


class RoundRobin(Part):
    """Serves the users in turn."""

    tag: ClassVar[str | None] = "round_robin"


class MaxCi(Part):
    """Serves the user with the best channel; of equals the one served least recently."""

    tag: ClassVar[str | None] = "max_ci"


class ProportionalFair(Part):
    """Serves the user with the best channel relative to its mean rate so far."""

    tag: ClassVar[str | None] = "proportional_fair"

    window: Duration = "1.67 s"
    """Time constant `t_c` of the mean rate. Jalali et al. use 1000 slots of 1.67 ms."""


class Normalized(Part):
    """Serves the user with the best channel relative to its own mean and deviation."""

    tag: ClassVar[str | None] = "normalized"

    memory: float = 0.999
    """Weight of the old mean and variance in a TTI in which the user waits, 0 to below 1."""


class EarliestDeadline(Part):
    """Serves the user whose packet has the earliest deadline."""

    tag: ClassVar[str | None] = "earliest_deadline"


class TcpAware(Part):
    """Proportional fair, with priority for connections that have just begun or resumed."""

    tag: ClassVar[str | None] = "tcp_aware"

    window: Duration = "1.67 s"
    """Time constant of each user's mean rate."""

    head_start: Duration = "100 ms"
    """Air time within a burst at which the priority is twice that of proportional fair."""

    pause: Duration = "1 s"
    """Length of a pause after which a user starts a new burst. It should exceed a round trip, as
    windows of slow start arrive one round trip apart.
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
    """Rounding of a measured, fractional CQI to a whole one."""

    table: list[Row] | None = None
    """User-defined table of blocks from CQI 1, instead of the tables of the UE categories. CQIs
    above the last row select its block.
    """

    outer_loop: OuterLoop | None = None
    """Outer loop, which shifts reported CQIs until blocks fail at a target rate. Default: none,
    reports are used unchanged.
    """


class Shannon(Part):
    """Blocks at the channel's capacity in the TTI, without errors: an upper bound."""

    tag: ClassVar[str | None] = "shannon"

    bandwidth_hz: float = 3840000.0
    """Bandwidth in Hz that determines the capacity. Default: the chip rate."""

    rate: Rate = "50 Mbps"
    """Upper limit of the bit rate."""


class Row(Part):
    """Row of a user-defined CQI table: the block that a CQI selects."""

    cqi: int
    """CQI, 1 to 30.

    From 0 to 255.
    """

    bits: int
    """Size of the block in bits."""

    codes: int
    """Number of HS-PDSCH codes of the block, 1 to 15."""


class OuterLoop(Part):
    """Parameters of the outer loop of link adaptation.

    The loop shifts the channel qualities known to the base station until first transmissions
    fail at a target rate.
    """

    target_bler: Probability = 0.1
    """Target for the share of first transmissions that fail."""

    step_db: float = 0.5
    """Step in dB by which a NACK lowers later qualities. An ACK raises them by this step times p /
    (1 - p), where p is `target_bler`.
    """

    per_round_trip: bool = True
    """Whether the blocks under way share the step: the answer to a block that was first sent while
    n blocks of the phone, itself and retransmissions included, waited for answers corrects by
    1/n of the step. Otherwise each answer corrects by the whole step.
    """

    limit_db: float = 20.0
    """Largest correction in dB, in either direction. Default: that of a target of 1 % if reports
    say nothing about the SNR of a block, with Rayleigh fading: blocks fail at the rate 1 / (1 +
    10^(limit_db / 10)).
    """


class LinkCurves(Part):
    """Measured BLER curves. The values at the same index of the three lists form a point.

    The text file has the line `cqi,snr_db,bler`, and then one line per point.
    """

    file: str | None = None
    """Path of a file with the lists, relative to the folder of the scenario file."""

    cqi: list[int] = field(default_factory=list)
    """CQI of the block sent, for each point."""

    snr_db: list[float] = field(default_factory=list)
    """SNR of all codes together in dB, before despreading, for each point."""

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
    """Iub between RNC and Node B, with its flow control.

    Defaults: those of EURANE, that is, credits every 15 TTIs, a round trip of 30 ms, and 250
    PDUs of 40 octets in the Node B. This number of PDUs limits a user to 1.33 Mbps.
    """

    delay: Duration = "15 ms"
    """One-way delay between RNC and Node B."""

    rate: Rate | None = None
    """Rate of the link from RNC to Node B, shared by all users. Default: unlimited, frames take no
    time.
    """

    period: Duration = "30 ms"
    """Time between two allocations of credits by the Node B, in whole TTIs."""

    room: Size = "10 kB"
    """Capacity of a user's queue at the Node B."""


class Cell(Part):
    """Cell and its Node B. Defaults: TR 25.848, table A.3, unless another source is named."""

    radius: Distance = "1 km"
    """Distance from the Node B to the corners of its cell."""

    power_dbm: float = 44.0
    """Total transmit power of the Node B in dBm."""

    hs_share: Probability = 0.8
    """Share of the transmit power that HS-PDSCH uses."""

    antenna_gain_db: float = 14.0
    """Antenna gain of the Node B in dB, minus cable losses."""

    path_loss: PathLoss = field(default_factory=lambda: LogDistance())
    """Path loss between the Node B and a phone as a function of their distance."""

    shadowing: Shadowing = field(default_factory=lambda: Shadowing())
    """Shadowing, whose values are correlated over distance and between sites."""

    interference: Interference = field(default_factory=lambda: Hexagonal())
    """Interference from other cells."""

    noise_dbm: float = -99.2
    """Thermal noise of the phone including its noise figure, in dBm. Default: -108.2 dBm in 3.84
    MHz plus 9 dB.
    """

    orthogonality: Probability | None = None
    """Share of the own cell's power that does not interfere, whatever the paths are. Default:
    none; each path receives interference from the power on the other paths, as in a rake
    receiver.
    """


class LogDistance(Part):
    """Path loss given by its value at 1 km and an exponent of the distance."""

    tag: ClassVar[str | None] = "log_distance"

    at_1km_db: float = 128.1
    """Path loss in dB at a distance of 1 km."""

    exponent: float = 3.76
    """Exponent with which the path loss grows with distance; 2 in free space."""


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
    """Outdoor-to-indoor and pedestrian model, for micro cells (ITU-R M.1225)."""

    tag: ClassVar[str | None] = "outdoor_to_indoor"

    frequency_mhz: float = 2000.0
    """Carrier frequency in MHz."""


class Uma(Part):
    """Urban macro cells of TR 38.901, with and without line of sight."""

    tag: ClassVar[str | None] = "uma"

    frequency_ghz: float = 2.0
    """Carrier frequency in GHz, 0.5 to 100."""

    base_height: Distance = "25 m"
    """Height of the base station's antenna, 22.5 m to 150 m. TR 38.901 has 25 m only, so other
    heights give a warning.
    """

    phone_height: Distance = "1.5 m"
    """Height of the phone's antenna, 1.5 m to 22.5 m."""


class Umi(Part):
    """Urban micro cells in street canyons of TR 38.901, with and without line of sight."""

    tag: ClassVar[str | None] = "umi"

    frequency_ghz: float = 2.0
    """Carrier frequency in GHz, 0.5 to 100."""

    base_height: Distance = "10 m"
    """Height of the base station's antenna, 1.5 m to 150 m. TR 38.901 has 10 m only, so other
    heights give a warning.
    """

    phone_height: Distance = "1.5 m"
    """Height of the phone's antenna, 1.5 m to 22.5 m."""


class Rma(Part):
    """Rural macro cells of TR 38.901, with and without line of sight."""

    tag: ClassVar[str | None] = "rma"

    frequency_ghz: float = 2.0
    """Carrier frequency in GHz, 0.5 to 30."""

    base_height: Distance = "35 m"
    """Height of the base station's antenna, 10 m to 150 m."""

    phone_height: Distance = "1.5 m"
    """Height of the phone's antenna, 1 m to 10 m."""

    street_width: Distance = "20 m"
    """Average width of the streets, 5 m to 50 m."""

    building_height: Distance = "5 m"
    """Average height of the buildings, 5 m to 50 m."""


class Shadowing(Part):
    """Log-normal shadowing. Defaults: TR 25.848, table A.3, unless another source is named."""

    sigma_db: float | None = None
    """Standard deviation of the shadowing in dB; 0 switches shadowing off. Default: with the path
    loss `uma`, `umi` or `rma` that of TR 38.901 for links with or without line of sight, else 8
    dB.
    """

    correlation_distance: Distance = "50 m"
    """Distance `d_0` at which the correlation of the shadowing has decreased to 1/e."""

    site_correlation: Probability = 0.5
    """Correlation of the shadowing between two sites."""


class Hexagonal(Part):
    """Other Node Bs on a hexagonal grid around this one."""

    tag: ClassVar[str | None] = "hexagonal"

    rings: int = 1
    """Number of rings of sites around this one, at most 10: one ring has 6 sites, two rings have
    18 together.
    """

    load: Probability = 1.0
    """Share of its power that each other Node B transmits."""


class FixedLevel(Part):
    """Interference of a fixed power, the same at every position."""

    tag: ClassVar[str | None] = "fixed"

    level_dbm: float = -70.0
    """Power received from all other cells together, in dBm."""


class Handover(Part):
    """Handover between the cells of several Node Bs."""

    cells: int = 2
    """Number of cells that serve users, 2 to 7: the first sites of the hexagonal grid, starting
    with the one in the middle, then its neighbours counterclockwise from east.
    """

    hysteresis_db: float = 3.0
    """Margin in dB by which another Node B must at least be received better than the serving one
    (H1d / 2 of TS 25.331).
    """

    time_to_trigger: Duration = "320 ms"
    """Time for which another Node B must be received better before the user changes to its cell."""

    interruption: Duration = "100 ms"
    """Time without transmissions to a user at a change of cell."""

    data: HeldData = "lost"
    """Handling of the data that the old Node B holds for a user at a change of cell."""


class GroupReports(Part):
    """Parameters of CQI reports on LTE."""

    delay: Duration = "8 ms"
    """Time from a measurement to the use of its report at the base station, rounded up to whole
    TTIs.
    """

    cycle: Duration = "10 ms"
    """Time between two measurements of a phone, in whole TTIs. The measurements of different
    phones are spread over this time.
    """

    outer_loop: OuterLoop | None = None
    """Outer loop. Default: none, reports are used unchanged."""


class Drx(Part):
    """Discontinuous reception in connected mode (TS 36.321, 5.7).

    All times are in whole subframes of 1 ms.
    """

    on_duration: Duration = "10 ms"
    """Time at the start of each cycle in which the phone monitors PDCCH."""

    inactivity: Duration = "100 ms"
    """Time for which the phone continues to monitor PDCCH after a grant of a new block."""

    retransmission: Duration = "8 ms"
    """Longest time for which the phone monitors PDCCH for a retransmission."""

    long_cycle: Duration = "320 ms"
    """Length of the long cycle."""

    short_cycle: Duration | None = None
    """Length of the short cycle, which divides the long one. Default: none, only long cycles."""

    short_cycles: int = 2
    """Number of short cycles after the inactivity timer, before the first long cycle."""


class Rrc(Part):
    """RRC states of phones (TS 36.331, 5.3).

    A phone is idle at the start of the run, and `inactivity` after its last data. An idle phone
    sets up a connection before it exchanges data.
    """

    inactivity: Duration = "10 s"
    """Time without data after which the base station releases a phone's connection."""

    paging_cycle: Duration = "1.28 s"
    """Time between two subframes in which an idle phone listens for paging (defaultPagingCycle):
    320, 640, 1280 or 2560 ms.
    """

    prach_config: int = 3
    """Index of the set of subframes in which phones can begin random access (prach-ConfigIndex), 0
    to 15.

    From 0 to 255.
    """

    core_delay: Duration = "23 ms"
    """Time from the message that completes the connection's set-up to the activation of security:
    processing at the base station and in the core network.
    """

    power: RrcPower = field(default_factory=lambda: RrcPower())
    """Power of a phone's radio in each state."""


class RrcPower(Part):
    """Power of a phone's radio in each RRC state, independent of traffic.

    Defaults: Huang et al. (MobiSys 2012), measured on LTE: set-up of a connection, tail after
    the last data, and the mean in idle mode (11 mW, and 594 mW for 43 ms in each paging cycle
    of 1.28 s).
    """

    idle: Power = "31 mW"
    """Mean power of an idle phone, with paging."""

    connecting: Power = "1.211 W"
    """Power during the set-up of a connection."""

    connected: Power = "1.06 W"
    """Power of a connected phone."""


class LteUm(Part):
    """Unacknowledged mode (TS 36.322, 5.1.2): packets are lost with blocks that HARQ gives up."""

    tag: ClassVar[str | None] = "um"

    sn_length: UmSnLength = "10 bit"
    """Length of the sequence number of a UMD PDU. With 5 bits, a PDU that arrives after one whose
    number is higher by 16 or more is discarded; with 10 bits, by 512 or more.
    """

    t_reordering: Duration = "50 ms"
    """Time for which PDUs after a gap wait for the missing PDUs (t-Reordering)."""


class LteAm(Part):
    """Acknowledged mode (TS 36.322, 5.1.3): octets that HARQ gives up are retransmitted."""

    tag: ClassVar[str | None] = "am"

    t_reordering: Duration = "80 ms"
    """Time for which the receiver waits for a missing PDU before it reports it (t-Reordering)."""

    status_prohibit: Duration | None = "60 ms"
    """Smallest time between two STATUS PDUs (t-StatusProhibit). Default: 60 ms."""

    poll_retransmit: Duration = "80 ms"
    """Time after which the sender repeats an unanswered poll (t-PollRetransmit)."""

    poll_pdu: int | None = 128
    """Number of new PDUs after which the sender polls (pollPDU). Default: 128.

    At least 1.
    """

    poll_byte: Size | None = "125 kB"
    """Number of new octets after which the sender polls (pollByte). Default: 125 kB."""

    max_retransmissions: int | None = 4
    """Value of RETX_COUNT at which the radio link fails (maxRetxThreshold); RETX_COUNT is 0 at the
    first retransmission of a PDU. The failure itself is not modelled: RLC goes on. Default: 4.

    At least 1.
    """


class Site(Part):
    """Base station of an LTE cell and its surroundings.

    Defaults: TR 36.814, table A.2.1.1-2 (case 1), unless another source is named.
    """

    radius: Distance = "289 m"
    """Distance from the base station to the corners of its cell."""

    power_dbm: float = 46.0
    """Total transmit power of the base station in dBm, spread evenly over all resource blocks."""

    antenna_gain_db: float = 14.0
    """Antenna gain of the base station in dB, minus cable losses."""

    path_loss: PathLoss = field(default_factory=lambda: LogDistance())
    """Path loss between the base station and a phone as a function of their distance."""

    shadowing: Shadowing = field(default_factory=lambda: Shadowing())
    """Shadowing, which varies the path loss from place to place."""

    interference: Interference = field(default_factory=lambda: Hexagonal())
    """Interference from other cells."""

    noise_figure_db: float = 9.0
    """Noise figure of the phone in dB, added to thermal noise of -174 dBm/Hz."""


class Plain(Part):
    """A link of each phone, with the rate and delay of the table `uplink`."""

    tag: ClassVar[str | None] = "plain"


class Scheduled(Part):
    """Resource blocks that the base station grants on request (TS 36.321, 5.4)."""

    tag: ClassVar[str | None] = "scheduled"

    request_period: Duration = "10 ms"
    """Time between two subframes in which a phone can send a scheduling request: 1, 2, 5, 10, 20,
    40 or 80 ms.
    """

    request_error: Probability = 0.0
    """Probability that the base station does not receive a scheduling request."""

    first_grant: Size = "96 B"
    """Number of octets that the base station assumes to wait at a phone after its request, until a
    buffer status report arrives.
    """

    request_again: Duration = "320 ms"
    """Time without a grant after which a phone with data requests again (retxBSR-Timer)."""

    grants: Grant = field(default_factory=lambda: OnRequest())
    """Grants without a request."""

    scheduler: Scheduler = field(default_factory=lambda: RoundRobin())
    """Scheduler that determines the order in which phones are granted blocks of a subframe."""

    users_per_tti: int = 8
    """Largest number of phones that are granted a new block in one subframe, at most 20.

    At least 1.
    """

    control_blocks: int = 2
    """Number of resource blocks at both ends of the band together that PUCCH uses. If it is odd,
    the lower end has one more.

    From 0 to 65535.
    """

    max_transmissions: int = 5
    """Largest number of transmissions of a block (maxHARQ-Tx).

    At least 1.
    """

    outer_loop: OuterLoop | None = None
    """Outer loop of link adaptation. Default: none, blocks fit the SNR at the time of the grant."""

    power_dbm: float = 23.0
    """Largest transmit power of a phone in dBm."""

    target_dbm: float = -80.0
    """Target of power control in dBm per resource block (P0 of PUSCH)."""

    path_loss_share: float = 0.8
    """Share of the path loss that power control compensates: 0, 0.4, 0.5, ... 1 (alpha)."""

    headroom: HeadroomReports | None = None
    """Power headroom reports. Default: none, the base station has the exact headroom of each
    phone.
    """

    noise_figure_db: float = 5.0
    """Noise figure of the base station in dB."""

    interference_db: float = 3.0
    """Interference of phones in other cells, in dB by which it raises the noise."""

    snr_offset_db: float = 0.0
    """SNR in dB of the uplink relative to the downlink, for phones without a position. Their power
    is unlimited.
    """

    queue: Queue = field(default_factory=lambda: DropTail())
    """Queue of each phone in front of RLC."""


class OnRequest(Part):
    """No grants without a request."""

    tag: ClassVar[str | None] = "on_request"


class Ahead(Part):
    """Regular grants ahead of data to every phone, whether it has data or not."""

    tag: ClassVar[str | None] = "ahead"

    interval: Duration = "5 ms"
    """Time between two grants to a phone, in whole subframes."""


class Configured(Part):
    """Recurring grants after a request (semi-persistent scheduling)."""

    tag: ClassVar[str | None] = "configured"

    interval: Duration = "20 ms"
    """Time between two blocks (semiPersistSchedIntervalUL): 10, 20, 32, 40, 64, 80, 128, 160, 320
    or 640 ms.
    """

    release_after: int = 8
    """Number of consecutive blocks without data after which the grant ends (implicitReleaseAfter):
    2, 3, 4 or 8.

    At least 1.
    """

    mask_requests: bool = True
    """Whether new data trigger no scheduling request while the phone has a configured grant
    (logicalChannelSR-Mask).
    """


class HeadroomReports(Part):
    """Power headroom reports of phones (TS 36.321, 5.4.6).

    A phone reports its headroom in its first block, every `periodic`, and when its path loss
    has changed. Until the first report, the base station grants at most four resource blocks at
    a time.
    """

    periodic: Duration | None = "500 ms"
    """Time between two reports without a change (periodicPHR-Timer): 10, 20, 50, 100, 200, 500 or
    1000 ms. Default: 500 ms.
    """

    prohibit: Duration = "200 ms"
    """Time after a report in which a change triggers none (prohibitPHR-Timer): 0, 10, 20, 50, 100,
    200, 500 or 1000 ms.
    """

    path_loss_change_db: int | None = 3
    """Change of the path loss in dB since the last report beyond which a phone reports (dl-
    PathlossChange): 1, 3 or 6. Default: 3.
    """


class AlwaysFach(Part):
    """All users stay on the FACH."""

    tag: ClassVar[str | None] = "always_fach"


class AlwaysDch(Part):
    """The first users get the dedicated channels and keep them."""

    tag: ClassVar[str | None] = "always_dch"


class Thresholds(Part):
    """Users move to a DCH if their queue is long, and back if it is short and no DCH is free."""

    tag: ClassVar[str | None] = "threshold"

    high: int = 4
    """Number of packets in a user's queue above which a dedicated channel is requested (T_h); 0
    requests it at the first packet.
    """

    low: int = 1
    """Number of packets in a user's queue below which its channel is released if no channel is
    free (T_l). With 0 the user keeps its channel.
    """


class Preemptive(Part):
    """Like `threshold`, but users move back after a timeout, or as soon as another user waits."""

    tag: ClassVar[str | None] = "preemptive"

    high: int = 4
    """Number of packets in a user's queue above which a dedicated channel is requested (T_h); 0
    requests it at the first packet.
    """

    low: int = 1
    """Number of packets in a user's queue below which its timer runs (T_l); 0 keeps the channel."""

    timeout: Duration = "500 ms"
    """Time after which a user with a short queue releases its channel if no channel is free
    (T_out). If another user waits, the user with the short queue releases it at once.
    """


class NonPreemptive(Part):
    """Like `threshold`, but users move back at the end of a timeout if another user waits."""

    tag: ClassVar[str | None] = "non_preemptive"

    high: int = 4
    """Number of packets in a user's queue above which a dedicated channel is requested (T_h); 0
    requests it at the first packet.
    """

    low: int = 1
    """Number of packets in a user's queue below which its timer runs (T_l); 0 keeps the channel."""

    timeout: Duration = "500 ms"
    """Length of the timer (T_out). At its end the user releases its channel if another user waits;
    otherwise the timer restarts.
    """


class TrafficVolume(Part):
    """Users switch by traffic volume and inactivity timers, as in deployed networks."""

    tag: ClassVar[str | None] = "traffic_volume"

    volume: Size = "475 B"
    """Number of bytes in a user's buffer above which a dedicated channel is requested."""

    time_to_trigger: Duration = "0 s"
    """Time for which a user's bytes must exceed `volume` before a channel is requested."""

    dch_inactivity: Duration = "5 s"
    """Time without packets after which a user's dedicated channel is released."""

    fach_inactivity: Duration = "12 s"
    """Time without packets after which a phone on the FACH moves to the paging channel."""


class LongestQueue(Part):
    """Idle users move back after a timeout if another waits; the longest queue gets the DCH."""

    tag: ClassVar[str | None] = "longest_queue"

    high: int = 2
    """Number of packets in a user's queue above which a dedicated channel is requested; 0 requests
    it at the first packet.
    """

    low: int = 1
    """Number of packets in a user's queue below which its timer runs; 0 keeps the channel."""

    timeout: Duration = "450 ms"
    """Time for which a user's queue must be shorter than `low` before the user releases its
    channel to a waiting user.
    """


class PhonePower(Part):
    """Power of a phone's radio in each state, independent of traffic.

    Defaults: the 3G profile of AT&T's Application Resource Optimizer (Qian et al., MobiSys
    2011), measured with one carrier. The power on the paging channel is 1 to 2 % of that of
    CELL_DCH, as in Pérez-Romero et al. (*Radio Resource Management Strategies in UMTS*, 2005).
    """

    pch: Power = "10 mW"
    """Power on the paging channel."""

    fach: Power = "350 mW"
    """Power on the FACH and during paging."""

    set_up: Power = "550 mW"
    """Power while a dedicated channel is being set up."""

    dch: Power = "700 mW"
    """Power on a dedicated channel and during its release."""


class OneStepSelection(Part):
    """The same rate for all connections, the one with the highest throughput (`hossain`)."""

    tag: ClassVar[str | None] = "one_step"


class PerUser(Part):
    """An individual rate for each connection, raised step by step where throughput grows most."""

    tag: ClassVar[str | None] = "per_user"

    power: int = 32
    """Largest sum of the rates of all connections, that is, the cell's power for data in units of
    a code of the basic rate. Each connection has at least the lowest rate, even beyond this
    limit.

    At least 1.
    """


class FixedRate(Part):
    """The same constant rate for all connections."""

    tag: ClassVar[str | None] = "fixed"

    frames: int = 1
    """Rate of every connection in frames per slot; must be one of `rates`.

    At least 1.
    """


class EqualPaths(Part):
    """Paths of equal mean power (channel model A of `hossain`)."""

    tag: ClassVar[str | None] = "equal_paths"

    paths: int = 4
    """Number of paths of equal mean power.

    At least 1.
    """


class VehicularB(Part):
    """Vehicular B of ITU-R M.1225, for large cells (channel model B of `hossain`)."""

    tag: ClassVar[str | None] = "vehicular_b"

    resolution: Duration = "260 ns"
    """Distance in time below which successive taps form one path with their total power. Default:
    260 ns, a chip at 3.84 Mcps, with which all six taps are separate paths.
    """


class Taps(Part):
    """Paths with user-defined mean powers."""

    tag: ClassVar[str | None] = "taps"

    powers: list[float]
    """Mean power of each path on a linear scale. Only the ratios of the powers matter, as each is
    divided by their sum.
    """


class MeanInterference(Part):
    """Every phone receives the same mean power from other cells (`hossain`)."""

    tag: ClassVar[str | None] = "mean"

    factor: float = 0.6
    """Power received from all other cells divided by that from the own cell, if each transmits the
    same (eta in `hossain`).
    """

    load: OtherCellsLoad = field(default_factory=lambda: OtherCellsLoad())
    """Load of the other cells, which determines the power of their interference."""


class InterferenceMap(Part):
    """Each phone has a position on a map of hexagonal cells, with path loss and shadowing."""

    tag: ClassVar[str | None] = "map"

    exponent: float = 3.76
    """Exponent with which the path loss grows with distance."""

    shadowing_db: float = 10.0
    """Standard deviation of the shadowing in dB."""

    correlation: float = 0.5
    """Correlation of the shadowing between two sites."""

    load: OtherCellsLoad = field(default_factory=lambda: OtherCellsLoad())
    """Load of the other cells, which determines the power of their interference."""


class OtherCellsLoad(Part):
    """Load of the other cells, which determines the power of their interference."""

    connections: float = 2.0
    """Mean number of connections in each other cell (G in `hossain`)."""

    mean_rate: float | None = None
    """Mean rate of a connection in other cells, in frames per slot (alpha). Default: computed
    self-consistently from the rate selection.
    """

    averaging: Averaging = "cells"
    """Method of averaging by which `mean_rate` is computed if it is not set."""


class Outage(Part):
    """Interval in which a link starts no transmission, so that packets queue.

    A transmission that began before the outage is completed.
    """

    start: Duration
    """Start of the outage, from the start of the run."""

    length: Duration
    """Length of the outage; a transmission that would begin in this time begins at its end."""


class Opportunities(Part):
    """Recorded delivery opportunities. Each line of the file is a time in ms."""

    file: str | None = None
    """Path of the recording, relative to the folder of the scenario file."""

    times_ms: list[int] | None = None
    """Time of each opportunity in ms from the start of the run, in ascending order. The last time
    must not be 0; it is also the length of the recording.
    """


class LightTrace(Part):
    """Recording of the same network with short trains of packets, each sent on an idle link, as
    CellReplay makes it beside that of a saturating sender (NSDI 2025).
    """

    down: Opportunities
    """Opportunities of trains towards a phone."""

    up: Opportunities | None = None
    """Opportunities of trains from a phone. Default: none, those of the trace's `up`."""

    train: int
    """Packets of a recorded train: so many opportunities carry a train before the link counts as
    busy.

    At least 1.
    """

    gap: Duration = "0 s"
    """Time without packets after which a train begins."""


class UserGroup(Part):
    """Group of phones with the same settings."""

    name: str = "phone"
    """Name of the group in tables and plots."""

    count: int = 1
    """Number of phones in the group.

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
    """Traffic from the server to each phone; required unless the phones upload or are real."""

    upload: Traffic | None = None
    """Traffic from each phone to the server, over a connection of its own that the phone opens."""

    tcp: Tcp | None = None
    """TCP of these phones and their servers; absent: the scenario's `tcp`."""

    ci: list[float] | None = None
    """Relative frequencies of the C/I values 1, 2, ...: one is drawn per TTI, and a block then
    carries that many PDUs. Absent at constant rate. HS-DSCH only.
    """

    ue: Ue | None = None
    """Category and channel of the phones; absent: their defaults. `hsdpa` and `lte` only."""

    bearer: Bearer | None = None
    """Bearer of each phone, with a class of service; absent: one with QCI 9. `hsdpa` and `lte`
    only.
    """

    upload_bearer: Bearer | None = None
    """Second bearer of each phone, for its upload, with a queue of its own in each direction;
    absent: the upload uses the same bearer as the download. `lte` only.
    """


class Ftp(Part):
    """One file: connection set-up, in a download a request, then the bytes."""

    tag: ClassVar[str | None] = "ftp"

    size: Size
    """Size of the file, without headers."""

    request: Size = "0 B"
    """Payload of the request. The ACK that completes the connection's set-up carries it; with
    `linux`, if the phone opens the connection and there is no proxy, it follows in its own
    packet. With 0 this ACK is the request. No effect in an upload.
    """

    server_delay: Duration = "0 s"
    """Time that the server takes for its answer, from the arrival of the request. No effect in an
    upload.
    """


class OnOff(Part):
    """Bursts of data and pauses, whose lengths are drawn from configurable distributions."""

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
    """Mean number of embedded objects per page (Pareto distribution of shape 1.1) before the limit
    `most_embedded`, which may lower the mean.
    """

    most_embedded: int = 53
    """Maximum number of embedded objects per page."""

    parsing: TimeLaw = field(default_factory=lambda: ExponentialDuration(mean="130 ms"))
    """Distribution of the time to parse a page. It begins when the main object's last ACK arrives
    at its sender, or at a proxy in front of the server. When it ends, the embedded objects are
    requested (in an upload, sent).
    """

    reading: TimeLaw = field(default_factory=lambda: ExponentialDuration(mean="30 s"))
    """Distribution of the time to read a page. It begins when the page's last ACK arrives at its
    sender, or at a proxy in front of the server. When it ends, the next page is requested (in
    an upload, sent).
    """

    request: Size = "350 B"
    """Payload of each request. No effect in an upload."""

    server_delay: Duration = "0 s"
    """Time that the server takes for each answer, from the arrival of the request. No effect in an
    upload.
    """


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
    """Times at which the server writes the amounts, in ascending order."""

    bytes: list[Size] = field(default_factory=list)
    """Amounts of data, one per time."""


class External(Part):
    """Packets of a real host or another program, both ways; only with `nodeb emulate`."""

    tag: ClassVar[str | None] = "external"


class ConstantSize(Part):
    """The same size in every draw."""

    tag: ClassVar[str | None] = "constant"

    value: Size
    """Value of every draw."""


class ExponentialSize(Part):
    """Exponential distribution, given by its mean."""

    tag: ClassVar[str | None] = "exponential"

    mean: Size
    """Mean of the distribution; greater than 0."""


class ParetoSize(Part):
    """Pareto distribution, given by its mean and shape."""

    tag: ClassVar[str | None] = "pareto"

    mean: Size
    """Mean of the distribution without `max`."""

    shape: float
    """Shape of the distribution; greater than 1, as the mean would be infinite otherwise. Up to 2
    the variance is infinite.
    """

    max: Size | None = None
    """Maximum, to which larger draws are reduced. Absent: no limit."""


class LogNormalSize(Part):
    """Log-normal distribution, given by its mean and standard deviation."""

    tag: ClassVar[str | None] = "log_normal"

    mean: Size
    """Mean of the distribution without `min` and `max`; greater than 0."""

    sd: Size
    """Standard deviation of the distribution without `min` and `max`."""

    min: Size | None = None
    """Minimum, to which smaller draws are raised. Absent: no limit."""

    max: Size | None = None
    """Maximum, to which larger draws are reduced. Absent: no limit."""


class ConstantDuration(Part):
    """The same time in every draw."""

    tag: ClassVar[str | None] = "constant"

    value: Duration
    """Value of every draw."""


class ExponentialDuration(Part):
    """Exponential distribution, given by its mean."""

    tag: ClassVar[str | None] = "exponential"

    mean: Duration
    """Mean of the distribution; greater than 0."""


class ParetoDuration(Part):
    """Pareto distribution, given by its mean and shape."""

    tag: ClassVar[str | None] = "pareto"

    mean: Duration
    """Mean of the distribution without `max`."""

    shape: float
    """Shape of the distribution; greater than 1, as the mean would be infinite otherwise. Up to 2
    the variance is infinite.
    """

    max: Duration | None = None
    """Maximum, to which larger draws are reduced. Absent: no limit."""


class LogNormalDuration(Part):
    """Log-normal distribution, given by its mean and standard deviation."""

    tag: ClassVar[str | None] = "log_normal"

    mean: Duration
    """Mean of the distribution without `min` and `max`; greater than 0."""

    sd: Duration
    """Standard deviation of the distribution without `min` and `max`."""

    min: Duration | None = None
    """Minimum, to which smaller draws are raised. Absent: no limit."""

    max: Duration | None = None
    """Maximum, to which larger draws are reduced. Absent: no limit."""


class Ue(Part):
    """Category and channel of the phones of a group on `hsdpa` or `lte`."""

    category: int = 6
    """UE category, 1 to 12. On `hsdpa` (TS 25.306, table 5.1a) it determines block sizes, codes
    and the minimum distance between TTIs in which the phone receives. On `lte` (TS 36.306,
    tables 4.1-1 and 4.1-2) it determines the largest blocks, the largest number of layers, and
    whether the phone can use 256QAM in the downlink and 64QAM in the uplink.

    From 0 to 255.
    """

    channel: Channel = field(default_factory=lambda: Place())
    """Channel of each phone, which determines the SNR in every TTI."""


class Place(Part):
    """A position in the cell: path loss, shadowing, interference and fading."""

    tag: ClassVar[str | None] = "cell"

    distance: Distance | None = None
    """Distance from the Node B in the middle, in a random direction. Default: unless `position_m`
    is set, a random position, uniform in the area of all served cells.
    """

    position_m: list[float] | None = None
    """Position in metres east and north of the Node B in the middle; not with `distance`."""

    speed: Speed = "3 km/h"
    """Speed of the user, which determines the rate of fading and, unless the user stays, its
    movement.
    """

    movement: Movement = "stays"
    """Movement of the user: none, on a circle, or straight."""

    heading_deg: float | None = None
    """Initial direction of a user who moves `straight`, in degrees from east to north. Default:
    random.
    """

    profile: Profile = "pedestrian_a"
    """Power-delay profile by its name: delays and mean powers of the paths."""

    taps: list[Tap] | None = None
    """User-defined paths, which replace the named profile."""


class Fading(Part):
    """Fading around a given mean SNR."""

    tag: ClassVar[str | None] = "fading"

    mean_snr_db: float = 5.0
    """Mean SNR in dB: on `hsdpa` that of HS-PDSCH before despreading, on `lte` that of a resource
    element.
    """

    profile: Profile = "flat"
    """Power-delay profile by its name: delays and mean powers of the paths."""

    taps: list[Tap] | None = None
    """User-defined paths, which replace the named profile."""

    speed: Speed = "3 km/h"
    """Speed of the user, which determines the rate of fading."""


class Constant(Part):
    """The same SNR in every TTI."""

    tag: ClassVar[str | None] = "constant"

    snr_db: float = 5.0
    """SNR in dB: on `hsdpa` that of HS-PDSCH before despreading, on `lte` that of a resource
    element.
    """


class Trace(Part):
    """SNRs, CQIs or bit rates from a recording with one line per TTI."""

    tag: ClassVar[str | None] = "trace"

    file: str | None = None
    """Path of a recording that contains the lists, relative to the folder of the scenario file."""

    at_end: AtEnd | None = None
    """Behaviour at the end of the recording. Default: none, the run must not be longer than the
    recording.
    """

    rates: list[Rate] | None = None
    """Bit rate of each TTI, instead of SNRs: the size of the TTI's block is this rate times the
    TTI, 2 ms on `hsdpa` and 1 ms on `lte`, and the block cannot fail. On `lte`, a part of the
    resource blocks carries the same part of the rate.
    """

    snrs_db: list[float] = field(default_factory=list)
    """SNR of each TTI in dB: on `hsdpa` that of HS-PDSCH before despreading, on `lte` that of a
    resource element.
    """

    second_db: list[float] | None = None
    """SNR in dB after two transmissions of a block, listed by the TTI of the second one, on
    `hsdpa` only. Default: computed by combining.
    """

    third_db: list[float] | None = None
    """SNR in dB after three transmissions of a block, listed by the TTI of the third one, on
    `hsdpa` only. Default: computed by combining.
    """

    cqi: list[int] | None = None
    """CQI measured in each TTI. On `hsdpa` 0 to 30, beside SNRs. On `lte` 0 to 15, instead of
    SNRs, and the SNR is the middle of those at which phones report the CQI. Default: computed
    from the SNR.
    """


class Tap(Part):
    """Path of a power-delay profile."""

    delay: Duration
    """Delay of the path after the first path."""

    power_db: float
    """Mean power in dB, relative to the other paths."""


class Bearer(Part):
    """EPS bearer: a class of service (TS 23.203, 6.1.7) with a queue and an RLC of its own in each
    direction.
    """

    qci: int = 9
    """QoS class identifier (QCI), 1 to 9 (TS 23.203, table 6.1.7), which sets priority and delay
    budget. QCIs 1 to 4 have a guaranteed bit rate.

    From 0 to 255.
    """

    delay_budget: Duration | None = None
    """Time that a packet may wait at the base station, for schedulers that use deadlines. Absent:
    the packet delay budget of the QCI; 50 ms to 300 ms.
    """

    prioritized_rate: Rate | None = None
    """Bit rate up to which the bearer precedes bearers of lower priority: the guaranteed bit rate
    (GBR) of QCIs 1 to 4, which require it, and the prioritized bit rate of the logical channel
    (TS 36.321, 5.4.3.1). The base station serves it before all other data of the cell. Absent:
    0.
    """

    rlc: LteRlc | None = None
    """RLC mode of the bearer. Absent: `radio.lte.rlc`."""


class Record(Part):
    """Time series to record. The memory for each time series grows with the length of the run."""

    cwnd: bool = False
    """Whether to record the congestion window and the slow-start threshold at every change."""

    segments: bool = False
    """Whether to record every segment sent, delivered or dropped, and every ACK that reaches its
    sender.
    """

    rtt: bool = False
    """Whether to record every round-trip time that TCP measures."""

    queue: bool = False
    """Whether to record the backlog of a user at the Node B, in packets and bytes, whenever the
    user's bearer accepts or delivers a packet.
    """

    transfers: bool = False
    """Whether to record every completed transfer with its times and size."""

    scheduler: bool = False
    """Whether to record the users served in every TTI, with C/I value, PDUs and failed blocks."""

    bandwidth: bool | None = None
    """Whether to record, every 20 ms, each user's CQI and the bytes that it could have been sent
    if data had always been waiting. `hsdpa` only; measuring about doubles the simulation time.
    """


class ScenarioFields(Part):
    """Scenario: a server, a fixed network, a Node B, and phones that download or upload."""

    name: str = ""
    """Short description of the scenario."""

    seed: int = 1
    """Seed of all random numbers."""

    runs: int = 10
    """Number of independent replications.

    At least 1.
    """

    precision: Probability | None = None
    """Required precision: replications are added until the half-width of the 95 % confidence
    interval of the mean application bit rate is at most this fraction of the mean. `runs` is
    then the minimum number. Absent: `runs` replications.
    """

    max_runs: int = 200
    """Maximum number of replications with `precision`; no effect without it.

    At least 1.
    """

    duration: Duration = "100000 s"
    """Simulated time after which a replication ends, even if transfers are incomplete."""

    wired: Wired = field(default_factory=lambda: Wired())
    """Link between server and gateway. Without `core`, the gateway is at the Node B."""

    core: Wired | list[Wired] | None = None
    """Link between gateway and Node B, or a list of links that lead from the gateway to the Node
    B. Absent: the gateway is at the Node B.
    """

    proxy: Proxy | None = None
    """Proxy at the gateway. Absent: no proxy."""

    snoop: Snoop | None = None
    """Snoop agent at the Node B. Absent: no agent."""

    uplink: Uplink | None = None
    """Uplink of each phone, a link that no other phone uses; must be absent or have its defaults
    if the base station schedules the uplink.
    """

    radio: Radio = field(default_factory=lambda: HsDsch())
    """Radio bearers, which carry the downlink over the air and, if the base station schedules it,
    the uplink.
    """

    tcp: Tcp | None = None
    """TCP at the servers and the phones. Default: `"classic"`; with `radio.lte`: `"linux"`."""

    users: list[UserGroup] = field(default_factory=list)
    """Groups of phones with the same settings."""

    record: Record = field(default_factory=lambda: Record())
    """Time series to record. Default: none."""


Loss: TypeAlias = RandomLoss | PeriodicLoss | LossList | DataList | GilbertElliott
"""The loss: a name, or a table with one key."""

Queue: TypeAlias = (
    DropTail | Red | Codel | FqCodel | Pie | Literal["drop_tail", "red", "codel", "fq_codel", "pie"]
)
"""The queue: a name, or a table with one key."""

Jitter: TypeAlias = (
    UniformJitter | NormalJitter | TraceJitter | Literal["uniform", "normal", "trace"]
)
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
    | Lte
    | FachDch
    | Wcdma
    | LinkBearer
    | TraceBearer
    | Literal["dch", "hs_dsch", "hsdpa", "lte", "fach_dch", "wcdma", "link", "trace"]
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
    | Uma
    | Umi
    | Rma
    | Literal["log_distance", "cost231_hata", "outdoor_to_indoor", "uma", "umi", "rma"]
)
"""The path loss: a name, or a table with one key."""

Interference: TypeAlias = Hexagonal | FixedLevel | Literal["hexagonal", "fixed"]
"""The interference: a name, or a table with one key."""

LteRlc: TypeAlias = LteUm | LteAm | Literal["um", "am"]
"""The LTE RLC mode: a name, or a table with one key."""

UplinkSpec: TypeAlias = Plain | Scheduled | Literal["plain", "scheduled"]
"""The uplink of LTE: a name, or a table with one key."""

Grant: TypeAlias = OnRequest | Ahead | Configured | Literal["on_request", "ahead", "configured"]
"""The grants: a name, or a table with one key."""

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

Selection: TypeAlias = (
    OneStepSelection | PerUser | FixedRate | Literal["one_step", "per_user", "fixed"]
)
"""The rate selection: a name, or a table with one key."""

ProfileSpec: TypeAlias = EqualPaths | VehicularB | Taps | Literal["equal_paths", "vehicular_b"]
"""The profile: a name, or a table with one key."""

OtherCells: TypeAlias = MeanInterference | InterferenceMap | Literal["mean", "map"]
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
