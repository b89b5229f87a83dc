//! Packet captures of simulations: what the server and the phones see, as pcapng files that
//! Wireshark, tshark and (split by interface) tcptrace read.
//!
//! A [`Capture`] is a [`Listener`]: it turns every packet into a valid IPv4 and TCP packet and writes it
//! under the interface that it passes, `server`, `phone` or `proxy`, with the simulated time in
//! nanoseconds. Asked for the radio network it adds `rnc` and `node_b`, and says in a comment on every packet
//! what has become of it.
//! Source of the format: IETF draft *PCAP Now Generic (pcapng) Capture File Format*.

mod block_file;
mod fates;
pub mod flight;
mod frame;
mod place;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nodeb_base::event::{Event, Mask, Site};
use nodeb_base::packet::PacketId;
use nodeb_base::units::Time;
use nodeb_sim::metrics::RunResult;
use nodeb_sim::world::{Listener, run_with_listener};
use nodeb_sim::{Control, Scenario, VERSION, scenario};
use nodeb_tcp::segment::{Kind, Segment};
use nodeb_tcp::wire::{End, TcpFields};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};

use block_file::BlockFile;
use fates::{Fates, Record};
use frame::Frame;

pub use place::Interface;
use place::{Connections, Seen, Viewpoint};

/// Bytes kept of each packet unless told otherwise: the longest headers. Data are zeros anyway.
pub const DEFAULT_SNAP_LENGTH: u32 = frame::MAX_HEADER_BYTES as u32;

/// Bytes that may be kept of each packet: the headers at least, an IPv4 packet at most.
pub const SNAP_LENGTHS: std::ops::RangeInclusive<u32> = DEFAULT_SNAP_LENGTH..=65_535;

/// Exponent of the timestamps' unit (pcapng draft, 4.2, `if_tsresol`): nanoseconds.
const NANOSECONDS: u8 = 9;

/// Direction of a packet at its interface (pcapng draft, 4.3.1, `epb_flags`).
const INBOUND: u32 = 0b01;
const OUTBOUND: u32 = 0b10;

/// Longest comment; an option holds 65 535 B.
const MAX_COMMENT_BYTES: usize = 60_000;

/// Why there is no capture, or not all of it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The snap length makes no sense.
    #[error("a snap length of {0} B makes no sense; expected 80 B, the longest headers, to 65535 B")]
    SnapLength(u32),
    /// The scenario has no such interface.
    #[error("there is no interface `{}` in this scenario, as it has no {}; expected one of: {}", .0.name(), missing(*.0), .1)]
    NoInterface(Interface, String),
    /// The file cannot be written.
    #[error("cannot write the capture {}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The simulation ended early.
    #[error(transparent)]
    Run(#[from] nodeb_sim::Error),
    /// A recorded flight cannot be flown again.
    #[error(transparent)]
    Flight(#[from] nodeb_emu::Error),
}

/// What a scenario, or what is asked for, lacks without an interface.
fn missing(interface: Interface) -> &'static str {
    match interface {
        Interface::Proxy => "proxy",
        Interface::Rnc => "RNC, or the radio network is not captured",
        _ => "such place, or the radio network is not captured",
    }
}

/// What this crate's fallible functions return.
pub type Result<T> = std::result::Result<T, Error>;

/// What to keep.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes kept of each packet.
    pub snap_length: u32,
    /// Interfaces to capture at; empty for all that the scenario has.
    pub interfaces: Vec<Interface>,
    /// Whether the radio network has interfaces too, and packets have comments on what became of them.
    pub radio: bool,
    /// What else comments say of packets, by their numbers among all that are sent in the run, from 1.
    pub remarks: HashMap<u64, String>,
    /// What else the file says about itself, in lines.
    pub about: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        let (interfaces, remarks, about) = Default::default();
        Self { snap_length: DEFAULT_SNAP_LENGTH, interfaces, radio: false, remarks, about }
    }
}

