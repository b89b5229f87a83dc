use super::bandwidth::{Bandwidth, SUBCARRIERS};

/// OFDM or SC-FDMA symbols of a subframe (TS 36.211, tables 6.2.3-1 and 5.2.3-1).
pub const SYMBOLS: u32 = 14;

/// One in each slot (TS 36.211, 5.5.2.1.2).
pub const UPLINK_REFERENCE_SYMBOLS: u32 = 2;

/// Around DC: PBCH occupies all of them (TS 36.211, 6.6.4), PSS and SSS 62, with 5 reserved on each side
/// (6.11).
pub const CENTRAL_SUBCARRIERS: u32 = 72;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ports {
    One,
    Two,
    Four,
}

impl Ports {
    pub const fn count(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
        }
    }

    /// Of a resource block in the first two symbols of a slot (TS 36.211, 6.10.1.2).
    const fn at_start(self) -> [u32; 2] {
        match self {
            Self::One => [2, 0],
            Self::Two => [4, 0],
            Self::Four => [4, 4],
        }
    }

    /// In the first two symbols of each slot, and those of ports 0 and 1 in the fifth.
    pub const fn reference_elements(self) -> u32 {
        let [first, second] = self.at_start();
        2 * (2 * first + second)
    }

    /// Of a resource block after the first 1 to 4 symbols of a subframe.
    pub const fn reference_elements_after(self, control: u8) -> u32 {
        let [first, second] = self.at_start();
        self.reference_elements() - first - if control > 1 { second } else { 0 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Downlink {
    /// They determine the reference signals.
    pub ports: Ports,
    /// OFDM symbols of the control region, within [`Bandwidth::control_symbols`].
    pub control: u8,
}

impl Downlink {
    pub const fn block(self) -> u32 {
        (SYMBOLS - self.control as u32) * SUBCARRIERS - self.ports.reference_elements_after(self.control)
    }

    // Clause: TS 36.211, 6.3 to 6.11: resource elements of PDSCH
    /// In subframes 0 and 5 synchronization signals take two symbols of the central subcarriers. In subframe
    /// 0 PDSCH cannot use four more symbols there: PBCH takes them, except the elements that four ports would
    /// use for reference signals, which PDSCH cannot use either (TS 36.211, 6.6.4, 6.11).
    pub fn block_in(self, bandwidth: Bandwidth, block: u16, subframe: u8) -> u32 {
        let wide = u32::from(bandwidth.blocks()) * SUBCARRIERS;
        let begin = u32::from(block) * SUBCARRIERS;
        let first = (wide - CENTRAL_SUBCARRIERS) / 2;
        let central = (begin + SUBCARRIERS).min(first + CENTRAL_SUBCARRIERS).saturating_sub(begin.max(first));
        self.block() - self.taken(central, subframe)
    }

    /// `central` is how many of the block's subcarriers, 0, 6 or 12, are among the 72 around DC.
    const fn taken(self, central: u32, subframe: u8) -> u32 {
        let [first, second] = self.ports.at_start();
        let synchronization = 2 * central;
        match subframe {
            0 => synchronization + 4 * central - (first + second) * central / SUBCARRIERS,
            5 => synchronization,
            _ => 0,
        }
    }

    pub fn subframe(self, bandwidth: Bandwidth, subframe: u8) -> u32 {
        (0..bandwidth.blocks()).map(|block| self.block_in(bandwidth, block, subframe)).sum()
    }
}

// Clause: TS 36.211, 5.3.4: resource elements of PUSCH
// Simplified: no subframe has sounding
/// With sounding in the last symbol or not (TS 36.211, 5.3.4, 5.5.3).
pub const fn uplink(blocks: u16, sounding: bool) -> u32 {
    (SYMBOLS - UPLINK_REFERENCE_SYMBOLS - sounding as u32) * SUBCARRIERS * blocks as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_signals_take_4_8_and_14_percent() {
        let ports = [Ports::One, Ports::Two, Ports::Four];
        assert_eq!(ports.map(Ports::reference_elements), [8, 16, 24]);
        assert_eq!(ports.map(|ports| ports.reference_elements_after(1)), [6, 12, 20]);
        assert_eq!(ports.map(|ports| ports.reference_elements_after(3)), [6, 12, 16]);
    }

    // Tests the feature: resource elements of PDSCH (closed form)
    #[test]
    fn blocks_have_the_elements_that_are_left() {
        let block = |ports, control| Downlink { ports, control }.block();
        assert_eq!([1, 2, 3].map(|control| block(Ports::One, control)), [150, 138, 126]);
        assert_eq!([1, 2, 3].map(|control| block(Ports::Two, control)), [144, 132, 120]);
        assert_eq!([1, 2, 3].map(|control| block(Ports::Four, control)), [136, 128, 116]);
    }

    /// Subframe 5 loses 2 x 72 elements, subframe 0 also 240 to PBCH and those reserved for ports that the
    /// cell lacks.
    #[test]
    fn central_signals_take_the_same_elements_in_all_bandwidths() {
        for bandwidth in Bandwidth::ALL {
            for (ports, unused) in [(Ports::One, 36), (Ports::Two, 24), (Ports::Four, 0)] {
                let downlink = Downlink { ports, control: 2 };
                let full = downlink.subframe(bandwidth, 1);
                assert_eq!(full, u32::from(bandwidth.blocks()) * downlink.block());
                assert_eq!(full - downlink.subframe(bandwidth, 5), 144);
                assert_eq!(full - downlink.subframe(bandwidth, 0), 144 + 240 + unused);
            }
        }
    }

    #[test]
    fn central_signals_share_blocks_if_their_number_is_odd() {
        let downlink = Downlink { ports: Ports::One, control: 1 };
        let lost = |bandwidth| {
            let affected = |&block: &u16| downlink.block_in(bandwidth, block, 5) < downlink.block();
            (0..Bandwidth::blocks(bandwidth)).filter(affected).collect::<Vec<_>>()
        };
        assert_eq!(lost(Bandwidth::Mhz10), [22, 23, 24, 25, 26, 27]);
        assert_eq!(lost(Bandwidth::Mhz5), [9, 10, 11, 12, 13, 14, 15]);
    }

    // Tests the feature: resource elements of PUSCH (closed form)
    #[test]
    fn uplink_has_twelve_symbols_less_sounding() {
        assert_eq!([false, true].map(|sounding| uplink(1, sounding)), [144, 132]);
    }
}
