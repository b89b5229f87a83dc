//! Binary form of answers: a JSON text, followed by arrays.
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

use nodeb_base::table::{Table, Values};
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
