//! A span of time on the critical path.

use nodeb_base::event::{Place, Site};
use nodeb_base::table;
use nodeb_base::table::{Column, Table, Texts, Values};
use nodeb_base::units::{Duration, Time};
use nodeb_sim::scenario::PlaceNames;

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
        layer(self.step, self.cause == Cause::Rlc, self.place.site == Site::Bearer)
    }

    /// A number for what its layer depends on.
    fn layer_code(&self) -> u32 {
        let is_of_rlc = u32::from(self.cause == Cause::Rlc);
        self.step as u32 * 4 + is_of_rlc * 2 + u32::from(self.place.site == Site::Bearer)
    }
}

/// The layer in which something happens, for RLC's cause or another, at a bearer or elsewhere.
fn layer(step: Step, is_of_rlc: bool, is_at_bearer: bool) -> &'static str {
    match step {
        Step::AckHeld | Step::TimerRuns | Step::Paced => "transport",
        Step::NotAsked | Step::Reads | Step::Works | Step::HostWorks => "application",
        Step::ReportAwaited | Step::TtiBegins => "RLC",
        Step::Repeats | Step::RepeatWaits | Step::Held | Step::NotServed if is_of_rlc => "RLC",
        Step::Repeats | Step::RepeatWaits | Step::Held | Step::NotServed => "MAC",
        Step::Switches | Step::CellChanges => "RRC",
        Step::Iub | Step::NoCredits => "Iub",
        Step::OthersServed if is_at_bearer => "MAC",
        Step::Sends | Step::Propagates | Step::OwnAhead if is_at_bearer => "physical",
        _ => "network",
    }
}

/// Columns of spans before that of the place.
const BEFORE_PLACE: usize = 4;

/// A number for what a place is called.
fn place_code(place: Place) -> u32 {
    let number = if matches!(place.site, Site::CoreDown | Site::CoreUp) { place.index } else { 0 };
    number * Site::ALL.len() as u32 + place.site as u32
}

/// A place that is called what a number stands for.
fn place_of(code: u32) -> Place {
    let sites = Site::ALL.len() as u32;
    Place::new(Site::ALL[(code % sites) as usize], code / sites)
}

table! {
    /// One row per span of the critical path of a transfer, in order of time, without gaps. [`Path::spans`] adds the place.
    static SPANS: "spans" of Span {
        /// When it begins.
        "begin_ns" ["ns"] U64 = |span| span.begin.0;
        /// When it ends.
        "end_ns" ["ns"] U64 = |span| span.end.0;
        /// Why the time passed.
        "cause" [""] Name = (|span| span.cause as u32, |code| Cause::ALL[code as usize].name().into());
        /// The layer in which it passed.
        "layer" [""] Name = (Span::layer_code, |code| {
            let step = Step::ALL[code as usize / 4];
            layer(step, code & 2 > 0, code & 1 > 0).into()
        });
        /// What was happening there.
        "step" [""] Name = (|span| span.step as u32, |code| Step::ALL[code as usize].name().into());
        /// Why the path went round; empty on the last flight.
        "round" [""] Name = (
            |span| span.round.map_or(0, |cause| cause as u32 + 1),
            |code| code.checked_sub(1).map_or("", |cause| Cause::ALL[cause as usize].name()).into()
        );
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
    /// Packets of the connection that were lost meanwhile.
    pub lost: Lost,
    /// How long each link or channel was busy with the connection's packets meanwhile, on the path or not.
    pub busy: Vec<(Place, Duration)>,
    /// Its spans, in order of time.
    pub spans: Vec<Span>,
    /// What the places of spans are called.
    pub names: PlaceNames,
}

/// Packets of a connection that were lost while its transfer lasted, by what lost them, and windows that marks cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// On links.
    pub links: u64,
    /// In queues and buffers that were full, or dropped early.
    pub queues: u64,
    /// By the radio, which gave them up.
    pub radio: u64,
    /// How often marks of queues cut the window (ECN).
    pub marked: u64,
}

