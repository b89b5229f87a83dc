//! In subframes (FDD).

use crate::ofdma::uplink::requests::Recurrence;

/// In each direction, in the uplink without spatial multiplexing (TS 36.213, 7, 8).
pub const PROCESSES: u8 = 8;

/// TS 36.213, 7.3.1, 10.1.
pub const DOWN_FEEDBACK_AFTER: u64 = 4;

/// Earliest, if the base station reacts to a NACK as fast as a UE; later ones are possible, as the downlink
/// is asynchronous (TS 36.321, 5.3.2).
pub const DOWN_RETRANSMISSION_AFTER: u64 = 8;

/// Or after a NACK on PHICH (TS 36.213, 8.0).
pub const UP_BLOCK_AFTER_GRANT: u64 = 4;

/// TS 36.213, 8.3.
pub const UP_FEEDBACK_AFTER: u64 = 4;

/// Fixed, as the uplink is synchronous (TS 36.213, 8.0; TS 36.321, 5.4.2).
pub const UP_RETRANSMISSION_AFTER: u64 = 8;

/// Of non-adaptive retransmissions (TS 36.321, 5.4.2.2).
pub const REDUNDANCY_VERSIONS: [u8; 4] = [0, 2, 3, 1];

/// First index of each period and the period in subframes; following indices stand for larger offsets.
type Rows = [(u16, u16)];

const SCHEDULING_REQUEST: &Rows = &[(0, 5), (5, 10), (15, 20), (35, 40), (75, 80), (155, 2), (157, 1)];

// Clause: TS 36.213, 10.1.5: periods of scheduling requests
/// `None` if the index is reserved or above the table.
fn select(rows: &Rows, index: u16) -> Option<Recurrence> {
    let &(first, period) = rows.iter().rev().find(|&&(first, _)| first <= index)?;
    let offset = index - first;
    (offset < period).then_some(Recurrence { period, offset })
}

fn index_of(rows: &Rows, recurrence: Recurrence) -> Option<u16> {
    let &(first, period) = rows.iter().find(|&&(_, period)| period == recurrence.period)?;
    (recurrence.offset < period).then_some(first + recurrence.offset)
}

/// `None` if `sr-ConfigIndex` `index` is reserved (TS 36.213, table 10.1.5-1).
pub fn scheduling_request(index: u16) -> Option<Recurrence> {
    select(SCHEDULING_REQUEST, index)
}

/// TS 36.213, table 10.1.5-1.
pub fn scheduling_request_index(recurrence: Recurrence) -> Option<u16> {
    index_of(SCHEDULING_REQUEST, recurrence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(period: u16, offset: u16) -> Recurrence {
        Recurrence { period, offset }
    }

    #[test]
    fn occasions_recur() {
        let recurrence = Recurrence { period: 10, offset: 3 };
        assert_eq!([0, 3, 4, 13, 14].map(|from| recurrence.next(from)), [3, 3, 13, 13, 23]);
        assert_eq!(Recurrence { period: 1, offset: 0 }.next(7), 7);
    }

    // Tests the feature: periods of scheduling requests (standard's table)
    #[test]
    fn scheduling_requests_follow_their_table() {
        assert_eq!(scheduling_request(4), Some(of(5, 4)));
        assert_eq!(scheduling_request(5), Some(of(10, 0)));
        assert_eq!(scheduling_request(34), Some(of(20, 19)));
        assert_eq!(scheduling_request(154), Some(of(80, 79)));
        assert_eq!(
            [155, 156, 157, 158].map(scheduling_request),
            [Some(of(2, 0)), Some(of(2, 1)), Some(of(1, 0)), None]
        );
    }

    #[test]
    fn indices_and_recurrences_correspond() {
        for index in 0..158 {
            assert_eq!(scheduling_request_index(scheduling_request(index).unwrap()), Some(index));
        }
        assert_eq!(scheduling_request_index(Recurrence { period: 3, offset: 0 }), None);
    }

    #[test]
    fn a_process_is_free_again_when_its_retransmission_can_start() {
        assert_eq!(DOWN_FEEDBACK_AFTER + UP_BLOCK_AFTER_GRANT, DOWN_RETRANSMISSION_AFTER);
        assert_eq!(UP_FEEDBACK_AFTER + UP_BLOCK_AFTER_GRANT, UP_RETRANSMISSION_AFTER);
        assert_eq!(UP_RETRANSMISSION_AFTER, u64::from(PROCESSES));
    }
}