/// A capture under way.
struct Capture {
    path: PathBuf,
    writer: PcapNgWriter<BlockFile>,
    interfaces: Vec<Interface>,
    frame: Frame,
    connections: Vec<Connections>,
    /// The headers of packets on their way.
    flying: HashMap<PacketId, TcpFields>,
    /// What becomes of packets, where comments say it.
    fates: Option<Fates>,
    /// What else comments say, by the numbers of packets.
    remarks: HashMap<u64, String>,
    has_rnc: bool,
    now: Time,
    /// Why the file takes no more.
    failure: Option<io::Error>,
}

/// Simulates replication number `run` of a scenario under `seed`, and writes what passes its
/// interfaces to `path`.
///
/// # Errors
/// [`Error::SnapLength`], [`Error::NoInterface`] and [`Error::File`] before the simulation begins.
/// When the file cannot be written any further, or the run is cancelled, the run ends and the file
/// keeps the packets so far.
pub fn run(
    scenario: &Scenario,
    seed: u64,
    run: u64,
    control: &Control,
    path: &Path,
    options: Options,
) -> Result<RunResult> {
    let mut capture = Capture::create(scenario, seed, run, path, options)?;
    let result = run_with_listener(scenario, seed, run, control, &mut capture)?;
    capture.finish()?;
    Ok(result)
}

/// The interfaces to capture at.
fn interfaces(scenario: &Scenario, wanted: &[Interface], radio: bool) -> Result<Vec<Interface>> {
    let all = Interface::of_scenario(scenario, radio);
    if let Some(missing) = wanted.iter().find(|interface| !all.contains(interface)) {
        let names: Vec<_> = all.iter().map(|interface| interface.name()).collect();
        return Err(Error::NoInterface(*missing, names.join(", ")));
    }
    Ok(all.into_iter().filter(|interface| wanted.is_empty() || wanted.contains(interface)).collect())
}

impl Capture {
    fn create(scenario: &Scenario, seed: u64, run: u64, path: &Path, options: Options) -> Result<Self> {
        let snap_length = options.snap_length;
        if !SNAP_LENGTHS.contains(&snap_length) {
            return Err(Error::SnapLength(snap_length));
        }
        let interfaces = interfaces(scenario, &options.interfaces, options.radio)?;
        let comment = comment(scenario, seed, run, &options.about)?;
        let writer =
            start(path, comment, snap_length, &interfaces).map_err(|error| file_error(path, &error))?;
        let phones = scenario.users.iter().flat_map(|group| (0..group.count.get()).map(move |_| group));
        let connections = phones.map(|group| Connections::new(scenario, group)).collect();
        let frame = Frame::new(snap_length as usize);
        let fates = options.radio.then(Fates::default);
        let has_rnc = scenario.radio.facts().has_rnc;
        let (path, now) = (path.to_owned(), Time::ZERO);
        let flying = HashMap::new();
        let remarks = options.remarks;
        let failure = None;
        Ok(Self {
            path,
            writer,
            interfaces,
            frame,
            connections,
            flying,
            fates,
            remarks,
            has_rnc,
            now,
            failure,
        })
    }

    fn finish(mut self) -> Result<()> {
        let now = self.now;
        if let Some(fates) = &mut self.fates {
            fates.give_up(now);
        }
        let ended = self.failure.take().map_or(Ok(()), Err);
        let ended = ended.and_then(|()| self.write_over()).and_then(|()| self.writer.get_mut().flush());
        ended.map_err(|error| file_error(&self.path, &error))
    }

