"""The types of a scenario. Generated from its JSON Schema by `make types`; do not edit.

Every class is a table of the scenario file, every field a key. A quantity is a string with its
unit, such as "110 ms". A component that comes in variants (radio, scheduler, traffic, ...) is
given as an object of the variant's class, or by its name alone when its defaults will do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from nodeb.parts import Part

__all__ = [
    "Bbr",
    "Cbr",
    "Chase",
    "Classic",
    "Combining",
    "Congestion",
    "ConstantDuration",
    "ConstantSize",
    "Control",
    "Cubic",
    "Dch",
    "Delivered",
    "DropTail",
    "Duration",
    "Era",
    "ExponentialDuration",
    "ExponentialSize",
    "Ftp",
    "HsDsch",
    "IncrementalRedundancy",
    "LinkBearer",
    "Linux",
    "LinuxReno",
    "LogNormalDuration",
    "LogNormalSize",
    "MaxCi",
    "NewReno",
    "NoCombining",
    "OnOff",
    "Opener",
    "ParetoDuration",
    "ParetoSize",
    "Probability",
    "ProportionalFair",
    "Queue",
    "Radio",
    "Rate",
    "Record",
    "Reno",
    "Replay",
    "RoundRobin",
    "Sack",
    "ScenarioFields",
    "Scheduler",
    "Size",
    "SizeLaw",
    "Tahoe",
    "Tcp",
    "TimeLaw",
    "Traffic",
    "Uplink",
    "UserGroup",
    "Vegas",
    "Veno",
    "Web",
    "Westwood",
    "Wired",
]


Probability: TypeAlias = float
"""A probability, from 0 to 1."""

Duration: TypeAlias = str
"""A time with its unit, such as "110 ms"."""

Rate: TypeAlias = str
"""A bit rate with its unit, such as "384 kbps"."""

Size: TypeAlias = str
"""A size with its unit, such as "50 kB"."""

Delivered: TypeAlias = Literal["in_sequence", "out_of_sequence"]
"""Order in which packets leave a bearer.

`in_sequence`: A packet waits until all before it are complete.

`out_of_sequence`: A packet leaves as soon as it is complete.
"""

Era: TypeAlias = Literal["2003", "2011"]
"""The versions of ns-2 whose TCP defaults differ in what matters to the studies.

`2003`: ns-2.26 and 2.27, as used in 2003: minimum RTO 1 s, no Limited Transmit, the SYN's
ACK held back like any other.

`2011`: ns-2.35 of 2011: minimum RTO 200 ms, Limited Transmit, the SYN acknowledged at once.
"""

Opener: TypeAlias = Literal["phone", "server"]
"""Who opens a connection.

`phone`: The phone asks first, so that the server's SYN is an answer.

`server`: The server sends its SYN unasked, as ns-2's one-way agents do.
"""


@dataclass(kw_only=True, slots=True)
class Wired(Part):
    """The link between server and Node B, both ways."""

    rate: Rate = "10 Mbps"
    """Bit rate in each direction."""

    delay: Duration = "110 ms"
    """Propagation delay in each direction."""

    loss: Probability = 0.0
    """Probability that a packet towards the phone is lost, independently of the others."""

    queue: Queue = field(default_factory=lambda: DropTail())
    """Queue in each direction."""


@dataclass(kw_only=True, slots=True)
class DropTail(Part):
    """First in, first out; a packet that finds the queue full is dropped."""

    tag: ClassVar[str | None] = "drop_tail"

    limit: int = 1000
    """Packets the queue can be filled to. As in ns-2 the packet in service does not count, and an
    arrival is dropped when it would be the `limit`-th to wait.

    At least 1.
    """


@dataclass(kw_only=True, slots=True)
class Uplink(Part):
    """A phone's dedicated, error-free uplink."""

    rate: Rate = "64 kbps"
    """Bit rate."""

    delay: Duration = "20 ms"
    """Delay from the end of sending to the Node B."""

    queue: Queue = field(default_factory=lambda: DropTail())
    """Queue at the phone."""


