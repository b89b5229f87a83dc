//! Binary form of requests and answers: a JSON text, followed by arrays (in an answer) or by earlier answers (in a
//! request).
//!
//! | bytes | content |
//! |---|---|
//! | 4 | length of the JSON text in bytes, little-endian |
//! | 4 | unused |
//! | | JSON text, filled with spaces to a multiple of 8 bytes |
//! | | arrays, each from a multiple of 8 bytes on, little-endian |
//!
//! The JSON text describes each array by its kind (`u64`, `u32`, `f64`, `f32`, `bool`, `text`), its position `at` in
//! bytes after the text, and its number of elements. The elements of a `bool` array are bytes. Those of a `text` array
//! are 32-bit indices of the texts in `names`.

use nodeb_base::table::{Column, Table, Texts, Values};
use serde::Deserialize;
use serde_json::{Value, json};

const ALIGNMENT: usize = 8;

#[derive(Debug, Default)]
pub struct Arrays {
    bytes: Vec<u8>,
}

impl Arrays {
    pub fn table(&mut self, table: &Table) -> Value {
        let columns: Vec<Value> =
            table.columns.iter().map(|column| self.column(column.name, &column.values)).collect();
        json!({ "name": table.name, "rows": table.rows(), "columns": columns })
    }

    pub fn tables(&mut self, tables: &[Table]) -> Value {
        tables.iter().map(|table| self.table(table)).collect()
    }

    fn column(&mut self, name: &str, values: &Values) -> Value {
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
        let at = self.bytes.len();
        let mut names = None;
        let kind = match values {
            Values::U64(values) => self.append("u64", values, u64::to_le_bytes),
            Values::U32(values) => self.append("u32", values, u32::to_le_bytes),
            Values::F64(values) => self.append("f64", values, f64::to_le_bytes),
            Values::F32(values) => self.append("f32", values, f32::to_le_bytes),
            Values::Bool(values) => self.append("bool", values, |one| [u8::from(one)]),
            Values::Text(texts) => {
                names = Some(&texts.names);
                self.append("text", &texts.places, u32::to_le_bytes)
            }
        };
        json!({ "name": name, "kind": kind, "at": at, "length": values.len(), "names": names })
    }

    fn append<T: Copy, const N: usize>(
        &mut self,
        kind: &'static str,
        values: &[T],
        bytes: impl Fn(T) -> [u8; N],
    ) -> &'static str {
        self.bytes.reserve(values.len() * N);
        for one in values {
            self.bytes.extend_from_slice(&bytes(*one));
        }
        kind
    }

    pub fn answer(self, head: &Value) -> Vec<u8> {
        let mut text = head.to_string();
        let length = text.len() as u32;
        let filled = text.len().next_multiple_of(ALIGNMENT);
        text.extend(std::iter::repeat_n(' ', filled - text.len()));
        [&length.to_le_bytes()[..], &[0; 4], text.as_bytes(), &self.bytes].concat()
    }
}

/// The JSON text of a request or an answer, and the bytes after it.
pub fn split(frame: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = u32::from_le_bytes(frame.get(..4)?.try_into().ok()?) as usize;
    let rest = frame.get(ALIGNMENT..)?;
    Some((rest.get(..length)?, rest.get(length.next_multiple_of(ALIGNMENT)..)?))
}

#[derive(Deserialize)]
struct TableHead<'a> {
    name: &'a str,
    columns: Vec<ColumnHead>,
}

#[derive(Deserialize)]
struct ColumnHead {
    name: String,
    kind: String,
    at: usize,
    length: usize,
    names: Option<Vec<String>>,
}

/// The tables of an answer to `replicate`; `None` if the bytes are no such answer.
pub fn tables(frame: &[u8], described: &[Table]) -> Option<Vec<Table>> {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow)]
        result: Tables<'a>,
    }
    #[derive(Deserialize)]
    struct Tables<'a> {
        #[serde(borrow)]
        tables: Vec<TableHead<'a>>,
    }
    let (head, arrays) = split(frame)?;
    let head: Head = serde_json::from_slice(head).ok()?;
    head.result.tables.into_iter().map(|table| read_table(table, arrays, described)).collect()
}

fn read_table(head: TableHead, arrays: &[u8], described: &[Table]) -> Option<Table> {
    let Table { name, meaning, columns } = described.iter().find(|table| table.name == head.name)?;
    let read = |column: ColumnHead| {
        let Column { name, unit, meaning, .. } = columns.iter().find(|other| other.name == column.name)?;
        Some(Column { name, unit, meaning, values: read_values(column, arrays)? })
    };
    let columns = head.columns.into_iter().map(read).collect::<Option<_>>()?;
    Some(Table { name, meaning, columns })
}

fn read_values(head: ColumnHead, arrays: &[u8]) -> Option<Values> {
    let ColumnHead { kind, at, length, names, .. } = head;
    Some(match &*kind {
        "u64" => Values::U64(elements(arrays, at, length, u64::from_le_bytes)?),
        "u32" => Values::U32(elements(arrays, at, length, u32::from_le_bytes)?),
        "f64" => Values::F64(elements(arrays, at, length, f64::from_le_bytes)?),
        "f32" => Values::F32(elements(arrays, at, length, f32::from_le_bytes)?),
        "bool" => Values::Bool(elements(arrays, at, length, |[byte]| byte != 0)?),
        _ => Values::Text(Texts {
            names: names?.into_iter().map(Into::into).collect(),
            places: elements(arrays, at, length, u32::from_le_bytes)?,
        }),
    })
}

fn elements<T, const N: usize>(
    arrays: &[u8],
    at: usize,
    length: usize,
    read: impl Fn([u8; N]) -> T,
) -> Option<Vec<T>> {
    let (parts, _) = arrays.get(at..at + N * length)?.as_chunks::<N>();
    Some(parts.iter().map(|part| read(*part)).collect())
}