    /// Ends the run if something could not be written; [`Self::finish`] says why.
    fn go_on(&mut self, written: io::Result<()>) -> ControlFlow<()> {
        self.failure = written.err();
        if self.failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The number of an interface, if packets are captured there.
    fn number(&self, interface: Interface) -> Option<u32> {
        self.interfaces.iter().position(|known| *known == interface).map(|number| number as u32)
    }

    /// The header of a packet whose way ends.
    fn landed(&mut self, event: &Event) -> Option<TcpFields> {
        match event {
            Event::Received { packet, .. } | Event::Lost { packet, .. } => self.flying.remove(packet),
            _ => None,
        }
    }

    /// Writes what a packet is where it is sent or received, or keeps it until its life is over.
    fn write(&mut self, at: Time, viewpoint: Viewpoint, packet: &Segment, event: &Event) -> io::Result<()> {
        let arrived = self.landed(event);
        let seen = self.connections[packet.flow as usize].seen(viewpoint, packet, arrived);
        if let Event::Sent { packet: id, .. } = *event {
            self.flying.insert(id, seen.fields);
        }
        let interface = Interface::of(viewpoint).and_then(|interface| self.number(interface));
        if interface.is_none() && self.fates.is_none() {
            return Ok(());
        }
        let Seen { server, client, end, fields } = seen;
        let downlink = packet.kind == Kind::Data;
        let (from, to) = if downlink { (server, client) } else { (client, server) };
        let original_len = self.frame.set(from, to, &fields, packet.ecn).map_err(io::Error::other)?;
        let direction = if downlink == (end == End::Server) { OUTBOUND } else { INBOUND };
        let Some(fates) = &mut self.fates else {
            let Some(interface) = interface else {
                return Ok(());
            };
            let data = self.frame.bytes();
            let remark = id_of(event).and_then(|id| self.remarks.get(&id.number())).cloned();
            return put(&mut self.writer, at, (interface, original_len, direction), data, remark);
        };
        if let Event::Sent { packet: id, again, .. } = *event {
            fates.begin(at, id, again, (self.frame.bytes().into(), original_len));
        }
        if let (Some(interface), Some(life)) = (interface, id_of(event).and_then(|id| fates.life(id))) {
            let data = self.frame.bytes().into();
            fates.wait(Record { at, interface, original_len, direction, data, life });
        }
        Ok(())
    }

    /// Keeps what passes the radio network: packets for phones as they come, and on an interface of the air
    /// when their first block is sent; packets of phones as they leave the uplink.
    fn pass(&mut self, at: Time, event: &Event) {
        let network = if self.has_rnc { Interface::Rnc } else { Interface::NodeB };
        let (interface, id, is_out) = match *event {
            Event::Entered { place, packet } if place.site == Site::Bearer => (network, packet, false),
            Event::Left { place, packet } if place.site == Site::Uplink => (network, packet, true),
            Event::Carries { part, .. } if self.has_rnc => (Interface::NodeB, part.packet, true),
            _ => return,
        };
        let Some(interface) = self.number(interface) else {
            return;
        };
        let Some(fates) = &mut self.fates else {
            return;
        };
        if matches!(event, Event::Carries { .. }) && fates.is_carried(id) {
            return;
        }
        let (Some(life), Some((data, original_len))) = (fates.life(id), fates.frame(id)) else {
            return;
        };
        let (data, original_len, direction) =
            (data.clone(), *original_len, if is_out { OUTBOUND } else { INBOUND });
        fates.wait(Record { at, interface, original_len, direction, data, life });
    }

    /// Writes the packets whose lives are over, as far as no other waits before them.
    fn write_over(&mut self) -> io::Result<()> {
        let Some(fates) = &mut self.fates else {
            return Ok(());
        };
        while let Some((record, comment)) = fates.next() {
            let Record { at, interface, original_len, direction, data, life } = record;
            let remark = self.remarks.get(&life);
            let comment = remark.map_or_else(|| comment.clone(), |remark| format!("{comment}; {remark}"));
            put(&mut self.writer, at, (interface, original_len, direction), &data, Some(comment))?;
        }
        Ok(())
    }

    fn take(&mut self, at: Time, event: &Event, segment: Option<&Segment>) -> io::Result<()> {
        self.now = self.now.max(at);
        if let Some((segment, viewpoint)) =
            segment.and_then(|seen| Some((seen, Viewpoint::of(event, seen.kind)?)))
        {
            self.write(at, viewpoint, segment, event)?;
        }
        self.landed(event);
        if self.fates.is_some() {
            self.pass(at, event);
        }
        if let Some(fates) = &mut self.fates {
            fates.learn(at, event);
        }
        self.write_over()
    }
}

/// The packet that an event at an interface is about.
fn id_of(event: &Event) -> Option<PacketId> {
    match *event {
        Event::Sent { packet, .. } | Event::Received { packet, .. } => Some(packet),
        _ => None,
    }
}

/// Writes a packet at an interface, with its length and direction there.
fn put(
    writer: &mut PcapNgWriter<BlockFile>,
    at: Time,
    (interface_id, original_len, direction): (u32, u32, u32),
    data: &[u8],
    comment: Option<String>,
) -> io::Result<()> {
    let mut options = vec![EnhancedPacketOption::Flags(direction)];
    options.extend(comment.map(|text| EnhancedPacketOption::Comment(text.into())));
    let timestamp = Duration::from_nanos(at.0);
    let block =
        EnhancedPacketBlock { interface_id, timestamp, original_len, data: Cow::Borrowed(data), options };
    writer.write_pcapng_block(block).map_err(io_error)?;
    writer.get_mut().end_block()
}

impl Listener for Capture {
    fn mask(&self) -> Mask {
        let more = Mask::PLACES.or(Mask::BLOCKS);
        Mask::PACKETS.or(more.when(self.fates.is_some()))
    }

