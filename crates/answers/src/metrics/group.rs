use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::Tables;

/// Name of the group of all users; of their downloads only if there are also uploads.
pub const ALL: &str = "all";
/// Name of the group of all uploads if there are also downloads.
pub const ALL_UP: &str = "all up";

/// Group of users in the tables of some replications.
pub struct Group<'a> {
    pub name: String,
    /// Replications in which the group has users.
    pub runs: Vec<u64>,
    /// Values of metrics that users define, by name of the metric.
    pub own: HashMap<String, Vec<f64>>,
    pub(super) tables: &'a dyn Tables,
    /// Numbers of the group's users, in order; `None` if the group has all rows of `flows`.
    users: Option<Vec<f64>>,
    rows: RefCell<HashMap<String, Rc<Rows>>>,
}

/// Rows of a table that belong to a group.
pub struct Rows {
    /// `None` for all rows.
    pub mine: Option<Vec<u32>>,
    /// Place in [`Group::runs`] of each of these rows.
    pub at: Vec<u32>,
}

impl<'a> Group<'a> {
    pub fn new(tables: &'a dyn Tables, name: &str) -> Self {
        let run = tables.numbers("flows", "run");
        let mine = rows_of(tables, name);
        let mut runs: Vec<u64> = match &mine {
            Some(rows) => rows.iter().map(|&row| run[row as usize] as u64).collect(),
            None => run.iter().map(|&run| run as u64).collect(),
        };
        runs.dedup();
        let users = mine.map(|rows| distinct(picked(&tables.numbers("flows", "user"), &rows)));
        Self { name: name.to_owned(), runs, own: HashMap::new(), tables, users, rows: RefCell::default() }
    }

    /// The group of all users comes last.
    pub fn of_all(tables: &'a dyn Tables) -> Vec<Self> {
        group_names(tables).iter().map(|name| Self::new(tables, name)).collect()
    }

    pub fn has(&self, table: &str, column: &str) -> bool {
        self.tables.has(table, column)
    }

