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
    /// Cause to which a part of a transfer's duration is charged.
    Cause {
        /// The application on either side had not requested more data, or had not written more.
        Application = "application",
        /// Round trip of the SYN and the SYN that answers it.
        Handshake = "handshake",
        /// Trip of the phone's request to the server.
        Request = "request",
        /// The server worked on its answer to the request.
        Server = "server",
        /// Propagation of signals after the last decision to send, up to the arrival of the data.
        Propagation = "propagation",
        /// Transmission of bits after the last decision to send, and wherever a packet waits behind
        /// the transfer's own data or their ACKs.
        Transmission = "transmission",
        /// Waiting behind packets of the same connection that do not belong to this transfer.
        QueueBehindOwn = "queue behind own data",
        /// Waiting behind other connections' packets on a link, or behind signalling.
        QueueBehindOthers = "queue behind others",
        /// The Node B's scheduler served other users, or the user's channel was too bad to be served. On a recorded
        /// link: there was no delivery opportunity.
        Scheduler = "waiting for the scheduler",
        /// Waiting for the phone's next scheduling request and for the base station's grant, or for the next block of a
        /// configured grant.
        Grant = "uplink grant",
        /// Waiting for the next TTI, in which the packet is segmented into blocks.
        Segmentation = "segmentation",
        /// Retransmissions of hybrid ARQ, and the wait for ACKs or NACKs of blocks.
        Harq = "HARQ round trips",
        /// In-order delivery waited for a block that never arrived or, at a scheduled uplink, that arrived later.
        Reordering = "reordering wait",
        /// Retransmissions of RLC, the wait for status reports, and RLC's full window.
        Rlc = "RLC retransmission",
        /// The phone was paged, switched between the FACH and a dedicated channel, or set up a connection.
        ChannelSwitching = "channel set-up and release",
        /// Waiting at the RNC for credits from the Node B, and the part of the Iub's delay that would not
        /// have delayed the transfer without this wait.
        Credits = "credits",
        /// Waiting for a subframe in which the phone receives, while discontinuous reception lets it sleep.
        Drx = "DRX",
        /// Waiting while the phone's serving cell was changed.
        Handover = "handover",
        /// The receiver delayed an ACK to acknowledge several segments together.
        DelayedAck = "delayed ACK",
        /// Round trips taken because the congestion window was too small, in slow start.
        SlowStart = "window: slow start",
        /// Round trips taken because the congestion window was too small, in congestion avoidance.
        CongestionAvoidance = "window: congestion avoidance",
        /// Round trips and waits caused by the window that the receiver advertises.
        ReceiverWindow = "window: receiver",
        /// Round trips taken because the send buffer had no room for more of the application's data.
        SendBuffer = "window: send buffer",
        /// Round trips and waits caused by the window of a proxy's sender, which the RNC sets.
        ProxyWindow = "window: proxy",
        /// Round trips and waits for the retransmission of lost packets.
        Recovery = "recovery",
        /// Waiting for TCP's retransmission timer after a loss.
        Timeout = "timeout",
        /// The sender delayed segments to spread them over time.
        Pacing = "pacing",
    }
}

names! {
    /// Activity during a span of the critical path, at the node, link or bearer where the time was spent.
    Step {
        /// The packet propagated to the next link or node after its transmission.
        Propagates = "propagates",
        /// The packet on the critical path was transmitted.
        Sends = "sends",
        /// The link's jitter or reordering delayed the packet beyond the link's propagation delay.
        Jitter = "jitter",
        /// The link was out of service.
        Outage = "outage",
        /// Packets of the same connection, ahead of the packet on the critical path, were
        /// transmitted.
        OwnAhead = "own data ahead",
        /// The link or bearer served other users or connections.
        OthersServed = "others served",
        /// Signalling packets used the FACH ahead of the user's packets.
        Signalling = "signalling",
        /// The bearer or link served no user: there was no delivery opportunity, or the user's channel was
        /// too bad.
        NotServed = "not served",
        /// The packet waited for the scheduling request or buffer status report that led to the block that
        /// completed the packet.
        RequestAwaited = "request awaited",
        /// The packet waited, after the request or report, for a block that the base station granted.
        GrantAwaited = "grant awaited",
        /// The packet waited for a block after the first one that the phone's request led to.
        FurtherGrantAwaited = "further grant awaited",
        /// The packet waited for the next block of the phone's configured grant.
        ReservedAwaited = "reserved block awaited",
        /// The packet waited for the next TTI to begin.
        TtiBegins = "TTI begins",
        /// The bearer retransmitted a block.
        Retransmits = "block repeated",
        /// A failed block waited for its NACK and its retransmission.
        RetransmissionAwaited = "answer and repetition awaited",
        /// Received blocks waited at the receiver (phone or base station) for an earlier block, to be
        /// delivered in order.
        Held = "held for order",
        /// A lost PDU waited until its loss was detected and reported, and the PDU was retransmitted.
        ReportAwaited = "report awaited",
        /// The phone was being paged or switched to another channel, and could not be served.
        Switches = "channel switched",
        /// An idle phone was paged, or set up its connection.
        Connects = "connection set up",
        /// Data crossed the Iub from the RNC to the Node B.
        Iub = "crosses the Iub",
        /// The RNC waited for credits from the Node B.
        NoCredits = "no credits",
        /// The phone slept because of discontinuous reception and received nothing.
        Sleeps = "phone sleeps",
        /// The user's serving cell changed.
        CellChanges = "cell changes",
        /// The receiver delayed its ACK.
        AckHeld = "ACK held back",
        /// The receiver's application had not read its data, so the window did not open.
        Reads = "receiver reads",
        /// A timer ran until it expired: for retransmission, loss detection or feedback.
        TimerRuns = "timer runs",
        /// The sender's pacing delayed a segment.
        Paced = "pacer",
        /// The server worked on its answer to the request.
        Works = "server works",
        /// The application had not requested the data yet.
        NotAsked = "not asked for",
        /// A real host, or its application, had not sent a packet yet.
        HostWorks = "host works",
    }
}
