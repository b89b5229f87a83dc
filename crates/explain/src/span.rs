//! Spans of the critical path, and the tables of an explained transfer.

use nodeb_base::event::{Place, Site};
use nodeb_base::table;
use nodeb_base::table::{Column, Table, Texts, Values};
use nodeb_base::units::{Duration, Time};
use nodeb_sim::scenario::PlaceNames;

use crate::cause::{Cause, Step};

/// Span of time on a critical path, with exactly one cause. The spans of a path follow each other
/// without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Start of the span, at which the previous span of the path ends.
    pub begin: Time,
    /// End of the span, later than its start.
    pub end: Time,
    /// Cause to which the duration of the span is charged.
    pub cause: Cause,
    /// Activity at [`Self::place`] during the span.
    pub step: Step,
    /// Node, link or bearer at which the time was spent.
    pub place: Place,
    /// Reason for the round trip that the span is part of; fixed latencies are charged to this
    /// reason. `None` after the last round trip.
    pub round: Option<Cause>,
    /// Number of the packet that the span belongs to, among all packets sent in the run, from 1; 0 if none.
    pub packet: u64,
    /// Sequence number of the packet, or the acknowledgement number if the packet is an ACK. It
    /// counts segments with `classic` TCP, and bytes with `linux` TCP and for real packets; 0 if
    /// the span belongs to no packet.
    pub seq: u64,
}

impl Span {
    /// Returns the duration of the span, from `begin` to `end`.
    pub fn duration(&self) -> Duration {
        self.end.since(self.begin)
    }

    /// Returns the name of the protocol layer in which the time was spent, such as "RLC" or
    /// "transport".
    pub fn layer(&self) -> &'static str {
        layer(self.step, self.cause == Cause::Rlc, self.place.site == Site::Bearer)
    }

    /// Returns a number that encodes the arguments of [`layer`]: the step times 4, plus 2 if the
    /// cause is RLC, plus 1 if the span is at a bearer.
    fn layer_code(&self) -> u32 {
        let is_of_rlc = u32::from(self.cause == Cause::Rlc);
        self.step as u32 * 4 + is_of_rlc * 2 + u32::from(self.place.site == Site::Bearer)
    }
}

/// Returns the protocol layer in which `step` happens. The layer of some steps depends on whether
/// their cause is [`Cause::Rlc`] or whether they are at a bearer.
fn layer(step: Step, is_of_rlc: bool, is_at_bearer: bool) -> &'static str {
    match step {
        Step::AckHeld | Step::TimerRuns | Step::Paced => "transport",
        Step::NotAsked | Step::Reads | Step::Works | Step::HostWorks => "application",
        Step::ReportAwaited | Step::TtiBegins => "RLC",
        Step::Retransmits | Step::RetransmissionAwaited | Step::Held | Step::NotServed if is_of_rlc => "RLC",
        Step::Retransmits
        | Step::RetransmissionAwaited
        | Step::Held
        | Step::NotServed
        | Step::RequestAwaited
        | Step::GrantAwaited
        | Step::FurtherGrantAwaited
        | Step::ReservedAwaited
        | Step::Sleeps => "MAC",
        Step::Switches | Step::Connects | Step::CellChanges => "RRC",
        Step::Iub | Step::NoCredits => "Iub",
        Step::OthersServed if is_at_bearer => "MAC",
        Step::Sends | Step::Propagates | Step::OwnAhead if is_at_bearer => "physical",
        _ => "network",
    }
}

/// Number of columns before the column `place` in the table of spans.
const BEFORE_PLACE: usize = 4;

/// Returns a number that encodes what determines the name of a place: its site, and for a link of the core
/// network also the link's index.
fn place_code(place: Place) -> u32 {
    let number = if matches!(place.site, Site::CoreDown | Site::CoreUp) { place.index } else { 0 };
    number * Site::ALL.len() as u32 + place.site as u32
}

/// Returns a place whose code is `code` (see [`place_code`]). Its name equals the name of the place
/// that was encoded.
fn place_of(code: u32) -> Place {
    let sites = Site::ALL.len() as u32;
    Place::new(Site::ALL[(code % sites) as usize], code / sites)
}

table! {
    /// One row per span of the critical path of a transfer, in the order of time, without gaps. The
    /// column `place` is added by [`Path::spans`].
    static SPANS: "spans" of Span {
        /// Start of the span, from the start of the run.
        "begin_ns" ["ns"] U64 = |span| span.begin.0;
        /// End of the span, from the start of the run.
        "end_ns" ["ns"] U64 = |span| span.end.0;
        /// Cause to which the time of the span is charged.
        "cause" [""] Name = (|span| span.cause as u32, |code| Cause::ALL[code as usize].name().into());
        /// Layer in which the time of the span was spent.
        "layer" [""] Name = (Span::layer_code, |code| {
            let step = Step::ALL[code as usize / 4];
            layer(step, code & 2 > 0, code & 1 > 0).into()
        });
        /// Activity during the span, at the span's place.
        "step" [""] Name = (|span| span.step as u32, |code| Step::ALL[code as usize].name().into());
        /// Reason for the round trip to which the span belongs; empty for spans after the last
        /// round trip.
        "round" [""] Name = (
            |span| span.round.map_or(0, |cause| cause as u32 + 1),
            |code| code.checked_sub(1).map_or("", |cause| Cause::ALL[cause as usize].name()).into()
        );
        /// Number of the packet that the span belongs to, among all packets sent in the run, from 1; 0 if none.
        "packet" [""] U64 = |span| span.packet;
        /// Sequence number of the packet, or for an ACK the number acknowledged. It counts segments
        /// with `classic` TCP, and bytes with `linux` TCP and for real packets; 0 if the span belongs
        /// to no packet.
        "seq" [""] U64 = |span| span.seq;
    }
}

