//! Sizes of the headers of TS 36.322, in octets.

/// Size of the fixed part of an AMD PDU's header (TS 36.322, 6.2.1.4).
pub const AMD: u32 = 2;
/// Size of the fixed part of an AMD PDU segment's header (TS 36.322, 6.2.1.5).
pub const AMD_SEGMENT: u32 = 4;
/// Size of the largest data field whose octets can be numbered by a segment offset of 15 bits (TS
/// 36.322, 6.2.2.7).
pub const LARGEST_SEGMENTED: u32 = 1 << 15;
/// Size of the largest data field element that a length indicator of 11 bits can describe (TS
/// 36.322, 6.2.2.5). A larger element can only be the last one of its PDU, which has no length
/// indicator.
pub const LARGEST_INDICATED: u32 = (1 << 11) - 1;
/// Size of the smallest STATUS PDU, in which D/C, CPT, ACK_SN and E1 take 15 bits (TS 36.322,
/// 6.2.1.6).
pub const SMALLEST_STATUS: u32 = 2;

/// Returns the size in octets of `count` length indicators, each of 12 bits including its extension
/// bit. If `count` is odd, 4 bits of padding follow.
pub const fn indicators(count: u32) -> u32 {
    (12 * count).div_ceil(8)
}

/// Returns the size in octets of a STATUS PDU with `nacks` negative acknowledgements, of which
/// `with_offsets` name a part of an AMD PDU (TS 36.322, 6.2.1.6).
pub const fn status(nacks: u32, with_offsets: u32) -> u32 {
    (15 + 12 * nacks + 30 * with_offsets).div_ceil(8)
}

// Clause: TS 36.322, 6.2.1: RLC headers and length indicators
/// Data field of a PDU that is being filled. It has elements, each an SDU or a part of one, and a
/// length indicator for each element but the last.
#[derive(Clone, Copy, Debug)]
pub struct DataField {
    room: u32,
    octets: u32,
    elements: u32,
    last: u32,
}

impl DataField {
    /// Creates an empty data field that can grow to `room` octets, including its length indicators.
    pub const fn new(room: u32) -> Self {
        Self { room, octets: 0, elements: 0, last: 0 }
    }

    /// Returns the largest number of octets that the next element can have, 0 if no element can be
    /// added.
    #[inline]
    pub const fn space(&self) -> u32 {
        if self.last > LARGEST_INDICATED {
            return 0;
        }
        self.room.saturating_sub(self.octets + indicators(self.elements))
    }

    /// Adds an element of 1 to [`Self::space`] octets.
    #[inline]
    pub const fn add(&mut self, octets: u32) {
        self.octets += octets;
        self.elements += 1;
        self.last = octets;
    }

    /// Returns the total number of octets in all elements.
    #[inline]
    pub const fn octets(&self) -> u32 {
        self.octets
    }

    /// Returns the size in octets of all length indicators.
    #[inline]
    pub const fn indicators(&self) -> u32 {
        indicators(self.elements.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Tests the feature: RLC headers and length indicators (closed form)
    /// An odd number of length indicators is followed by padding, an even number is not, as the
    /// figures of 6.2.1.3 and 6.2.1.4 show.
    #[test]
    fn two_length_indicators_take_three_octets() {
        assert_eq!([0, 1, 2, 3, 4, 5].map(indicators), [0, 2, 3, 5, 6, 8]);
    }

    /// The acknowledgement takes 15 bits, each NACK_SN 12 bits, and each pair of SOstart and SOend
    /// 30 bits; the sum is rounded up to octets.
    #[test]
    fn status_pdus_are_padded_to_octets() {
        assert_eq!([(0, 0), (1, 0), (1, 1), (2, 0), (3, 3)].map(|(n, s)| status(n, s)), [2, 4, 8, 5, 18]);
        assert_eq!(status(0, 0), SMALLEST_STATUS);
    }

    #[test]
    fn each_element_but_the_last_has_a_length_indicator() {
        let mut field = DataField::new(100);
        assert_eq!((field.space(), field.indicators()), (100, 0));
        field.add(40);
        assert_eq!((field.space(), field.indicators()), (58, 0));
        field.add(20);
        assert_eq!((field.space(), field.indicators()), (37, 2));
        field.add(37);
        assert_eq!((field.space(), field.octets(), field.indicators()), (0, 97, 3));
    }

    #[test]
    fn an_element_without_length_indicator_is_the_last() {
        for (octets, space) in [(LARGEST_INDICATED, 951), (LARGEST_INDICATED + 1, 0)] {
            let mut field = DataField::new(3_000);
            field.add(octets);
            assert_eq!(field.space(), space);
        }
    }
}
