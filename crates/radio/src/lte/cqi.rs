use nodeb_air::error::effective::modulation::Modulation::{self, Qam16, Qam64, Qam256, Qpsk};

use crate::ofdma::standard::CQIS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CqiTable {
    /// TS 36.213, table 7.2.3-1.
    Qam64,
    /// TS 36.213, table 7.2.3-2, Release 12.
    Qam256,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cqi {
    pub modulation: Modulation,
    /// Code rate times 1024.
    pub rate_1024: u16,
}

impl Cqi {
    pub fn code_rate(self) -> f64 {
        f64::from(self.rate_1024) / 1024.0
    }

    /// In bits per resource element: code rate times bits per symbol.
    pub fn efficiency(self) -> f64 {
        self.code_rate() * f64::from(self.modulation.order())
    }
}

const ROWS_64QAM: [(Modulation, u16); 15] = [
    (Qpsk, 78),
    (Qpsk, 120),
    (Qpsk, 193),
    (Qpsk, 308),
    (Qpsk, 449),
    (Qpsk, 602),
    (Qam16, 378),
    (Qam16, 490),
    (Qam16, 616),
    (Qam64, 466),
    (Qam64, 567),
    (Qam64, 666),
    (Qam64, 772),
    (Qam64, 873),
    (Qam64, 948),
];

const ROWS_256QAM: [(Modulation, u16); 15] = [
    (Qpsk, 78),
    (Qpsk, 193),
    (Qpsk, 449),
    (Qam16, 378),
    (Qam16, 490),
    (Qam16, 616),
    (Qam64, 466),
    (Qam64, 567),
    (Qam64, 666),
    (Qam64, 772),
    (Qam64, 873),
    (Qam256, 711),
    (Qam256, 797),
    (Qam256, 885),
    (Qam256, 948),
];

impl CqiTable {
    // Clause: TS 36.213, 7.2.3: CQI tables
    /// `None` for CQI 0 and above 15.
    pub fn row(self, cqi: u8) -> Option<Cqi> {
        let rows = match self {
            Self::Qam64 => &ROWS_64QAM,
            Self::Qam256 => &ROWS_256QAM,
        };
        let &(modulation, rate_1024) = rows.get(usize::from(cqi).checked_sub(1)?)?;
        Some(Cqi { modulation, rate_1024 })
    }

    /// 0 if all efficiencies are higher.
    pub fn highest(self, efficiency: f64) -> u8 {
        (1..CQIS).take_while(|&cqi| self.row(cqi).is_some_and(|row| row.efficiency() <= efficiency)).count()
            as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Column "efficiency" in TS 36.213, with four digits as printed there.
    const PRINTED: [(CqiTable, [f64; 15]); 2] = [
        (
            CqiTable::Qam64,
            [
                0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223,
                3.9023, 4.5234, 5.1152, 5.5547,
            ],
        ),
        (
            CqiTable::Qam256,
            [
                0.1523, 0.3770, 0.8770, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023, 4.5234, 5.1152,
                5.5547, 6.2266, 6.9141, 7.4063,
            ],
        ),
    ];

    // Tests the feature: CQI tables (standard's table)
    #[test]
    fn efficiencies_are_those_of_the_tables() {
        for (table, printed) in PRINTED {
            for (cqi, printed) in (1..).zip(printed) {
                let efficiency = table.row(cqi).unwrap().efficiency();
                assert!((efficiency - printed).abs() < 6e-5, "{table:?} {cqi}: {efficiency}");
            }
        }
    }

    #[test]
    fn rows_exist_for_cqi_1_to_15() {
        for table in [CqiTable::Qam64, CqiTable::Qam256] {
            assert_eq!(table.row(0), None);
            assert_eq!(table.row(CQIS), None);
            for cqi in 1..CQIS {
                let efficiency = table.row(cqi).unwrap().efficiency();
                assert_eq!(table.highest(efficiency), cqi);
                assert_eq!(table.highest(efficiency - 1e-9), cqi - 1);
            }
        }
    }
}
