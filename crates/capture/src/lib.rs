//! Packet captures of simulations: the packets at servers and phones, as pcapng files that Wireshark, tshark and
//! (split by interface) tcptrace read (IETF draft *PCAP Now Generic (pcapng) Capture File Format*).
//!
//! # Examples
//!
//! ```
//! use nodeb_capture::Options;
//! use nodeb_sim::{Control, scenario};
//!
//! let text = r#"
//!     radio.dch = {}
//!     users = [{ traffic.ftp.size = "50 kB" }]
//! "#;
//! let scenario = scenario::from_toml(text, "example.toml", &[])?;
//! let path = std::env::temp_dir().join("nodeb-capture-example.pcapng");
//! nodeb_capture::run(&scenario, 1, 0, &Control::default(), &path, Options::default()).expect("a capture");
//!
//! let bytes = std::fs::read(&path).expect("the file");
//! assert_eq!(bytes[..4], [0x0a, 0x0d, 0x0d, 0x0a]); // a pcapng section header
//! std::fs::remove_file(&path).expect("the file");
//! # Ok::<(), nodeb_sim::Error>(())
//! ```

mod block_file;
mod fates;
mod frame;
mod pdcp;
mod place;
mod recording;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nodeb_air::pdcp::SnLength;
use nodeb_base::event::{Event, Mask, Site};
use nodeb_base::packet::PacketId;
use nodeb_base::units::Time;
use nodeb_sim::metrics::RunResult;
use nodeb_sim::scenario::Direction;
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
use pdcp::Pdu;

pub use place::Interface;
use place::{Connections, Seen, Viewpoint};
pub use recording::replay;

/// More bytes would add no information, because simulated data are zeros.
pub const DEFAULT_SNAP_LENGTH: u32 = frame::MAX_HEADER_BYTES as u32;

/// From the largest headers to the largest IPv4 packet.
pub const SNAP_LENGTHS: std::ops::RangeInclusive<u32> = DEFAULT_SNAP_LENGTH..=65_535;

/// 10^-9 s (option `if_tsresol` of the pcapng draft, 4.2).
const NANOSECONDS: u8 = 9;

/// pcapng draft, 4.3.1, `epb_flags`.
const INBOUND: u32 = 0b01;
/// pcapng draft, 4.3.1, `epb_flags`.
const OUTBOUND: u32 = 0b10;

/// With the note on the cut, the comment stays below 65 535 B, the limit of a pcapng option.
const MAX_COMMENT_BYTES: usize = 60_000;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not in [`SNAP_LENGTHS`].
    #[error("a snap length of {0} B is out of range; expected 80 B, the longest headers, to 65535 B")]
    SnapLength(u32),
    /// The scenario does not have this interface.
    #[error("there is no interface `{}` in this scenario, as it has no {}; expected one of: {}", .0.name(), missing(*.0), .1)]
    NoInterface(Interface, String),
    #[error("cannot write the capture {}: {reason}", path.display())]
    File { path: PathBuf, reason: String },
    #[error(transparent)]
    Run(#[from] nodeb_sim::Error),
    #[error(transparent)]
    Recording(#[from] nodeb_emu::Error),
}

/// End of the sentence "it has no".
fn missing(interface: Interface) -> &'static str {
    match interface {
        Interface::Proxy => "proxy",
        Interface::Rnc => "RNC, or the radio network is not captured",
        Interface::Pdcp => "PDCP, or the radio network is not captured",
        _ => "such place, or the radio network is not captured",
    }
}

pub type Result<T> = std::result::Result<T, Error>;

/// Options of a capture: bytes per packet, interfaces and comments.
#[derive(Clone, Debug)]
pub struct Options {
    /// Valid values are in [`SNAP_LENGTHS`].
    pub snap_length: u32,
    /// If empty, packets are captured at all interfaces that the scenario has; those of the radio network are included
    /// only if `radio` is true.
    pub interfaces: Vec<Interface>,
    pub radio: bool,
    /// The key is the packet's number among all packets sent in the run, from 1.
    pub remarks: HashMap<u64, String>,
    pub about: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        let (interfaces, remarks, about) = Default::default();
        Self { snap_length: DEFAULT_SNAP_LENGTH, interfaces, radio: false, remarks, about }
    }
}

