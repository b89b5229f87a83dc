//! Submitted to the MAC, until it is known whether they have arrived.

use std::collections::VecDeque;

/// Numbers never wrap.
#[derive(Debug)]
pub struct InFlight<T> {
    /// Number of the first element in `pdus`; `None` has arrived or is lost.
    first: u64,
    pdus: VecDeque<Option<T>>,
}

impl<T> Default for InFlight<T> {
    fn default() -> Self {
        Self { first: 0, pdus: VecDeque::new() }
    }
}

impl<T> InFlight<T> {
    #[inline]
    pub fn next(&self) -> u64 {
        self.first + self.pdus.len() as u64
    }

    #[inline]
    pub fn push(&mut self, pdu: T) {
        self.pdus.push_back(Some(pdu));
    }

    /// If it is in flight.
    pub fn get(&self, number: u64) -> Option<&T> {
        self.pdus.get(usize::try_from(number.checked_sub(self.first)?).ok()?)?.as_ref()
    }

    #[inline]
    pub fn take(&mut self, number: u64) -> Option<T> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let pdu = self.pdus.get_mut(place)?.take();
        while let Some(None) = self.pdus.front() {
            self.pdus.pop_front();
            self.first += 1;
        }
        pdu
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_is_taken_once_in_any_order() {
        let mut pdus = InFlight::default();
        for pdu in ["a", "b", "c"] {
            pdus.push(pdu);
        }
        assert_eq!((pdus.take(1), pdus.take(1), pdus.get(0)), (Some("b"), None, Some(&"a")));
        assert_eq!((pdus.take(0), pdus.take(0), pdus.take(3)), (Some("a"), None, None));
        assert_eq!((pdus.first, pdus.next(), pdus.get(2)), (2, 3, Some(&"c")));
    }
}
