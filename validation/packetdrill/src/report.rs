//! Outcomes of scripts, which are printed as rows of a table.

use std::fmt;
use std::path::{Path, PathBuf};

use nodeb_base::units::{Duration, Time};

use crate::cursor::Unreadable;
use crate::player::play;

/// Counts of the statements of a script that nodeb passed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Number of packets that nodeb sent as expected, SYNs not counted.
    pub packets: u64,
    /// Number of assertions in Python code that hold.
    pub assertions: u64,
    /// Line number and subject of each piece of Python code that could not be evaluated.
    pub unchecked: Vec<(usize, String)>,
    /// Number of the line in which the script closes the connection, or `None` if it does not. The rest of
    /// the script is not played.
    pub until: Option<usize>,
}

impl Passed {
    /// Returns the number of packets and assertions of the script that were compared.
    pub fn compared(&self) -> u64 {
        self.packets + self.assertions
    }
}

/// First difference between the behaviour that a script expects and that of nodeb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Number of the line in the script, from 1.
    pub line: usize,
    /// Behaviour that the script expects.
    pub expected: String,
    /// Actual behaviour of nodeb.
    pub got: String,
    /// Virtual time of the difference.
    pub at: Time,
}

/// Outcome of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// nodeb behaves as the script expects. The value has the counts of the statements compared.
    Passed(Passed),
    /// nodeb behaves differently from the script. The value is the first difference.
    Differs(Box<Difference>),
    /// Outcome of the script on the kernel of this machine: a message about the difference, or `None` if the
    /// script passed.
    Kernel(Option<String>),
    /// The script needs a feature that nodeb does not model.
    NotModelled {
        /// Number of the line in the script that needs the feature, from 1.
        line: usize,
        /// Description of the feature that nodeb lacks.
        what: String,
    },
    /// The text cannot be read as a script. The value is the syntax error.
    Unreadable(Unreadable),
}

impl Verdict {
    /// Returns the name of the verdict for tables, such as `passed`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Passed(_) | Self::Kernel(None) => "passed",
            Self::Differs(_) | Self::Kernel(Some(_)) => "differs",
            Self::NotModelled { .. } => "not modelled",
            Self::Unreadable(_) => "could not be read",
        }
    }

    /// Returns true if nodeb or the kernel differs from the script, or the script cannot be read. A script
    /// that needs a feature that is not modelled is no failure.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Differs(_) | Self::Kernel(Some(_)) | Self::Unreadable(_))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed(passed) => {
                write!(f, "{} packets, {} assertions", passed.packets, passed.assertions)?;
                passed.until.map_or(Ok(()), |line| write!(f, ", until line {line} closes"))?;
                passed.unchecked.first().map_or(Ok(()), |(line, what)| {
                    write!(f, "; not evaluated: {what}, line {line}")?;
                    let more = passed.unchecked.len() - 1;
                    if more > 0 { write!(f, " and {more} more") } else { Ok(()) }
                })
            }
            Self::Differs(difference) => {
                let Difference { line, expected, got, at } = &**difference;
                write!(f, "line {line}: expected `{expected}`, got `{got}` at {:.6} s", at.as_secs())
            }
            Self::Kernel(said) => write!(f, "{}", said.as_deref().unwrap_or("by the kernel")),
            Self::NotModelled { line, what } => write!(f, "line {line}: {what}"),
            Self::Unreadable(error) => write!(f, "{error}"),
        }
    }
}

impl From<Option<String>> for Verdict {
    fn from(difference: Option<String>) -> Self {
        Self::Kernel(difference)
    }
}

/// Reads and plays the text of a script, and returns its outcome. `tolerance`, for the times of packets,
/// replaces the tolerance that the script sets; without either it is 4 ms.
pub fn play_text(text: &str, tolerance: Option<Duration>) -> Verdict {
    match crate::parser::parse(text) {
        Ok(script) => play(&script, tolerance),
        Err(error) => Verdict::Unreadable(error),
    }
}

/// Returns the paths of all scripts (`*.pkt`) in a folder and its subfolders, sorted. If `path` is a file,
/// returns this path alone.
///
/// # Errors
/// If a folder or file cannot be read.
pub fn find(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            let entry = entry?.path();
            if entry.is_dir() && !entry.is_symlink() {
                found.extend(find(&entry)?);
            } else if entry.extension().is_some_and(|extension| extension == "pkt") {
                found.push(entry);
            }
        }
    } else {
        std::fs::metadata(path)?;
        found.push(path.to_owned());
    }
    found.sort();
    Ok(found)
}

/// Returns a summary that counts the scripts by verdict, such as `12 passed, 1 differs`.
pub fn summarize(verdicts: &[Verdict]) -> String {
    let count = |name: &str| verdicts.iter().filter(|verdict| verdict.name() == name).count();
    let names = ["passed", "differs", "not modelled", "could not be read"];
    let parts: Vec<_> = names.iter().map(|name| format!("{} {name}", count(name))).collect();
    format!("{} scripts: {}", verdicts.len(), parts.join(", "))
}