struct Capture {
    path: PathBuf,
    writer: PcapNgWriter<BlockFile>,
    interfaces: Vec<Interface>,
    frame: Frame,
    connections: Vec<Connections>,
    in_flight: HashMap<PacketId, TcpFields>,
    fates: Option<Fates>,
    /// The key is the packet's number among all packets sent in the run, from 1.
    remarks: HashMap<u64, String>,
    has_rnc: bool,
    sn_length: Option<SnLength>,
    now: Time,
    failure: Option<io::Error>,
}

/// Simulates replication number `run` of a scenario under `seed`, and writes the packets at its interfaces to `path`.
///
/// If a write fails or the run is cancelled, the run ends and the file keeps the packets written so
/// far. Packets that are held back for comments on their fates are lost.
///
/// # Errors
///
/// Returns [`Error::SnapLength`], [`Error::NoInterface`] or [`Error::File`] before the simulation
/// begins, and [`Error::File`] or [`Error::Run`] if writing or the simulation fails later.
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

/// Returns the interfaces at which packets are captured: those in `wanted`, or all of the scenario
/// if `wanted` is empty.
///
/// # Errors
///
/// Returns [`Error::NoInterface`] if the scenario does not have one of the interfaces in `wanted`.
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
        let writer = start(path, comment, &described(&interfaces, snap_length, scenario))
            .map_err(|error| file_error(path, &error))?;
        let connections = (0..).zip(scenario.connections());
        let connections = connections.map(|(flow, of)| Connections::new(scenario, flow, &of)).collect();
        let frame = Frame::new(snap_length as usize);
        let fates = options.radio.then(Fates::default);
        let parts = scenario.radio.parts();
        let (has_rnc, sn_length) = (parts.has_rnc(), parts.pdcp);
        let (path, now) = (path.to_owned(), Time::ZERO);
        let in_flight = HashMap::new();
        let remarks = options.remarks;
        let failure = None;
        Ok(Self {
            path,
            writer,
            interfaces,
            frame,
            connections,
            in_flight,
            fates,
            remarks,
            has_rnc,
            sn_length,
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
        let ended = ended.and_then(|()| self.write_ended()).and_then(|()| self.writer.get_mut().flush());
        ended.map_err(|error| file_error(&self.path, &error))
    }

    fn go_on(&mut self, written: io::Result<()>) -> ControlFlow<()> {
        self.failure = written.err();
        if self.failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn number(&self, interface: Interface) -> Option<u32> {
        self.interfaces.iter().position(|other| *other == interface).map(|number| number as u32)
    }

    fn take_header(&mut self, event: &Event) -> Option<TcpFields> {
        match event {
            Event::Received { packet, .. } | Event::Lost { packet, .. } => self.in_flight.remove(packet),
            _ => None,
        }
    }

    /// Unless the node's interface is not captured.
    fn write(&mut self, at: Time, viewpoint: Viewpoint, packet: &Segment, event: &Event) -> io::Result<()> {
        let arrived = self.take_header(event);
        let seen = self.connections[packet.flow as usize].header(viewpoint, packet, arrived);
        if let Event::Sent { packet: id, .. } = *event {
            self.in_flight.insert(id, seen.fields);
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
        if let (Some(interface), Some(number)) = (interface, id_of(event).and_then(|id| fates.number(id))) {
            let data = self.frame.bytes().into();
            fates.wait(Record { at, interface, original_len, direction, data, number });
        }
        Ok(())
    }

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
        let (Some(number), Some((data, original_len))) = (fates.number(id), fates.frame(id)) else {
            return;
        };
        let (data, original_len, direction) =
            (data.clone(), *original_len, if is_out { OUTBOUND } else { INBOUND });
        fates.wait(Record { at, interface, original_len, direction, data, number });
    }

    fn pass_pdu(&mut self, at: Time, event: &Event) {
        let Event::Numbered { place, user: phone, bearer, packet: id, number } = *event else { return };
        let (Some(interface), Some(sn_length)) = (self.number(Interface::Pdcp), self.sn_length) else {
            return;
        };
        let Some(fates) = &mut self.fates else { return };
        let (Some(of_run), Some((packet, packet_len))) = (fates.number(id), fates.frame(id)) else { return };
        let (direction, flag) = match place.site {
            Site::Uplink => (Direction::Up, INBOUND),
            _ => (Direction::Down, OUTBOUND),
        };
        let pdu = Pdu { direction, sn_length, phone, bearer, number, packet, packet_len: *packet_len };
        let (data, original_len) = pdu.frame();
        fates.wait(Record { at, interface, original_len, direction: flag, data, number: of_run });
    }

    fn write_ended(&mut self) -> io::Result<()> {
        let Some(fates) = &mut self.fates else {
            return Ok(());
        };
        while let Some((record, comment)) = fates.next() {
            let Record { at, interface, original_len, direction, data, number } = record;
            let remark = self.remarks.get(&number);
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
        self.take_header(event);
        if self.fates.is_some() {
            self.pass(at, event);
            self.pass_pdu(at, event);
        }
        if let Some(fates) = &mut self.fates {
            fates.on_event(at, event);
        }
        self.write_ended()
    }
}

fn id_of(event: &Event) -> Option<PacketId> {
    match *event {
        Event::Sent { packet, .. } | Event::Received { packet, .. } => Some(packet),
        _ => None,
    }
}

/// The tuple has the interface's index in the file, the packet's length in bytes and the direction flag.
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
        let more = Mask::PLACES.or(Mask::BLOCKS).or(Mask::PDCP);
        Mask::PACKETS.or(more.when(self.fates.is_some()))
    }

    fn on_event(&mut self, at: Time, event: &Event, segment: Option<&Segment>) -> ControlFlow<()> {
        let taken = self.take(at, event, segment);
        self.go_on(taken)
    }
}