@dataclass(kw_only=True, slots=True)
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
    """Payload of a PDU. A packet is cut into whole PDUs; the last is padded, not shared."""

    pdus_per_tti: int = 1
    """PDUs in a block.

    At least 1.
    """

    bler: Probability = 0.01
    """Block error rate."""

    retransmission_delay: Duration = "99 ms"
    """From the beginning of a failed TTI until its block may be sent again, at a TTI boundary."""

    max_transmissions: int | None = None
    """Transmissions of a block before it is given up; unlimited when absent.

    At least 1.
    """

    delivery: Delivered = "in_sequence"
    """Order in which packets leave the bearer."""

    buffer: int = 1000
    """Packets that the buffer holds.

    At least 1.
    """


@dataclass(kw_only=True, slots=True)
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
    """Payload of a PDU. A packet is cut into whole PDUs; the last is padded, not shared."""

    pdus_per_tti: int = 1
    """PDUs in a block at constant rate. A user with a C/I process gets as many PDUs per block as
    its C/I value of the TTI instead.

    At least 1.
    """

    bler: Probability = 0.01
    """Block error rate of a first transmission."""

    retransmission_delay: Duration = "9.5 ms"
    """From the beginning of a failed TTI until its block may be sent again, at a TTI boundary."""

    max_transmissions: int | None = None
    """Transmissions of a block before it is given up; unlimited when absent.

    At least 1.
    """

    combining: Combining = field(default_factory=lambda: NoCombining())
    """What a receiver does with the failed transmissions of a block."""

    scheduler: Scheduler = field(default_factory=lambda: RoundRobin())
    """Who gets the next TTI."""

    delivery: Delivered = "in_sequence"
    """Order in which packets leave the bearer."""

    buffer: int = 1000
    """Packets that each user's buffer holds.

    At least 1.
    """


@dataclass(kw_only=True, slots=True)
class LinkBearer(Part):
    """No radio: a plain link with a rate, a delay and a queue, one per user."""

    tag: ClassVar[str | None] = "link"

    rate: Rate = "384 kbps"
    """Bit rate."""

    delay: Duration = "0 s"
    """Propagation delay."""

    queue: Queue = field(default_factory=lambda: DropTail())
    """Queue at the Node B."""

    loss: Probability = 0.0
    """Probability that a packet is lost, independently of the others."""

    drop_list: list[int] = field(default_factory=list)
    """Packets to lose instead, by their position in the order of arrival, 0 being the first."""


@dataclass(kw_only=True, slots=True)
class NoCombining(Part):
    """H-ARQ type I: a failed block is discarded, each transmission stands alone."""

    tag: ClassVar[str | None] = "none"


@dataclass(kw_only=True, slots=True)
class Chase(Part):
    """Chase combining: repetitions add up their energy."""

    tag: ClassVar[str | None] = "chase"

    efficiency: Probability = 0.93
    """Share of the ideal gain that each further transmission keeps."""


@dataclass(kw_only=True, slots=True)
class IncrementalRedundancy(Part):
    """Incremental redundancy: each transmission adds new parity."""

    tag: ClassVar[str | None] = "incremental_redundancy"


@dataclass(kw_only=True, slots=True)
class RoundRobin(Part):
    """Users take turns."""

    tag: ClassVar[str | None] = "round_robin"


@dataclass(kw_only=True, slots=True)
class MaxCi(Part):
    """The user with the best channel; among equals the one served least recently."""

    tag: ClassVar[str | None] = "max_ci"


@dataclass(kw_only=True, slots=True)
class ProportionalFair(Part):
    """The user whose channel is best against what it has been getting."""

    tag: ClassVar[str | None] = "proportional_fair"

    window: Duration = "1.67 s"
    """Time constant `t_c` of the mean rate. Jalali et al. use 1000 slots of 1.67 ms."""