    fn on_event(&mut self, at: Time, event: &Event, segment: Option<&Segment>) -> ControlFlow<()> {
        let taken = self.take(at, event, segment);
        self.go_on(taken)
    }
}

/// Makes the file with its section header and the interfaces.
fn start(
    path: &Path,
    comment: String,
    snaplen: u32,
    interfaces: &[Interface],
) -> io::Result<PcapNgWriter<BlockFile>> {
    let options = vec![
        SectionHeaderOption::Comment(comment.into()),
        SectionHeaderOption::UserApplication(format!("nodeb {VERSION}").into()),
    ];
    // One byte order everywhere, so that the file is the same on any machine.
    let endianness = Endianness::Little;
    let section = SectionHeaderBlock { endianness, options, ..SectionHeaderBlock::default() };
    let mut writer =
        PcapNgWriter::with_section_header(BlockFile::create(path)?, section).map_err(io_error)?;
    for interface in interfaces {
        let options = vec![
            InterfaceDescriptionOption::IfName(interface.name().into()),
            InterfaceDescriptionOption::IfDescription(interface.description().into()),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
        ];
        let interface = InterfaceDescriptionBlock { linktype: DataLink::RAW, snaplen, options };
        writer.write_pcapng_block(interface).map_err(io_error)?;
    }
    // So that a full disk is known before the simulation begins.
    writer.get_mut().flush()?;
    Ok(writer)
}

/// What the section says about itself: a scenario file with a few lines of comment above it.
fn comment(scenario: &Scenario, seed: u64, run: u64, about: &[String]) -> Result<String> {
    let mut text = String::new();
    let written = writeln!(
        text,
        "# {:?}: simulated by nodeb {VERSION}, seed {seed}, run {run}\n\
         # Time 0 is the beginning of the simulation. A packet is here once for each interface it passes.\n\
         # Simulated data are zeros. Simulated connections end without FIN. The classic family's\n\
         # simulated sizes leave out the options of SYNs and the padding of SACK options.",
        scenario.name
    );
    written.expect("a string takes everything");
    for line in about {
        writeln!(text, "# {line}").expect("a string takes everything");
    }
    text.push('\n');
    text += &scenario::to_toml(scenario)?;
    if text.len() > MAX_COMMENT_BYTES {
        let end = (0..=MAX_COMMENT_BYTES).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
        text.truncate(end);
        text += "\n# ... and so on";
    }
    Ok(text)
}

fn file_error(path: &Path, error: &io::Error) -> Error {
    Error::File { path: path.to_owned(), reason: error.to_string() }
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests;
