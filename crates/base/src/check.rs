//! Checks for values that the types admit but that are impossible or doubtful, each reported with its key.
//!
//! # Examples
//!
//! ```
//! use nodeb_base::check::Check;
//!
//! let mut check = Check::default();
//! check.within("wired", |check| check.at_most("limit", 2_000_000, 1_000_000));
//! let problem = &check.into_problems()[0];
//! assert_eq!(problem.path, ["wired", "limit"]);
//! assert_eq!(problem.message, "2000000 is out of range; expected at most 1000000");
//! ```

use std::fmt::Display;
use std::ops::RangeInclusive;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Keys from the scenario's root.
    pub path: Vec<String>,
    pub message: String,
}

/// It keeps the path of keys to the table that is being checked.
#[derive(Debug, Default)]
pub struct Check {
    path: Vec<String>,
    problems: Vec<Problem>,
    /// Findings about keys that have no effect but are set to other values than their defaults.
    void: Vec<Problem>,
    doubts: Vec<Problem>,
    idle: Vec<Problem>,
}

pub trait Checked {
    fn check(&self, _check: &mut Check) {}
}

/// Each element is a pair: the field's name, and true if the field has its default value.
#[macro_export]
macro_rules! keys {
    ($params:expr; $( $key:ident ),+) => {{
        let own = $params;
        let usual = $crate::check::usual(own);
        [$( (stringify!($key), $crate::check::is_same(&own.$key, &usual.$key)) ),+]
    }};
}

pub fn usual<T: Default>(_: &T) -> T {
    T::default()
}

pub fn is_same<T: PartialEq>(value: &T, default: &T) -> bool {
    value == default
}

impl Check {
    pub fn within(&mut self, key: impl Display, look: impl FnOnce(&mut Self)) {
        self.path.push(key.to_string());
        look(self);
        self.path.pop();
    }

    pub fn require(&mut self, holds: bool, key: &str, message: impl FnOnce() -> String) {
        if !holds {
            let problem = self.problem(key, message());
            self.problems.push(problem);
        }
    }

    pub fn range<T: Copy + PartialOrd + Display>(&mut self, key: &str, value: T, range: RangeInclusive<T>) {
        self.require(range.contains(&value), key, || {
            format!("{value} is out of range; expected {} to {}", range.start(), range.end())
        });
    }

    pub fn at_most<T: Copy + PartialOrd + Display>(&mut self, key: &str, value: T, most: T) {
        self.require(value <= most, key, || format!("{value} is out of range; expected at most {most}"));
    }

    /// Unlike a problem, a warning does not keep the scenario from being simulated.
    pub fn advise(&mut self, holds: bool, key: &str, message: impl FnOnce() -> String) {
        if !holds {
            let doubt = self.problem(key, message());
            self.doubts.push(doubt);
        }
    }

    /// If `void` is true, reports that `keys` have no effect. A key with another value than its
    /// default is a problem. A key with its default is only listed by [`Self::into_idle`], because
    /// resolved scenarios contain every key. [`crate::keys`] makes `keys`: pairs of a key, and true
    /// if the key has its default.
    ///
    /// A limit that is not reached or a timer that never expires counts as having an effect, so
    /// callers do not report it here.
    pub fn idle(&mut self, void: bool, keys: &[(&str, bool)], why: &str) {
        for (key, is_default) in keys.iter().filter(|_| void) {
            let problem = self.problem(key, format!("this has no effect: {why}; leave it out"));
            if *is_default { self.idle.push(problem) } else { self.void.push(problem) }
        }
    }

    /// Like [`Self::idle`], but only warns about keys with other values than their defaults, so
    /// that the scenario is still simulated. It is for keys that lose their effect at one end of a
    /// range that studies often sweep, such as no shadowing or a single phone.
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

    /// Keys that have no effect but other values than their defaults follow at the end.
    pub fn into_problems(mut self) -> Vec<Problem> {
        self.problems.append(&mut self.void);
        self.problems
    }

    pub fn into_idle(self) -> Vec<Problem> {
        self.idle
    }

    pub fn into_doubts(self) -> Vec<Problem> {
        self.doubts
    }
}
