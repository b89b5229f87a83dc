use nodeb_base::params;
use std::sync::Arc;

use nodeb_base::check::{Check, Checked};
use nodeb_base::units::{Duration, Size};

use super::{After, Source, Transfer};

params! {
    /// Data at recorded times, counted from the user's start.
    pub struct Replay {
        /// Recording from which both lists are read: a trace of traffic as written by `nodeb import`. The path is
        /// relative to the scenario file's folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub file: Option<String>,
        /// Times at which the server writes the amounts, in ascending order.
        pub times: Arc<Vec<Duration>>,
        /// Amounts of data, one per time.
        pub bytes: Arc<Vec<Size>>,
    }
}

impl Replay {
    /// Its caller reads files, not this crate.
    pub fn unread(&self) -> Option<&str> {
        self.file.as_deref().filter(|_| self.times.is_empty())
    }
}

impl Checked for Replay {
    fn check(&self, check: &mut Check) {
        check.require(self.file.is_some() || !self.times.is_empty(), "times", || {
            "the list is empty; expected at least one time, or a `file`".to_owned()
        });
        check.require(self.times.len() == self.bytes.len(), "bytes", || {
            format!(
                "{} amounts for {} times; expected one amount per time",
                self.bytes.len(),
                self.times.len()
            )
        });
        check.require(self.bytes.iter().all(|bytes| bytes.0 > 0), "bytes", || {
            "an amount is 0 B; expected at least 1 B".to_owned()
        });
        let backward = self.times.windows(2).position(|pair| pair[1] < pair[0]);
        check.require(backward.is_none(), "times", || {
            let at = backward.unwrap_or_default() + 1;
            format!(
                "entry {at}, {}, is before the previous one, {}; expected times in ascending order",
                self.times[at],
                self.times[at - 1]
            )
        });
    }
}

#[derive(Debug)]
pub struct List {
    params: Replay,
    next: usize,
}

impl List {
    pub fn new(params: &Replay) -> Self {
        Self { params: params.clone(), next: 0 }
    }
}

impl Source for List {
    fn next(&mut self) -> Option<Transfer> {
        let at = *self.params.times.get(self.next)?;
        let before = self.next.checked_sub(1).map_or(Duration::ZERO, |i| self.params.times[i]);
        let bytes = self.params.bytes[self.next].0;
        self.next += 1;
        Some(Transfer {
            bytes,
            wait: Duration(at.0 - before.0),
            after: After::Beginning,
            request_bytes: None,
            is_last: true,
        })
    }
}
