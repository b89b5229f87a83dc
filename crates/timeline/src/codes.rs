use nodeb_base::event::{Cause, Purpose, Recovery};
use nodeb_radio::switching::State;

macro_rules! names {
    ($(#[$about:meta])* $vis:vis $name:ident { $( $(#[$meaning:meta])* $variant:ident = $text:literal, )+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        $vis enum $name { $( $(#[$meaning])* $variant, )+ }

        impl $name {
            /// Names in the order of their codes.
            pub const NAMES: &'static [&'static str] = &[$($text),+];
        }
    };
}

names! {
    /// Kind of an event, which determines the columns of the event's row that have a meaning.
    pub Kind {
        /// A packet is sent for the first time.
        Sent = "sent",
        /// A packet is sent that is a retransmission of an earlier one.
        Resent = "resent",
        /// A packet enters a place.
        Entered = "entered",
        /// A packet leaves a place.
        Left = "left",
        /// A packet is lost at a place.
        Lost = "lost",
        /// A packet reaches its destination.
        Received = "received",
        /// The backlog of a user at the bearer changes.
        Queue = "queue",
        /// A block is transmitted, for the first time or again.
        Block = "block",
        /// A block carries a part of a packet in its first transmission.
        Carries = "carries",
        /// A block is discarded after its last transmission.
        GivenUp = "given up",
        /// A user's channel state changes, for example from FACH to DCH.
        Channel = "channel",
        /// A user is handed over to another cell.
        Handover = "handover",
        /// The congestion window or the slow-start threshold changes.
        Window = "window",
        /// A sender measures a round-trip time.
        RoundTrip = "round trip",
        /// A sender's loss recovery changes its state.
        Recovery = "recovery",
        /// A sender's timer is armed or stopped.
        Timer = "timer",
        /// A transfer is complete.
        Transfer = "transfer",
    }
}

names! {
    /// Outcome of a packet, or of a packet's stay at a place.
    pub End {
        /// The packet was received, or has left the place.
        Through = "received",
        /// The packet was lost.
        Lost = "lost",
        /// The packet is still in flight, or at the place.
        InFlight = "under way",
    }
}

names! {
    /// Outcome of a block.
    pub Outcome {
        /// The last transmission was received.
        Received = "received",
        /// The last recorded transmission failed, and the bearer has not given the block up.
        Failed = "failed",
        /// The block was discarded after its last transmission.
        GivenUp = "given up",
    }
}

names! {
    /// Further information on an event, as a word.
    pub Detail {
        /// No further information.
        None = "",
        Connect = "connect",
        Request = "request",
        Data = "data",
        Ack = "ack",
        External = "external",
        LinkLoss = "link loss",
        Overflow = "overflow",
        EarlyDrop = "early drop",
        RadioLoss = "radio loss",
        Open = "open",
        Reduced = "reduced",
        Fast = "fast",
        Timeout = "timeout",
        Pch = "pch",
        Paging = "paging",
        Fach = "fach",
        SettingUp = "setting up",
        Dch = "dch",
        Releasing = "releasing",
        Idle = "idle",
        Connecting = "connecting",
        Connected = "connected",
    }
}

impl From<Purpose> for Detail {
    fn from(purpose: Purpose) -> Self {
        match purpose {
            Purpose::Connect => Self::Connect,
            Purpose::Request => Self::Request,
            Purpose::Data => Self::Data,
            Purpose::Ack => Self::Ack,
            Purpose::External => Self::External,
        }
    }
}

impl From<Cause> for Detail {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::LinkLoss => Self::LinkLoss,
            Cause::Overflow => Self::Overflow,
            Cause::EarlyDrop => Self::EarlyDrop,
            Cause::RadioLoss => Self::RadioLoss,
        }
    }
}

impl From<Recovery> for Detail {
    fn from(recovery: Recovery) -> Self {
        match recovery {
            Recovery::Open => Self::Open,
            Recovery::Reduced => Self::Reduced,
            Recovery::Fast => Self::Fast,
            Recovery::Timeout => Self::Timeout,
        }
    }
}

impl From<State> for Detail {
    fn from(state: State) -> Self {
        match state {
            State::Pch => Self::Pch,
            State::Paging => Self::Paging,
            State::Fach => Self::Fach,
            State::SettingUp => Self::SettingUp,
            State::Dch => Self::Dch,
            State::Releasing => Self::Releasing,
            State::Idle => Self::Idle,
            State::Connecting => Self::Connecting,
            State::Connected => Self::Connected,
        }
    }
}