@dataclass(kw_only=True, slots=True)
class Classic(Part):
    """As in ns-2 and the studies: counts segments, one round-trip sample at a time, go-back-N."""

    tag: ClassVar[str | None] = "classic"

    control: Control = field(default_factory=lambda: NewReno())
    """What the sender does about loss."""

    era: Era = "2003"
    """The ns-2 whose defaults hold for `min_rto`, `limited_transmit` and `delayed_syn_ack`."""

    packet_size: Size = "1.5 kB"
    """A full-sized segment on the wire, with 40 B of IP and TCP headers."""

    initial_window: int = 2
    """Congestion window once the connection is set up, in packets.

    At least 1.
    """

    max_window: int = 42
    """Largest window the receiver allows, in packets.

    At least 1.
    """

    initial_ssthresh: int = 40
    """Slow-start threshold at the start, in packets.

    At least 1.
    """

    min_rto: Duration | None = None
    """Smallest retransmission timeout, before backoff; absent: the era's."""

    max_rto: Duration = "1 min"
    """Largest retransmission timeout, backoff included."""

    initial_rto: Duration = "3 s"
    """Retransmission timeout until the first round trip is measured (RFC 2988, 2.1)."""

    clock: Duration = "10 ms"
    """Granularity of the clock that measures round trips (ns-2's `tcpTick_`)."""

    clock_phase: Duration = "0 s"
    """Phase of that clock when the simulation begins; less than one tick."""

    limited_transmit: bool | None = None
    """Send a new segment on each of the first two duplicate ACKs (RFC 3042); absent: the era's."""

    delayed_ack: Duration = "100 ms"
    """How long the receiver holds back the ACK of a single segment; 0 acknowledges each at once."""

    delayed_syn_ack: bool | None = None
    """Whether the ACK of a SYN that the server sent unasked is held back as well; absent: the
    era's.
    """

    opened_by: Opener = "phone"
    """Who opens the connection."""


@dataclass(kw_only=True, slots=True)
class Linux(Part):
    """As in today's Linux: byte counts, SACK, RACK-TLP, PRR, pacing, timestamps."""

    tag: ClassVar[str | None] = "linux"

    control: Congestion = field(default_factory=lambda: Cubic())
    """How large the window is and how fast it is sent."""

    packet_size: Size = "1.5 kB"
    """A full-sized segment on the wire, with 40 B of IP and TCP headers and the options."""

    initial_window: int = 10
    """Congestion window once the connection is set up, in segments (RFC 6928).

    At least 1.
    """

    timestamps: bool = True
    """Timestamps in every segment (RFC 7323): 12 B."""

    sack: bool = True
    """Selective acknowledgements (RFC 2018): up to three blocks of 8 B in an ACK."""

    dsack: bool = True
    """Report duplicates in the first SACK block (RFC 2883)."""

    rack: bool = True
    """Find losses by time (RACK, RFC 8985) rather than by counting (RFC 6675). Needs SACK."""

    tail_loss_probe: bool = True
    """Probe for a lost tail before the timeout (TLP, RFC 8985, section 7). Needs RACK."""

    undo: bool = True
    """Take a reduction back when timestamps (RFC 3522) or D-SACKs (RFC 3708) show that nothing was
    lost (RFC 4015).
    """

    ecn: bool = False
    """Let queues mark segments instead of dropping them (RFC 3168)."""

    pacing: bool = True
    """Spread segments over the round trip."""

    min_rto: Duration = "200 ms"
    """Least share of the timeout that stands for the variation of the round trip. As in Linux the
    timeout is the smoothed round trip and at least this.
    """

    max_rto: Duration = "2 min"
    """Largest retransmission timeout, backoff included."""

    initial_rto: Duration = "1 s"
    """Retransmission timeout until the first round trip is measured (RFC 6298, 2.1)."""

    delayed_ack: Duration = "40 ms"
    """How long the receiver holds back the ACK of a single segment; 0 acknowledges each at once."""

    quick_acks: int = 16
    """Segments at the start that the receiver acknowledges at once, for slow start's sake."""

    receive_buffer: Size = "6 MB"
    """Memory of the receiver for what the application has not read; bounds the window. It has its
    full size from the start.
    """

    read_rate: Rate | None = None
    """Rate at which the application at the phone reads; at once when absent."""

    opened_by: Opener = "phone"
    """Who opens the connection."""


@dataclass(kw_only=True, slots=True)
class Tahoe(Part):
    """Tahoe: any loss is answered by slow start from one segment."""

    tag: ClassVar[str | None] = "tahoe"


