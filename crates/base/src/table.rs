//! Tables of results. Each column has a name, a unit, a meaning, and a function that reads its
//! values from the rows.
//!
//! [`table!`](crate::table!) declares a table once, next to the type of its rows. The columns, the
//! documentation of results and the units of summaries all follow from this declaration, so that a
//! new result needs only a counter and one line in the declaration.

use std::borrow::Cow;
use std::collections::HashMap;

pub type Text = Cow<'static, str>;

pub const USER: &str = "user";

/// `Texts::extend` searches so many texts one by one, and further ones through a hash map.
const FEW: usize = 16;

const UNKNOWN: u32 = u32::MAX;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts {
    pub names: Vec<Text>,
    pub places: Vec<u32>,
}

impl Texts {
    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    fn with_capacity(rows: usize) -> Self {
        Self { names: Vec::new(), places: Vec::with_capacity(rows) }
    }

    /// `codes` must be small numbers because they index the cache of texts; `text` is called once per
    /// distinct code.
    #[inline]
    pub fn of_codes(codes: impl Iterator<Item = u32>, rows: usize, text: impl Fn(u32) -> Text) -> Self {
        let (mut all, mut cache, mut places) = (Self::default(), Vec::new(), Vec::with_capacity(rows));
        let place = |code: u32| match cache.get(code as usize) {
            Some(&place) if place != UNKNOWN => place,
            _ => all.place_of_code(text(code), &mut cache, code as usize),
        };
        places.extend(codes.map(place));
        Self { places, ..all }
    }

    #[cold]
    fn place_of_code(&mut self, text: Text, cache: &mut Vec<u32>, code: usize) -> u32 {
        let place = self.place_of(text);
        cache.resize(cache.len().max(code + 1), UNKNOWN);
        cache[code] = place;
        place
    }

    /// If the text is new, it is appended first.
    fn place_of(&mut self, name: Text) -> u32 {
        let found = self.names.iter().position(|other| *other == name);
        found.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        }) as u32
    }

    fn truncate(&mut self, rows: usize) {
        self.places.truncate(rows);
    }

    /// Each distinct text of the other column is looked up once, not once per row.
    fn append(&mut self, other: &mut Self) {
        let rows = self.places.len();
        self.extend(other.names.drain(..));
        let places = self.places.split_off(rows);
        self.places.extend(other.places.drain(..).map(|place| places[place as usize]));
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.places.iter().map(|place| &*self.names[*place as usize])
    }
}

impl IntoIterator for Texts {
    type Item = Text;
    type IntoIter = Box<dyn Iterator<Item = Text>>;

    fn into_iter(self) -> Self::IntoIter {
        let Self { names, places } = self;
        Box::new(places.into_iter().map(move |place| names[place as usize].clone()))
    }
}

impl<'a> FromIterator<Cow<'a, str>> for Texts {
    fn from_iter<I: IntoIterator<Item = Cow<'a, str>>>(texts: I) -> Self {
        let mut all = Self::default();
        all.extend(texts);
        all
    }
}

impl<'a> Extend<Cow<'a, str>> for Texts {
    fn extend<I: IntoIterator<Item = Cow<'a, str>>>(&mut self, texts: I) {
        let Self { names, places } = self;
        let mut cache: HashMap<Text, u32> = names.iter().cloned().zip(0..).skip(FEW).collect();
        let texts = texts.into_iter();
        places.reserve(texts.size_hint().0);
        for text in texts {
            let few = names.iter().take(FEW).position(|name| *name == text).map(|place| place as u32);
            let place = few.or_else(|| cache.get(&*text).copied()).unwrap_or_else(|| {
                let place = names.len() as u32;
                names.push(Text::Owned(text.into_owned()));
                if names.len() > FEW {
                    cache.insert(names[place as usize].clone(), place);
                }
                place
            });
            places.push(place);
        }
    }
}