    /// Values in the group's rows of a table with a row per user and run.
    pub fn column(&self, table: &str, name: &str) -> Cow<'_, [f64]> {
        let values = self.tables.numbers(table, name);
        match &self.rows(table).mine {
            Some(rows) => picked(&values, rows).into(),
            None => values,
        }
    }

    pub fn rows(&self, table: &str) -> Rc<Rows> {
        if let Some(rows) = self.rows.borrow().get(table) {
            return rows.clone();
        }
        // Tables of phones have no rows for the uploads of phones that also download.
        let is_whole = self.name == ALL && table != "flows";
        let mine = self.users.as_ref().filter(|_| !is_whole).map(|users| {
            let all = self.tables.numbers(table, "user");
            (0..)
                .zip(&*all)
                .filter(|(_, user)| contains(users, **user))
                .map(|(row, _)| row)
                .collect::<Vec<u32>>()
        });
        let run = self.tables.numbers(table, "run");
        let at = match &mine {
            Some(rows) => self.places(rows.iter().map(|&row| run[row as usize])),
            None => self.places(run.iter().copied()),
        };
        let rows = Rc::new(Rows { mine, at });
        self.rows.borrow_mut().insert(table.to_owned(), rows.clone());
        rows
    }

    fn places(&self, runs: impl Iterator<Item = f64>) -> Vec<u32> {
        let mut place = 0;
        let mut of = |run: u64| {
            if self.runs.get(place) != Some(&run) {
                place = self.runs.partition_point(|&other| other < run);
            }
            place as u32
        };
        runs.map(|run| of(run as u64)).collect()
    }

    /// Mean over users in each replication; `values` has one per row of [`Group::column`].
    pub fn mean(&self, table: &str, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); self.runs.len()];
        for (&at, &value) in self.rows(table).at.iter().zip(values) {
            if value.is_finite() {
                let (sum, count) = &mut sums[at as usize];
                *sum += value;
                *count += 1.0;
            }
        }
        sums.into_iter().map(|(sum, count)| if count > 0.0 { sum / count } else { f64::NAN }).collect()
    }

    /// Sum over users in each replication.
    pub fn sums(&self, table: &str, name: &str) -> Vec<f64> {
        let mut sums = vec![0.0; self.runs.len()];
        for (&at, value) in self.rows(table).at.iter().zip(&*self.column(table, name)) {
            sums[at as usize] += value;
        }
        sums
    }

    /// Largest value, at least 0, in each replication.
    pub fn most(&self, table: &str, name: &str) -> Vec<f64> {
        let mut most = vec![0.0_f64; self.runs.len()];
        for (&at, &value) in self.rows(table).at.iter().zip(&*self.column(table, name)) {
            most[at as usize] = most[at as usize].max(value);
        }
        most
    }

    /// Distinct texts in the group's rows of `flows`, in order of first occurrence.
    pub fn distinct(&self, column: &str) -> Vec<String> {
        let texts = self.tables.texts("flows", column);
        let Some(rows) = &self.rows("flows").mine else {
            return texts.names.iter().map(ToString::to_string).collect();
        };
        let mut places: Vec<u32> = Vec::new();
        for &row in rows {
            let place = texts.places[row as usize];
            if places.last() != Some(&place) && !places.contains(&place) {
                places.push(place);
            }
        }
        places.iter().map(|&place| texts.names[place as usize].to_string()).collect()
    }

    /// Calls a function of the users' values in each replication.
    pub fn each(&self, table: &str, values: &[f64], of: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let at = &self.rows(table).at;
        let rows = at.chunk_by(|one, other| one == other);
        let mut rest = values;
        rows.map(|rows| of(rest.split_off(..rows.len()).unwrap_or_default())).collect()
    }

    /// Sums over the group's bearers in each replication, for each of these columns; `None` if users share bearers.
    ///
    /// Otherwise each bearer is a dedicated channel, and has the number of its user.
    pub fn bearers<const N: usize>(&self, names: [&str; N]) -> Option<[Vec<f64>; N]> {
        let number = self.tables.numbers("bearers", "bearer");
        let users = self.users.as_ref().filter(|_| self.name != ALL);
        if users.is_some() && distinct(number.to_vec()) != phones(self.tables) {
            return None;
        }
        let run = self.tables.numbers("bearers", "run");
        let at = self.places(run.iter().copied());
        let is_mine = |row: usize| {
            let has_run = self.runs.get(at[row] as usize) == Some(&(run[row] as u64));
            has_run && users.is_none_or(|users| contains(users, number[row]))
        };
        let rows: Vec<usize> = (0..run.len()).filter(|row| is_mine(*row)).collect();
        Some(names.map(|name| {
            let values = self.tables.numbers("bearers", name);
            let mut sums = vec![0.0; self.runs.len()];
            for &row in &rows {
                sums[at[row] as usize] += values[row];
            }
            sums
        }))
    }
}

/// Numbers of all phones, in order.
pub fn phones(tables: &dyn Tables) -> Vec<f64> {
    let column = if tables.has("flows", "phone") { "phone" } else { "user" };
    distinct(tables.numbers("flows", column).into_owned())
}

/// Whether there are downloads and uploads.
pub fn is_mixed(tables: &dyn Tables) -> bool {
    tables.has("flows", "direction") && tables.texts("flows", "direction").names.len() > 1
}

/// Names of the groups, last those of all users together; only these if there is one group.
pub fn group_names(tables: &dyn Tables) -> Vec<String> {
    let mut names: Vec<String> =
        tables.texts("flows", "group").names.iter().map(ToString::to_string).collect();
    if is_mixed(tables) {
        names.extend([ALL.to_owned(), ALL_UP.to_owned()]);
        return names;
    }
    if names.len() < 2 {
        names.clear();
    }
    names.push(ALL.to_owned());
    names
}

/// Rows of `flows`; `None` for all.
fn rows_of(tables: &dyn Tables, name: &str) -> Option<Vec<u32>> {
    let (column, value) = match name {
        ALL | ALL_UP if !is_mixed(tables) => return None,
        ALL => ("direction", "down"),
        ALL_UP => ("direction", "up"),
        _ => ("group", name),
    };
    let texts = tables.texts("flows", column);
    let wanted = texts.names.iter().position(|name| name == value).map(|place| place as u32);
    let rows = (0..).zip(&texts.places).filter(|(_, place)| Some(**place) == wanted);
    Some(rows.map(|(row, _)| row).collect())
}

fn picked(values: &[f64], rows: &[u32]) -> Vec<f64> {
    rows.iter().map(|&row| values[row as usize]).collect()
}

fn contains(sorted: &[f64], value: f64) -> bool {
    sorted.binary_search_by(|other| other.total_cmp(&value)).is_ok()
}

pub(super) fn distinct(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    values
}