impl Path {
    /// The transfer as a table.
    pub fn transfer(&self) -> Table {
        TRANSFER.table(std::slice::from_ref(self))
    }

    /// How long places were busy, as a table.
    pub fn busy(&self) -> Table {
        let mut table = BUSY.table(&self.busy);
        let names = self.busy.iter().map(|(place, _)| self.names.name(*place)).collect();
        let meaning = "The link or channel.";
        table.columns.insert(0, Column { name: "place", unit: "", meaning, values: Values::Text(names) });
        table
    }

    /// Its spans as a table.
    pub fn spans(&self) -> Table {
        let mut table = SPANS.table(&self.spans);
        let codes = self.spans.iter().map(|span| place_code(span.place));
        let texts = Texts::of_codes(codes, self.spans.len(), |code| self.names.name(place_of(code)));
        let meaning = "The place at which it passed.";
        table
            .columns
            .insert(BEFORE_PLACE, Column { name: "place", unit: "", meaning, values: Values::Text(texts) });
        table
    }
}

table! {
    /// One row per link and channel: how long it was busy with the connection's packets during the transfer.
    static BUSY: "busy" of (Place, Duration) {
        /// How long it was sending them; of a bearer that works in TTIs, those in which it did.
        "busy_ns" ["ns"] U64 = |(_, busy)| busy.0;
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
        /// Packets that links lost meanwhile.
        "lost_on_links" [""] U64 = |path| path.lost.links;
        /// Packets that full queues, or early drops, lost meanwhile.
        "lost_in_queues" [""] U64 = |path| path.lost.queues;
        /// Packets that the radio gave up meanwhile.
        "lost_on_radio" [""] U64 = |path| path.lost.radio;
        /// How often marks of queues cut the window meanwhile.
        "cut_by_marks" [""] U64 = |path| path.lost.marked;
    }
}

#[cfg(test)]
mod tests {
    use nodeb_base::table::Text;
    use nodeb_sim::scenario;

    use super::*;

    #[test]
    fn codes_stand_for_places() {
        for site in Site::ALL {
            for index in [0, 1, 7] {
                let place = Place::new(site, index);
                let of_link = matches!(site, Site::CoreDown | Site::CoreUp);
                let expected = Place::new(site, if of_link { index } else { 0 });
                assert_eq!(place_of(place_code(place)), expected);
            }
        }
    }

    #[test]
    fn columns_of_names_say_what_spans_are() {
        let mut spans = Vec::new();
        for &cause in Cause::ALL {
            for &step in Step::ALL {
                for site in Site::ALL {
                    let (begin, end, place) = (Time(1), Time(2), Place::new(site, 3));
                    let round = (step != Step::Sends).then_some(cause);
                    spans.push(Span { begin, end, cause, step, place, round, packet: 1, seq: 2 });
                }
            }
        }
        let text = "core = [{ name = 'near' }, { rate = '1 Mbps' }]\n[radio.link]\n[[users]]\ntraffic.ftp.size = '10 kB'";
        let scenario = scenario::from_toml(text, "test", &[]).unwrap();
        let names = PlaceNames::of(&scenario);
        let (lost, begun, ended) = (Lost::default(), Time(0), Time(2));
        let path = Path {
            begun,
            ended,
            bytes: 1,
            complete: true,
            lost,
            busy: Vec::new(),
            spans: spans.clone(),
            names,
        };
        let table = path.spans();
        let says = |column: &str, text: &dyn Fn(&Span) -> Text| {
            let texts = spans.iter().map(text).collect();
            assert_eq!(table.column(column), Some(&Values::Text(texts)), "{column}");
        };
        says("cause", &|span| span.cause.name().into());
        says("layer", &|span| span.layer().into());
        says("place", &|span| path.names.name(span.place));
        says("step", &|span| span.step.name().into());
        says("round", &|span| span.round.map_or("", Cause::name).into());
    }
}
