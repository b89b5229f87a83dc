use nodeb_base::params;
use std::ops::RangeInclusive;

use nodeb_base::check::{Check, Checked};

use super::super::format::CQIS;
use nodeb_air::error::curves::points::PointCurve;
use nodeb_air::mac::harq::link_curve;

/// TS 25.214, 6A.2.
pub const TARGET_BLER: f64 = 0.1;

params! {
    /// Measured BLER curves. The values at the same index of the three lists form a point.
    ///
    /// The text file has the line `cqi,snr_db,bler`, and then one line per point.
    pub struct LinkCurves {
        /// Path of a file with the lists, relative to the folder of the scenario file.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub file: Option<String>,
        /// CQI of the block sent, for each point.
        pub cqi: Vec<u8>,
        /// SNR of all codes together in dB, before despreading, for each point.
        pub snr_db: Vec<f64>,
        /// Block error rate of each point, 0 to 1.
        pub bler: Vec<f64>,
    }
}

impl LinkCurves {
    /// The caller must read the file, as this crate reads none.
    pub fn unread(&self) -> Option<&str> {
        self.file.as_deref().filter(|_| self.cqi.is_empty())
    }

    /// (SNR in dB, BLER) in ascending order of SNR.
    fn curve(&self, cqi: u8) -> Vec<(f64, f64)> {
        let points = self.cqi.iter().zip(self.snr_db.iter().zip(&self.bler));
        let mut curve: Vec<_> =
            points.filter(|(of, _)| **of == cqi).map(|(_, (snr_db, bler))| (*snr_db, *bler)).collect();
        curve.sort_by(|a, b| a.0.total_cmp(&b.0));
        curve
    }

    /// CQIs 1 to `last`, the highest that UEs of `category` use, need a curve once the file has been read.
    pub fn check_covers(&self, last: u8, category: u8, check: &mut Check) {
        let missing: Vec<u8> = (1..=last).filter(|cqi| !self.cqi.contains(cqi)).collect();
        check.require(self.unread().is_some() || missing.is_empty(), "cqi", || {
            format!(
                "CQI {} no curve; expected curves for every CQI that category {category} uses, 1 to {last}",
                runs(&missing)
            )
        });
    }

    fn check_curve(&self, cqi: u8, check: &mut Check) {
        let curve = self.curve(cqi);
        let Some((_, least)) = curve.last() else {
            return;
        };
        let twice = curve.windows(2).find(|pair| pair[0].0 >= pair[1].0);
        check.require(twice.is_none(), "snr_db", || {
            format!("CQI {cqi} has two points at {} dB; expected one", twice.map_or(0.0, |pair| pair[0].0))
        });
        let rising = curve.windows(2).find(|pair| pair[0].1 < pair[1].1);
        check.require(rising.is_none(), "bler", || {
            let [(snr, bler), (next_snr, next)] = rising.map_or([(0.0, 0.0); 2], |pair| [pair[0], pair[1]]);
            format!(
                "for CQI {cqi} BLER rises from {bler} at {snr} dB to {next} at {next_snr} dB; expected a curve \
                 that falls"
            )
        });
        check.require(*least <= TARGET_BLER, "bler", || {
            format!("the curve of CQI {cqi} ends at {least}; expected points down to {TARGET_BLER} or less")
        });
    }
}

/// Start of a sentence about CQIs, such as `7 to 9 have`, for the first consecutive numbers.
fn runs(numbers: &[u8]) -> String {
    let Some(first) = numbers.first() else {
        return String::new();
    };
    let length = (*first..).zip(numbers).take_while(|(expected, number)| expected == *number).count();
    if length == 1 { format!("{first} has") } else { format!("{first} to {} have", numbers[length - 1]) }
}

impl Checked for LinkCurves {
    fn check(&self, check: &mut Check) {
        let points = self.cqi.len();
        check.require(self.file.is_some() || points > 0, "cqi", || {
            "the list is empty; expected at least one point, or a `file`".to_owned()
        });
        let lengths = [("snr_db", self.snr_db.len()), ("bler", self.bler.len())];
        for (key, length) in lengths {
            check.require(length == points, key, || {
                format!("{length} values for {points} CQIs; expected one each")
            });
        }
        if lengths.iter().any(|(_, length)| *length != points) {
            return;
        }
        let reportable: RangeInclusive<u8> = 1..=CQIS as u8 - 1;
        for (place, cqi) in self.cqi.iter().enumerate() {
            let (snr_db, bler) = (self.snr_db[place], self.bler[place]);
            check.require(reportable.contains(cqi), "cqi", || {
                format!("entry {place} is {cqi}; expected a CQI from 1 to 30")
            });
            check.require(snr_db.abs() <= 200.0, "snr_db", || {
                format!("entry {place} is {snr_db}; expected an SNR from -200 to 200 dB")
            });
            check.require(bler > 0.0 && bler <= 1.0, "bler", || {
                format!(
                    "entry {place} is {bler}; expected more than 0 and at most 1: leave points without errors out"
                )
            });
        }
        reportable.for_each(|cqi| self.check_curve(cqi, check));
    }
}

