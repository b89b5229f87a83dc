/// One bit per user, so that skipping users takes almost no time.
#[derive(Clone, Debug)]
pub struct UserSet {
    words: Vec<u64>,
}

pub const WORD: usize = u64::BITS as usize;

impl UserSet {
    pub fn new(users: usize) -> Self {
        Self { words: vec![0; users.div_ceil(WORD).max(1)] }
    }

    pub fn insert(&mut self, user: usize) {
        self.words[user / WORD] |= 1 << (user % WORD);
    }

    pub fn remove(&mut self, user: usize) {
        self.words[user / WORD] &= !(1 << (user % WORD));
    }

    pub fn contains(&self, user: usize) -> bool {
        self.words[user / WORD] & 1 << (user % WORD) != 0
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Bit `b` of word `w` is the user with index `w * WORD + b`.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// In ascending order from `first`, then from 0; a `first` beyond all users counts as 0.
    #[inline]
    pub fn turn_from(&self, first: usize) -> Users<'_> {
        let first = if first / WORD < self.words.len() { first } else { 0 };
        let (word, later) = (first / WORD, u64::MAX << (first % WORD));
        Users {
            words: &self.words,
            word,
            bits: self.words[word] & later,
            left: self.words.len(),
            last: !later,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Users<'a> {
    words: &'a [u64],
    word: usize,
    bits: u64,
    /// The first word is read a second time, for the users below the start, and counts again.
    left: usize,
    last: u64,
}

impl Iterator for Users<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.bits == 0 {
            self.left = self.left.checked_sub(1)?;
            self.word = if self.word + 1 < self.words.len() { self.word + 1 } else { 0 };
            self.bits = self.words[self.word] & if self.left > 0 { u64::MAX } else { self.last };
        }
        let user = self.word * WORD + self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        Some(user)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn user_set_equals_an_ordered_set(changes in prop::collection::vec((0..200usize, any::<bool>()), 0..60), first in 0..=200usize) {
            let (mut set, mut expected) = (UserSet::new(200), BTreeSet::new());
            for (user, joins) in changes {
                if joins {
                    set.insert(user);
                    expected.insert(user);
                } else {
                    set.remove(user);
                    expected.remove(&user);
                }
                prop_assert_eq!(set.contains(user), joins);
            }
            prop_assert_eq!(set.is_empty(), expected.is_empty());
            let turn: Vec<_> = expected.range(first..).chain(expected.range(..first)).copied().collect();
            prop_assert_eq!(set.turn_from(first).collect::<Vec<_>>(), turn);
        }
    }
}