/// Critical path of an explained transfer, with the losses and busy times during the transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Start of the transfer.
    pub begun: Time,
    /// Time at which the receiver had all bytes, or the end of the run if it never had. The receiver is the
    /// phone, or the server in an upload. For a real connection, the arrival of the packet that completed the
    /// in-order data, or of the last packet if no data arrived in order.
    pub ended: Time,
    /// Size of the transfer in bytes. For a real connection, the number of bytes that arrived in order.
    pub bytes: u64,
    /// Whether the receiver had all bytes at [`Self::ended`].
    pub complete: bool,
    /// Counts of the connection's lost packets and ECN window reductions during the transfer.
    pub lost: Lost,
    /// Time for which each link or channel transmitted packets of the connection during the
    /// transfer, including packets that are not on the critical path. Links and channels for which this
    /// time is 0 are omitted.
    pub busy: Vec<(Place, Duration)>,
    /// Spans of the path in the order of time.
    pub spans: Vec<Span>,
    /// Names of the scenario's nodes, links and bearers.
    pub names: PlaceNames,
}

/// Counts of a connection's packets lost during the transfer, by cause, and of its window
/// reductions caused by ECN marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Number of packets lost on links.
    pub links: u64,
    /// Number of packets that queues and buffers dropped because they were full, or earlier (AQM).
    pub queues: u64,
    /// Number of packets that the radio gave up after failed transmissions.
    pub radio: u64,
    /// Number of window reductions caused by ECN marks.
    pub marked: u64,
}

impl Path {
    /// Returns the summary of the transfer as a table of one row: times, size and losses.
    pub fn transfer(&self) -> Table {
        TRANSFER.table(std::slice::from_ref(self))
    }

    /// Returns the busy times of links and channels as a table.
    pub fn busy(&self) -> Table {
        let mut table = BUSY.table(&self.busy);
        let names = self.busy.iter().map(|(place, _)| self.names.name(*place)).collect();
        let meaning = "Link or channel.";
        table.columns.insert(0, Column { name: "place", unit: "", meaning, values: Values::Text(names) });
        table
    }

    /// Returns the spans as a table, one row per span in the order of time.
    pub fn spans(&self) -> Table {
        let mut table = SPANS.table(&self.spans);
        let codes = self.spans.iter().map(|span| place_code(span.place));
        let texts = Texts::of_codes(codes, self.spans.len(), |code| self.names.name(place_of(code)));
        let meaning = "Place at which the time was spent.";
        table
            .columns
            .insert(BEFORE_PLACE, Column { name: "place", unit: "", meaning, values: Values::Text(texts) });
        table
    }
}

table! {
    /// One row per link and channel: the time for which it transmitted packets of the connection
    /// during the transfer.
    static BUSY: "busy" of (Place, Duration) {
        /// Time for which the link or channel transmitted. On a bearer with TTIs, the total length
        /// of the TTIs that carried data of the connection.
        "busy_ns" ["ns"] U64 = |(_, busy)| busy.0;
    }
}

table! {
    /// One row: the transfer whose critical path the table `spans` describes.
    pub static TRANSFER: "transfer" of Path {
        /// Start of the transfer, from the start of the run.
        "begun_ns" ["ns"] U64 = |path| path.begun.0;
        /// Time at which the receiver had received the last byte in order, or the end of the run. The
        /// receiver is the phone, or the server in an upload.
        "ended_ns" ["ns"] U64 = |path| path.ended.0;
        /// Size of the transfer in bytes.
        "bytes" ["bytes"] U64 = |path| path.bytes;
        /// Whether the receiver has received all bytes of the transfer.
        "complete" [""] Bool = |path| path.complete;
        /// Packets lost by links during the transfer.
        "lost_on_links" [""] U64 = |path| path.lost.links;
        /// Packets dropped by queues, full or early, during the transfer.
        "lost_in_queues" [""] U64 = |path| path.lost.queues;
        /// Packets that the radio gave up during the transfer.
        "lost_on_radio" [""] U64 = |path| path.lost.radio;
        /// Number of window reductions caused by ECN marks during the transfer.
        "cut_by_marks" [""] U64 = |path| path.lost.marked;
    }
}

#[cfg(test)]
mod tests {
    use nodeb_base::table::Text;
    use nodeb_sim::scenario;

    use super::*;

    #[test]
    fn place_codes_keep_the_name() {
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
    fn name_columns_match_the_spans() {
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
        let assert_column = |column: &str, text: &dyn Fn(&Span) -> Text| {
            let texts = spans.iter().map(text).collect();
            assert_eq!(table.column(column), Some(&Values::Text(texts)), "{column}");
        };
        assert_column("cause", &|span| span.cause.name().into());
        assert_column("layer", &|span| span.layer().into());
        assert_column("place", &|span| path.names.name(span.place));
        assert_column("step", &|span| span.step.name().into());
        assert_column("round", &|span| span.round.map_or("", Cause::name).into());
    }
}
