use std::num::NonZeroU32;

use nodeb_base::units::{Duration, Probability};
use nodeb_net::{QueueSpec, Recording};

use nodeb_air::pdcp::SnLength;

/// What a radio consists of.
#[derive(Debug)]
pub struct Parts<'a> {
    /// One bearer for all users, rather than one for each.
    pub is_shared: bool,
    pub queue: Queue<'a>,
    pub tti: Option<Tti>,
    pub retransmission: Option<Retransmission>,
    pub channel: Option<ChannelKey>,
    /// Measures the bandwidth that is available to a user.
    pub meter: Option<Meter>,
    /// Time without data at a change of cell; `None` without handover.
    pub interruption: Option<Duration>,
    /// Users are switched between a FACH and dedicated channels.
    pub has_states: bool,
    pub pdcp: Option<SnLength>,
    /// Packets of a phone keep it awake or wake it.
    pub sleeps: bool,
    /// The bearers transmit only at recorded delivery opportunities.
    pub recording: Option<Recording<'a>>,
    pub uplink: Uplink<'a>,
}

impl<'a> Parts<'a> {
    /// A link of each user, without any other part.
    pub fn new(queue: Queue<'a>) -> Self {
        Self {
            is_shared: false,
            queue,
            tti: None,
            retransmission: None,
            channel: None,
            meter: None,
            interruption: None,
            has_states: false,
            pdcp: None,
            sleeps: false,
            recording: None,
            uplink: Uplink::Plain,
        }
    }

    /// Packets cross an Iub.
    pub fn has_rnc(&self) -> bool {
        matches!(self.queue, Queue::Rnc(_))
    }
}

/// Where packets wait, at the Node B unless said otherwise.
#[derive(Clone, Copy, Debug)]
pub enum Queue<'a> {
    Link(&'a QueueSpec),
    /// Of each user, in front of RLC.
    Rlc(&'a QueueSpec),
    /// Of each user, in packets.
    Buffer(NonZeroU32),
    /// As [`Self::Buffer`], at an RNC.
    Rnc(NonZeroU32),
}

/// Bearers with a TTI, or slot, emit an event for each user served in it.
#[derive(Clone, Copy, Debug)]
pub struct Tti {
    pub duration: Duration,
    /// Of first transmissions; `None` if it follows from the users' channels.
    pub bler: Option<Probability>,
    /// Size of the frames that make up a block; `None` if blocks succeed or fail as a whole.
    pub frame_bytes: Option<u32>,
}

impl Tti {
    pub fn of(duration: Duration) -> Self {
        Self { duration, bler: None, frame_bytes: None }
    }
}

/// Of whole blocks that failed.
#[derive(Clone, Copy, Debug)]
pub struct Retransmission {
    /// At the Node B, rather than by RLC.
    pub is_harq: bool,
    /// From the start of a TTI in which a block fails to its earliest retransmission.
    pub after: Duration,
}

/// Key of a group of users that sets their channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelKey {
    Ci,
    Ue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meter {
    OnRequest,
    /// Also as a time series of every user.
    Series,
}

#[derive(Clone, Copy, Debug)]
pub enum Uplink<'a> {
    /// A link of each phone.
    Plain,
    /// A link of each phone that transmits only at recorded delivery opportunities.
    Recorded(Recording<'a>),
    /// One bearer of all phones, each with such a queue in front of it.
    Scheduled(&'a QueueSpec),
}

impl Uplink<'_> {
    pub fn is_scheduled(&self) -> bool {
        matches!(self, Self::Scheduled(_))
    }

    pub fn is_recorded(&self) -> bool {
        matches!(self, Self::Recorded(_))
    }
}
