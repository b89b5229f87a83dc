//! Causes of the delays on a critical path ([`Cause`]), and the activities during them ([`Step`]).

macro_rules! names {
    ($(#[$about:meta])* $of:ident { $( $(#[doc = $meaning:literal])+ $case:ident = $name:literal, )+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $of { $( $(#[doc = $meaning])+ $case, )+ }

        impl $of {
            /// All values, in the order of their discriminants.
            pub const ALL: &[Self] = &[$( Self::$case, )+];

            /// Returns the name that tables and reports show.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$case => $name, )+ }
            }

            /// Returns the description of the value: the text of its doc comment.
            pub const fn meaning(self) -> &'static str {
                match self { $( Self::$case => concat!($( $meaning ),+), )+ }
            }
        }
    };
}

names! {
    /// Cause of a part of a transfer's duration, as tables and reports name it.
    Cause {
        /// The application on either side had not requested more, or had not written more.
        Application = "application",
        /// Round trip of the SYN and its answer.
        Handshake = "handshake",
        /// Trip of the request to the server.
        Request = "request",
        /// The server worked on its answer.
        Server = "server",
        /// Propagation of signals after the last decision to send, up to the arrival.
        Propagation = "propagation",
        /// Transmission of bits after the last decision to send, and wherever a packet waits behind the transfer's
        /// own data or their ACKs.
        Transmission = "transmission",
        /// Waiting behind packets of the same connection that do not belong to this transfer.
        QueueBehindOwn = "queue behind own data",
        /// Waiting behind other connections' packets on a link, or behind signalling.
        QueueBehindOthers = "queue behind others",
        /// The Node B's scheduler served other users, or the user's channel was too bad to be served. On a recorded
        /// link: there was no delivery opportunity.
        Scheduler = "waiting for the scheduler",
        /// Waiting for the next TTI, in which the packet is segmented into blocks.
        Segmentation = "segmentation",
        /// Retransmissions of hybrid ARQ, and the wait for its answers.
        Harq = "HARQ round trips",
        /// In-order delivery waited for a block that never arrived.
        Reordering = "reordering wait",
        /// Retransmissions of RLC, the wait for its reports, and its full window.
        Rlc = "RLC retransmission",
        /// Switching between channels.
        ChannelSwitching = "channel set-up and release",
        /// Waiting at the RNC for credits of the Node B, and the part of the Iub's delay that only this wait puts on
        /// the path.
        Credits = "credits",
        /// Waiting while the phone's serving cell was changed.
        Handover = "handover",
        /// The receiver delayed an ACK.
        DelayedAck = "delayed ACK",
        /// Round trips taken because the window was still growing in slow start.
        SlowStart = "window: slow start",
        /// Round trips taken because the window was too small, beyond the slow-start threshold.
        CongestionAvoidance = "window: congestion avoidance",
        /// Round trips and waits caused by the receiver's window.
        ReceiverWindow = "window: receiver",
        /// Round trips and waits caused by a proxy's window that the RNC sets.
        ProxyWindow = "window: proxy",
        /// Round trips that recovered a loss.
        Recovery = "recovery",
        /// Waiting for TCP's retransmission timer after a loss.
        Timeout = "timeout",
        /// The sender paced its segments.
        Pacing = "pacing",
    }
}

names! {
    /// Activity during a span, at the place of the span.
    Step {
        /// Signals propagated.
        Propagates = "propagates",
        /// The path's packet was transmitted.
        Sends = "sends",
        /// The link's jitter or reordering delayed the packet beyond the link's delay.
        Jitter = "jitter",
        /// The link was out of service.
        Outage = "outage",
        /// Packets of the same connection ahead of the path's packet were transmitted.
        OwnAhead = "own data ahead",
        /// Other users or connections were served.
        OthersServed = "others served",
        /// Signalling used the channel.
        Signalling = "signalling",
        /// No user was served, and this user could not be.
        NotServed = "not served",
        /// The next TTI was awaited.
        TtiBegins = "TTI begins",
        /// A block was retransmitted.
        Retransmits = "block repeated",
        /// A failed block waited for its retransmission.
        RetransmissionAwaited = "answer and repetition awaited",
        /// Blocks waited at the receiver for an earlier one.
        Held = "held for order",
        /// The loss of a PDU was detected and reported, up to its retransmission.
        ReportAwaited = "report awaited",
        /// The channel was switched.
        Switches = "channel switched",
        /// Frames crossed the Iub.
        Iub = "crosses the Iub",
        /// The RNC had no credits.
        NoCredits = "no credits",
        /// The serving cell changed.
        CellChanges = "cell changes",
        /// The receiver delayed its ACK.
        AckHeld = "ACK held back",
        /// The receiver's application had not read its data.
        Reads = "receiver reads",
        /// A timer ran.
        TimerRuns = "timer runs",
        /// The pacer delayed a segment.
        Paced = "pacer",
        /// The server worked on its answer.
        Works = "server works",
        /// The application had not requested the data yet.
        NotAsked = "not asked for",
        /// A real host, or its application, had not sent yet.
        HostWorks = "host works",
    }
}
