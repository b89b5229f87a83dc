//! Defaults of keys that depend on the radio or on other tables of the scenario ([`Radio::key_defaults`]).
//! They are written into a document, TOML or JSON, before it is read, where its author left these keys out. The schema
//! and resolved scenarios name them.

use std::borrow::Cow;
use std::ops::Range;

use nodeb_radio::{KeyDefault, RadioSpec};
use nodeb_tcp::TcpSpec;
use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};
use serde_json::{Value, json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

trait Node: Sized {
    fn empty_table() -> Self;
    fn text(text: &'static str) -> Self;
    fn as_text(&self) -> Option<&str>;
    fn is_table(&self) -> bool;
    /// Empty for other values.
    fn items(&mut self) -> Vec<&mut Self>;
    fn first_key(&self) -> Option<&str>;
    fn child(&mut self, key: &str) -> Option<&mut Self>;
    fn insert(&mut self, key: &'static str, value: Self);
}

impl Node for Value {
    fn empty_table() -> Self {
        json!({})
    }

    fn text(text: &'static str) -> Self {
        text.into()
    }

    fn as_text(&self) -> Option<&str> {
        self.as_str()
    }

    fn is_table(&self) -> bool {
        self.is_object()
    }

    fn items(&mut self) -> Vec<&mut Self> {
        self.as_array_mut().into_iter().flatten().collect()
    }

    fn first_key(&self) -> Option<&str> {
        self.as_object()?.keys().next().map(String::as_str)
    }

    fn child(&mut self, key: &str) -> Option<&mut Self> {
        self.as_object_mut()?.get_mut(key)
    }

    fn insert(&mut self, key: &'static str, value: Self) {
        self[key] = value;
    }
}

/// Place of values that are not in the text.
const NOWHERE: Range<usize> = 0..0;

impl Node for DeValue<'_> {
    fn empty_table() -> Self {
        Self::Table(DeTable::new())
    }

    fn text(text: &'static str) -> Self {
        Self::String(Cow::Borrowed(text))
    }

    fn as_text(&self) -> Option<&str> {
        self.as_str()
    }

    fn is_table(&self) -> bool {
        self.is_table()
    }

    fn items(&mut self) -> Vec<&mut Self> {
        match self {
            Self::Array(items) => items.iter_mut().map(Spanned::get_mut).collect(),
            _ => Vec::new(),
        }
    }

    fn first_key(&self) -> Option<&str> {
        self.as_table()?.keys().next().map(|key| key.get_ref().as_ref())
    }

    fn child(&mut self, key: &str) -> Option<&mut Self> {
        match self {
            Self::Table(table) => table.get_mut(key).map(Spanned::get_mut),
            _ => None,
        }
    }

    fn insert(&mut self, key: &'static str, value: Self) {
        if let Self::Table(table) = self {
            table.insert(Spanned::new(NOWHERE, key.into()), Spanned::new(NOWHERE, value));
        }
    }
}

pub(super) fn fill_toml(document: &mut DeTable<'_>) {
    let mut root = DeValue::Table(std::mem::take(document));
    fill(&mut root);
    if let DeValue::Table(table) = root {
        *document = table;
    }
}

pub(super) fn fill_json(document: &mut Value) {
    fill(document);
}

fn fill<N: Node>(root: &mut N) {
    let Some(radio) = root.child("radio") else { return };
    let radio = &*radio;
    for default in radio.as_text().or_else(|| radio.first_key()).map_or(&[][..], of_radio) {
        if default.with.is_none_or(|table| root.child(table).is_some()) {
            let path: Vec<&str> = default.key.split('.').collect();
            put(root, &path, default.value);
        }
    }
}

/// Unless the key exists or a value on the path is not a table.
fn put<N: Node>(node: &mut N, path: &[&'static str], value: &'static str) {
    let Some((key, rest)) = path.split_first() else { return };
    for item in node.items() {
        put(item, path, value);
    }
    if !node.is_table() {
        return;
    }
    if node.child(key).is_none() {
        node.insert(key, if rest.is_empty() { N::text(value) } else { N::empty_table() });
    }
    let (Some(child), Some(next)) = (node.child(key), rest.first()) else { return };
    if child.as_text() == Some(next) {
        *child = N::empty_table();
        child.insert(next, N::empty_table());
    }
    put(child, rest, value);
}

/// None if there is no such radio, or if it has keys without default.
fn of_radio(name: &str) -> &'static [KeyDefault] {
    named::<RadioSpec>(name).map_or(&[], |radio| radio.key_defaults())
}

fn named<'a, T: Deserialize<'a>>(name: &'a str) -> Option<T> {
    T::deserialize(StrDeserializer::<Error>::new(name)).ok()
}

pub(super) fn tcp(radio: &RadioSpec) -> TcpSpec {
    let default = radio.key_defaults().iter().find(|default| default.key == "tcp");
    default.and_then(|default| named(default.value)).unwrap_or_default()
}

/// On lines of a resolved scenario whose value is a default of its radio.
pub(super) fn comment(text: &str, radio: &RadioSpec) -> String {
    let Ok(document) = DeTable::parse(text) else { return text.to_owned() };
    let root = DeValue::Table(document.into_inner());
    let outside = radio.key_defaults().iter().filter(|default| !default.key.starts_with("radio."));
    let mut ends: Vec<usize> = outside.flat_map(|default| line_ends(text, &root, default)).collect();
    ends.sort_unstable();
    let mut commented = text.to_owned();
    for end in ends.into_iter().rev() {
        commented.insert_str(end, &format!(" # default of radio.{}", radio.key()));
    }
    commented
}

fn line_ends(text: &str, root: &DeValue<'_>, default: &KeyDefault) -> Vec<usize> {
    let path: Vec<&str> = default.key.split('.').collect();
    let equal = places(root, &path)
        .into_iter()
        .filter(|(_, value)| [value.as_text(), value.first_key()].contains(&Some(default.value)));
    let end = |at: usize| text[at..].find('\n').map_or(text.len(), |length| at + length);
    equal.map(|(at, _)| end(at)).collect()
}

/// One for each table of a list.
fn places<'a, 'i>(node: &'a DeValue<'i>, path: &[&str]) -> Vec<(usize, &'a DeValue<'i>)> {
    if let DeValue::Array(items) = node {
        return items.iter().flat_map(|item| places(item.get_ref(), path)).collect();
    }
    let Some((key, rest)) = path.split_first() else { return Vec::new() };
    match node.as_table().and_then(|table| table.get_key_value(*key)) {
        Some((key, value)) if rest.is_empty() => vec![(key.span().start, value.get_ref())],
        Some((_, value)) => places(value.get_ref(), rest),
        None => Vec::new(),
    }
}

/// Keys that types must leave out unless they are given, as their absence has a meaning.
const DEPENDENT: &str = "x-dependent";

pub(super) fn describe(schema: &mut Value) {
    for radio in RadioSpec::defaults() {
        for default in radio.key_defaults() {
            let path: Vec<&str> = default.key.split('.').collect();
            let key = property(schema, "", &path).and_then(|pointer| schema.pointer_mut(&pointer));
            let condition = match default.with {
                Some(table) if path[0] == "radio" => format!("a table `{table}`"),
                _ => format!("`radio.{}`", radio.key()),
            };
            add_default(key.expect("a key of the schema"), &condition, default.value);
            let table = default.with.and_then(|table| property(schema, "", &[table]));
            if let Some(table) = table.and_then(|pointer| schema.pointer_mut(&pointer)) {
                table[DEPENDENT] = true.into();
            }
        }
    }
}

fn add_default(key: &mut Value, condition: &str, value: &str) {
    let mut text = key["description"].as_str().unwrap_or_default().to_owned();
    if key.get(DEPENDENT).is_none() {
        let general = key["default"].as_text().or_else(|| key["default"].first_key()).unwrap_or_default();
        text = format!("{text} Default: `\"{general}\"`.");
    }
    let addition = format!("; with {condition}: `\"{value}\"`");
    if !text.contains(&addition) {
        text.insert_str(text.len() - 1, &addition);
    }
    key["description"] = text.into();
    key[DEPENDENT] = true.into();
}

/// JSON pointer, through references and alternatives.
fn property(schema: &Value, at: &str, path: &[&str]) -> Option<String> {
    let node = schema.pointer(at)?;
    if let Some(definition) = node.get("$ref").and_then(Value::as_str) {
        return property(schema, definition.trim_start_matches('#'), path);
    }
    let (key, rest) = path.split_first()?;
    let below = format!("{at}/properties/{key}");
    if schema.pointer(&below).is_some() {
        return if rest.is_empty() { Some(below) } else { property(schema, &below, rest) };
    }
    let alternatives = node.get("anyOf").and_then(Value::as_array).map_or(0, Vec::len);
    (0..alternatives).find_map(|i| property(schema, &format!("{at}/anyOf/{i}"), path))
}

#[cfg(test)]
mod tests {
    use nodeb_base::units::{Duration, Rate};

    use super::super::{from_json, from_toml, to_toml};
    use super::*;
    use crate::Scenario;

    const USERS: &str = "users = [{ traffic.ftp.size = '50 kB' }]\n";

    fn read(text: &str) -> Scenario {
        from_toml(&format!("{USERS}{text}"), "test", &[]).unwrap()
    }

    /// By key with a default of radios: its value differs from that of HSDPA.
    fn differing(scenario: &Scenario) -> [bool; 3] {
        let general = read("radio.hsdpa = {}");
        [
            scenario.wired.rate != general.wired.rate,
            scenario.wired.delay != general.wired.delay,
            scenario.tcp != general.tcp,
        ]
    }

    #[test]
    fn lte_has_a_network_of_its_time() {
        for text in ["radio = 'lte'", "[radio.lte]", "radio.lte.bandwidth = '5 MHz'"] {
            let scenario = read(text);
            assert_eq!(scenario.wired.rate, Rate(1_000_000_000), "{text}");
            assert_eq!(scenario.wired.delay, Duration::from_millis(10), "{text}");
            assert!(matches!(scenario.tcp, TcpSpec::Linux(_)), "{text}");
            assert!(scenario.radio.parts().uplink.is_scheduled(), "{text}");
            let json = json!({ "radio": "lte", "users": [{ "traffic": { "ftp": { "size": "50 kB" } } }] });
            let same = from_json(&json.to_string()).unwrap();
            assert_eq!((&same.wired, &same.tcp), (&scenario.wired, &scenario.tcp));
        }
    }

    #[test]
    fn other_radios_have_that_of_the_studies() {
        for radio in RadioSpec::NAMES.iter().filter(|name| !["lte", "trace"].contains(name)) {
            assert_eq!(differing(&read(&format!("radio = '{radio}'"))), [false; 3], "{radio}");
        }
        assert_eq!(differing(&read("radio.trace.down.times_ms = [1]")), [false; 3]);
        assert_eq!(differing(&read("")), [false; 3]);
    }

    #[test]
    fn written_keys_stay() {
        let scenario = read("[radio.lte]\n[wired]\nrate = '2 Mbps'\n[tcp.classic]\nmax_window = 7\n");
        assert_eq!(scenario.wired.rate, Rate(2_000_000));
        assert_eq!(scenario.wired.delay, Duration::from_millis(10));
        assert_eq!(scenario.tcp.receiver_window(), 7);
        assert!(matches!(read("tcp = 'classic'\nradio = 'lte'").tcp, TcpSpec::Classic(_)));
        let scheduled = read("radio.lte.uplink.scheduled.control_blocks = 4");
        assert!(scheduled.radio.parts().uplink.is_scheduled());
    }

    #[test]
    fn every_link_of_the_core_is_fast() {
        let delay = |text: &str| read(&format!("radio = 'lte'\n{text}")).core_delay();
        assert_eq!(delay(""), Duration::ZERO);
        assert_eq!(delay("core.rate = '1 Mbps'"), Duration::from_millis(10));
        assert_eq!(delay("core = [{ delay = '1 ms' }, {}]"), Duration::from_millis(11));
        let two = read("radio = 'lte'\ncore = [{ rate = '5 Mbps' }, {}]");
        let rates: Vec<Rate> =
            two.core.iter().flat_map(nodeb_net::Core::links).map(|(_, link)| link.rate).collect();
        assert_eq!(rates, [Rate(5_000_000), Rate(1_000_000_000)]);
    }

    #[test]
    fn a_table_of_uplinks_makes_them_plain() {
        for text in ["uplink.rate = '1 Mbps'\nradio = 'lte'", "[uplink]\nrate = '1 Mbps'\n[radio.lte]"] {
            let scenario = read(text);
            assert!(!scenario.radio.parts().uplink.is_scheduled(), "{text}");
            assert_eq!(scenario.uplink.rate, Rate(1_000_000), "{text}");
            assert_eq!(read(&text.replace("'lte'", "'hsdpa'")).uplink.rate, Rate(1_000_000));
        }
    }

    #[test]
    fn removal_of_a_key_restores_the_default_of_the_radio() {
        let text = format!("{USERS}radio = 'lte'\nwired.rate = '1 Mbps'\n");
        let rate = |change: &str| from_toml(&text, "test", &[change.to_owned()]).unwrap().wired.rate;
        assert_eq!(rate("wired.rate="), Rate(1_000_000_000));
        assert_eq!(rate("radio=hsdpa"), Rate(1_000_000));
        let other = from_toml(&format!("{USERS}radio = 'lte'"), "test", &["radio=hsdpa".to_owned()]).unwrap();
        assert_eq!(differing(&other), [false; 3]);
    }

    #[test]
    fn wrong_types_are_reported_where_they_are() {
        let message = |text: &str| from_toml(&format!("{USERS}{text}"), "test", &[]).unwrap_err().to_string();
        assert!(message("radio = 'lte'\nwired = 5").starts_with("test:3: wired:"));
        assert!(message("radio = 5").starts_with("test:2: radio:"));
        assert!(
            message("radio.lte.uplink = 5\nuplink.rate = '1 Mbps'").starts_with("test:2: radio.lte.uplink:")
        );
    }

    #[test]
    fn unused_tcp_may_have_either_default() {
        let text = "users = [{ traffic.ftp.size = '50 kB', tcp = 'linux' }]\nradio = 'lte'\n";
        for tcp in ["", "tcp = 'classic'", "tcp = 'linux'"] {
            assert!(from_toml(&format!("{text}{tcp}"), "test", &[]).is_ok(), "{tcp}");
        }
    }

    fn commented_lines(text: &str) -> Vec<String> {
        let resolved = to_toml(&read(text)).unwrap();
        assert_eq!(from_toml(&resolved, "resolved", &[]).unwrap(), read(text));
        let line = |line: &str| {
            line.split_once(" # ").map(|(line, comment)| {
                assert_eq!(comment, "default of radio.lte");
                line.to_owned()
            })
        };
        resolved.lines().filter_map(line).collect()
    }

    #[test]
    fn resolved_scenarios_name_defaults_of_the_radio() {
        let all = ["rate = \"1 Gbps\"", "delay = \"10 ms\"", "[tcp.linux]"];
        assert_eq!(commented_lines("radio = 'lte'"), all);
        assert_eq!(commented_lines("radio = 'lte'\nwired.delay = '11 ms'"), [all[0], all[2]]);
        assert_eq!(
            commented_lines("radio = 'lte'\ncore = [{}, { delay = '1 ms' }]\ntcp = 'classic'").len(),
            5
        );
        assert_eq!(commented_lines("radio = 'hsdpa'\nwired.rate = '1 Gbps'"), [""; 0]);
    }

    #[test]
    fn schema_describes_defaults_of_radios() {
        let schema = Scenario::schema();
        let text = |pointer: &str| schema.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        for (pointer, defaults) in [
            ("/$defs/Wired/properties/rate", "Default: `\"10 Mbps\"`; with `radio.lte`: `\"1 Gbps\"`."),
            ("/$defs/Wired/properties/delay", "Default: `\"110 ms\"`; with `radio.lte`: `\"10 ms\"`."),
            ("/properties/tcp", "Default: `\"classic\"`; with `radio.lte`: `\"linux\"`."),
            ("/$defs/Lte/properties/uplink", "Default: `\"scheduled\"`; with a table `uplink`: `\"plain\"`."),
        ] {
            let description = text(&format!("{pointer}/description"));
            assert!(description.ends_with(defaults), "{pointer}: {description}");
            assert_eq!(description.matches("Default").count(), 1, "{description}");
        }
    }
}
