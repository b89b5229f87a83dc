//! The flight recorder: when which packet was accepted, and what became of it.
//!
//! A log is enough to fly again: see [`crate::replay`]. It is written by a thread of its own through a bounded number
//! of buffers, so that a slow disk never makes a delivery late; if it falls behind by all of them the log ends there,
//! and that is told. What a killed process leaves is whole up to the last second.
//!
//! All numbers are little-endian. The file is [`MAGIC`], the length of a header (4 bytes), the header, and records:
//!
//! | first byte | what follows |
//! |---|---|
//! | 1, accepted | time (8), way (1), phone (1), bytes of the packet (4), hash of the flow (4), ECN (1), bytes kept (2), these |
//! | 2, arrived | number of the packet (8), time (8), how late it was handed over (8), ECN (1) |
//! | 3, lost | number of the packet (8), time (8), cause (1) |
//! | 4, end | time (8) |
//!
//! A log that has its end has behind it the CRC-32 of all bytes before (4, as in ISO 3309), so that damage is told from what
//! happened; logs of earlier versions have none. Times are nanoseconds of the world; packets are numbered from 0 in the order in which they were accepted.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{JoinHandle, spawn};

use crc32fast::Hasher;
use nodeb_base::event::Cause;
use nodeb_base::packet::EcnField;
use nodeb_base::units::Time;
use nodeb_sim::world::{Direction, ExternalPacket};

use crate::report::CAUSES;

/// How a log begins.
pub const MAGIC: &[u8; 16] = b"nodeb flight 1\r\n";

/// The longest header, bytes: it holds a scenario, with what its files say.
const LONGEST_HEADER: u32 = 1 << 30;

/// Buffers, and bytes in each, between the driver and the disk.
const BUFFERS: usize = 64;
const BUFFER: usize = 1 << 18;

/// The longest packet that IP knows: 40 B of header in IPv6, 65,535 B behind it (RFC 8200).
const LONGEST_PACKET: u32 = 65_575;

/// No flight lasts longer: 30 days.
const LATEST: Time = Time(30 * 86_400 * 1_000_000_000);

const ACCEPTED: u8 = 1;
const ARRIVED: u8 = 2;
const LOST: u8 = 3;
const END: u8 = 4;

/// Bytes of the record that ends a log, and of the checksum behind it.
pub(crate) const END_BYTES: usize = 9 + 4;

/// Something that a log tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A packet was accepted.
    Accepted {
        /// When.
        at: Time,
        /// Its way.
        direction: Direction,
        /// Number of the phone among those that are real.
        phone: u8,
        /// As much of it as the cell looks at; its tag is its number.
        packet: ExternalPacket,
        /// Its first bytes.
        kept: Vec<u8>,
    },
    /// A packet arrived.
    Arrived {
        /// Which.
        number: u64,
        /// When, in the world.
        at: Time,
        /// How much later it was handed over, ns.
        late: u64,
        /// Its ECN field then.
        ecn: EcnField,
    },
    /// A packet was lost.
    Lost {
        /// Which.
        number: u64,
        /// When.
        at: Time,
        /// Why.
        cause: Cause,
    },
    /// It ended.
    End {
        /// When.
        at: Time,
    },
}

/// Writes a log.
pub struct Recorder {
    buffer: Vec<u8>,
    snap: usize,
    full: SyncSender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    thread: JoinHandle<io::Result<(File, Hasher)>>,
    /// Why nothing is written any more.
    failed: Option<&'static str>,
}