/// Returns the interfaces, each with the maximum number of bytes captured per packet.
fn described(interfaces: &[Interface], snap_length: u32, scenario: &Scenario) -> Vec<(Interface, u32)> {
    let overhead = scenario.radio.parts().pdcp.map_or(0, pdcp::overhead);
    let length = |interface| snap_length + if interface == Interface::Pdcp { overhead } else { 0 };
    interfaces.iter().map(|interface| (*interface, length(*interface))).collect()
}

/// Creates a capture file, and writes its section header and the descriptions of its interfaces.
fn start(
    path: &Path,
    comment: String,
    interfaces: &[(Interface, u32)],
) -> io::Result<PcapNgWriter<BlockFile>> {
    let options = vec![
        SectionHeaderOption::Comment(comment.into()),
        SectionHeaderOption::UserApplication(format!("nodeb {VERSION}").into()),
    ];
    // The byte order is fixed, so that all machines write identical files.
    let endianness = Endianness::Little;
    let section = SectionHeaderBlock { endianness, options, ..SectionHeaderBlock::default() };
    let mut writer =
        PcapNgWriter::with_section_header(BlockFile::create(path)?, section).map_err(io_error)?;
    for (interface, snaplen) in interfaces {
        let options = vec![
            InterfaceDescriptionOption::IfName(interface.name().into()),
            InterfaceDescriptionOption::IfDescription(interface.description().into()),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
        ];
        let interface = InterfaceDescriptionBlock { linktype: DataLink::RAW, snaplen: *snaplen, options };
        writer.write_pcapng_block(interface).map_err(io_error)?;
    }
    // Flushing detects a full disk before the simulation begins.
    writer.get_mut().flush()?;
    Ok(writer)
}

/// A long comment is cut after `MAX_COMMENT_BYTES`.
fn comment(scenario: &Scenario, seed: u64, run: u64, about: &[String]) -> Result<String> {
    let mut text = String::new();
    let written = writeln!(
        text,
        "# {:?}: simulated by nodeb {VERSION}, seed {seed}, run {run}\n\
         # Time 0 is the beginning of the simulation. A packet appears once for each interface that it passes.\n\
         # Simulated data are zeros. Simulated connections end without FIN. The classic family's\n\
         # simulated sizes do not include the options of SYNs and the padding of SACK options.",
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