macro_rules! kinds {
    ($( $(#[$about:meta])* $kind:ident($of:ty) in $all:ty, )+) => {
        #[derive(Clone, Debug, PartialEq)]
        pub enum Values { $( $(#[$about])* $kind($all), )+ }

        /// Functions that read a column from rows: one for each type of values, and `Name` for texts
        /// of which few are distinct. The loop over the rows is compiled for each column, so that no
        /// function is called per row.
        #[allow(non_snake_case, reason = "named as the kinds are")]
        pub mod read {
            use super::{Cow, Parts, Text, Texts, Values, count};

            $(
                $(#[$about])*
                #[inline]
                pub fn $kind<R>(parts: &Parts<R>, read: impl Fn(&R) -> $of) -> Values {
                    let mut values = <$all>::with_capacity(count(parts));
                    for (_, rows) in parts {
                        values.extend(rows.iter().map(&read));
                    }
                    Values::$kind(values)
                }
            )+

            #[inline]
            pub fn Name<R>(
                parts: &Parts<R>,
                (code, text): (impl Fn(&R) -> u32, fn(u32) -> Text),
            ) -> Values {
                let codes = parts.iter().flat_map(|(_, rows)| *rows).map(code);
                Values::Text(Texts::of_codes(codes, count(parts), text))
            }
        }

        impl Values {
            /// Returns the number of values, which is the number of rows.
            pub fn len(&self) -> usize {
                match self { $( Self::$kind(values) => values.len(), )+ }
            }

            fn truncate(&mut self, rows: usize) {
                match self { $( Self::$kind(values) => values.truncate(rows), )+ }
            }

            /// Appends the values of another column of the same type.
            ///
            /// # Panics
            /// Panics if the types differ. Columns of the same declaration always have the same
            /// type.
            fn append(&mut self, other: Self) {
                match (self, other) {
                    $( (Self::$kind(values), Self::$kind(mut more)) => values.append(&mut more), )+
                    _ => unreachable!("columns of one declaration have one kind"),
                }
            }
        }
    };
}

kinds! {
    U64(u64) in Vec<u64>,
    U32(u32) in Vec<u32>,
    F64(f64) in Vec<f64>,
    F32(f32) in Vec<f32>,
    Bool(bool) in Vec<bool>,
    Text(Cow<'_, str>) in Texts,
}

impl Values {
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

pub type Parts<'a, R> = [(u64, &'a [R])];

#[derive(Debug)]
pub struct Field<R> {
    /// Usually it ends in the unit of the values, as in `rate_bps`.
    pub name: &'static str,
    /// Unit of the values, such as "bit/s". It is "1" for a ratio or CQI, and empty for a running
    /// number or a text. For a count or a truth value it is usually empty.
    pub unit: &'static str,
    pub meaning: &'static str,
    pub read: fn(&Parts<R>) -> Values,
}

#[derive(Debug)]
pub struct Layout<R: 'static> {
    pub name: &'static str,
    pub meaning: &'static str,
    pub fields: &'static [Field<R>],
}

impl<R> Layout<R> {
    pub fn table(&self, rows: &[R]) -> Table {
        self.of_parts(&[(0, rows)])
    }

    /// Its first column has the number of the replication.
    pub fn of_runs(&self, runs: &Parts<R>) -> Table {
        let mut numbers = Vec::with_capacity(count(runs));
        for (run, rows) in runs {
            numbers.extend(rows.iter().map(|_| *run));
        }
        self.of_parts(runs).numbered(numbers)
    }

    fn of_parts(&self, parts: &Parts<R>) -> Table {
        let column = |field: &Field<R>| Column {
            name: field.name,
            unit: field.unit,
            meaning: field.meaning,
            values: (field.read)(parts),
        };
        let columns = self.fields.iter().map(column).collect();
        Table { name: self.name, meaning: self.meaning, columns }
    }

    pub fn empty(&self) -> Table {
        self.table(&[])
    }
}

fn count<R>(parts: &Parts<R>) -> usize {
    parts.iter().map(|(_, rows)| rows.len()).sum()
}

#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub name: &'static str,
    pub unit: &'static str,
    pub meaning: &'static str,
    pub values: Values,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub name: &'static str,
    pub meaning: &'static str,
    pub columns: Vec<Column>,
}

impl Table {
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    pub fn column(&self, name: &str) -> Option<&Values> {
        self.columns.iter().find(|column| column.name == name).map(|column| &column.values)
    }

    pub fn name_users(&mut self, number: impl Fn(usize) -> u64) {
        for column in self.columns.iter_mut().filter(|column| column.name == USER) {
            if let Values::U64(users) = &mut column.values {
                for user in users.iter_mut() {
                    *user = number(*user as usize);
                }
            }
        }
    }

    #[must_use]
    pub fn of_run(self, run: u64) -> Self {
        let numbers = vec![run; self.rows()];
        self.numbered(numbers)
    }

    fn numbered(mut self, runs: Vec<u64>) -> Self {
        let meaning = "Number of the replication, from 0.";
        self.columns.insert(0, Column { name: "run", unit: "", meaning, values: Values::U64(runs) });
        self
    }

    /// Adds the columns of `other` whose names the table does not have yet. Both tables must have the same rows.
    pub fn add_columns(&mut self, other: Self) {
        debug_assert_eq!(self.rows(), other.rows(), "the same rows");
        let more = other.columns.into_iter().filter(|column| self.column(column.name).is_none());
        let more: Vec<_> = more.collect();
        self.columns.extend(more);
    }

    /// Drops the rows of replication `end` and later ones; rows are in order of the replications.
    pub fn keep_runs(&mut self, end: u64) {
        if let Some(Values::U64(runs)) = self.column("run") {
            let rows = runs.partition_point(|run| *run < end);
            self.columns.iter_mut().for_each(|column| column.values.truncate(rows));
        }
    }

    pub fn append(&mut self, other: Self) {
        debug_assert_eq!(self.name, other.name, "rows of one table");
        for (column, more) in self.columns.iter_mut().zip(other.columns) {
            column.values.append(more.values);
        }
    }
}

/// Adds a table whose name is not in `tables` as a whole.
pub fn join(tables: &mut Vec<Table>, more: impl IntoIterator<Item = Table>) {
    for table in more {
        match tables.iter_mut().find(|other| other.name == table.name) {
            Some(found) => found.append(table),
            None => tables.push(table),
        }
    }
}

/// Declares a table: a static [`Layout`]. The doc comments of the table and its columns become their
/// meanings.
///
/// # Examples
///
/// ```
/// struct Row { user: usize, seconds: f64 }
///
/// nodeb_base::table! {
///     /// One row per user.
///     static WAITS: "waits" of Row {
///         /// Number of the user in the scenario, from 0.
///         "user" [""] U64 = |row| row.user as u64;
///         /// Waiting time.
///         "waited_s" ["s"] F64 = |row| row.seconds;
///     }
/// }
/// let table = WAITS.table(&[Row { user: 3, seconds: 1.5 }]);
/// assert_eq!((table.rows(), table.columns[1].unit), (1, "s"));
/// ```
#[macro_export]
macro_rules! table {
    (
        $(#[doc = $about:literal])+
        $vis:vis static $layout:ident: $table:literal of $row:ty {
            $( $(#[doc = $meaning:literal])+ $column:literal [$unit:literal] $kind:ident = $read:expr; )+
        }
    ) => {
        $(#[doc = $about])+
        $vis static $layout: $crate::table::Layout<$row> = $crate::table::Layout {
            name: $table,
            meaning: concat!($($about),+).trim_ascii(),
            fields: &[$(
                $crate::table::Field {
                    name: $column,
                    unit: $unit,
                    meaning: concat!($($meaning),+).trim_ascii(),
                    read: |parts: &$crate::table::Parts<$row>| $crate::table::read::$kind(parts, $read),
                },
            )+],
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Row {
        user: usize,
        rate: f64,
        kind: &'static str,
    }

    table! {
        /// One row per user,
        /// in order.
        static RATES: "rates" of Row {
            /// Number of the user, from 0.
            "user" [""] U64 = |row| row.user as u64;
            /// Bit rate of the user,
            /// on average.
            "rate_bps" ["bit/s"] F64 = |row| row.rate;
            /// Kind of the user.
            "kind" [""] Text = |row| row.kind.into();
        }
    }

    fn two() -> Table {
        RATES.table(&[Row { user: 0, rate: 1.5, kind: "a" }, Row { user: 1, rate: 2.5, kind: "b" }])
    }

    fn texts(of: &[&'static str]) -> Values {
        Values::Text(of.iter().map(|text| Text::from(*text)).collect())
    }

    #[test]
    fn each_distinct_text_is_stored_once() {
        let many: Vec<String> = (0..3 * FEW).map(|number| number.to_string()).collect();
        let twice = many.iter().chain(&many).map(|text| Text::from(text.clone()));
        let mut texts: Texts = twice.collect();
        texts.extend(["7", "new", "7"].map(Text::from));
        assert_eq!(texts.names.len(), many.len() + 1);
        assert!(texts.iter().take(many.len()).eq(&many));
        assert!(texts.iter().skip(2 * many.len()).eq(["7", "new", "7"]));
        assert!(texts.clone().into_iter().eq(texts.iter()));
    }

    #[test]
    fn declarations_supply_names_units_and_meanings() {
        let empty = RATES.empty();
        assert_eq!((empty.name, empty.meaning, empty.rows()), ("rates", "One row per user, in order.", 0));
        let about: Vec<_> = empty.columns.iter().map(|c| (c.name, c.unit, c.meaning)).collect();
        assert_eq!(about[1], ("rate_bps", "bit/s", "Bit rate of the user, on average."));
        assert!(empty.columns.iter().all(|column| column.values.is_empty()));
    }

    #[test]
    fn columns_keep_the_order_of_rows() {
        let table = two();
        assert_eq!(table.column("rate_bps"), Some(&Values::F64(vec![1.5, 2.5])));
        assert_eq!(table.column("kind"), Some(&texts(&["a", "b"])));
        assert_eq!(table.column("nothing"), None);
    }

    #[test]
    fn users_get_numbers_and_the_run_becomes_the_first_column() {
        let mut table = two();
        table.name_users(|position| [7, 9][position]);
        let table = table.of_run(4);
        assert_eq!(table.columns[0].values, Values::U64(vec![4, 4]));
        assert_eq!(table.column(USER), Some(&Values::U64(vec![7, 9])));
    }

    #[test]
    fn of_runs_equals_joining_the_tables_of_single_runs() {
        let rows = |of: &[&'static str]| -> Vec<Row> {
            of.iter().map(|kind| Row { user: of.len(), rate: 0.5, kind }).collect()
        };
        let runs = [(7, rows(&["a", "b"])), (8, rows(&[])), (9, rows(&["c", "a", "b"]))];
        let mut apart = Vec::new();
        for (run, rows) in &runs {
            join(&mut apart, [RATES.table(rows).of_run(*run)]);
        }
        let parts: Vec<_> = runs.iter().map(|(run, rows)| (*run, &rows[..])).collect();
        assert_eq!([RATES.of_runs(&parts)][..], apart);
    }

    #[test]
    fn join_appends_rows_of_tables_with_the_same_name() {
        let mut tables = vec![two()];
        join(&mut tables, [two(), Table { name: "other", ..two() }]);
        assert_eq!(
            tables.iter().map(|t| (t.name, t.rows())).collect::<Vec<_>>(),
            [("rates", 4), ("other", 2)]
        );
    }
}
