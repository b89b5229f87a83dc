use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use nodeb_base::table::{Table, Text};
use nodeb_base::units::Time;
use nodeb_emu::connections::{Connection, Traffic};
use nodeb_emu::recording::Record;
use nodeb_emu::{Error, Log, head};
use nodeb_explain::real;
use nodeb_sim::Scenario;
use nodeb_sim::world::Direction;
use nodeb_timeline::{Options, replay};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{guarded, to_py};
use crate::scenario::{CompiledScenario, Control};
use crate::{tables, timeline};

/// Row of the table `connections`: a TCP connection of a recording, with its number from 0.
struct Numbered {
    number: u64,
    phone: u8,
    server: SocketAddr,
    client: SocketAddr,
    begun: Time,
    ended: Time,
    packets: u64,
    down: u64,
    up: u64,
}

impl Numbered {
    fn new(number: u64, connection: &Connection) -> Self {
        let packets = &connection.packets;
        let &Connection { phone, server, client, .. } = connection;
        Self {
            number,
            phone,
            server,
            client,
            begun: packets.first().map_or(Time::ZERO, |packet| packet.at),
            ended: packets.iter().map(|packet| packet.arrived.unwrap_or(packet.at)).max().unwrap_or_default(),
            packets: packets.len() as u64,
            down: connection.delivered(Direction::Down).bytes,
            up: connection.delivered(Direction::Up).bytes,
        }
    }
}

nodeb_base::table! {
    /// One row per TCP connection of a recording, in the order in which they began.
    static CONNECTIONS: "connections" of Numbered {
        /// Number of the connection, from 0.
        "connection" [""] U64 = |row| row.number;
        /// Index of the phone among the emulation's real phones, from 0.
        "phone" [""] U64 = |row| u64::from(row.phone);
        /// Address and port of the server.
        "server" [""] Text = |row| Text::Owned(row.server.to_string());
        /// Address and port of the phone.
        "client" [""] Text = |row| Text::Owned(row.client.to_string());
        /// Time at which the first packet was accepted.
        "begun_ns" ["ns"] U64 = |row| row.begun.0;
        /// Time of the last arrival, or of the acceptance of a packet that did not arrive, whichever is later.
        "ended_ns" ["ns"] U64 = |row| row.ended.0;
        /// Number of packets in both directions.
        "packets" [""] U64 = |row| row.packets;
        /// Bytes of data that the phone received in order.
        "down_bytes" ["B"] U64 = |row| row.down;
        /// Bytes of data that the server received in order.
        "up_bytes" ["B"] U64 = |row| row.up;
    }
}

/// Row of the table `packets`: header fields of a recorded packet, the number of its connection, and
/// whether it is a retransmission.
#[derive(Clone, Copy, Default)]
struct Packet {
    connection: u32,
    protocol: u32,
    from_port: u32,
    to_port: u32,
    seq: u64,
    ack: u64,
    payload: u32,
    flags: u32,
    again: bool,
}

nodeb_base::table! {
    /// One row per real packet of a recording, by its number.
    static PACKETS: "packets" of Packet {
        /// Number of the packet's TCP connection, from 1; 0 if the packet belongs to none.
        "connection" [""] U32 = |row| row.connection;
        /// Protocol number in the IP header; 0 if too few bytes were recorded.
        "protocol" [""] U32 = |row| row.protocol;
        /// Source port of the packet; 0 if it has none or too few bytes were recorded.
        "from_port" [""] U32 = |row| row.from_port;
        /// Destination port of the packet; 0 if it has none or too few bytes were recorded.
        "to_port" [""] U32 = |row| row.to_port;
        /// Sequence number relative to the SYN of the end that sent the packet; this SYN has 0.
        "seq" [""] U64 = |row| row.seq;
        /// Acknowledgement number relative to the other end's SYN; 0 without the flag ACK.
        "ack" [""] U64 = |row| row.ack;
        /// Number of data bytes in the TCP segment, without headers.
        "payload" ["B"] U32 = |row| row.payload;
        /// TCP flags of the segment, as the bits of the header: SYN is 2, ACK 16.
        "flags" [""] U32 = |row| row.flags;
        /// Whether the segment is a retransmission.
        "again" [""] Bool = |row| row.again;
    }
}

/// Analyses a recording. Returns four values: a dict with the table of the TCP connections, the
/// number of packets of other protocols, the number of packets whose connection cannot be
/// determined, and true if the log is complete.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub fn flight_connections<'py>(
    py: Python<'py>,
    path: PathBuf,
    control: &Bound<'py, Control>,
) -> PyResult<(Bound<'py, PyDict>, u64, u64, bool)> {
    let log = Log { path: &path, control: control.get().inner() };
    let work = || Traffic::of_log(log).map(|found| (of_connections(&found), found));
    let found = guarded(|| path.display().to_string(), || py.detach(work))?;
    let (table, found) = found.map_err(unread)?;
    Ok((tables::all(py, vec![table])?, found.others, found.unknown, found.complete))
}

fn of_connections(found: &Traffic) -> Table {
    let numbered = (0..).zip(&found.connections);
    let rows: Vec<_> = numbered.map(|(number, connection)| Numbered::new(number, connection)).collect();
    CONNECTIONS.table(&rows)
}

