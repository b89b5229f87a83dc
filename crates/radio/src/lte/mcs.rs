use nodeb_air::error::effective::modulation::Modulation::{self, Qam16, Qam64, Qam256, Qpsk};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McsTable {
    /// TS 36.213, table 7.1.7.1-1.
    Down64Qam,
    /// TS 36.213, table 7.1.7.1-1A, Release 12.
    Down256Qam,
    /// TS 36.213, table 8.6.1-1.
    Up,
    /// 16QAM in place of 64QAM (TS 36.213, 8.6.1).
    Up16Qam,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mcs {
    pub modulation: Modulation,
    /// I_TBS.
    pub size_index: u8,
}

/// MCS 0 to 27 in TS 36.213, table 7.1.7.1-1A.
const SIZE_INDICES_256QAM: [u8; 28] = [
    0, 2, 4, 6, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 27, 28, 29, 30, 31, 32, 33,
];

impl McsTable {
    /// Of a new block: higher values up to 31 mark a retransmission and state only its modulation (downlink)
    /// or redundancy version (uplink).
    pub const fn highest(self) -> u8 {
        match self {
            Self::Down64Qam | Self::Up | Self::Up16Qam => 28,
            Self::Down256Qam => 27,
        }
    }

    // Clause: TS 36.213, 7.1.7.1, 8.6.1: MCS tables
    /// `None` above [`Self::highest`].
    pub fn row(self, mcs: u8) -> Option<Mcs> {
        if mcs > self.highest() {
            return None;
        }
        let modulation = self.modulation(mcs);
        let size_index = match self {
            Self::Down256Qam => SIZE_INDICES_256QAM[usize::from(mcs)],
            // Where the modulation changes, the last MCS of the lower and the first MCS of the
            // higher modulation have the same I_TBS. So I_TBS is the MCS, less 1 for 16QAM and less
            // 2 for 64QAM.
            Self::Down64Qam | Self::Up => mcs + 1 - modulation.order() as u8 / 2,
            Self::Up16Qam => Self::Up.row(mcs)?.size_index,
        };
        Some(Mcs { modulation, size_index })
    }

    /// Not above [`Self::highest`].
    const fn modulation(self, mcs: u8) -> Modulation {
        let last = match self {
            Self::Down64Qam => [9, 16, 28],
            Self::Down256Qam => [4, 10, 19],
            Self::Up => [10, 20, 28],
            Self::Up16Qam => [10, 28, 28],
        };
        if mcs <= last[0] {
            Qpsk
        } else if mcs <= last[1] {
            Qam16
        } else if mcs <= last[2] {
            Qam64
        } else {
            Qam256
        }
    }

    pub fn highest_with(self, most: Modulation) -> u8 {
        (0..=self.highest()).rev().find(|&mcs| self.modulation(mcs) <= most).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_indices(table: McsTable) -> Vec<u8> {
        (0..32).map_while(|mcs| table.row(mcs)).map(|mcs| mcs.size_index).collect()
    }

    // Tests the feature: MCS tables (standard's table)
    #[test]
    fn size_indices_are_those_of_the_tables() {
        let down = [
            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10, 11, 12, 13, 14, 15, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
            25, 26,
        ];
        let up = [
            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 21, 22, 23, 24,
            25, 26,
        ];
        assert_eq!(size_indices(McsTable::Down64Qam), down);
        assert_eq!([McsTable::Up, McsTable::Up16Qam].map(size_indices), [up, up]);
        assert_eq!(size_indices(McsTable::Down256Qam), SIZE_INDICES_256QAM);
    }

    #[test]
    fn modulations_change_where_the_tables_say() {
        let highest = |table: McsTable| [Qpsk, Qam16, Qam64, Qam256].map(|most| table.highest_with(most));
        assert_eq!(highest(McsTable::Down64Qam), [9, 16, 28, 28]);
        assert_eq!(highest(McsTable::Down256Qam), [4, 10, 19, 27]);
        assert_eq!(highest(McsTable::Up), [10, 20, 28, 28]);
    }
}
