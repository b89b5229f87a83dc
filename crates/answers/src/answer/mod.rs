//! Parts of a command's answer, before it is rendered as text or as a page.
//!
//! All parts but the headline may be missing. A terminal shows them in this order: headline; main picture; key figures;
//! main table; second picture; further tables and the marks that concern them (`folded`), only with `--all`; other
//! marks; notes. On a page the further tables are folded, and come last.

pub mod compare;
pub mod explain;
pub mod lines;
pub mod run;

use serde::Serialize;

use crate::digits::Shown;

/// Maximum number of key figures of a run, and of rows in the table of a comparison.
pub const MAX_ROWS: usize = 9;
/// Sign after a mean from which users, transfers or replications without a value are excluded.
pub const SURVIVORS: &str = "\u{2020}";
pub const ONE_REPLICATION: &str = "One replication has no interval: --runs 20 gives one.";

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bar {
    pub name: String,
    /// Value as text, with its unit.
    pub value: String,
    /// Length, in one unit for all bars of a picture; a negative one extends to the left.
    pub size: f64,
    /// CSS class of the colour on pages, such as `k-handshake`.
    pub paint: String,
    /// Text beside the value, such as its share of the total.
    pub note: String,
    /// Confidence interval of the value as text, shown only on pages.
    pub interval: String,
    /// Ends of the confidence interval, in the unit of `size`, drawn only on pages.
    pub ends: Option<(f64, f64)>,
    /// Position of a dotted line on pages, in the unit of `size`, such as the upper bound of a change's effect.
    pub bound: Option<f64>,
    /// Short text about the value, shown only on pages, below the bar.
    pub why: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bars {
    /// Title, shown only on pages.
    pub title: String,
    pub bars: Vec<Bar>,
    /// Text above the bars, shown only in terminals.
    pub head: String,
}

/// Key figure: a value, such as a mean or a count, with its interval if it has one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fact {
    pub name: String,
    pub shown: Shown,
    pub mark: String,
}

/// Cell of a table: a text, or a number with its unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    Text(String),
    Number(Shown),
}

/// Table of texts and of numbers with units; numbers are aligned at their units.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Rows {
    /// Name of each column; empty names for a table without a head.
    pub head: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
    pub title: String,
    /// Places of the columns that are aligned to the right.
    pub right: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Picture {
    Bars(Bars),
    Rows(Rows),
}

/// Remark that readers must not overlook: a text after a sign such as `!` or `?`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    pub sign: String,
    pub text: String,
    /// Whether the remark concerns only tables of [`Answer::everything`].
    pub folded: bool,
}

impl Mark {
    pub fn warning(text: String) -> Self {
        Self { sign: "!".to_owned(), text, folded: false }
    }

    /// Remark on means that exclude users, transfers or replications without a value.
    pub fn survivors(text: String, folded: bool) -> Self {
        Self { sign: SURVIVORS.to_owned(), text, folded }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Answer {
    /// Command that was answered, such as `nodeb run`.
    pub command: String,
    /// Subject of the headline, such as the scenario's name; empty if the headline has it.
    pub subject: String,
    /// One or two sentences; in a terminal they follow `subject` and a colon.
    pub headline: String,
    /// Sentences below the headline of a page, such as the number of runs.
    pub lead: String,
    pub picture: Option<Picture>,
    pub facts: Vec<Fact>,
    pub table: Option<Rows>,
    /// Second picture below the main table, such as the causes of a difference.
    pub after: Option<Bars>,
    pub marks: Vec<Mark>,
    /// Provenance of the numbers, and the next command: a line or paragraph each.
    pub notes: Vec<String>,
    /// Tables that are folded on a page, and printed in a terminal only with `--all`.
    pub everything: Vec<Rows>,
    /// Description of the tables of `everything`, such as `all 15 metrics`; no hint if empty.
    pub folded: String,
}
