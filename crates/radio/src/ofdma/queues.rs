use nodeb_base::event::Direction;
use nodeb_base::table;
use nodeb_base::table::Table;
use nodeb_net::queue::QueueCounts;

#[derive(Clone, Copy, Debug)]
pub struct QueueRow {
    user: usize,
    direction: Direction,
    counts: QueueCounts,
}

table! {
    /// One row per user and direction on `lte`: packets that the queue in front of RLC dropped or marked. The uplink has
    /// rows if it is scheduled.
    pub static QUEUES: "queues" of QueueRow {
        /// Number of the user in the scenario, from 0.
        "user" [""] U64 = |row| row.user as u64;
        /// Direction of the packets: `down` to the phone or `up` from the phone.
        "direction" [""] Text = |row| row.direction.name().into();
        /// Packets dropped because the queue was full.
        "overflowed" [""] U64 = |row| row.counts.overflowed;
        /// Packets that the queue discipline dropped before the queue was full.
        "dropped_early" [""] U64 = |row| row.counts.early;
        /// Packets that the queue discipline marked with Congestion Experienced (CE, RFC 3168).
        "marked" [""] U64 = |row| row.counts.marked;
    }
}

pub fn table(direction: Direction, counts: impl Iterator<Item = QueueCounts>) -> Table {
    let row = |(user, counts)| QueueRow { user, direction, counts };
    QUEUES.table(&counts.enumerate().map(row).collect::<Vec<_>>())
}
