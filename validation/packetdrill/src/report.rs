//! Outcomes of scripts, which are printed as rows of a table.

use std::fmt;
use std::path::{Path, PathBuf};

use nodeb_base::units::{Duration, Time};

use crate::cursor::Unreadable;
use crate::player::play;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    pub packets: u64,
    pub assertions: u64,
    /// Line number and subject of each.
    pub unchecked: Vec<(usize, String)>,
    /// Line in which the script closes the connection; the rest is not played.
    pub until: Option<usize>,
}

impl Passed {
    pub fn compared(&self) -> u64 {
        self.packets + self.assertions
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub line: usize,
    pub expected: String,
    pub got: String,
    pub at: Time,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed(Passed),
    Differs(Box<Difference>),
    /// A message about the difference.
    Kernel(Option<String>),
    /// The script needs a feature that nodeb does not model.
    NotModelled {
        line: usize,
        what: String,
    },
    Unreadable(Unreadable),
}

impl Verdict {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Passed(_) | Self::Kernel(None) => "passed",
            Self::Differs(_) | Self::Kernel(Some(_)) => "differs",
            Self::NotModelled { .. } => "not modelled",
            Self::Unreadable(_) => "could not be read",
        }
    }

    /// A script that needs a feature that is not modelled is no failure.
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

/// `tolerance` replaces the tolerance of packets' times that the script sets; without either it is 4 ms.
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

/// Such as `12 passed, 1 differs`.
pub fn summarize(verdicts: &[Verdict]) -> String {
    let count = |name: &str| verdicts.iter().filter(|verdict| verdict.name() == name).count();
    let names = ["passed", "differs", "not modelled", "could not be read"];
    let parts: Vec<_> = names.iter().map(|name| format!("{} {name}", count(name))).collect();
    format!("{} scripts: {}", verdicts.len(), parts.join(", "))
}
