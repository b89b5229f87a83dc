//! First tries the neighbours of the previous result.

use std::cell::Cell;

/// Neighbours tried before the whole list.
const STEPS: usize = 8;

/// Mostly near the next result, as a critical path is followed step by step.
#[derive(Clone, Debug, Default)]
pub(super) struct Near(Cell<usize>);

impl Near {
    /// Like [`slice::partition_point`].
    pub fn partition_point<T>(&self, list: &[T], is_before: impl Fn(&T) -> bool) -> usize {
        let found = self.step(list, &is_before).unwrap_or_else(|| list.partition_point(is_before));
        self.0.set(found);
        found
    }

    /// May be beyond the end of the current list.
    pub fn last(&self) -> usize {
        self.0.get()
    }

    fn step<T>(&self, list: &[T], is_before: impl Fn(&T) -> bool) -> Option<usize> {
        let mut at = self.0.get().min(list.len());
        for _ in 0..STEPS {
            if at > 0 && !is_before(&list[at - 1]) {
                at -= 1;
            } else if at < list.len() && is_before(&list[at]) {
                at += 1;
            } else {
                return Some(at);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_from_the_last_index_matches_a_full_search() {
        let list: Vec<u32> = (0..100).map(|n| n / 3).collect();
        let near = Near::default();
        for wanted in [0, 1, 2, 30, 31, 29, 5, 40, 33, 0, 7] {
            let expected = list.partition_point(|n| *n < wanted);
            assert_eq!(near.partition_point(&list, |n| *n < wanted), expected);
        }
        assert_eq!(near.partition_point(&[] as &[u32], |_| true), 0);
    }
}
