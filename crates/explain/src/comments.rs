use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use nodeb_sim::{Control, Scenario};

use crate::span::{Path, Span};
use crate::{Error, explain};

/// Each transfer takes a simulation of its own.
pub const MAX_TRANSFERS: u64 = 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketComments {
    /// By the packet's number among all packets sent in the run, from 1.
    pub packets: HashMap<u64, String>,
    /// Names the user and the transfers.
    pub about: String,
}

impl PacketComments {
    /// # Errors
    ///
    /// Returns the errors of [`explain`], but [`Error::NoTransfer`] only if the user has begun no
    /// transfer at all.
    pub fn of(scenario: &Scenario, seed: u64, run: u64, control: &Control, user: u64) -> Result<Self, Error> {
        let mut comments = Self::default();
        let mut transfers = 0;
        while transfers < MAX_TRANSFERS {
            match explain(scenario, seed, run, control, (user, transfers)) {
                Ok(path) => comments.add(&path, user, transfers),
                Err(Error::NoTransfer { .. }) if transfers > 0 => break,
                Err(error) => return Err(error),
            }
            transfers += 1;
        }
        let limit = if transfers == MAX_TRANSFERS { ", the maximum" } else { "" };
        let which = if transfers == 1 {
            "transfer 0".to_owned()
        } else {
            format!("transfers 0 to {}", transfers - 1)
        };
        comments.about = format!("Comments describe the critical path of user {user}'s {which}{limit}.");
        Ok(comments)
    }

    /// A packet that has a comment already gets a longer one.
    fn add(&mut self, path: &Path, user: u64, transfer: u64) {
        for (packet, description) in by_packet(path) {
            let text = self.packets.entry(packet).or_default();
            let gap = if text.is_empty() { "" } else { "; " };
            write!(
                text,
                "{gap}critical path of user {user}'s transfer {transfer}, packet {packet}: {description}"
            )
            .expect("a string takes everything");
        }
    }
}

/// Adjacent spans with the same cause and place are joined.
fn by_packet(path: &Path) -> BTreeMap<u64, String> {
    let mut of_packet: BTreeMap<u64, Vec<Span>> = BTreeMap::new();
    for span in path.spans.iter().filter(|span| span.packet > 0) {
        let spans = of_packet.entry(span.packet).or_default();
        match spans.last_mut() {
            Some(last) if (last.end, last.cause, last.place) == (span.begin, span.cause, span.place) => {
                last.end = span.end;
            }
            _ => spans.push(*span),
        }
    }
    let describe = |span: &Span| {
        format!("{} {} at {}", span.cause.name(), ms(span.duration().0), path.names.name(span.place))
    };
    let joined = |spans: Vec<Span>| spans.iter().map(describe).collect::<Vec<_>>().join(", ");
    of_packet.into_iter().map(|(packet, spans)| (packet, joined(spans))).collect()
}

/// With as many decimals as needed, at most six.
fn ms(ns: u64) -> String {
    let digits = format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000);
    format!("{} ms", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use nodeb_sim::scenario;

    use super::*;

    #[test]
    fn milliseconds_keep_all_digits() {
        let texts = [0, 1, 40_000_000, 5_000_001, 120_500_000].map(ms);
        assert_eq!(texts, ["0 ms", "0.000001 ms", "40 ms", "5.000001 ms", "120.5 ms"]);
    }

    /// Each web page is a transfer with packets of its own.
    #[test]
    fn comments_add_up_to_the_transfer() {
        let text = "duration = '60 s'\n[radio.hs_dsch]\nbler = 0.2\n[[users]]\ntraffic.web = \
                    { reading.constant.value = '1 s', embedded_objects = 0.0, main.constant.value = '20 kB' }";
        let scenario = scenario::from_toml(text, "test", &[]).unwrap();
        let comments = PacketComments::of(&scenario, 1, 0, &Control::default(), 0).unwrap();
        assert!(comments.about.ends_with("transfers 0 to 19, the maximum."), "{}", comments.about);
        for transfer in 0..3 {
            let path = explain(&scenario, 1, 0, &Control::default(), (0, transfer)).unwrap();
            let head = format!("critical path of user 0's transfer {transfer}, ");
            let of_path = comments.packets.values().flat_map(|text| text.split("; "));
            let spans = of_path.filter_map(|text| Some(text.strip_prefix(&head)?.split_once(": ")?.1));
            let sum: u64 = spans.flat_map(|spans| spans.split(", ")).map(ns_of).sum();
            assert_eq!(sum, path.ended.since(path.begun).0);
        }
    }

    fn ns_of(text: &str) -> u64 {
        let number = text.split_once(" ms at ").unwrap().0.rsplit(' ').next().unwrap();
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        whole.parse::<u64>().unwrap() * 1_000_000 + format!("{part:0<6}").parse::<u64>().unwrap()
    }
}
