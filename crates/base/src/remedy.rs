//! Changes of a scenario's parameters that would shorten a transfer, and the time on its critical path that each
//! targets. Each part of a scenario offers those of its own parameters; those with the same name count as one.

use std::num::NonZeroU32;

use crate::cause::{Cause, Step};
use crate::event::Site;
use crate::units::{Duration, Size, positive};

/// Packets in a queue, or segments in a window, that are assumed never to be reached.
pub const LARGE: NonZeroU32 = positive(10_000);
/// Of a buffer that is assumed never to fill.
pub const LARGE_SIZE: Size = Size(1_000_000_000);

macro_rules! changes {
    ($( $change:ident = $name:literal [$( $cause:ident ),*], )+) => {
        /// What a remedy changes. Those that save equal times are listed in this order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Change { $( $change, )+ }

        impl Change {
            pub const ALL: &[Self] = &[$( Self::$change, )+];

            pub const fn name(self) -> &'static str {
                match self { $( Self::$change => $name, )+ }
            }

            /// Targeted; empty if the change targets steps or places of the path.
            pub const fn causes(self) -> &'static [Cause] {
                match self { $( Self::$change => &[$( Cause::$cause ),*], )+ }
            }
        }
    };
}

changes! {
    AcksAtOnce = "ACKs at once" [DelayedAck],
    AcksSooner = "ACKs held back half as long" [DelayedAck],
    NoBlockErrors = "no block errors" [Harq, Rlc, Reordering],
    FewerBlockErrors = "half the block errors" [Harq, Rlc, Reordering],
    RetransmittedSooner = "half the retransmission delay" [Harq, Rlc, Reordering],
    NoLosses = "no packet losses" [Recovery, Timeout],
    LongQueues = "queues that never fill" [Recovery, Timeout],
    OpenWindow = "a window that is open at once" [SlowStart],
    LargeReceiveWindow = "a large receive window" [ReceiverWindow],
    LargeSendBuffer = "a large send buffer" [SendBuffer],
    ServerAtOnce = "a server that answers at once" [Server],
    NoPacing = "no pacing" [Pacing],
    Alone = "alone in the cell" [Scheduler, QueueBehindOthers],
    ManyCredits = "credits for everything" [Credits],
    HandoverAtOnce = "handovers at once, without loss" [Handover],
    NoHandover = "no handovers" [Handover],
    SwitchedAtOnce = "channels switched at once" [ChannelSwitching],
    SwitchedSooner = "channels switched in half the time" [ChannelSwitching],
    AlwaysDedicated = "a dedicated channel from the start" [],
    FasterRadio = "radio twice as fast" [],
    FasterWired = "wired link twice as fast" [],
    FasterCore = "core links twice as fast" [],
    FasterUplink = "uplink twice as fast" [],
    NearerLinks = "half the propagation delays" [],
    FrequentRequests = "requests in every subframe" [Grant],
    GrantsAhead = "grants ahead of data" [Grant],
    LargeFirstGrant = "a large first grant" [Grant],
    AlwaysAwake = "phones that always listen" [Drx],
    AlwaysConnected = "phones that are always connected" [ChannelSwitching],
    NoDiscards = "no discard timer" [Recovery, Timeout],
    WiderBand = "a wider band" [],
    SecondLayer = "a second layer" [],
    StrongerSignal = "3 dB more signal" [],
}

/// Why a sender found a packet lost, or reduced its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    Links,
    /// Full queues and AQM.
    Queues,
    /// Given up after failed transmissions.
    Radio,
    /// No loss: the window was reduced because of ECN marks.
    Marks,
}

/// A part of the time on a critical path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    Causes(&'static [Cause]),
    /// At a place.
    CauseAt(Cause, Site),
    /// The time of a cause that exceeds the duration.
    Beyond(Cause, Duration),
    Steps(&'static [Step]),
    /// While the places send data of the transfer, or others' data ahead of them.
    Serving(&'static [Site]),
    /// Round trips because of a cause, as far as no link was sending meanwhile.
    Rounds(Cause),
    /// Round trips of slow start before the first loss; without losses, also those of congestion avoidance.
    Opening,
    /// Repairs of losses, and opening of the window that they reduced.
    Losses(&'static [Loss]),
}

/// The part `factor` of a target, which a remedy would save if TCP did everything else at the same times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    pub target: Target,
    pub factor: f64,
}

impl From<Target> for Aim {
    fn from(target: Target) -> Self {
        Self { target, factor: 1.0 }
    }
}

/// A change with its aims, and the part of a scenario as it would be.
#[derive(Clone, Debug, PartialEq)]
pub struct Remedy<T> {
    pub change: Change,
    /// Empty if it only contributes to a change of another part.
    pub aims: Vec<Aim>,
    pub part: T,
}

impl<T> Remedy<T> {
    pub fn new(change: Change, target: Target, factor: f64, part: T) -> Self {
        Self { change, aims: vec![Aim { target, factor }], part }
    }

    /// Targets the part `factor` of the time of the change's causes.
    pub fn of_causes(change: Change, factor: f64, part: T) -> Self {
        Self::new(change, Target::Causes(change.causes()), factor, part)
    }

    #[must_use]
    pub fn and(mut self, target: Target) -> Self {
        self.aims.push(target.into());
        self
    }

    pub fn no_losses(part: T) -> Self {
        Self::new(Change::NoLosses, Target::Losses(&[Loss::Links]), 1.0, part)
    }

    pub fn long_queues(part: T) -> Self {
        Self::new(Change::LongQueues, Target::Losses(&[Loss::Queues, Loss::Marks]), 1.0, part)
    }

    /// Of blocks on the air.
    pub fn no_block_errors(part: T) -> Self {
        Self::of_causes(Change::NoBlockErrors, 1.0, part)
    }

    pub fn nearer(part: T) -> Self {
        Self::new(Change::NearerLinks, Target::Steps(&[Step::Propagates, Step::Iub]), 0.5, part)
    }

    /// `sites` serve twice as fast.
    pub fn faster(change: Change, sites: &'static [Site], part: T) -> Self {
        Self::new(change, Target::Serving(sites), 0.5, part)
    }
}

/// Of a part in which the parts of `remedies` are contained.
pub fn within<T, U>(remedies: Vec<Remedy<T>>, part: impl Fn(T) -> U) -> Vec<Remedy<U>> {
    let within = |Remedy { change, aims, part: own }| Remedy { change, aims, part: part(own) };
    remedies.into_iter().map(within).collect()
}
