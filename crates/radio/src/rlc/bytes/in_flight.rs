//! PDUs submitted to the MAC whose outcome is not known yet.

use std::collections::VecDeque;

/// PDUs by number. Numbers never wrap; every PDU submitted gets the next one.
#[derive(Debug)]
pub struct InFlight<T> {
    /// Number of the first PDU in `pdus`. PDUs whose outcome is known leave `None` there.
    first: u64,
    pdus: VecDeque<Option<T>>,
}

impl<T> Default for InFlight<T> {
    fn default() -> Self {
        Self { first: 0, pdus: VecDeque::new() }
    }
}

impl<T> InFlight<T> {
    /// Returns the number of the next PDU to be submitted.
    #[inline]
    pub fn next(&self) -> u64 {
        self.first + self.pdus.len() as u64
    }

    /// Adds a PDU, with number [`Self::next`].
    #[inline]
    pub fn push(&mut self, pdu: T) {
        self.pdus.push_back(Some(pdu));
    }

    /// Returns a PDU, or `None` if its outcome is known.
    pub fn get(&self, number: u64) -> Option<&T> {
        self.pdus.get(usize::try_from(number.checked_sub(self.first)?).ok()?)?.as_ref()
    }

    /// Removes and returns a PDU whose outcome is known now, or `None` if it was known before.
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