impl Recorder {
    /// A log with a header that has nothing in it yet; of each packet the first `snap` bytes are kept.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(path: &Path, header: &[u8], snap: u16) -> io::Result<Self> {
        let mut file = File::create(path)?;
        let begin = [MAGIC, &(header.len() as u32).to_le_bytes()[..], header].concat();
        file.write_all(&begin)?;
        let mut checksum = Hasher::new();
        checksum.update(&begin);
        let (full, to_write) = sync_channel::<Vec<u8>>(BUFFERS);
        let (written, empty) = sync_channel(BUFFERS);
        for _ in 1..BUFFERS {
            let _ = written.try_send(Vec::new());
        }
        let thread = spawn(move || {
            for mut buffer in to_write {
                file.write_all(&buffer)?;
                checksum.update(&buffer);
                buffer.clear();
                let _ = written.try_send(buffer);
            }
            Ok((file, checksum))
        });
        let buffer = Vec::with_capacity(2 * BUFFER);
        Ok(Self { buffer, snap: usize::from(snap), full, empty, thread, failed: None })
    }

    /// A packet was accepted.
    pub fn accepted(
        &mut self,
        at: Time,
        direction: Direction,
        phone: usize,
        packet: &ExternalPacket,
        contents: &[u8],
    ) {
        let kept = &contents[..contents.len().min(self.snap)];
        self.buffer.push(ACCEPTED);
        self.buffer.extend(at.0.to_le_bytes());
        self.buffer.extend([u8::from(direction == Direction::Up), phone as u8]);
        self.buffer.extend(packet.bytes.to_le_bytes());
        self.buffer.extend(packet.flow_hash.to_le_bytes());
        self.buffer.push(ecn_code(packet.ecn));
        self.buffer.extend((kept.len() as u16).to_le_bytes());
        self.buffer.extend(kept);
        self.pass_on();
    }

    /// A packet that arrived was handed over.
    pub fn arrived(&mut self, number: u64, at: Time, late: u64, ecn: EcnField) {
        self.buffer.push(ARRIVED);
        for value in [number, at.0, late] {
            self.buffer.extend(value.to_le_bytes());
        }
        self.buffer.push(ecn_code(ecn));
        self.pass_on();
    }

    /// A packet was lost.
    pub fn lost(&mut self, number: u64, at: Time, cause: Cause) {
        self.buffer.push(LOST);
        self.buffer.extend(number.to_le_bytes());
        self.buffer.extend(at.0.to_le_bytes());
        self.buffer.push(CAUSES.iter().position(|(one, _)| *one == cause).unwrap_or_default() as u8);
        self.pass_on();
    }

    fn pass_on(&mut self) {
        if self.buffer.len() >= BUFFER {
            self.flush();
        }
    }

    /// Sends what was recorded on its way to the disk.
    pub fn flush(&mut self) {
        if self.failed.is_some() {
            self.buffer.clear();
            return;
        }
        let Ok(empty) = self.empty.try_recv() else {
            self.failed = Some("the disk was too slow for it");
            return;
        };
        let full = std::mem::replace(&mut self.buffer, empty);
        if self.full.try_send(full).is_err() {
            self.failed = Some("it could not be written");
        }
    }

    /// The log is complete.
    ///
    /// # Errors
    /// It could not be written, or not all of it.
    pub fn finish(mut self, at: Time) -> io::Result<()> {
        self.buffer.push(END);
        self.buffer.extend(at.0.to_le_bytes());
        self.flush();
        drop(self.full);
        let written = self.thread.join().unwrap_or_else(|_| Err(io::Error::other("its writer failed")));
        let (mut file, checksum) = written?;
        if let Some(why) = self.failed {
            return Err(io::Error::other(why));
        }
        file.write_all(&checksum.finalize().to_le_bytes())?;
        file.sync_all()
    }
}

/// What is read, with the checksum of it.
struct Summed<R> {
    file: R,
    checksum: Hasher,
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.file.read(buffer)?;
        self.checksum.update(&buffer[..bytes]);
        Ok(bytes)
    }
}

/// Reads a log.
pub struct Reader<R = BufReader<File>> {
    file: Summed<R>,
    header: Vec<u8>,
    accepted: u64,
}

impl Reader {
    /// A log that is there.
    ///
    /// # Errors
    /// It cannot be read, or is no log.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::new(BufReader::new(File::open(path)?))
    }
}

