//! Changes that the parts of a scenario offer, each as a changed scenario.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use nodeb_air::UserRadio;
use nodeb_base::cause::Step;
use nodeb_base::check::{Check, Checked};
use nodeb_base::event::Site;
use nodeb_base::remedy::{Aim, Change, LARGE, Remedy, Target};
use nodeb_base::units::{Duration, positive};
use nodeb_net::{Core, QueueSpec};
use nodeb_radio::{Parts, Queue, Uplink};
use nodeb_tcp::TcpSpec;

use super::{Scenario, UserGroup};

/// Largest usual initial window (RFC 3390), segments.
const USUAL_WINDOW: NonZeroU32 = positive(4);

/// Remedies of a scenario, to which its parts contribute.
struct Offers<'a> {
    of: &'a Scenario,
    by_change: BTreeMap<Change, Remedy<Scenario>>,
}

impl Offers<'_> {
    /// Without those that leave the part as it is.
    fn add<T: PartialEq>(
        &mut self,
        own: &T,
        remedies: Vec<Remedy<T>>,
        place: impl Fn(&mut Scenario) -> Option<&mut T>,
    ) {
        for Remedy { change, aims, part } in remedies.into_iter().filter(|remedy| remedy.part != *own) {
            let none = || Remedy { change, aims: Vec::new(), part: self.of.clone() };
            let offer = self.by_change.entry(change).or_insert_with(none);
            for aim in aims {
                if !offer.aims.contains(&aim) {
                    offer.aims.push(aim);
                }
            }
            if let Some(place) = place(&mut offer.part) {
                *place = part;
            }
        }
    }
}

impl Scenario {
    /// For transfers of `phone`, in the order of changes. Each one changes a parameter, targets something, and leaves
    /// the scenario valid.
    pub fn remedies(&self, phone: u32) -> Vec<Remedy<Self>> {
        let mut offers = Offers { of: self, by_change: BTreeMap::new() };
        self.offer_tcp(&mut offers);
        self.offer_links(&mut offers);
        self.offer_radio(phone, &mut offers);
        for (at, group) in self.users.iter().enumerate() {
            if let Some(traffic) = &group.traffic {
                offers.add(traffic, traffic.remedies(), |scenario| scenario.users[at].traffic.as_mut());
            }
            if let Some(ue) = &group.ue {
                offers.add(ue, ue.remedies(), |scenario| scenario.users[at].ue.as_mut());
            }
        }
        offers.add(self, vec![self.alone(phone)], |scenario| Some(scenario));
        let offered = offers.by_change.into_values();
        offered.filter(|remedy| !remedy.aims.is_empty() && remedy.part.is_valid()).collect()
    }

    fn is_valid(&self) -> bool {
        let mut check = Check::default();
        self.check(&mut check);
        check.into_problems().is_empty()
    }

    fn offer_tcp(&self, offers: &mut Offers) {
        let room = self.room();
        let mut add = |own: &TcpSpec, place: &dyn Fn(&mut Self) -> Option<&mut TcpSpec>| {
            offers.add(own, own.remedies(room), place);
        };
        add(&self.tcp, &|scenario| Some(&mut scenario.tcp));
        for (at, group) in self.users.iter().enumerate() {
            if let Some(own) = &group.tcp {
                add(own, &|scenario| scenario.users[at].tcp.as_mut());
            }
        }
        if let Some(own) = self.proxy.clone().as_mut().and_then(|proxy| proxy.own_tcp_mut()) {
            add(own, &|scenario| scenario.proxy.as_mut()?.own_tcp_mut());
        }
    }

    fn offer_links(&self, offers: &mut Offers) {
        let wired = self.wired.remedies(Change::FasterWired, &[Site::WiredDown, Site::WiredUp]);
        offers.add(&self.wired, wired, |scenario| Some(&mut scenario.wired));
        for (at, (_, link)) in self.core.iter().flat_map(Core::links).enumerate() {
            let remedies = link.remedies(Change::FasterCore, &[Site::CoreDown, Site::CoreUp]);
            offers.add(link, remedies, |scenario| scenario.core.as_mut()?.links_mut().get_mut(at));
        }
        let uplink = self.radio.parts().uplink;
        if !uplink.is_scheduled() {
            let mut remedies = self.uplink.remedies();
            // Recorded opportunities replace the rate.
            remedies.retain(|remedy| !uplink.is_recorded() || remedy.change != Change::FasterUplink);
            offers.add(&self.uplink, remedies, |scenario| Some(&mut scenario.uplink));
        }
    }

    fn offer_radio(&self, phone: u32, offers: &mut Offers) {
        let phones = NonZeroU32::new(self.user_count() as u32).unwrap_or(NonZeroU32::MIN);
        let mut groups = self.users.iter().flat_map(|group| (0..group.count.get()).map(move |_| group));
        let of_phone = groups.nth(phone as usize).map_or_else(UserRadio::default, |group| group.radio(0));
        let remedies = self.radio.remedies(&of_phone, phones);
        offers.add(&self.radio, remedies, |scenario| Some(&mut scenario.radio));
    }

