//! Critical paths told packet by packet, as comments of captures say them.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use nodeb_sim::{Control, Scenario};

use crate::span::{Path, Span};
use crate::{Error, explain};

/// Most transfers of a user that are explained together: each is a simulation as far as it goes.
pub const MAX_TRANSFERS: u64 = 20;

/// What is said of a user's transfers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Of each packet on their paths, by its number among all that were sent in the run, from 1.
    pub packets: HashMap<u64, String>,
    /// Which transfers these are.
    pub about: String,
}

impl Told {
    /// Explains the first transfers of `user`, at most [`MAX_TRANSFERS`].
    ///
    /// # Errors
    /// As [`explain`]; [`Error::NoTransfer`] only where the user has begun none.
    pub fn of(scenario: &Scenario, seed: u64, run: u64, control: &Control, user: u64) -> Result<Self, Error> {
        let mut told = Self::default();
        let mut known = 0;
        while known < MAX_TRANSFERS {
            match explain(scenario, seed, run, control, (user, known)) {
                Ok(path) => told.add(&path, user, known),
                Err(Error::NoTransfer { .. }) if known > 0 => break,
                Err(error) => return Err(error),
            }
            known += 1;
        }
        let limit = if known == MAX_TRANSFERS { ", which are the most" } else { "" };
        let which =
            if known == 1 { "transfer 0".to_owned() } else { format!("transfers 0 to {}", known - 1) };
        told.about = format!("Comments tell the critical path of user {user}'s {which}{limit}.");
        Ok(told)
    }

    /// Adds what the path of a transfer has to say.
    fn add(&mut self, path: &Path, user: u64, transfer: u64) {
        for (packet, said) in by_packet(path) {
            let text = self.packets.entry(packet).or_default();
            let gap = if text.is_empty() { "" } else { "; " };
            write!(text, "{gap}critical path of user {user}'s transfer {transfer}, packet {packet}: {said}")
                .expect("a string takes everything");
        }
    }
}

/// The spans of each packet on a path, those alike and next to each other as one.
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
    let said = |span: &Span| {
        format!("{} {} at {}", span.cause.name(), ms(span.lasts().0), path.names.name(span.place))
    };
    let joined = |spans: Vec<Span>| spans.iter().map(said).collect::<Vec<_>>().join(", ");
    of_packet.into_iter().map(|(packet, spans)| (packet, joined(spans))).collect()
}

/// Nanoseconds as milliseconds, with every digit that there is.
fn ms(ns: u64) -> String {
    let digits = format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000);
    format!("{} ms", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use nodeb_sim::scenario;

    use super::*;

    #[test]
    fn no_digit_is_lost() {
        let told = [0, 1, 40_000_000, 5_000_001, 120_500_000].map(ms);
        assert_eq!(told, ["0 ms", "0.000001 ms", "40 ms", "5.000001 ms", "120.5 ms"]);
    }

    /// Two pages of a user: what is said adds up to what both took, and the second one's packets are other ones.
    #[test]
    fn what_is_said_adds_up() {
        let text = "duration = '60 s'\n[radio.hs_dsch]\nbler = 0.2\n[[users]]\ntraffic.web = \
                    { reading.constant.value = '1 s', embedded_objects = 0.0, main.constant.value = '20 kB' }";
        let scenario = scenario::from_toml(text, "test", &[]).unwrap();
        let told = Told::of(&scenario, 1, 0, &Control::default(), 0).unwrap();
        assert!(told.about.ends_with("transfers 0 to 19, which are the most."), "{}", told.about);
        for transfer in 0..3 {
            let path = explain(&scenario, 1, 0, &Control::default(), (0, transfer)).unwrap();
            let head = format!("critical path of user 0's transfer {transfer}, ");
            let of_path = told.packets.values().flat_map(|text| text.split("; "));
            let spans = of_path.filter_map(|text| Some(text.strip_prefix(&head)?.split_once(": ")?.1));
            let sum: u64 = spans.flat_map(|spans| spans.split(", ")).map(ns_of).sum();
            assert_eq!(sum, path.ended.since(path.begun).0);
        }
    }

    fn ns_of(said: &str) -> u64 {
        let number = said.split_once(" ms at ").unwrap().0.rsplit(' ').next().unwrap();
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        whole.parse::<u64>().unwrap() * 1_000_000 + format!("{part:0<6}").parse::<u64>().unwrap()
    }
}
