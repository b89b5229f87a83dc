//! Reader of scenarios from TOML or JSON, with errors that name the key, its line and the allowed values.

use std::ops::Range;

use nodeb_base::check::{Check, Checked, Problem};
use nodeb_base::{Error, Result};
use serde::Deserialize;
use serde_path_to_error::Segment;
use toml::de::{DeTable, DeValue};

use super::review::Finding;
use super::{Recorded, Scenario, Spot, defaults};

/// Part of the file, but not of the scenario.
const SWEEP: &str = "sweep";

/// Reads a scenario from TOML text, ignoring a `[sweep]` table. `file` is its name in messages.
///
/// Each override is `key.path=value`. The value is TOML or, if it is not valid TOML, a bare string; an empty value
/// removes the key.
///
/// # Errors
///
/// [`Error::Scenario`] naming file, line, key and the allowed values. If an override causes the
/// error, the message names the override instead of a line.
///
/// # Examples
///
/// ```
/// use nodeb_sim::scenario;
///
/// let text = r#"
///     radio.dch = {}
///     users = [{ traffic.ftp.size = "50 kB" }]
/// "#;
/// let overrides = ["runs=3".to_owned(), "wired.delay=50 ms".to_owned()];
/// let scenario = scenario::from_toml(text, "example.toml", &overrides)?;
/// assert_eq!(scenario.runs.get(), 3);
///
/// let error = scenario::from_toml("radio.dhc = {}", "example.toml", &[]).unwrap_err();
/// assert!(error.to_string().contains("did you mean `dch`?"));
/// # Ok::<(), nodeb_sim::Error>(())
/// ```
pub fn from_toml(text: &str, file: &str, overrides: &[String]) -> Result<Scenario> {
    if overrides.is_empty() {
        return parse_file(text).map_err(|fault| fault.at(text, file));
    }
    let mut table = table(text, file)?;
    table.remove(SWEEP);
    for change in overrides {
        set(&mut table, change)?;
    }
    // If the file without overrides has the same error, the error is reported with its line in the file.
    // Otherwise the overrides cause the error and are named.
    let changed = toml::to_string(&table).map_err(|error| Error::Scenario(format!("{file}: {error}")))?;
    parse(&changed).map_err(|fault| match parse_file(text) {
        Err(own) if own.message == fault.message => own.at(text, file),
        _ => fault.in_overrides(file, overrides),
    })
}

/// As "file:line: key: reason", after the overrides; empty if the scenario is invalid.
pub fn superfluous(text: &str, file: &str, overrides: &[String]) -> Vec<String> {
    let Ok(scenario) = from_toml(text, file, overrides) else {
        return Vec::new();
    };
    let mut check = Check::default();
    scenario.check(&mut check);
    let document = DeTable::parse(text).ok();
    let of = |problem: &Problem| {
        let span = key_span(document.as_ref()?.get_ref(), &problem.path)?;
        Some(format!("{file}:{}: {}: {}", line_at(text, &span), problem.path.join("."), problem.message))
    };
    check.into_idle().iter().filter_map(of).collect()
}

/// # Errors
///
/// [`Error::Scenario`] naming file and line if the text is not TOML.
pub fn document(text: &str, file: &str) -> Result<String> {
    let table = table(text, file)?;
    serde_json::to_string(&table).map_err(|error| Error::Scenario(format!("{file}: {error}")))
}

/// Counted from 1, of the key at `path` or the nearest existing key or list entry around it; list entries are
/// numbered from 0.
pub fn line_of(text: &str, path: &[String]) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    span_of(document.get_ref(), path).map(|span| line_at(text, &span))
}

fn table(text: &str, file: &str) -> Result<toml::Table> {
    text.parse().map_err(|error| Fault::from_toml(&error, text).at(text, file))
}

fn line_at(text: &str, span: &Range<usize>) -> usize {
    text[..span.start.min(text.len())].matches('\n').count() + 1
}

