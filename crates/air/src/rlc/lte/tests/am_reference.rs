//! The slow receiver keeps sets of octets and numbers modulo 1024.

use std::ops::Range;

use nodeb_base::units::{Duration, Time};
use proptest::prelude::*;

use super::air::{Air, Load, MS, PLAIN, Tti, load, transmit};
use super::reference::{AirAmd, AirStatus, AmReceiver};
use crate::rlc::lte::Entity;
use crate::rlc::lte::am::status::Status;
use crate::rlc::lte::am::{Amd, LteAm};

/// Data fields by sequence number.
#[derive(Default)]
struct Origins(Vec<Range<u64>>);

impl Origins {
    fn record(&mut self, air: &Air) {
        let units = air.blocks.last().map_or(0..0, |(_, block)| block.units.clone());
        for amd in units.filter_map(|unit| air.am().pdu(unit)) {
            if amd.sn == self.0.len() as u64 {
                self.0.push(amd.octets.clone());
            }
        }
    }

    fn on_air(&self, amd: &Amd) -> AirAmd {
        let origin = &self.0[amd.sn as usize];
        AirAmd {
            sn: (amd.sn % 1024) as u16,
            so: (amd.octets.start - origin.start) as u32,
            octets: (amd.octets.end - amd.octets.start) as u32,
            last: amd.octets.end == origin.end,
            poll: amd.poll,
        }
    }

    /// A missing part that extends to the end of its PDU has the end `None`.
    fn status(&self, status: &Status) -> AirStatus {
        let nack = |nack: &crate::rlc::lte::am::status::Nack| {
            let origin = &self.0[nack.sn as usize];
            let part = nack.octets.as_ref().map(|part| {
                let end = (part.end < origin.end).then(|| (part.end - origin.start) as u32);
                ((part.start - origin.start) as u32, end)
            });
            ((nack.sn % 1024) as u16, part)
        };
        ((status.acknowledged % 1024) as u16, status.nacks.iter().map(nack).collect())
    }
}

/// Compares reports and SDUs delivered in each TTI.
fn compare(params: &LteAm, load: &Load, ttis: usize) -> Result<(), TestCaseError> {
    let mut air = Air::new(Entity::am(params, PLAIN, transmit()));
    let prohibit = params.status_prohibit.unwrap_or_default();
    let mut reference = AmReceiver::new(params.t_reordering.0, prohibit.0);
    let mut origins = Origins::default();
    for at in 0..ttis {
        let due = load.packets.iter().enumerate().filter(|(_, packet)| packet.0 == at);
        due.for_each(|(number, packet)| air.push(number as u64, packet.1));
        let (tti, now) = (load.ttis[at % load.ttis.len()], air.now.0);
        let reports = air.reports.len();
        let arrived = |_: Time, amd: &Amd| reference.receive(now, &origins.on_air(amd));
        air.tti_with(Tti { report_lost: tti.report_lost && at < 400, ..tti }, arrived);
        reference.on_time(now);
        origins.record(&air);
        let expected = reference.report(now, tti.report_room);
        let sent = air.reports.get(reports).map(|(_, number)| air.am().status(*number).unwrap());
        prop_assert_eq!(sent.map(|status| origins.status(status)), expected, "at {} ms", at);
        let in_sequence = reference.in_sequence();
        let mut end = 0;
        let ends = load.packets.iter().map(|(_, bytes)| {
            end += u64::from(*bytes);
            end
        });
        let complete = ends.take_while(|end| *end <= in_sequence).count();
        prop_assert_eq!(air.delivered.len(), complete, "at {} ms", at);
    }
    Ok(())
}

/// Timers below 60 ms may expire before or after blocks arrive.
pub fn params() -> impl Strategy<Value = LteAm> {
    (1..60u64, 0..60u64, 1..60u64, 1..20u32, 1..2_000u64).prop_map(
        |(reordering, prohibit, poll, poll_pdu, poll_byte)| LteAm {
            t_reordering: Duration(reordering * MS),
            status_prohibit: (prohibit > 0).then_some(Duration(prohibit * MS)),
            poll_retransmit: Duration(poll * MS),
            poll_pdu: poll_pdu.try_into().ok(),
            poll_byte: Some(nodeb_base::units::Size(poll_byte)),
            max_retransmissions: None,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    // Tests the feature: STATUS PDUs (independent receiver)
    #[test]
    fn reports_and_packets_match_a_receiver_of_octets(
        params in params(),
        load in load(5..400, 600, 20),
    ) {
        compare(&params, &load, 600)?;
    }

    // Tests the feature: re-segmentation (independent receiver)
    /// Retransmitted PDUs are cut into many segments.
    #[test]
    fn small_segments_match_a_receiver_of_octets(params in params(), load in load(3..12, 30, 20)) {
        compare(&params, &load, 600)?;
    }
}
