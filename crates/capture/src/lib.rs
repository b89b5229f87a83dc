//! Packet captures of simulations: what the server and the phones see, as pcapng files that
//! Wireshark, tshark and (split by interface) tcptrace read.
//!
//! A [`Capture`] is a [`Tap`]: it turns every packet into a valid IPv4 and TCP packet and writes it
//! under one of two interfaces, `server` and `phone`, with the simulated time in nanoseconds.
//! Source of the format: IETF draft *PCAP Now Generic (pcapng) Capture File Format*.

mod blocks;
mod frame;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nodeb_sim::metrics::RunResult;
use nodeb_sim::packet::{Kind, Packet};
use nodeb_sim::transport::wire::{End, Wire};
use nodeb_sim::units::Time;
use nodeb_sim::world::{Place, Tap, run_tapped};
use nodeb_sim::{Control, Scenario, VERSION, scenario};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};

use blocks::Blocks;
use frame::{Frame, SERVER_SOCKET, phone_socket};

/// Bytes kept of each packet unless told otherwise: the longest headers. Data are zeros anyway.
pub const DEFAULT_SNAP_LENGTH: u32 = frame::MOST_HEADER_BYTES as u32;

/// Bytes that may be kept of each packet: the headers at least, an IPv4 packet at most.
pub const SNAP_LENGTHS: std::ops::RangeInclusive<u32> = DEFAULT_SNAP_LENGTH..=65_535;

/// Exponent of the timestamps' unit (pcapng draft, 4.2, `if_tsresol`): nanoseconds.
const NANOSECONDS: u8 = 9;

/// Direction of a packet at its interface (pcapng draft, 4.3.1, `epb_flags`).
const INBOUND: u32 = 0b01;
const OUTBOUND: u32 = 0b10;

/// Longest comment; an option holds 65 535 B.
const MOST_COMMENT_BYTES: usize = 60_000;

/// Why there is no capture, or not all of it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The snap length makes no sense.
    #[error("a snap length of {0} B makes no sense; expected 80 B, the longest headers, to 65535 B")]
    SnapLength(u32),
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
}

/// What this crate's fallible functions return.
pub type Result<T> = std::result::Result<T, Error>;

/// A capture under way.
struct Capture {
    path: PathBuf,
    writer: PcapNgWriter<Blocks>,
    frame: Frame,
    wires: Vec<Box<dyn Wire>>,
}

/// Simulates replication number `run` of a scenario under `seed`, and writes what the server and
/// the phones see to `path`; of each packet the first `snap_length` bytes.
///
/// # Errors
/// [`Error::SnapLength`] and [`Error::File`] before the simulation begins. When the file cannot be
/// written any further, or the run is cancelled, the run ends and the file keeps the packets so
/// far.
pub fn run(
    scenario: &Scenario,
    seed: u64,
    run: u64,
    control: &Control,
    path: &Path,
    snap_length: u32,
) -> Result<RunResult> {
    let mut capture = Capture::create(scenario, seed, run, path, snap_length)?;
    let result = run_tapped(scenario, seed, run, control, &mut capture)?;
    capture.finish()?;
    Ok(result)
}

impl Capture {
    fn create(scenario: &Scenario, seed: u64, run: u64, path: &Path, snap_length: u32) -> Result<Self> {
        if !SNAP_LENGTHS.contains(&snap_length) {
            return Err(Error::SnapLength(snap_length));
        }
        let comment = comment(scenario, seed, run)?;
        let writer = start(path, comment, snap_length).map_err(|error| file_error(path, &error))?;
        let wires = (0..scenario.user_count()).map(|_| scenario.tcp.wire()).collect();
        Ok(Self { path: path.to_owned(), writer, frame: Frame::new(snap_length as usize), wires })
    }

    fn finish(mut self) -> Result<()> {
        self.writer.get_mut().flush().map_err(|error| file_error(&self.path, &error))
    }

    fn write(&mut self, at: Time, place: Place, packet: &Packet) -> io::Result<()> {
        let end = match place {
            Place::Server => End::Server,
            Place::Phone => End::Phone,
        };
        let fields = self.wires[packet.flow as usize].fields(end, packet);
        let (phone, server) = (phone_socket(packet.flow), SERVER_SOCKET);
        let downlink = packet.kind == Kind::Segment;
        let (from, to) = if downlink { (server, phone) } else { (phone, server) };
        let original_len = self.frame.set(from, to, &fields, packet.ecn).map_err(io::Error::other)?;
        let direction = if downlink == (end == End::Server) { OUTBOUND } else { INBOUND };
        let block = EnhancedPacketBlock {
            interface_id: end as u32,
            timestamp: Duration::from_nanos(at.0),
            original_len,
            data: Cow::Borrowed(self.frame.bytes()),
            options: vec![EnhancedPacketOption::Flags(direction)],
        };
        self.writer.write_pcapng_block(block).map_err(io_error)?;
        self.writer.get_mut().end_block()
    }
}

impl Tap for Capture {
    fn packet(&mut self, at: Time, place: Place, packet: &Packet) -> nodeb_sim::Result<()> {
        self.write(at, place, packet)
            .map_err(|error| nodeb_sim::Error::Tap(file_error(&self.path, &error).to_string()))
    }
}

/// Makes the file with its section header and the two interfaces, in the order of [`End`].
fn start(path: &Path, comment: String, snaplen: u32) -> io::Result<PcapNgWriter<Blocks>> {
    let options = vec![
        SectionHeaderOption::Comment(comment.into()),
        SectionHeaderOption::UserApplication(format!("nodeb {VERSION}").into()),
    ];
    // One byte order everywhere, so that the file is the same on any machine.
    let endianness = Endianness::Little;
    let section = SectionHeaderBlock { endianness, options, ..SectionHeaderBlock::default() };
    let mut writer = PcapNgWriter::with_section_header(Blocks::create(path)?, section).map_err(io_error)?;
    for (name, what) in
        [("server", "what leaves and enters the server"), ("phone", "what leaves and enters the phones")]
    {
        let options = vec![
            InterfaceDescriptionOption::IfName(name.into()),
            InterfaceDescriptionOption::IfDescription(what.into()),
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
fn comment(scenario: &Scenario, seed: u64, run: u64) -> Result<String> {
    let mut text = String::new();
    let written = writeln!(
        text,
        "# {:?}: simulated by nodeb {VERSION}, seed {seed}, run {run}\n\
         # Time 0 is the beginning of the simulation. A packet that passes both interfaces is here twice.\n\
         # Data are zeros. Connections end without FIN, which is not simulated. Options of SYNs and the\n\
         # padding of SACK options are not part of the simulated sizes.\n",
        scenario.name
    );
    written.expect("a string takes everything");
    text += &scenario::to_toml(scenario)?;
    if text.len() > MOST_COMMENT_BYTES {
        let end = (0..=MOST_COMMENT_BYTES).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
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
