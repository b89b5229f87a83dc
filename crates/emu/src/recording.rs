//! Log file of an emulation: when each packet was accepted, and when it arrived or was lost.
//!
//! A log suffices to repeat the emulation in virtual time, see [`crate::replay`]. A separate thread writes the
//! log from a bounded number of buffers, so that a slow disk delays no packet. If all buffers are full, nothing
//! more is recorded, and [`Recorder::finish`] fails. The log of a killed process lacks at most the last 1.2 s, unless
//! the disk is slow.
//!
//! All numbers are little-endian. The file consists of [`MAGIC`], the length of the header (4 bytes), the header, and
//! records:
//!
//! | first byte | contents, with their sizes in bytes |
//! |---|---|
//! | 1, accepted | time (8), direction (1), phone (1), size (4), flow hash (4), ECN (1), ... |
//! | 2, arrived | packet number (8), time (8), lateness of the delivery (8), ECN (1) |
//! | 3, lost | packet number (8), time (8), cause (1) |
//! | 4, end | time (8) |
//!
//! A record of an accepted packet ends with the number of kept bytes (2 bytes) and the kept bytes.
//!
//! After the end record follows the CRC-32 (4 bytes, as in ISO 3309) of all bytes before it, which
//! reveals damage. Logs of earlier versions have no CRC-32. Times are nanoseconds of simulated
//! time. Packets are numbered from 0 in the order in which they were accepted.

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

/// Format and version.
pub const MAGIC: &[u8; 16] = b"nodeb flight 1\r\n";

/// Maximum size of a header, 1 GiB.
const MAX_HEADER: u32 = 1 << 30;

const BUFFERS: usize = 64;
const BUFFER: usize = 1 << 18;

/// An IPv6 header of 40 B and 65,535 B of payload (RFC 8200).
const MAX_PACKET: u32 = 65_575;

/// 30 days.
const MAX_TIME: Time = Time(30 * 86_400 * 1_000_000_000);

const ACCEPTED: u8 = 1;
const ARRIVED: u8 = 2;
const LOST: u8 = 3;
const END: u8 = 4;

pub(crate) const END_BYTES: usize = 9 + 4;

/// Record of a log: an event of a packet, or the end of the emulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    Accepted {
        at: Time,
        direction: Direction,
        phone: u8,
        packet: ExternalPacket,
        kept: Vec<u8>,
    },
    Arrived {
        /// In the order of acceptance.
        number: u64,
        at: Time,
        /// From the arrival to the write to the device, ns.
        late: u64,
        /// At the arrival.
        ecn: EcnField,
    },
    Lost {
        /// In the order of acceptance.
        number: u64,
        at: Time,
        cause: Cause,
    },
    End {
        at: Time,
    },
}

/// A thread writes full buffers to the file.
pub struct Recorder {
    buffer: Vec<u8>,
    snap: usize,
    full: SyncSender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    thread: JoinHandle<io::Result<(File, Hasher)>>,
    failed: Option<&'static str>,
}

impl Recorder {
    /// Creates a log with a header and no records. Records of accepted packets will contain the first `snap` bytes
    /// of each packet.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
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

    pub fn arrived(&mut self, number: u64, at: Time, late: u64, ecn: EcnField) {
        self.buffer.push(ARRIVED);
        for value in [number, at.0, late] {
            self.buffer.extend(value.to_le_bytes());
        }
        self.buffer.push(ecn_code(ecn));
        self.pass_on();
    }

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

    pub fn flush(&mut self) {
        if self.failed.is_some() {
            self.buffer.clear();
            return;
        }
        let Ok(empty) = self.empty.try_recv() else {
            self.failed = Some("the disk was too slow");
            return;
        };
        let full = std::mem::replace(&mut self.buffer, empty);
        if self.full.try_send(full).is_err() {
            self.failed = Some("it could not be written");
        }
    }

    /// Writes the end record and the checksum.
    ///
    /// # Errors
    /// Returns an error if any part of the log could not be written.
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

struct Checksummed<R> {
    file: R,
    checksum: Hasher,
}

impl<R: Read> Read for Checksummed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.file.read(buffer)?;
        self.checksum.update(&buffer[..bytes]);
        Ok(bytes)
    }
}

