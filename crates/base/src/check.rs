//! Impossible and doubtful values that a type alone cannot rule out, each under the key where it
//! stands.

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
    doubts: Vec<Problem>,
    idle: Vec<Problem>,
}

/// Parameters that know which of their values are impossible or doubtful.
pub trait Checked {
    /// Reports every such value to `check`.
    fn check(&self, check: &mut Check);
}

impl Check {
    /// Looks at what stands below `key`.
    pub fn within(&mut self, key: impl std::fmt::Display, look: impl FnOnce(&mut Self)) {
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

    /// Warns with `message` about `key` unless `holds`. What is doubtful is simulated all the same.
    pub fn advise(&mut self, holds: bool, key: &str, message: impl FnOnce() -> String) {
        if !holds {
            let doubt = self.problem(key, message());
            self.doubts.push(doubt);
        }
    }

    /// Reports that `key` does nothing, whatever its value: refused unless it has its default.
    pub fn idle(&mut self, key: &str, is_default: bool, why: &str) {
        let problem = self.problem(key, format!("this has no effect: {why}; leave it out"));
        if is_default {
            self.idle.push(problem);
        } else {
            self.problems.push(problem);
        }
    }

    fn problem(&self, key: &str, message: String) -> Problem {
        let mut path = self.path.clone();
        path.push(key.to_owned());
        Problem { path, message }
    }

    /// What is impossible, in the order of looking.
    pub fn into_problems(self) -> Vec<Problem> {
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