@dataclass(kw_only=True, slots=True)
class Reno(Part):
    """Reno (RFC 2581): fast recovery until the first new ACK."""

    tag: ClassVar[str | None] = "reno"


@dataclass(kw_only=True, slots=True)
class NewReno(Part):
    """NewReno (RFC 6582): stays in fast recovery until the whole window is acknowledged."""

    tag: ClassVar[str | None] = "newreno"


@dataclass(kw_only=True, slots=True)
class Sack(Part):
    """SACK (RFC 2018) with ns-2's pipe algorithm: retransmits just what is missing."""

    tag: ClassVar[str | None] = "sack"


@dataclass(kw_only=True, slots=True)
class LinuxReno(Part):
    """Reno (RFC 5681) with byte counting (RFC 3465): one segment more per round trip."""

    tag: ClassVar[str | None] = "reno"


@dataclass(kw_only=True, slots=True)
class Cubic(Part):
    """CUBIC (RFC 9438) with HyStart++ (RFC 9406): grows with time since the last reduction."""

    tag: ClassVar[str | None] = "cubic"

    beta: float = 0.7
    """Share of the window that a reduction leaves, `beta_cubic` (RFC 9438, 4.6)."""

    c: float = 0.4
    """Aggressiveness in segments per second cubed, `C` (RFC 9438, 5)."""

    fast_convergence: bool = True
    """Leave bandwidth to newcomers: remember less than the window at loss (RFC 9438, 4.7)."""

    hystart: bool = True
    """Leave slow start when the round trip grows (RFC 9406)."""


@dataclass(kw_only=True, slots=True)
class Bbr(Part):
    """BBR version 1: paced at the bandwidth that it measures, with a short queue."""

    tag: ClassVar[str | None] = "bbr"

    min_rtt_window: Duration = "10 s"
    """How long the smallest round trip is trusted before it is measured anew (4.1.2:
    `RTpropFilterLen`).
    """

    probe_rtt: Duration = "200 ms"
    """How long the window is kept small for that (4.3.5: `ProbeRTTDuration`)."""


@dataclass(kw_only=True, slots=True)
class Westwood(Part):
    """Westwood+: after a loss falls to the bandwidth that it has measured, for radio links."""

    tag: ClassVar[str | None] = "westwood"


@dataclass(kw_only=True, slots=True)
class Vegas(Part):
    """Vegas: keeps two to four segments in the queue and so avoids loss."""

    tag: ClassVar[str | None] = "vegas"

    alpha: int = 2
    """Fewer than these, and the window grows."""

    beta: int = 4
    """More than these, and it shrinks."""

    gamma: int = 1
    """More than these end slow start."""


@dataclass(kw_only=True, slots=True)
class Veno(Part):
    """Veno: Reno that takes a loss with a short queue for one of the radio."""

    tag: ClassVar[str | None] = "veno"

    beta: int = 3
    """Segments in the queue below which a loss is not taken for congestion."""


@dataclass(kw_only=True, slots=True)
class UserGroup(Part):
    """Phones that do the same."""

    name: str = "phone"
    """What the group is called in tables and plots."""

    count: int = 1
    """Number of phones.

    At least 1.
    """

    start: Duration = "0 s"
    """When the first phone begins."""

    stagger: Duration = "0 s"
    """How much later each further phone of the group begins."""

    traffic: Traffic
    """What each phone does."""

    ci: list[float] | None = None
    """Relative frequencies of the C/I values 1, 2, ...: each TTI draws one, and a block then
    carries that many PDUs. Absent at constant rate. HS-DSCH only.
    """


@dataclass(kw_only=True, slots=True)
class Ftp(Part):
    """One file fetched from the server: connection set-up, request, then the bytes."""

    tag: ClassVar[str | None] = "ftp"

    size: Size
    """Size of the file, without headers."""

    request: Size = "0 B"
    """Payload of the request, which rides on the ACK that completes the set-up; 0 makes the
    request a packet of headers alone.
    """


