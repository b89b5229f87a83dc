/// TS 36.322, 6.2.1.4.
pub const AMD: u32 = 2;
/// TS 36.322, 6.2.1.5.
pub const AMD_SEGMENT: u32 = 4;
/// Data field with a segment offset of 15 bits (TS 36.322, 6.2.2.7).
pub const LARGEST_SEGMENTED: u32 = 1 << 15;
/// Element with a length indicator of 11 bits (TS 36.322, 6.2.2.5); a larger one can only be the last of its
/// PDU.
pub const LARGEST_INDICATED: u32 = (1 << 11) - 1;
/// D/C, CPT, ACK_SN and E1 take 15 bits (TS 36.322, 6.2.1.6).
pub const SMALLEST_STATUS: u32 = 2;

/// 12 bits each with its extension bit; 4 bits of padding follow an odd number.
pub const fn indicators(count: u32) -> u32 {
    (12 * count).div_ceil(8)
}

/// TS 36.322, 6.2.1.6; `with_offsets` name a part of a PDU.
pub const fn status(nacks: u32, with_offsets: u32) -> u32 {
    (15 + 12 * nacks + 30 * with_offsets).div_ceil(8)
}

// Clause: TS 36.322, 6.2.1: RLC headers and length indicators
/// Elements are SDUs or parts, with a length indicator for each but the last.
#[derive(Clone, Copy, Debug)]
pub struct DataField {
    room: u32,
    octets: u32,
    elements: u32,
    last: u32,
}

impl DataField {
    /// With its length indicators.
    pub const fn new(room: u32) -> Self {
        Self { room, octets: 0, elements: 0, last: 0 }
    }

    /// Of the next element, 0 if none can be added.
    #[inline]
    pub const fn space(&self) -> u32 {
        if self.last > LARGEST_INDICATED {
            return 0;
        }
        self.room.saturating_sub(self.octets + indicators(self.elements))
    }

    /// 1 to [`Self::space`] octets.
    #[inline]
    pub const fn add(&mut self, octets: u32) {
        self.octets += octets;
        self.elements += 1;
        self.last = octets;
    }

    #[inline]
    pub const fn octets(&self) -> u32 {
        self.octets
    }

    /// In octets.
    #[inline]
    pub const fn indicators(&self) -> u32 {
        indicators(self.elements.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Tests the feature: RLC headers and length indicators (closed form)
    /// Padding after an odd number, as the figures of 6.2.1.3 and 6.2.1.4 show.
    #[test]
    fn two_length_indicators_take_three_octets() {
        assert_eq!([0, 1, 2, 3, 4, 5].map(indicators), [0, 2, 3, 5, 6, 8]);
    }

    /// 15 bits, 12 bits for each NACK_SN, 30 bits for each pair of SOstart and SOend, rounded up to octets.
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
