use nodeb_base::check::{Check, Checked};
use nodeb_base::registry::choice;
use nodeb_base::units::{Duration, Rate};
use nodeb_base::{keys, params};

use crate::mac::sched::SchedulerSpec;
use crate::rlc::lte::LteRlcSpec;

/// Of a phone: those of its download and of its upload.
pub const MAX_BEARERS: usize = 2;

params! {
    /// EPS bearer: a class of service (TS 23.203, 6.1.7) with a queue and an RLC of its own in each direction.
    pub struct Bearer {
        /// QoS class identifier (QCI), 1 to 9 (TS 23.203, table 6.1.7), which sets priority and delay budget. QCIs 1 to
        /// 4 have a guaranteed bit rate.
        pub qci: u8 = 9,
        /// Time that a packet may wait at the base station, for schedulers that use deadlines. Absent: the packet delay
        /// budget of the QCI; 50 ms to 300 ms.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub delay_budget: Option<Duration>,
        /// Bit rate up to which the bearer precedes bearers of lower priority: the guaranteed bit rate (GBR) of QCIs 1
        /// to 4, which require it, and the prioritized bit rate of the logical channel (TS 36.321, 5.4.3.1). The base
        /// station serves it before all other data of the cell. Absent: 0.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub prioritized_rate: Option<Rate>,
        /// RLC mode of the bearer. Absent: `radio.lte.rlc`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rlc: Option<LteRlcSpec>,
    }
}

#[derive(Clone, Copy, Debug)]
struct Class {
    /// 1 is the highest.
    priority: u8,
    delay_budget: Duration,
    has_guaranteed_rate: bool,
}

impl Class {
    const fn new(priority: u8, budget_ms: u64, has_guaranteed_rate: bool) -> Self {
        Self { priority, delay_budget: Duration::from_millis(budget_ms), has_guaranteed_rate }
    }
}

/// By QCI, from 1 (TS 23.203, table 6.1.7).
const CLASSES: [Class; 9] = [
    Class::new(2, 100, true),
    Class::new(4, 150, true),
    Class::new(3, 50, true),
    Class::new(5, 300, true),
    Class::new(1, 100, false),
    Class::new(6, 300, false),
    Class::new(7, 100, false),
    Class::new(8, 300, false),
    Class::new(9, 300, false),
];

// Clause: TS 23.203, 6.1.7: classes of bearers
// Simplified: no QCIs above 9, and delay budgets without the part of the core network
impl Bearer {
    /// Of the lowest class if the QCI is invalid.
    fn class(&self) -> Class {
        let place = usize::from(self.qci).wrapping_sub(1).min(CLASSES.len() - 1);
        CLASSES[place]
    }

    /// 1 is the highest.
    pub fn priority(&self) -> u8 {
        self.class().priority
    }

    pub fn delay_budget(&self) -> Duration {
        self.delay_budget.unwrap_or(self.class().delay_budget)
    }

    /// 0 without one.
    pub fn prioritized_rate(&self) -> Rate {
        self.prioritized_rate.unwrap_or(Rate(0))
    }

    /// Reports a delay budget that none of the radio's schedulers uses; names of schedulers that would, if so.
    pub fn check_deadlines(
        &self,
        schedulers: &[&SchedulerSpec],
        tti: Duration,
        check: &mut Check,
    ) -> Option<String> {
        let uses = |scheduler: &SchedulerSpec| scheduler.build(1, tti).view().deadline;
        if schedulers.iter().any(|scheduler| uses(scheduler)) {
            return None;
        }
        let all = SchedulerSpec::defaults();
        let names = choice(all.iter().filter(|scheduler| uses(scheduler)).map(SchedulerSpec::key));
        check.idle(true, &keys!(self; delay_budget), &format!("only the scheduler {names} uses it"));
        Some(names)
    }
}

impl Checked for Bearer {
    fn check(&self, check: &mut Check) {
        check.require((1..=9).contains(&self.qci), "qci", || {
            format!("QCI {} is out of range; expected 1 to 9", self.qci)
        });
        check.require(self.prioritized_rate != Some(Rate(0)), "prioritized_rate", || {
            "0 bps is out of range; expected a higher rate, or no key".to_owned()
        });
        let is_guaranteed = self.prioritized_rate.is_some();
        check.require(!self.class().has_guaranteed_rate || is_guaranteed, "prioritized_rate", || {
            format!(
                "QCI {} has a guaranteed bit rate, which is missing; expected one, such as \"64 kbps\", or a `qci` from \
                 5 to 9",
                self.qci
            )
        });
        if let Some(rlc) = &self.rlc {
            check.within("rlc", |check| rlc.check(check));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Tests the feature: classes of bearers (standard's table)
    #[test]
    fn classes_have_the_priorities_and_budgets_of_the_standard() {
        let of = |qci| Bearer { qci, ..Bearer::default() };
        assert_eq!((1..=9).map(|qci| of(qci).priority()).collect::<Vec<_>>(), [2, 4, 3, 5, 1, 6, 7, 8, 9]);
        let budgets_ms = (1..=9).map(|qci| of(qci).delay_budget().0 / 1_000_000);
        assert_eq!(budgets_ms.collect::<Vec<_>>(), [100, 150, 50, 300, 100, 300, 100, 300, 300]);
        let requires_rate = |qci: &u8| {
            let mut check = Check::default();
            of(*qci).check(&mut check);
            !check.into_problems().is_empty()
        };
        assert_eq!((0..=10).filter(requires_rate).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 10]);
    }
}