@dataclass(kw_only=True, slots=True)
class OnOff(Part):
    """Bursts of data with pauses between them, laws of one's own."""

    tag: ClassVar[str | None] = "on_off"

    burst: SizeLaw = field(default_factory=lambda: ExponentialSize(mean="30 kB"))
    """Size of a burst."""

    pause: TimeLaw = field(default_factory=lambda: ExponentialDuration(mean="5 s"))
    """Pause before each burst."""

    closed_loop: bool = True
    """Whether a pause begins when the burst before has been acknowledged (closed loop) or when it
    began (open loop, whose load does not depend on the network).
    """


@dataclass(kw_only=True, slots=True)
class Web(Part):
    """Pages with embedded objects, read for a while."""

    tag: ClassVar[str | None] = "web"

    main: SizeLaw = field(
        default_factory=lambda: LogNormalSize(
            mean="10.71 kB", sd="25.032 kB", min="100 B", max="2 MB"
        )
    )
    """Size of a page's main object."""

    embedded: SizeLaw = field(
        default_factory=lambda: LogNormalSize(
            mean="7.758 kB", sd="126.168 kB", min="50 B", max="2 MB"
        )
    )
    """Size of an embedded object."""

    embedded_objects: float = 5.64
    """Mean number of embedded objects; Pareto of shape 1.1, cut to `most_embedded`."""

    most_embedded: int = 53
    """Largest number of embedded objects."""

    parsing: TimeLaw = field(default_factory=lambda: ExponentialDuration(mean="130 ms"))
    """From the main object's arrival until the embedded ones are asked for."""

    reading: TimeLaw = field(default_factory=lambda: ExponentialDuration(mean="30 s"))
    """From a page's arrival until the next is asked for."""

    request: Size = "350 B"
    """Payload of a request."""


@dataclass(kw_only=True, slots=True)
class Cbr(Part):
    """Equal amounts of data at equal intervals."""

    tag: ClassVar[str | None] = "cbr"

    size: Size
    """Data per interval."""

    interval: Duration
    """Interval."""


@dataclass(kw_only=True, slots=True)
class Replay(Part):
    """A recorded list of times and bytes."""

    tag: ClassVar[str | None] = "replay"

    times: list[Duration]
    """When each amount is there to send; never going backward."""

    bytes: list[Size]
    """How much it is."""


@dataclass(kw_only=True, slots=True)
class ConstantSize(Part):
    """Always the same size."""

    tag: ClassVar[str | None] = "constant"

    value: Size
    """The value."""


@dataclass(kw_only=True, slots=True)
class ExponentialSize(Part):
    """Exponential with a mean."""

    tag: ClassVar[str | None] = "exponential"

    mean: Size
    """Mean."""


@dataclass(kw_only=True, slots=True)
class ParetoSize(Part):
    """Pareto with a mean and a shape."""

    tag: ClassVar[str | None] = "pareto"

    mean: Size
    """Mean, before `max` cuts it."""

    shape: float
    """Shape; above 1, or there would be no mean. At most 2 the variance is infinite."""

    max: Size | None = None
    """Larger draws are cut to this; absent: no limit."""


@dataclass(kw_only=True, slots=True)
class LogNormalSize(Part):
    """Log-normal with a mean and a standard deviation."""

    tag: ClassVar[str | None] = "log_normal"

    mean: Size
    """Mean, before the limits cut it."""

    sd: Size
    """Standard deviation."""

    min: Size | None = None
    """Smaller draws are raised to this."""

    max: Size | None = None
    """Larger draws are cut to this."""


@dataclass(kw_only=True, slots=True)
class ConstantDuration(Part):
    """Always the same time."""

    tag: ClassVar[str | None] = "constant"

    value: Duration
    """The value."""


@dataclass(kw_only=True, slots=True)
class ExponentialDuration(Part):
    """Exponential with a mean."""

    tag: ClassVar[str | None] = "exponential"

    mean: Duration
    """Mean."""


@dataclass(kw_only=True, slots=True)
class ParetoDuration(Part):
    """Pareto with a mean and a shape."""

    tag: ClassVar[str | None] = "pareto"

    mean: Duration
    """Mean, before `max` cuts it."""

    shape: float
    """Shape; above 1, or there would be no mean. At most 2 the variance is infinite."""

    max: Duration | None = None
    """Larger draws are cut to this; absent: no limit."""


