use nodeb_base::units::Time;
use proptest::prelude::*;
use serde_json::json;

use super::{Driver, State};
use crate::switching::policy::SwitchingSpec;

/// The user holds a dedicated channel.
const HOLDING: [State; 3] = [State::SettingUp, State::Dch, State::Releasing];

fn holders(states: &[State]) -> usize {
    states.iter().filter(|state| HOLDING.contains(state)).count()
}

proptest! {
    /// Each packet arrives once, no more channels are held than exist, and times add up to the run.
    #[test]
    fn policies_conserve_packets_channels_and_time(
        channels in 1..=3u32,
        users in 1..=5usize,
        switch_ms in prop_oneof![Just(0), 1..500u32],
        arrivals in prop::collection::vec((0..400_000u64, 0..5usize, 41..1_500u32), 1..150),
    ) {
        for policy in SwitchingSpec::defaults() {
            let mut cell = Driver::new(json!({
                "policy": policy, "dch_channels": channels, "switch_time": format!("{switch_ms} ms"),
                "signalling_rate": "20 kbps",
            }), users);
            let (mut now, mut sizes) = (Time::ZERO, 0);
            for &(gap_us, user, size) in &arrivals {
                now.0 += gap_us * 1_000;
                cell.arrive(now, user % users, size);
                sizes += u64::from(size);
            }
            cell.run(Time(now.0 + 10_000_000_000_000));
            let name = policy.key();
            let counts = cell.around.counts;
            prop_assert_eq!(counts.packets_delivered, arrivals.len() as u64, "{}", name);
            prop_assert_eq!(counts.bytes_delivered, sizes, "{}", name);
            let mut states = vec![State::Fach; users];
            let mut changes = cell.changes.iter().peekable();
            while let Some(&(at, user, state)) = changes.next() {
                states[user] = state;
                // Changes at the same time are recorded in order of user index, so holders are only
                // counted after the last of these changes.
                let settled = changes.peek().is_none_or(|next| next.0 > at);
                prop_assert!(!settled || holders(&states) <= channels as usize, "{name}: {:?}", cell.changes);
            }
            for row in cell.bearer.channels(cell.now) {
                let all = [State::Pch, State::Paging, State::Fach].into_iter().chain(HOLDING);
                prop_assert_eq!(all.map(|state| row.usage.time(state).0).sum::<u64>(), cell.now.0, "{}", name);
                prop_assert!(row.usage.set_ups - row.usage.releases <= 1, "{}", name);
            }
        }
    }
}