/// Reads a scenario from JSON text, the form that the Python types use; `null` counts as absent.
///
/// # Errors
///
/// [`Error::Scenario`] naming the key and the allowed values.
pub fn from_json(text: &str) -> Result<Scenario> {
    from_json_with(text, Vec::new())
}

/// Reads a scenario like [`from_json`] and attaches recordings to it.
///
/// # Errors
///
/// [`Error::Scenario`] naming the key and the allowed values.
pub fn from_json_with(text: &str, recorded: Vec<(Spot, Recorded)>) -> Result<Scenario> {
    let mut value: serde_json::Value = serde_json::from_str(text)
        .map_err(|error| Error::Scenario(format!("not a scenario in JSON: {error}")))?;
    drop_nulls(&mut value);
    defaults::fill_json(&mut value);
    let mut scenario = match read_valid(&value) {
        Some(scenario) => scenario,
        None => read_with_path(&value)?,
    };
    if !recorded.is_empty() {
        scenario.attach(recorded)?;
    }
    scenario.unread_file().map_or(Ok(scenario), |problem| Err(Error::Scenario(problem)))
}

fn read_valid(value: &serde_json::Value) -> Option<Scenario> {
    let scenario = Scenario::deserialize(value).ok().filter(|_| fits_toml(value))?;
    let mut check = Check::default();
    scenario.check(&mut check);
    check.into_problems().is_empty().then_some(scenario)
}

/// By way of TOML text, since only errors of the TOML reader name the key's path.
fn read_with_path(value: &serde_json::Value) -> Result<Scenario> {
    let toml = toml::to_string(value).map_err(|error| Error::Scenario(format!("not a scenario: {error}")))?;
    parse(&toml).map_err(|fault| Error::Scenario(fault.text()))
}

/// TOML's signed 64 bits.
fn fits_toml(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Number(number) => !number.is_u64() || number.is_i64(),
        serde_json::Value::Object(map) => map.values().all(fits_toml),
        serde_json::Value::Array(items) => items.iter().all(fits_toml),
        _ => true,
    }
}

/// Returns the scenario as TOML text, in which comments name values that are defaults of the radio.
///
/// # Errors
///
/// [`Error::Scenario`] if a value has no TOML form; no such value is known.
pub fn to_toml(scenario: &Scenario) -> Result<String> {
    let text = toml::to_string(scenario).map_err(|error| Error::Scenario(error.to_string()))?;
    Ok(defaults::comment(&text, &scenario.radio))
}