@dataclass(kw_only=True, slots=True)
class LogNormalDuration(Part):
    """Log-normal with a mean and a standard deviation."""

    tag: ClassVar[str | None] = "log_normal"

    mean: Duration
    """Mean, before the limits cut it."""

    sd: Duration
    """Standard deviation."""

    min: Duration | None = None
    """Smaller draws are raised to this."""

    max: Duration | None = None
    """Larger draws are cut to this."""


@dataclass(kw_only=True, slots=True)
class Record(Part):
    """Time series to keep; each costs memory that grows with the length of the run."""

    cwnd: bool = False
    """Congestion window and slow-start threshold at every change."""

    segments: bool = False
    """Every segment sent, delivered or dropped, and every ACK that reaches the server."""

    rtt: bool = False
    """Every round trip that TCP measures."""

    queue: bool = False
    """Each user's packets and bytes at the Node B at every change."""

    transfers: bool = False
    """Every transfer completed."""

    scheduler: bool = False
    """Who was served in every TTI, at which C/I, and what failed."""


@dataclass(kw_only=True, slots=True)
class ScenarioFields(Part):
    """What to simulate: a server, a fixed network, a Node B, and phones that download."""

    name: str = ""
    """What the scenario is about, in a few words."""

    seed: int = 1
    """Seed of all randomness."""

    runs: int = 10
    """Independent replications.

    At least 1.
    """

    precision: Probability | None = None
    """Replicate instead until the half-width of the 95 % confidence interval of the mean
    application bit rate is at most this share of the mean.
    """

    max_runs: int = 200
    """Replications after which `precision` gives up.

    At least 1.
    """

    duration: Duration = "100000 s"
    """Simulated time after which a replication ends, finished or not."""

    wired: Wired = field(default_factory=lambda: Wired())
    """The link between server and Node B."""

    uplink: Uplink = field(default_factory=lambda: Uplink())
    """Each phone's uplink."""

    radio: Radio = field(default_factory=lambda: HsDsch())
    """The downlink over the air."""

    tcp: Tcp = field(default_factory=lambda: Classic())
    """TCP at the server and at the phones."""

    users: list[UserGroup] = field(default_factory=list)
    """The phones, in groups of like ones."""

    record: Record = field(default_factory=lambda: Record())
    """Time series to keep."""


Queue: TypeAlias = DropTail | Literal["drop_tail"]
"""The queue: a name, or a table with one key."""

Radio: TypeAlias = Dch | HsDsch | LinkBearer | Literal["dch", "hs_dsch", "link"]
"""The radio: a name, or a table with one key."""

Combining: TypeAlias = (
    NoCombining | Chase | IncrementalRedundancy | Literal["none", "chase", "incremental_redundancy"]
)
"""The combining: a name, or a table with one key."""

Scheduler: TypeAlias = (
    RoundRobin | MaxCi | ProportionalFair | Literal["round_robin", "max_ci", "proportional_fair"]
)
"""The scheduler: a name, or a table with one key."""

Tcp: TypeAlias = Classic | Linux | Literal["classic", "linux"]
"""The tcp: a name, or a table with one key."""

Control: TypeAlias = Tahoe | Reno | NewReno | Sack | Literal["tahoe", "reno", "newreno", "sack"]
"""The control: a name, or a table with one key."""

Congestion: TypeAlias = (
    LinuxReno
    | Cubic
    | Bbr
    | Westwood
    | Vegas
    | Veno
    | Literal["reno", "cubic", "bbr", "westwood", "vegas", "veno"]
)
"""The congestion control: a name, or a table with one key."""

Traffic: TypeAlias = Ftp | OnOff | Web | Cbr | Replay | Literal["on_off", "web"]
"""The traffic: a name, or a table with one key."""

SizeLaw: TypeAlias = ConstantSize | ExponentialSize | ParetoSize | LogNormalSize
"""The size law: a name, or a table with one key."""

TimeLaw: TypeAlias = ConstantDuration | ExponentialDuration | ParetoDuration | LogNormalDuration
"""The time law: a name, or a table with one key."""
