//! Those of the fuzz target `scenario`, so that every test run covers them; see `fuzz/README.md`.

#[path = "support/reading.rs"]
mod reading;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// All are valid scenarios.
const SEEDS: [&str; 4] = [
    include_str!("../../../fuzz/seeds/dch.toml"),
    include_str!("../../../fuzz/seeds/hs_dsch.toml"),
    include_str!("../../../fuzz/seeds/link.toml"),
    include_str!("../../../fuzz/seeds/overrides.toml"),
];

/// They change a scenario's meaning and leave most of it intact.
const PIECES: [&str; 34] = [
    "0",
    "-1",
    "1e400",
    "nan",
    "inf",
    "1.5",
    "18446744073709551615",
    "9007199254740993",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\"all\"",
    "\"1 ns\"",
    "\"4294967336 B\"",
    "\"999999 h\"",
    "\"µs\"",
    "'\\'",
    "\n",
    "=",
    ".",
    "[",
    "]]",
    "#",
    "\"\"\"",
    "dch",
    "link",
    "radio.dch.bler = 1",
    "[[users]]\n",
    "users.0.count",
    "\u{0}",
    "\u{fe0f}",
    "\r\n",
    "1979-05-27",
];

/// `length` characters at `at`, removed without a `piece`.
fn mutate(text: &str, at: Index, length: usize, piece: Option<&str>) -> String {
    let mut edges: Vec<usize> = text.char_indices().map(|(i, _)| i).collect();
    edges.push(text.len());
    let from = at.index(edges.len());
    let to = (from + length).min(edges.len() - 1);
    [&text[..edges[from]], piece.unwrap_or(""), &text[edges[to]..]].concat()
}

fn mutated() -> impl Strategy<Value = String> {
    let change = (any::<Index>(), 0..12usize, prop_oneof![Just(None), select(&PIECES[..]).prop_map(Some)]);
    (select(&SEEDS[..]), vec(change, 1..5)).prop_map(|(text, changes)| {
        changes
            .into_iter()
            .fold(text.to_owned(), |text, (at, length, piece)| mutate(&text, at, length, piece))
    })
}

/// Paths of names most of which occur in scenarios, with [`PIECES`] or usual values.
fn overrides() -> impl Strategy<Value = String> {
    let keys = [
        "seed",
        "runs",
        "precision",
        "duration",
        "wired",
        "uplink",
        "radio",
        "dch",
        "hs_dsch",
        "link",
        "bler",
        "scheduler",
        "proportional_fair",
        "window",
        "tcp",
        "control",
        "users",
        "0",
        "1",
        "count",
        "traffic",
        "ftp",
        "size",
        "ci",
        "record",
        "rate",
        "delay",
        "queue",
        "drop_tail",
        "limit",
        "",
        "Ünfug",
    ];
    let values = select(
        [&PIECES[..], &["\"10 ms\"", "10 ms", "max_ci", "0.1", "5", "64 kbps", "[0.1, 0.9]", "\"50 kB\""]]
            .concat(),
    );
    vec((vec(select(keys.to_vec()), 1..5), values), 0..4).prop_map(|changes| {
        let lines = changes.into_iter().map(|(path, value)| format!("{}={value}", path.join(".")));
        lines.collect::<Vec<_>>().join("\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_rejected(text in "\\PC{0,200}|(?s).{0,60}") {
        reading::check(&text);
    }

    #[test]
    fn mistakes_are_read_or_rejected_with_a_message(text in mutated()) {
        reading::check(&text);
    }

    #[test]
    fn overrides_are_applied_or_rejected(text in select(&SEEDS[..]), overrides in overrides()) {
        let text = text.split(reading::SEPARATOR).next().unwrap();
        reading::check(&[text, reading::SEPARATOR, &overrides].concat());
    }
}

#[test]
fn seeds_are_valid() {
    for seed in SEEDS {
        let (text, overrides) = seed.split_once(reading::SEPARATOR).unwrap_or((seed, ""));
        let overrides: Vec<String> = overrides.lines().map(str::to_owned).collect();
        nodeb_sim::scenario::from_toml(text, "seed", &overrides).unwrap();
        reading::check(seed);
    }
}