fn drop_nulls(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

#[derive(Debug)]
struct Fault {
    key: String,
    span: Option<Range<usize>>,
    message: String,
}

impl Fault {
    fn from_toml(error: &toml::de::Error, text: &str) -> Self {
        let span = error.span();
        let key = span.as_ref().and_then(|span| key_at(text, span)).unwrap_or_default();
        Self { message: explain(error.message(), key.rsplit('.').next().unwrap_or_default()), key, span }
    }

    /// An error in a plugin's parameters has no position in the text, so it is found from the key's path.
    fn from_value(error: &serde_path_to_error::Error<toml::de::Error>, text: &str) -> Self {
        let located = Self::from_toml(error.inner(), text);
        let path = error.path().iter().filter_map(|segment| match segment {
            Segment::Map { key } => Some(key.clone()),
            Segment::Seq { index } => Some(index.to_string()),
            _ => None,
        });
        let path: Vec<String> = path.collect();
        if path.len() <= located.key.split('.').count() {
            return located;
        }
        let message = explain(error.inner().message(), path.last().map_or("", String::as_str));
        Self { message, ..Self::from_problem(&Problem { path, message: String::new() }, text) }
    }

    fn from_problem(problem: &Problem, text: &str) -> Self {
        let span = DeTable::parse(text).ok().and_then(|doc| span_of(doc.get_ref(), &problem.path));
        Self { key: problem.path.join("."), span, message: problem.message.clone() }
    }

    fn text(&self) -> String {
        legible(&if self.key.is_empty() {
            self.message.clone()
        } else {
            format!("{}: {}", self.key, self.message)
        })
    }

    fn at(&self, text: &str, file: &str) -> Error {
        Error::Scenario(match &self.span {
            Some(span) => format!("{file}:{}: {}", line_at(text, span), self.text()),
            None => format!("{file}: {}", self.text()),
        })
    }

    fn in_overrides(&self, file: &str, overrides: &[String]) -> Error {
        let of_key = |change: &&String| {
            let key = change.split('=').next().unwrap_or_default().trim();
            self.key.starts_with(key) || key.starts_with(&self.key)
        };
        let culprit =
            overrides.iter().find(of_key).map_or(String::new(), |change| format!(" (set by `{change}`)"));
        Error::Scenario(format!("{file}{culprit}: {}", self.text()))
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// No line if the text does not have the key.
    Key,
    /// Of the key, or else of the nearest key or list entry around it.
    Nearest,
}

/// Counted from 1; `place` selects the line if the text does not have the key.
pub(super) fn line_in(text: &str, document: &DeTable<'_>, path: &[String], place: Place) -> Option<usize> {
    let span = match place {
        Place::Key => key_span(document, path),
        Place::Nearest => span_of(document, path),
    };
    span.map(|span| line_at(text, &span))
}

/// # Errors
///
/// The reason why the text cannot be read.
pub(super) fn unchecked(text: &str) -> std::result::Result<Scenario, Finding> {
    deserialize(text, |document| drop(document.remove(SWEEP))).map_err(|fault| Finding {
        line: fault.span.as_ref().map(|span| line_at(text, span)),
        key: fault.key.clone(),
        message: legible(&fault.message),
    })
}

fn parse_file(text: &str) -> std::result::Result<Scenario, Fault> {
    read(text, |document| drop(document.remove(SWEEP)))
}

fn parse(text: &str) -> std::result::Result<Scenario, Fault> {
    read(text, |_| ())
}

fn deserialize(text: &str, prepare: impl FnOnce(&mut DeTable<'_>)) -> std::result::Result<Scenario, Fault> {
    let mut document = DeTable::parse(text).map_err(|error| Fault::from_toml(&error, text))?;
    prepare(document.get_mut());
    defaults::fill_toml(document.get_mut());
    serde_path_to_error::deserialize(toml::Deserializer::from(document))
        .map_err(|error| Fault::from_value(&error, text))
}

fn read(text: &str, prepare: impl FnOnce(&mut DeTable<'_>)) -> std::result::Result<Scenario, Fault> {
    let scenario = deserialize(text, prepare)?;
    let mut check = Check::default();
    scenario.check(&mut check);
    match check.into_problems().first() {
        None => Ok(scenario),
        Some(problem) => Err(Fault::from_problem(problem, text)),
    }
}

/// `key.path=value`.
fn set(table: &mut toml::Table, change: &str) -> Result<()> {
    let wrong = |why: String| Error::Scenario(format!("cannot set `{change}`: {why}"));
    let Some((path, value)) = change.split_once('=') else {
        return Err(wrong("expected key=value, such as wired.delay=\"50 ms\"".to_owned()));
    };
    let keys: Vec<&str> = path.trim().split('.').collect();
    if keys.iter().any(|key| key.is_empty()) {
        return Err(wrong("a key of the path is empty".to_owned()));
    }
    let value = value.trim();
    if value.is_empty() {
        return remove(table, &keys).map_err(wrong);
    }
    let value = format!("v = {value}")
        .parse::<toml::Table>()
        .ok()
        .and_then(|mut parsed| parsed.remove("v"))
        .unwrap_or_else(|| toml::Value::String(value.to_owned()));
    let (first, rest) = keys.split_first().expect("split gives at least one part");
    let place = table.entry(*first).or_insert_with(|| toml::Value::Table(toml::Table::new()));
    let place = rest.iter().try_fold(place, |place, key| step_into(place, key)).map_err(wrong)?;
    *place = value;
    Ok(())
}

/// # Errors
///
/// A message if the table has no such key.
fn remove(table: &mut toml::Table, keys: &[&str]) -> std::result::Result<(), String> {
    let (last, path) = keys.split_last().expect("split gives at least one part");
    let mut place = table;
    let mut path = path.iter().peekable();
    while let Some(key) = path.next() {
        let inner = match place.get_mut(*key) {
            Some(toml::Value::Array(items)) => {
                path.next().and_then(|i| items.get_mut(i.parse::<usize>().ok()?))
            }
            other => other,
        };
        place = inner.and_then(toml::Value::as_table_mut).ok_or_else(|| absent(last))?;
    }
    if place.remove(*last).is_some() {
        return Ok(());
    }
    let others = place.keys().cloned().collect::<Vec<_>>().join(", ");
    Err(if others.is_empty() { absent(last) } else { format!("{}; it has {others}", absent(last)) })
}

fn absent(key: &str) -> String {
    format!("an empty value removes a key, but the file has no `{key}` there")
}

/// Created if missing; the bare name of a variant becomes a table with this name as key.
fn step_into<'a>(value: &'a mut toml::Value, key: &str) -> std::result::Result<&'a mut toml::Value, String> {
    let empty = || toml::Value::Table(toml::Table::new());
    if let toml::Value::String(name) = value {
        let name = std::mem::take(name);
        *value = toml::Value::Table([(name, empty())].into_iter().collect());
    }
    match value {
        toml::Value::Table(table) => Ok(table.entry(key).or_insert_with(empty)),
        toml::Value::Array(items) => {
            let count = items.len();
            key.parse::<usize>().ok().and_then(|index| items.get_mut(index)).ok_or_else(|| {
                format!("`{key}` is not one of its {count} entries, which are numbered from 0")
            })
        }
        _ => Err(format!("the value before `{key}` is not a table; expected a key of a table")),
    }
}

/// `key` is the last component of the dotted key.
fn explain(message: &str, key: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (Some((found, allowed)), Some(kind)) = (quoted.split_first(), message.split(' ').nth(1)) else {
        return in_plain_words(message);
    };
    if message.starts_with("unknown field") || message.starts_with("unknown variant") {
        let what = if kind == "field" { "key" } else { "name" };
        let shown = if found == &key { String::new() } else { format!(" `{found}`") };
        let hint = nearest(found, allowed).map_or(String::new(), |name| format!("; did you mean `{name}`?"));
        let listed = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
        return format!("unknown {what}{shown}{hint} (allowed: {listed})");
    }
    if message.starts_with("missing field") {
        return format!("the key `{found}` is missing");
    }
    in_plain_words(message)
}

/// Rust type names become words such as "a number".
fn in_plain_words(message: &str) -> String {
    const WORDS: [(&str, &str); 7] = [
        ("a nonzero u32", "a whole number, at least 1"),
        ("a nonzero u64", "a whole number, at least 1"),
        ("u64", "a whole number, at least 0"),
        ("u32", "a whole number, at least 0"),
        ("u16", "a whole number, at least 0"),
        ("u8", "a whole number, at least 0"),
        ("f64", "a number"),
    ];
    let message = message.trim_end();
    let integer = message.split('`').nth(1).and_then(|found| found.parse::<i128>().ok());
    let is_large = |most: i128| integer.is_some_and(|found| found > most);
    if message == "u64 value was too large" || is_large(i64::MAX.into()) {
        return format!("the number is too large; expected at most {}", i64::MAX);
    }
    for (kind, most) in [("u8", u8::MAX.into()), ("u16", u16::MAX.into()), ("u32", u32::MAX)] {
        if message.ends_with(kind) && is_large(most.into()) {
            return format!("the number is too large; expected at most {most}");
        }
    }
    if let Some((found, _)) = message.split_once("expected struct ") {
        return format!("{found}expected a table of keys and values");
    }
    let plain = |(rust, words): &(&str, &str)| {
        let start = message.strip_suffix(&format!("expected {rust}"))?;
        Some(format!("{start}expected {words}"))
    };
    WORDS.iter().find_map(plain).unwrap_or_else(|| message.to_owned())
}

/// Control characters except line breaks are escaped, numbers of more than 25 digits cut to their first five.
fn legible(message: &str) -> String {
    const MAX_DIGITS: usize = 25;
    let mut shown = String::with_capacity(message.len());
    for piece in message.split_inclusive(|c: char| !c.is_ascii_digit()) {
        let digits = piece.trim_end_matches(|c: char| !c.is_ascii_digit());
        if digits.len() > MAX_DIGITS {
            shown.extend([&digits[..5], "... (", &digits.len().to_string(), " digits)"]);
        } else {
            shown += digits;
        }
        for end in piece[digits.len()..].chars() {
            let is_control = end.is_control() && end != '\n';
            shown += &if is_control { end.escape_default().to_string() } else { end.to_string() };
        }
    }
    shown
}

/// `found` is most likely a typing error for it.
fn nearest<'a>(found: &str, allowed: &[&'a str]) -> Option<&'a str> {
    let found = found.to_lowercase();
    if let Some(longer) = allowed.iter().find(|name| found.len() > 2 && name.contains(&found)) {
        return Some(longer);
    }
    let distance = |name: &str| strsim::damerau_levenshtein(&found, name);
    let best = allowed.iter().min_by_key(|name| distance(name))?;
    (distance(best) <= (best.len() / 2).max(2)).then_some(best)
}

