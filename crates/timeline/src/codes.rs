//! Names that tables hold as numbers: kinds of events, ends of packets, causes.

use nodeb_base::event::{Cause, Purpose, Recovery};
use nodeb_radio::switching::State;

macro_rules! names {
    ($(#[$about:meta])* $vis:vis $name:ident { $( $(#[$meaning:meta])* $variant:ident = $text:literal, )+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        $vis enum $name { $( $(#[$meaning])* $variant, )+ }

        impl $name {
            /// The names, by number.
            pub const NAMES: &'static [&'static str] = &[$($text),+];
        }
    };
}

names! {
    /// What an event is.
    pub Kind {
        /// A packet begins its way for the first time.
        Sent = "sent",
        /// A segment that had been sent before is sent again, as another packet.
        Resent = "resent",
        /// A packet comes to a place and is taken.
        Entered = "entered",
        /// A packet leaves a place.
        Left = "left",
        /// A packet is lost.
        Lost = "lost",
        /// A packet has come to the end of its way.
        Received = "received",
        /// The backlog of a user at the bearer has changed.
        Queue = "queue",
        /// A block is sent.
        Block = "block",
        /// A block that is sent for the first time carries a part of a packet.
        Carries = "carries",
        /// A block is given up.
        GivenUp = "given up",
        /// A user's channel is switched.
        Channel = "channel",
        /// Another cell serves a user.
        Handover = "handover",
        /// The congestion window or the threshold has changed.
        Window = "window",
        /// A sender has measured a round trip.
        RoundTrip = "round trip",
        /// A sender's loss recovery has changed its state.
        Recovery = "recovery",
        /// A sender's timer is set, or stopped.
        Timer = "timer",
        /// A transfer is complete.
        Transfer = "transfer",
    }
}

names! {
    /// How a packet's way, or its stay at a place, has ended.
    pub End {
        /// It was received, or has left the place.
        Through = "received",
        /// It was lost.
        Lost = "lost",
        /// It is still under way.
        UnderWay = "under way",
    }
}

names! {
    /// What has become of a block.
    pub Outcome {
        /// The last transmission was received.
        Received = "received",
        /// The last transmission has failed, and no other is known of.
        Failed = "failed",
        /// It was given up.
        GivenUp = "given up",
    }
}

names! {
    /// What an event says beyond its numbers.
    pub Detail {
        /// Nothing.
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
        }
    }
}
