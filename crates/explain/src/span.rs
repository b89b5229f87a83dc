use nodeb_base::event::{Place, Site};
use nodeb_base::table;
use nodeb_base::table::{Column, Table, Texts, Values};
use nodeb_base::units::{Duration, Time};
use nodeb_sim::scenario::PlaceNames;

use nodeb_base::cause::{Cause, Step};

/// Spans follow each other without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub begin: Time,
    pub end: Time,
    pub cause: Cause,
    pub step: Step,
    pub place: Place,
    /// Reason for the round trip, to which fixed latencies are charged; `None` after the last one.
    pub round: Option<Cause>,
    /// Among all packets sent in the run, from 1; 0 if none.
    pub packet: u64,
    /// Or acknowledgement number: segments with `classic` TCP, bytes with `linux` and for real packets; 0
    /// without a packet.
    pub seq: u64,
}

impl Span {
    pub fn duration(&self) -> Duration {
        self.end.since(self.begin)
    }

    /// Such as "RLC" or "transport".
    pub fn layer(&self) -> &'static str {
        layer(self.step, self.cause == Cause::Rlc, self.place.site == Site::Bearer)
    }

    fn layer_code(&self) -> u32 {
        let is_of_rlc = u32::from(self.cause == Cause::Rlc);
        self.step as u32 * 4 + is_of_rlc * 2 + u32::from(self.place.site == Site::Bearer)
    }
}

/// Some depend on whether the cause is [`Cause::Rlc`] or the place a bearer.
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

/// In the table of spans.
const BEFORE_PLACE: usize = 4;

/// What determines a place's name: its site, and the index of a core link.
fn place_code(place: Place) -> u32 {
    let number = if matches!(place.site, Site::CoreDown | Site::CoreUp) { place.index } else { 0 };
    number * Site::ALL.len() as u32 + place.site as u32
}

/// Only its name equals that of the place encoded.
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Of the transfer.
    pub begun: Time,
    /// All bytes at the receiver, or the end of the run. For a real connection, the arrival that completed
    /// the in-order data, or the last one.
    pub ended: Time,
    /// For a real connection, those that arrived in order.
    pub bytes: u64,
    pub complete: bool,
    /// During the transfer.
    pub lost: Lost,
    /// With packets that are not on the critical path; without links and channels that sent none.
    pub busy: Vec<(Place, Duration)>,
    /// In the order of time.
    pub spans: Vec<Span>,
    pub names: PlaceNames,
}

/// By cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    pub links: u64,
    /// Full queues and AQM.
    pub queues: u64,
    /// Given up after failed transmissions.
    pub radio: u64,
    /// Window reductions by ECN marks.
    pub marked: u64,
}

impl Path {
    pub fn transfer(&self) -> Table {
        TRANSFER.table(std::slice::from_ref(self))
    }

    pub fn busy(&self) -> Table {
        let mut table = BUSY.table(&self.busy);
        let names = self.busy.iter().map(|(place, _)| self.names.name(*place)).collect();
        let meaning = "Link or channel.";
        table.columns.insert(0, Column { name: "place", unit: "", meaning, values: Values::Text(names) });
        table
    }

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
