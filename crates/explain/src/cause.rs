//! The closed list of causes, and of what was happening at a place meanwhile.

macro_rules! names {
    ($(#[$about:meta])* $of:ident { $( $(#[doc = $meaning:literal])+ $case:ident = $name:literal, )+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $of { $( $(#[doc = $meaning])+ $case, )+ }

        impl $of {
            /// All of them, in the order of the list.
            pub const ALL: &[Self] = &[$( Self::$case, )+];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$case => $name, )+ }
            }

            /// What it means.
            pub const fn meaning(self) -> &'static str {
                match self { $( Self::$case => concat!($( $meaning ),+), )+ }
            }
        }
    };
}

names! {
    /// Why time passes.
    Cause {
        /// The application on either side had not asked for more, or could not write more.
        Application = "application",
        /// The round trip of the SYN and its answer.
        Handshake = "handshake",
        /// The way of the request.
        Request = "request",
        /// The server worked on its answer.
        Server = "server",
        /// Signals on their way on the last flight, from the last decision to send to the arrival.
        Propagation = "propagation",
        /// Bits going out: on the last flight, and wherever a packet waits behind the transfer's own data or their ACKs.
        Transmission = "transmission",
        /// Waiting behind packets of the same connection that are not of this transfer.
        QueueBehindOwn = "queue behind own data",
        /// Waiting behind other connections' packets on a link, or signalling.
        QueueBehindOthers = "queue behind others",
        /// The Node B's scheduler served others, or the user's own channel was too bad to be served; on a recorded link,
        /// there was no delivery opportunity.
        Scheduler = "waiting for the scheduler",
        /// Waiting for the next TTI, in which the packet is cut into blocks.
        Segmentation = "segmentation",
        /// Blocks that hybrid ARQ sent again, and the wait for their answers.
        Harq = "HARQ round trips",
        /// Waiting for a block that never came, to keep the order.
        Reordering = "reordering wait",
        /// PDUs that RLC sent again, the wait for its reports, and its full window.
        Rlc = "RLC retransmission",
        /// Switching between channels.
        ChannelSwitching = "channel set-up and release",
        /// Waiting at the RNC for credits of the Node B, and the part of the crossing of the Iub that only this wait
        /// puts on the path.
        Credits = "credits",
        /// A change of cell.
        Handover = "handover",
        /// An ACK that the receiver held back.
        DelayedAck = "delayed ACK",
        /// Round trips taken because the window was still opening.
        SlowStart = "window: slow start",
        /// Round trips taken because the window was no larger, beyond the slow-start threshold.
        CongestionAvoidance = "window: congestion avoidance",
        /// Round trips and waits that the receiver's window cost.
        ReceiverWindow = "window: receiver",
        /// Round trips and waits for a window that a proxy was told.
        ProxyWindow = "window: proxy",
        /// Round trips that repaired a loss.
        Recovery = "recovery",
        /// Waiting for a timer to tell of a loss.
        Timeout = "timeout",
        /// The sender spread its segments over time.
        Pacing = "pacing",
    }
}

names! {
    /// What was happening at the place of a span.
    Step {
        /// Signals were on their way.
        Propagates = "propagates",
        /// The path's packet was being sent.
        Sends = "sends",
        /// The link's jitter, or its holding packets back, kept it beyond the link's delay.
        Jitter = "jitter",
        /// The link was out of service.
        Outage = "outage",
        /// Packets of the same connection ahead of it were being sent.
        OwnAhead = "own data ahead",
        /// Others were served.
        OthersServed = "others served",
        /// Signalling used the channel.
        Signalling = "signalling",
        /// Nobody was served, and the user could not be.
        NotServed = "not served",
        /// A TTI was awaited.
        TtiBegins = "TTI begins",
        /// A block was sent again.
        Repeats = "block repeated",
        /// A failed block waited to go again.
        RepeatWaits = "answer and repetition awaited",
        /// Blocks waited at the receiver for one before them.
        Held = "held for order",
        /// A lost PDU was noticed, reported and sent again.
        ReportAwaited = "report awaited",
        /// The channel was being switched.
        Switches = "channel switched",
        /// Frames crossed the Iub.
        Iub = "crosses the Iub",
        /// The RNC had no credits.
        NoCredits = "no credits",
        /// The cell changed.
        CellChanges = "cell changes",
        /// The receiver held its ACK back.
        AckHeld = "ACK held back",
        /// The receiver's application had not read.
        Reads = "receiver reads",
        /// A timer ran.
        TimerRuns = "timer runs",
        /// The pacer held a segment.
        Paced = "pacer",
        /// The server worked.
        Works = "server works",
        /// Nobody had asked yet.
        NotAsked = "not asked for",
        /// A real host, or what ran on it, had not sent yet.
        HostWorks = "host works",
    }
}