/// Reads the headers of a recording's packets. Returns two values: a dict with a table of one row
/// per packet in the order of packet numbers, and true if the log is complete.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub fn flight_packets<'py>(
    py: Python<'py>,
    path: PathBuf,
    control: &Bound<'py, Control>,
) -> PyResult<(Bound<'py, PyDict>, bool)> {
    let log = Log { path: &path, control: control.get().inner() };
    let found = guarded(|| path.display().to_string(), || py.detach(|| of_packets(log)))?;
    let (table, complete) = found.map_err(unread)?;
    Ok((tables::all(py, vec![table])?, complete))
}

fn of_packets(log: Log<'_>) -> std::io::Result<(Table, bool)> {
    let traffic = Traffic::of_log(log)?;
    let mut reader = log.open()?;
    let mut rows: Vec<Packet> = Vec::with_capacity(traffic.of_packet.len());
    while let Some(record) = reader.next_record()? {
        let Record::Accepted { kept, .. } = record else { continue };
        let mut row = Packet::default();
        if let Some(head) = head::read(&kept) {
            row.protocol = head.protocol.into();
            (row.from_port, row.to_port) = (head.from.port().into(), head.to.port().into());
        }
        if let Some((connection, place)) = traffic.of_packet.get(rows.len()).copied().flatten() {
            let packet = &traffic.connections[connection as usize].packets[place as usize];
            row.connection = connection + 1;
            (row.seq, row.ack, row.again) = (packet.seq, packet.ack, packet.is_retransmission);
            (row.payload, row.flags) = (packet.tcp.payload, packet.tcp.flags.into());
        }
        rows.push(row);
    }
    Ok((PACKETS.table(&rows), traffic.complete))
}

/// Replays a recording and explains the duration of the transfer on its TCP connection number
/// `connection`, from 0. Returns three tables: the transfer, the time for which each link and channel
/// transmitted packets of the connection, and the spans of the transfer's critical path.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub fn flight_explain<'py>(
    py: Python<'py>,
    path: PathBuf,
    scenario: &CompiledScenario,
    seed: u64,
    users: Vec<u32>,
    connection: usize,
    control: &Bound<'py, Control>,
) -> PyResult<Bound<'py, PyDict>> {
    let world = scenario.shared();
    let log = Log { path: &path, control: control.get().inner() };
    let work = || real::explain(log, &world, seed, &users, connection);
    let about = || format!("explaining {}, connection {connection}", path.display());
    let found = guarded(about, || py.detach(work))?.map_err(|error| match error {
        real::Error::Recording(error) => failed(&error),
        error => PyValueError::new_err(error.to_string()),
    })?;
    let explained = tables::all(py, vec![found.transfer(), found.busy()])?;
    let spans = found.spans();
    explained.set_item(spans.name, tables::coded(py, spans)?)?;
    Ok(explained)
}

/// Replays a recording and returns its packet timeline from `from_ns` to `to_ns` nanoseconds of
/// virtual time, or to the end if `to_ns` is `None`. If `user` is given, only this user's packets,
/// blocks and events are recorded. Raises a `ValueError` if there are more events than `most`, by
/// default 4 million, or if the replay differs from the recording.
#[pyfunction]
#[pyo3(signature = (path, scenario, seed, users, control, from_ns=0, to_ns=None, user=None, most=None))]
#[expect(clippy::too_many_arguments, reason = "keywords in Python")]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub fn flight_timeline<'py>(
    py: Python<'py>,
    path: PathBuf,
    scenario: &CompiledScenario,
    seed: u64,
    users: Vec<u32>,
    control: &Bound<'py, Control>,
    from_ns: u64,
    to_ns: Option<u64>,
    user: Option<u32>,
    most: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let world = scenario.shared();
    let most = most.unwrap_or(nodeb_timeline::DEFAULT_MAX);
    let options = Options { from: Time(from_ns), to: Time(to_ns.unwrap_or(u64::MAX)), user, most };
    let log = Log { path: &path, control: control.get().inner() };
    let work = || replay(log, &world, seed, &users, &options);
    let about = || format!("the packet timeline of {}", path.display());
    let found = guarded(about, || py.detach(work))?.map_err(|error| match error {
        nodeb_timeline::Error::Run(error) => to_py(&error),
        nodeb_timeline::Error::Recording(error) => failed(&error),
        other => PyValueError::new_err(other.to_string()),
    })?;
    timeline::to_dict(py, &world, found)
}

/// If `radio` is true, the file also has the packets at the interfaces of the radio network.
pub fn captured(
    log: Log<'_>,
    world: &Scenario,
    seed: u64,
    users: &[u32],
    (pcap, radio): (&Path, bool),
) -> PyResult<(nodeb_emu::replay::Replay, nodeb_sim::metrics::RunResult)> {
    nodeb_capture::replay(log, world, seed, users, pcap, radio).map_err(|error| match error {
        nodeb_capture::Error::Run(error) => to_py(&error),
        nodeb_capture::Error::Recording(error) => failed(&error),
        other => PyOSError::new_err(other.to_string()),
    })
}

fn unread(error: std::io::Error) -> PyErr {
    failed(&Error::log(error))
}

pub fn failed(error: &Error) -> PyErr {
    match error {
        Error::World(error) => to_py(error),
        error => PyOSError::new_err(error.to_string()),
    }
}