#[derive(Clone, Debug)]
pub enum Curves {
    /// Brouwer et al.: `mac::harq::link_curve`.
    Formula,
    /// By CQI from 0 to 30.
    Measured(Vec<PointCurve>),
}

impl Curves {
    pub fn new(measured: Option<&LinkCurves>) -> Self {
        measured.map_or(Self::Formula, |curves| {
            Self::Measured((0..CQIS as u8).map(|cqi| PointCurve::new(curves.curve(cqi))).collect())
        })
    }

    /// `draw` is uniform in [0, 1); the block is decoded if it is at least the BLER.
    pub fn decodes(&self, cqi: u8, snr: f64, draw: f64) -> bool {
        // Most blocks are far from failing, so a bound of the BLER that is cheap to compute decides
        // them.
        let is_safe = matches!(self, Self::Formula) && draw >= link_curve::bler_limit(cqi, snr);
        is_safe || draw >= self.bler(cqi, 10.0 * libm::log10(snr))
    }

    /// 1 for a CQI without a curve if others have one.
    pub fn bler(&self, cqi: u8, snr_db: f64) -> f64 {
        let Self::Measured(curves) = self else {
            return link_curve::bler(f64::from(cqi), snr_db);
        };
        curves[usize::from(cqi)].rate(snr_db)
    }

    /// Smallest SNR at which a UE reports each CQI or a larger one, as it reports the largest CQI whose block
    /// fails with a probability of at most [`TARGET_BLER`]; `None` without measured curves.
    pub fn least_snrs_db(&self, highest: u8) -> Option<Vec<f64>> {
        let Self::Measured(curves) = self else {
            return None;
        };
        let highest = usize::from(highest);
        let mut snrs: Vec<f64> = curves[1..=highest].iter().map(|curve| curve.snr_db(TARGET_BLER)).collect();
        // The UE reports the largest CQI that meets the target, even if a smaller CQI does not meet
        // it.
        for place in (1..snrs.len()).rev() {
            snrs[place - 1] = snrs[place - 1].min(snrs[place]);
        }
        Some(snrs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(points: &[(u8, f64, f64)]) -> LinkCurves {
        LinkCurves {
            file: None,
            cqi: points.iter().map(|point| point.0).collect(),
            snr_db: points.iter().map(|point| point.1).collect(),
            bler: points.iter().map(|point| point.2).collect(),
        }
    }

    fn problem(points: &[(u8, f64, f64)]) -> String {
        let (curves, mut check) = (measured(points), Check::default());
        curves.check(&mut check);
        curves.check_covers(3, 6, &mut check);
        check.into_problems().first().map_or(String::new(), |problem| problem.message.clone())
    }

    /// CQIs 1 to 3 reach a BLER of 10 % at 0.5, 3 and 2 dB.
    #[test]
    fn the_largest_cqi_that_meets_the_target_is_reported() {
        let points = [(1, 0.0, 1.0), (1, 1.0, 0.01), (2, 3.0, 0.1), (3, 2.0, 0.1)];
        let least = Curves::new(Some(&measured(&points))).least_snrs_db(3).unwrap();
        assert!(least.iter().zip([0.5, 2.0, 2.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{least:?}");
    }

    #[test]
    fn invalid_curves_are_rejected() {
        let good = [(1, 0.0, 0.1), (2, 1.0, 0.1), (3, 2.0, 0.1)];
        assert_eq!(problem(&good), "");
        assert!(
            problem(&good[..1]).starts_with("CQI 2 to 3 have no curve; expected curves for every CQI that")
        );
        assert!(problem(&[good[0], good[2]]).starts_with("CQI 2 has no curve"));
        assert!(
            problem(&[(1, 0.0, 0.1), (1, 1.0, 0.2)]).contains("BLER rises from 0.1 at 0 dB to 0.2 at 1 dB")
        );
        assert!(problem(&[(1, 0.0, 0.1), (1, 0.0, 0.1)]).contains("two points at 0 dB"));
        assert!(problem(&[(1, 0.0, 0.2)]).contains("ends at 0.2; expected points down to 0.1"));
        assert!(problem(&[(1, 0.0, 0.0)]).contains("leave points without errors out"));
        assert!(problem(&[(31, 0.0, 0.1)]).contains("expected a CQI from 1 to 30"));
        let uneven = LinkCurves { bler: vec![], ..measured(&good) };
        let mut check = Check::default();
        uneven.check(&mut check);
        assert_eq!(check.into_problems()[0].message, "0 values for 3 CQIs; expected one each");
    }
}
