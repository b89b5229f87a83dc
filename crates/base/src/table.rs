//! Tables of results: what each column is called, its unit and meaning, and how it is read from a row.
//!
//! [`table!`](crate::table!) declares a table once, next to its rows. Columns, the documentation of results,
//! and the units of summaries all come from there: a new figure is where it is counted, and a line in a table.

use std::borrow::Cow;
use std::collections::HashMap;

/// Text in a table.
pub type Text = Cow<'static, str>;

/// The column with the number of a row's user. A part that knows only some of the users puts their positions
/// there, which [`Table::name_users`] turns into numbers.
pub const USER: &str = "user";

/// Names that are looked for one by one.
const FEW: usize = 16;

/// The place of a code that has not come yet.
const UNKNOWN: u32 = u32::MAX;

/// A column of texts: most tables repeat a few of them, so each is kept once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts {
    /// The different ones, in the order in which they come first.
    pub names: Vec<Text>,
    /// Of each row, the place of its text among the names.
    pub places: Vec<u32>,
}

impl Texts {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// No text yet, with room for so many rows.
    fn with_capacity(rows: usize) -> Self {
        Self { names: Vec::new(), places: Vec::with_capacity(rows) }
    }

    /// The texts of rows by their codes, small numbers for each of which the text is asked for once.
    #[inline]
    pub fn of_codes(codes: impl Iterator<Item = u32>, rows: usize, text: impl Fn(u32) -> Text) -> Self {
        let (mut all, mut known, mut places) = (Self::default(), Vec::new(), Vec::with_capacity(rows));
        let place = |code: u32| match known.get(code as usize) {
            Some(&place) if place != UNKNOWN => place,
            _ => all.place_of_code(text(code), &mut known, code as usize),
        };
        places.extend(codes.map(place));
        Self { places, ..all }
    }

    /// Returns the place of the text of a code that has not come yet.
    #[cold]
    fn place_of_code(&mut self, text: Text, known: &mut Vec<u32>, code: usize) -> u32 {
        let place = self.place_of(text);
        known.resize(known.len().max(code + 1), UNKNOWN);
        known[code] = place;
        place
    }

    /// The place of a name, which is put behind the others where it is new.
    fn place_of(&mut self, name: Text) -> u32 {
        let known = self.names.iter().position(|known| *known == name);
        known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        }) as u32
    }

    /// Moves the rows of another column behind these; each of its texts is looked for once.
    fn append(&mut self, other: &mut Self) {
        let rows = self.places.len();
        self.extend(other.names.drain(..));
        let places = self.places.split_off(rows);
        self.places.extend(other.places.drain(..).map(|place| places[place as usize]));
    }

    /// The text of each row.
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
        let mut known: HashMap<Text, u32> = names.iter().cloned().zip(0..).skip(FEW).collect();
        let texts = texts.into_iter();
        places.reserve(texts.size_hint().0);
        for text in texts {
            let few = names.iter().take(FEW).position(|name| *name == text).map(|place| place as u32);
            let place = few.or_else(|| known.get(&*text).copied()).unwrap_or_else(|| {
                let place = names.len() as u32;
                names.push(Text::Owned(text.into_owned()));
                if names.len() > FEW {
                    known.insert(names[place as usize].clone(), place);
                }
                place
            });
            places.push(place);
        }
    }
}

macro_rules! kinds {
    ($( $(#[$about:meta])* $kind:ident($of:ty) in $all:ty, )+) => {
        /// The values of a column.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Values { $( $(#[$about])* $kind($all), )+ }

        /// Reads columns: each has a loop of its own, in which no row needs a call.
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

            /// Text, of which there are few: a small number that stands for it, and what it stands for.
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
            /// How many there are.
            pub fn len(&self) -> usize {
                match self { $( Self::$kind(values) => values.len(), )+ }
            }

            /// Puts the values of another column of the same kind behind these.
            ///
            /// # Panics
            /// When the kinds differ, which one declaration rules out.
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
    /// Whole numbers, 64 bits.
    U64(u64) in Vec<u64>,
    /// Whole numbers, 32 bits.
    U32(u32) in Vec<u32>,
    /// Numbers.
    F64(f64) in Vec<f64>,
    /// Numbers of single precision.
    F32(f32) in Vec<f32>,
    /// True or false.
    Bool(bool) in Vec<bool>,
    /// Text.
    Text(Cow<'_, str>) in Texts,
}

impl Values {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The rows of a table by replication, each with its number.
pub type Parts<'a, R> = [(u64, &'a [R])];

/// What a column is called and means, and how it is read.
#[derive(Debug)]
pub struct Field<R> {
    /// Its name, which ends in its unit where it has one.
    pub name: &'static str,
    /// Its unit; 1 for a ratio, empty for a count, a number or a name.
    pub unit: &'static str,
    /// What it says, a sentence.
    pub meaning: &'static str,
    /// Reads it from all rows.
    pub read: fn(&Parts<R>) -> Values,
}

/// What a table is called and means, and its columns.
#[derive(Debug)]
pub struct Layout<R: 'static> {
    /// Its name.
    pub name: &'static str,
    /// What a row of it is, a sentence.
    pub meaning: &'static str,
    /// Its columns, in order.
    pub fields: &'static [Field<R>],
}

impl<R> Layout<R> {
    /// The table of some rows.
    pub fn table(&self, rows: &[R]) -> Table {
        self.of_parts(&[(0, rows)])
    }

    /// The table of the rows of replications, each with its number, which is put in front.
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

    /// The table without a row: what there is to know about it.
    pub fn empty(&self) -> Table {
        self.table(&[])
    }
}

/// How many rows there are in all.
fn count<R>(parts: &Parts<R>) -> usize {
    parts.iter().map(|(_, rows)| rows.len()).sum()
}

/// A column with what it means.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its unit; 1 for a ratio, empty for a count, a number or a name.
    pub unit: &'static str,
    /// What it says, a sentence.
    pub meaning: &'static str,
    /// Its values, in order of the rows.
    pub values: Values,
}

/// A table of results.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// What a row of it is, a sentence.
    pub meaning: &'static str,
    /// Its columns, all of the same length.
    pub columns: Vec<Column>,
}