    /// Packets that the shortest queue has room for, if these are more than a usual initial window; a larger window
    /// would overflow that queue at once. All users share the queue of a link; the radio has one for each user.
    fn room(&self) -> Option<NonZeroU32> {
        let limit = |queue: &QueueSpec| queue.limit().unwrap_or(LARGE).get();
        let phones = self.user_count().max(1) as u32;
        let core = self.core.iter().flat_map(|core| core.links().map(|(_, link)| &link.queue));
        let links = [&self.wired.queue].into_iter().chain(core);
        let links = links.map(|queue| limit(queue) / phones);
        let Parts { queue, uplink, .. } = self.radio.parts();
        let down = match queue {
            Queue::Link(queue) => limit(queue) / phones,
            Queue::Rlc(queue) => limit(queue),
            Queue::Buffer(packets) | Queue::Rnc(packets) => packets.get(),
        };
        let up = match uplink {
            Uplink::Scheduled(queue) => limit(queue),
            Uplink::Plain | Uplink::Recorded(_) => limit(&self.uplink.queue) / phones,
        };
        let shortest = links.chain([down, up]).min();
        shortest.and_then(NonZeroU32::new).filter(|room| *room > USUAL_WINDOW)
    }

    /// All other phones start 1 ns before the end of the run: without them, users would have other numbers, and so
    /// other random streams.
    fn alone(&self, phone: u32) -> Remedy<Self> {
        let never = Duration(self.duration.0.saturating_sub(1));
        let mut users: Vec<UserGroup> = Vec::new();
        let mut first = 0;
        for group in &self.users {
            let many = group.count.get();
            let own = phone.checked_sub(first).filter(|place| *place < many);
            let start = Duration(group.start.0 + u64::from(own.unwrap_or(0)) * group.stagger.0);
            let parts = match own {
                Some(place) => vec![(place, never), (1, start), (many - place - 1, never)],
                None => vec![(many, never)],
            };
            for (count, start) in parts {
                let Some(count) = NonZeroU32::new(count) else { continue };
                let (name, stagger) = (users.len().to_string(), Duration::ZERO);
                users.push(UserGroup { name, count, start, stagger, ..group.clone() });
            }
            first += many;
        }
        let part = if first > 1 { Self { users, ..self.clone() } } else { self.clone() };
        // Of the waits for further grants, one phone's share is its own.
        let others =
            Aim { target: Target::Steps(&[Step::FurtherGrantAwaited]), factor: 1.0 - 1.0 / f64::from(first) };
        let aims = vec![Target::Steps(&[Step::OthersServed]).into(), others];
        Remedy { change: Change::Alone, aims, part }
    }
}

#[cfg(test)]
mod tests {
    use nodeb_radio::RadioSpec;

    use super::*;
    use crate::scenario::{from_toml, to_toml};

    fn with_radio(radio: &str) -> Scenario {
        let text = format!(
            "duration = '60 s'\n[[users]]\ncount = 2\ntraffic.ftp = {{ size = '50 kB', server_delay = '1 s' }}\n\
             [radio.{radio}]"
        );
        from_toml(&text, "test", &[]).unwrap()
    }

    fn all_radios() -> impl Iterator<Item = Scenario> {
        let trace = "trace.down]\ntimes_ms = [1, 2, 3]\n[radio.trace.up]\ntimes_ms = [1";
        RadioSpec::NAMES.iter().map(move |name| with_radio(if *name == "trace" { trace } else { name }))
    }

    #[test]
    fn every_remedy_changes_the_scenario_and_can_be_read_again() {
        for scenario in all_radios() {
            let remedies = scenario.remedies(0);
            assert!(remedies.len() > 8, "{}", scenario.radio.key());
            for Remedy { change, part, .. } in remedies {
                assert_ne!(part, scenario, "{}", change.name());
                assert_eq!(from_toml(&to_toml(&part).unwrap(), "changed", &[]).unwrap(), part);
            }
        }
    }

    #[test]
    fn every_radio_can_be_made_faster() {
        for scenario in all_radios() {
            let faster = [Change::FasterRadio, Change::SecondLayer, Change::StrongerSignal];
            assert!(scenario.remedies(0).iter().any(|remedy| faster.contains(&remedy.change)));
        }
    }

    #[test]
    fn a_remedy_is_applied_to_all_parts_that_offer_it() {
        let text = "core = [{ loss = 0.1 }, {}]\nwired.loss = 0.2\nuplink.loss = 0.3\n[radio.link]\nloss = 0.4\n\
                    [[users]]\ntraffic.ftp.size = '50 kB'";
        let scenario = from_toml(text, "test", &[]).unwrap();
        let remedies = scenario.remedies(0);
        let lossless = remedies.iter().find(|remedy| remedy.change == Change::NoLosses).unwrap();
        let without =
            text.replace("0.1", "0.0").replace("0.2", "0.0").replace("0.3", "0.0").replace("0.4", "0.0");
        assert_eq!(lossless.part, from_toml(&without, "test", &[]).unwrap());
        assert_eq!(lossless.aims.len(), 1);
    }
}