impl<R: Read> Reader<R> {
    /// A log from wherever its bytes come.
    ///
    /// # Errors
    /// They cannot be read, or are no log.
    pub fn new(file: R) -> io::Result<Self> {
        let mut file = Summed { file, checksum: Hasher::new() };
        let no_log =
            || io::Error::new(io::ErrorKind::InvalidData, "it is no flight log of `nodeb emulate --record`");
        let too_short = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => no_log(),
            _ => error,
        };
        let magic: [u8; MAGIC.len()] = array(&mut file).map_err(too_short)?;
        let length = u32::from_le_bytes(array(&mut file).map_err(too_short)?);
        if magic != *MAGIC || length > LONGEST_HEADER {
            return Err(no_log());
        }
        let mut header = Vec::new();
        file.by_ref().take(u64::from(length)).read_to_end(&mut header)?;
        if header.len() != length as usize {
            return Err(no_log());
        }
        Ok(Self { file, header, accepted: 0 })
    }

    /// What is said of the flight.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// The next record; `None` where the log ends, or was cut off.
    ///
    /// # Errors
    /// It cannot be read, says what no recorder writes, or its checksum does not fit.
    pub fn next_record(&mut self) -> io::Result<Option<Record>> {
        match self.read_record() {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            other => other.map(Some),
        }
    }

    fn read_record(&mut self) -> io::Result<Record> {
        let file = &mut self.file;
        let [kind] = array(file)?;
        Ok(match kind {
            ACCEPTED => {
                let at = time(file)?;
                let [direction, phone] = array(file)?;
                let (bytes, flow_hash) = (u32::from_le_bytes(array(file)?), u32::from_le_bytes(array(file)?));
                let ecn = ecn(file)?;
                let mut kept = vec![0; usize::from(u16::from_le_bytes(array(file)?))];
                if bytes == 0 || bytes > LONGEST_PACKET || kept.len() > bytes as usize {
                    return Err(odd("a length"));
                }
                file.read_exact(&mut kept)?;
                let packet = ExternalPacket { tag: self.accepted, bytes, flow_hash, ecn };
                self.accepted += 1;
                let direction = if direction == 0 { Direction::Down } else { Direction::Up };
                Record::Accepted { at, direction, phone, packet, kept }
            }
            ARRIVED => {
                let (number, at, late) = (number(file)?, time(file)?, time(file)?.0);
                Record::Arrived { number, at, late, ecn: ecn(file)? }
            }
            LOST => {
                let (number, at) = (number(file)?, time(file)?);
                let [cause] = array(file)?;
                let (cause, _) = CAUSES.get(usize::from(cause)).ok_or_else(|| odd("a cause"))?;
                Record::Lost { number, at, cause: *cause }
            }
            END => {
                let at = time(file)?;
                self.check()?;
                Record::End { at }
            }
            _ => return Err(odd("a record")),
        })
    }

    /// Holds what was read against the checksum that follows, if one does.
    fn check(&mut self) -> io::Result<()> {
        let read = self.file.checksum.clone().finalize();
        match array(&mut self.file) {
            Ok(told) if u32::from_le_bytes(told) != read => Err(damaged("its checksum does not fit")),
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
            _ => Ok(()),
        }
    }
}

/// The first bytes of packets, asked for in the order in which they were accepted.
pub struct Heads<R = BufReader<File>> {
    reader: Reader<R>,
    kept: Vec<u8>,
}

impl<R: Read> Heads<R> {
    /// Of a log that is read from its beginning.
    pub fn new(reader: Reader<R>) -> Self {
        Self { reader, kept: Vec::new() }
    }

    /// Those of a packet behind all that have been asked for.
    ///
    /// # Errors
    /// The log cannot be read, or has no such packet.
    pub fn of(&mut self, number: u64) -> io::Result<&[u8]> {
        while let Some(record) = self.reader.next_record()? {
            if let Record::Accepted { packet, kept, .. } = record
                && packet.tag == number
            {
                self.kept = kept;
                return Ok(&self.kept);
            }
        }
        Err(odd("an order of packets"))
    }
}

/// The time of the record that ends a log, if these are its last bytes.
pub(crate) fn end_time(last: [u8; END_BYTES]) -> Option<Time> {
    let (kind, mut rest) = last.split_first()?;
    (*kind == END).then(|| time(&mut rest).ok()).flatten()
}

fn array<const N: usize>(file: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn number(file: &mut impl Read) -> io::Result<u64> {
    Ok(u64::from_le_bytes(array(file)?))
}

fn time(file: &mut impl Read) -> io::Result<Time> {
    let time = Time(u64::from_le_bytes(array(file)?));
    if time > LATEST { Err(odd("a time")) } else { Ok(time) }
}

const ECN: [EcnField; 4] = [EcnField::NotEct, EcnField::Ect1, EcnField::Ect0, EcnField::Ce];

fn ecn_code(ecn: EcnField) -> u8 {
    ECN.iter().position(|one| *one == ecn).unwrap_or_default() as u8
}

fn ecn(file: &mut impl Read) -> io::Result<EcnField> {
    let [code] = array(file)?;
    ECN.get(usize::from(code)).copied().ok_or_else(|| odd("an ECN field"))
}

fn odd(what: &str) -> io::Error {
    damaged(&format!("it has {what} that no recorder writes"))
}

fn damaged(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{why}: it is damaged"))
}