/// Of the header when it is created, then of one record at a time.
pub struct Reader<R = BufReader<File>> {
    file: Checksummed<R>,
    header: Vec<u8>,
    accepted: u64,
}

impl Reader {
    /// Opens a log.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is not a log.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::new(BufReader::new(File::open(path)?))
    }
}

impl<R: Read> Reader<R> {
    /// Reads the header of a log from any source of bytes.
    ///
    /// # Errors
    /// Returns an error if the bytes cannot be read or are not a log.
    pub fn new(file: R) -> io::Result<Self> {
        let mut file = Checksummed { file, checksum: Hasher::new() };
        let no_log = || {
            io::Error::new(io::ErrorKind::InvalidData, "it is not a recording of `nodeb emulate --record`")
        };
        let too_short = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => no_log(),
            _ => error,
        };
        let magic: [u8; MAGIC.len()] = array(&mut file).map_err(too_short)?;
        let length = u32::from_le_bytes(array(&mut file).map_err(too_short)?);
        if magic != *MAGIC || length > MAX_HEADER {
            return Err(no_log());
        }
        let mut header = Vec::new();
        file.by_ref().take(u64::from(length)).read_to_end(&mut header)?;
        if header.len() != length as usize {
            return Err(no_log());
        }
        Ok(Self { file, header, accepted: 0 })
    }

    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// Returns the next record, or `None` if the log ends or was cut off.
    ///
    /// # Errors
    /// Returns an error if the log cannot be read, contains an invalid value, or its checksum does not fit.
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
                if bytes == 0 || bytes > MAX_PACKET || kept.len() > bytes as usize {
                    return Err(invalid("length"));
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
                let (cause, _) = CAUSES.get(usize::from(cause)).ok_or_else(|| invalid("cause"))?;
                Record::Lost { number, at, cause: *cause }
            }
            END => {
                let at = time(file)?;
                self.check()?;
                Record::End { at }
            }
            _ => return Err(invalid("record type")),
        })
    }

    /// Logs of earlier versions have no checksum and pass.
    fn check(&mut self) -> io::Result<()> {
        let read = self.file.checksum.clone().finalize();
        match array(&mut self.file) {
            Ok(stored) if u32::from_le_bytes(stored) != read => Err(damaged("its checksum does not fit")),
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
            _ => Ok(()),
        }
    }
}

/// In the order of acceptance.
pub struct Heads<R = BufReader<File>> {
    reader: Reader<R>,
    kept: Vec<u8>,
}

impl<R: Read> Heads<R> {
    /// Only the header may have been read.
    pub fn new(reader: Reader<R>) -> Self {
        Self { reader, kept: Vec::new() }
    }

    /// Returns the recorded first bytes of packet `number`. Each call needs a greater number than the last one, as
    /// the log is read only once.
    ///
    /// # Errors
    /// Returns an error if the log cannot be read or the unread part of the log has no such packet.
    pub fn of(&mut self, number: u64) -> io::Result<&[u8]> {
        while let Some(record) = self.reader.next_record()? {
            if let Record::Accepted { packet, kept, .. } = record
                && packet.tag == number
            {
                self.kept = kept;
                return Ok(&self.kept);
            }
        }
        Err(invalid("order of packets"))
    }
}

/// `last` are the last bytes of a log.
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
    if time > MAX_TIME { Err(invalid("time")) } else { Ok(time) }
}

const ECN: [EcnField; 4] = [EcnField::NotEct, EcnField::Ect1, EcnField::Ect0, EcnField::Ce];

fn ecn_code(ecn: EcnField) -> u8 {
    ECN.iter().position(|one| *one == ecn).unwrap_or_default() as u8
}

fn ecn(file: &mut impl Read) -> io::Result<EcnField> {
    let [code] = array(file)?;
    ECN.get(usize::from(code)).copied().ok_or_else(|| invalid("ECN field"))
}

fn invalid(what: &str) -> io::Error {
    damaged(&format!("it has an invalid {what}"))
}

fn damaged(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{why}: it is damaged"))
}