impl Table {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// The values of a column.
    pub fn column(&self, name: &str) -> Option<&Values> {
        self.columns.iter().find(|column| column.name == name).map(|column| &column.values)
    }

    /// Turns the positions of users into their numbers.
    pub fn name_users(&mut self, number: impl Fn(usize) -> u64) {
        for column in self.columns.iter_mut().filter(|column| column.name == USER) {
            if let Values::U64(users) = &mut column.values {
                for user in users.iter_mut() {
                    *user = number(*user as usize);
                }
            }
        }
    }

    /// The table with the number of the replication in front.
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

    /// Puts the rows of another table of the same declaration below these.
    pub fn append(&mut self, other: Self) {
        debug_assert_eq!(self.name, other.name, "rows of one table");
        for (column, more) in self.columns.iter_mut().zip(other.columns) {
            column.values.append(more.values);
        }
    }
}

/// Puts tables below those of the same name, and others behind.
pub fn join(tables: &mut Vec<Table>, more: impl IntoIterator<Item = Table>) {
    for table in more {
        match tables.iter_mut().find(|known| known.name == table.name) {
            Some(known) => known.append(table),
            None => tables.push(table),
        }
    }
}

/// Declares a table: a static [`Layout`] whose documentation, and that of its columns, are their meanings.
///
/// ```
/// struct Row { user: usize, seconds: f64 }
///
/// nodeb_base::table! {
///     /// One row per user.
///     static WAITS: "waits" of Row {
///         /// Number of the user.
///         "user" [""] U64 = |row| row.user as u64;
///         /// How long it waited.
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
            /// Number of the user.
            "user" [""] U64 = |row| row.user as u64;
            /// What it got,
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
    fn each_text_is_kept_once_wherever_it_lies() {
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
    fn a_declaration_says_everything() {
        let empty = RATES.empty();
        assert_eq!((empty.name, empty.meaning, empty.rows()), ("rates", "One row per user, in order.", 0));
        let about: Vec<_> = empty.columns.iter().map(|c| (c.name, c.unit, c.meaning)).collect();
        assert_eq!(about[1], ("rate_bps", "bit/s", "What it got, on average."));
        assert!(empty.columns.iter().all(|column| column.values.is_empty()));
    }

    #[test]
    fn values_keep_the_order_of_rows() {
        let table = two();
        assert_eq!(table.column("rate_bps"), Some(&Values::F64(vec![1.5, 2.5])));
        assert_eq!(table.column("kind"), Some(&texts(&["a", "b"])));
        assert_eq!(table.column("nothing"), None);
    }

    #[test]
    fn positions_become_numbers_and_runs_stand_in_front() {
        let mut table = two();
        table.name_users(|position| [7, 9][position]);
        let table = table.of_run(4);
        assert_eq!(table.columns[0].values, Values::U64(vec![4, 4]));
        assert_eq!(table.column(USER), Some(&Values::U64(vec![7, 9])));
    }

    #[test]
    fn rows_of_several_runs_are_those_of_each() {
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
    fn tables_of_one_name_are_joined() {
        let mut tables = vec![two()];
        join(&mut tables, [two(), Table { name: "other", ..two() }]);
        assert_eq!(
            tables.iter().map(|t| (t.name, t.rows())).collect::<Vec<_>>(),
            [("rates", 4), ("other", 2)]
        );
    }
}