/// The most deeply nested one, as a dotted path.
fn key_at(text: &str, span: &Range<usize>) -> Option<String> {
    let (doc, _) = DeTable::parse_recoverable(text);
    let mut best = Vec::new();
    deepest(doc.get_ref(), span, &mut Vec::new(), &mut best);
    (!best.is_empty()).then(|| best.join("."))
}

fn covers(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn deepest(table: &DeTable<'_>, span: &Range<usize>, path: &mut Vec<String>, best: &mut Vec<String>) {
    for (key, value) in table {
        path.push(key.get_ref().to_string());
        if path.len() > best.len() && (covers(&key.span(), span) || covers(&value.span(), span)) {
            best.clone_from(path);
        }
        deepest_value(value.get_ref(), span, path, best);
        path.pop();
    }
}

fn deepest_value(value: &DeValue<'_>, span: &Range<usize>, path: &mut Vec<String>, best: &mut Vec<String>) {
    match value {
        DeValue::Table(table) => deepest(table, span, path, best),
        DeValue::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                path.push(i.to_string());
                if path.len() > best.len() && covers(&item.span(), span) {
                    best.clone_from(path);
                }
                deepest_value(item.get_ref(), span, path, best);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Byte range of the key, or of the value of a list entry, or else of the nearest existing one around it.
fn span_of(table: &DeTable<'_>, path: &[String]) -> Option<Range<usize>> {
    let (first, rest) = path.split_first()?;
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == first)?;
    within_value(value.get_ref(), rest).or(Some(key.span()))
}

/// Byte range.
fn key_span(table: &DeTable<'_>, path: &[String]) -> Option<Range<usize>> {
    let (first, rest) = path.split_first()?;
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == first)?;
    match (rest, value.get_ref()) {
        ([], _) => Some(key.span()),
        (rest, DeValue::Table(table)) => key_span(table, rest),
        ([index, rest @ ..], DeValue::Array(items)) => {
            match items.get(index.parse::<usize>().ok()?)?.get_ref() {
                DeValue::Table(table) => key_span(table, rest),
                _ => None,
            }
        }
        _ => None,
    }
}

fn within_value(value: &DeValue<'_>, path: &[String]) -> Option<Range<usize>> {
    match value {
        DeValue::Table(table) => span_of(table, path),
        DeValue::Array(items) => {
            let item = items.get(path.first()?.parse::<usize>().ok()?)?;
            within_value(item.get_ref(), &path[1..]).or(Some(item.span()))
        }
        _ => None,
    }
}
