//! Impossible and doubtful values that a type alone cannot rule out, each under the key where it
//! stands.

use std::fmt::Display;
use std::ops::RangeInclusive;

/// A value that nodeb cannot simulate, or that hardly means what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Keys from the scenario's root to the value.
    pub path: Vec<String>,
    /// What is wrong and what would be right.
    pub message: String,
}

/// Collects problems while it is led through a scenario.
#[derive(Debug, Default)]
pub struct Check {
    path: Vec<String>,
    problems: Vec<Problem>,
    /// Keys that do nothing and do not have their defaults.
    void: Vec<Problem>,
    doubts: Vec<Problem>,
    idle: Vec<Problem>,
}

/// Parameters that know which of their values are impossible or doubtful.
pub trait Checked {
    /// Reports every such value to `check`; by default there is none.
    fn check(&self, _check: &mut Check) {}
}

/// Lists keys of some parameters, each with whether it has its default.
#[macro_export]
macro_rules! keys {
    ($params:expr; $( $key:ident ),+) => {{
        let own = $params;
        let usual = $crate::check::usual(own);
        [$( (stringify!($key), $crate::check::is_same(&own.$key, &usual.$key)) ),+]
    }};
}

/// Returns the defaults of such parameters.
pub fn usual<T: Default>(_: &T) -> T {
    T::default()
}

/// Returns true if a value is its default.
pub fn is_same<T: PartialEq>(value: &T, default: &T) -> bool {
    value == default
}

impl Check {
    /// Looks at what stands below `key`.
    pub fn within(&mut self, key: impl Display, look: impl FnOnce(&mut Self)) {
        self.path.push(key.to_string());
        look(self);
        self.path.pop();
    }

    /// Reports `message` for `key` unless `holds`.
    pub fn require(&mut self, holds: bool, key: &str, message: impl FnOnce() -> String) {
        if !holds {
            let problem = self.problem(key, message());
            self.problems.push(problem);
        }
    }

    /// Requires that the value of `key` is in `range`.
    pub fn range<T: Copy + PartialOrd + Display>(&mut self, key: &str, value: T, range: RangeInclusive<T>) {
        self.require(range.contains(&value), key, || {
            format!("{value} is out of range; expected {} to {}", range.start(), range.end())
        });
    }

    /// Requires that the value of `key` is at most `most`.
    pub fn at_most<T: Copy + PartialOrd + Display>(&mut self, key: &str, value: T, most: T) {
        self.require(value <= most, key, || format!("{value} is out of range; expected at most {most}"));
    }

    /// Warns with `message` about `key` unless `holds`. What is doubtful is simulated all the same.
    pub fn advise(&mut self, holds: bool, key: &str, message: impl FnOnce() -> String) {
        if !holds {
            let doubt = self.problem(key, message());
            self.doubts.push(doubt);
        }
    }

    /// Reports `keys` that do nothing if `void`, each with whether it has its default ([`crate::keys`]): refused
    /// unless it has. Scenarios that have been resolved say every key, so a key counts as set where it differs.
    ///
    /// What merely is not reached (a limit, a timer that never fires) has an effect and is left alone.
    pub fn idle(&mut self, void: bool, keys: &[(&str, bool)], why: &str) {
        for (key, is_default) in keys.iter().filter(|_| void) {
            let problem = self.problem(key, format!("this has no effect: {why}; leave it out"));
            if *is_default { self.idle.push(problem) } else { self.void.push(problem) }
        }
    }

    /// Warns of such keys where they do nothing only at the edge of a range that is often swept: no shadowing, one
    /// phone, no queue that marks.
    pub fn advise_idle(&mut self, void: bool, keys: &[(&str, bool)], why: &str) {
        for (key, is_default) in keys {
            self.advise(!void || *is_default, key, || format!("this has no effect: {why}"));
        }
    }

    fn problem(&self, key: &str, message: String) -> Problem {
        let mut path = self.path.clone();
        path.push(key.to_owned());
        Problem { path, message }
    }

    /// What is impossible, in the order of looking, and behind it the keys that are set and do nothing.
    pub fn into_problems(mut self) -> Vec<Problem> {
        self.problems.append(&mut self.void);
        self.problems
    }

    /// Keys that do nothing and have their defaults, in the order of looking: superfluous where they are set.
    pub fn into_idle(self) -> Vec<Problem> {
        self.idle
    }

    /// What is doubtful, in the order of looking.
    pub fn into_doubts(self) -> Vec<Problem> {
        self.doubts
    }
}
