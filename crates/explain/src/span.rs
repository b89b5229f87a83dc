//! A span of time on the critical path.

use nodeb_sim::event::{Place, Site};
use nodeb_sim::table;
use nodeb_sim::table::{Table, Text};
use nodeb_sim::units::{Duration, Time};

use crate::cause::{Cause, Step};

/// A span of time with its one cause. Spans follow each other without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// When it begins.
    pub begin: Time,
    /// When it ends, which is after that.
    pub end: Time,
    /// Why the time passed.
    pub cause: Cause,
    /// What was happening meanwhile.
    pub step: Step,
    /// Where.
    pub place: Place,
    /// Why the path went round here, if it is not the last flight; fixed latencies are charged to it.
    pub round: Option<Cause>,
    /// The packet on whose way it lies: its number among all that were sent in the run, from 1.
    pub packet: u64,
    /// Its number: the segment's, or for an ACK the one acknowledged.
    pub seq: u64,
}

impl Span {
    /// How long it is.
    pub fn lasts(&self) -> Duration {
        self.end.since(self.begin)
    }

    /// The layer in which it was spent.
    pub fn layer(&self) -> &'static str {
        match self.step {
            Step::AckHeld | Step::TimerRuns | Step::Paced => "transport",
            Step::NotAsked | Step::Reads | Step::Works => "application",
            Step::ReportAwaited | Step::TtiBegins => "RLC",
            Step::Repeats | Step::RepeatWaits | Step::Held | Step::NotServed => {
                if self.cause == Cause::Rlc {
                    "RLC"
                } else {
                    "MAC"
                }
            }
            Step::Switches | Step::CellChanges => "RRC",
            Step::Iub | Step::NoCredits => "Iub",
            Step::OthersServed if self.place.site == Site::Bearer => "MAC",
            Step::Sends | Step::Propagates | Step::OwnAhead if self.place.site == Site::Bearer => "physical",
            _ => "network",
        }
    }
}

/// What a place is called.
pub fn place_name(place: Place) -> Text {
    let name = match place.site {
        Site::Server => "server",
        Site::WiredDown => "wired down",
        Site::WiredUp => "wired up",
        Site::Proxy => "proxy",
        Site::CoreDown => return Text::Owned(format!("core {} down", place.index + 1)),
        Site::CoreUp => return Text::Owned(format!("core {} up", place.index + 1)),
        Site::Snoop => "Snoop",
        Site::Bearer => "bearer",
        Site::Uplink => "uplink",
        Site::Phone => "phone",
    };
    Text::Borrowed(name)
}

table! {
    /// One row per span of the critical path of a transfer, in order of time, without gaps.
    pub static SPANS: "spans" of Span {
        /// When it begins.
        "begin_ns" ["ns"] U64 = |span| span.begin.0;
        /// When it ends.
        "end_ns" ["ns"] U64 = |span| span.end.0;
        /// Why the time passed.
        "cause" [""] Text = |span| Text::Borrowed(span.cause.name());
        /// The layer in which it passed.
        "layer" [""] Text = |span| Text::Borrowed(span.layer());
        /// The place at which it passed.
        "place" [""] Text = |span| place_name(span.place);
        /// What was happening there.
        "step" [""] Text = |span| Text::Borrowed(span.step.name());
        /// Why the path went round; empty on the last flight.
        "round" [""] Text = |span| Text::Borrowed(span.round.map_or("", Cause::name));
        /// The packet on whose way it lies: its number among all that were sent in the run, from 1.
        "packet" [""] U64 = |span| span.packet;
        /// Its segment number, or for an ACK the number acknowledged.
        "seq" [""] U64 = |span| span.seq;
    }
}

/// A transfer that has been explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// When it began.
    pub begun: Time,
    /// When the phone had its last byte, or the run ended.
    pub ended: Time,
    /// Its bytes.
    pub bytes: u64,
    /// Whether the phone had all of them.
    pub complete: bool,
    /// Its spans, in order of time.
    pub spans: Vec<Span>,
}

impl Path {
    /// The transfer as a table.
    pub fn transfer(&self) -> Table {
        TRANSFER.table(std::slice::from_ref(self))
    }

    /// Its spans as a table.
    pub fn spans(&self) -> Table {
        SPANS.table(&self.spans)
    }
}

table! {
    /// The transfer that the spans belong to.
    pub static TRANSFER: "transfer" of Path {
        /// When it began.
        "begun_ns" ["ns"] U64 = |path| path.begun.0;
        /// When the phone had its last byte in order, or the run ended.
        "ended_ns" ["ns"] U64 = |path| path.ended.0;
        /// Its bytes.
        "bytes" ["bytes"] U64 = |path| path.bytes;
        /// Whether the phone had all of them when the run ended.
        "complete" [""] Bool = |path| path.complete;
    }
}
