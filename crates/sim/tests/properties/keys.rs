//! Built from the JSON Schema and the registries.

use std::sync::OnceLock;

use nodeb_radio::RadioSpec;
use nodeb_sim::Scenario;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::errors;

pub fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(Scenario::schema)
}

pub fn definition(name: &str) -> &'static Value {
    &schema()["$defs"][name]
}

/// To which a property refers.
pub fn target(property: &'static Value) -> Option<&'static Value> {
    let refers = |value: &'static Value| value["$ref"].as_str()?.strip_prefix("#/$defs/").map(definition);
    let mut alternatives =
        ["anyOf", "allOf"].into_iter().filter_map(|key| property[key].as_array()).flatten();
    refers(property).or_else(|| alternatives.find_map(refers))
}

/// `None` if the definition is not that of a registry.
pub fn registered(definition: &'static Value) -> Option<Vec<&'static str>> {
    let names = definition["anyOf"][0]["enum"].as_array()?;
    Some(names.iter().filter_map(Value::as_str).collect())
}

/// `None` if the definition is not that of a plain enum.
fn choices(definition: &'static Value) -> Option<Vec<&'static str>> {
    let values = definition["oneOf"].as_array()?;
    values.iter().map(|value| value["const"].as_str()).collect()
}

pub fn any_json<S>(strategy: S) -> BoxedStrategy<Value>
where
    S: Strategy<Value: serde::Serialize> + 'static,
{
    strategy.prop_map(|value| json!(value)).boxed()
}

fn quantity(numbers: impl Strategy<Value = u32> + 'static, unit: &'static str) -> BoxedStrategy<Value> {
    numbers.prop_map(move |n| json!(format!("{n} {unit}"))).boxed()
}

/// `None` if the type of the key suffices.
fn by_name(key: &str) -> Option<BoxedStrategy<Value>> {
    Some(match key {
        "channels" => any_json(1..=6),
        "tti" => any_json(select(vec!["2 ms", "10 ms", "667 us", "1300002 ns"])),
        "pdu_size" => any_json(select(vec!["9 B", "20 B", "32 B", "40 B", "82 B", "336 B", "2 kB"])),
        "pdus_per_tti" => any_json(1..=5),
        "bler" => any_json(prop_oneof![Just(0.0), 0.0..0.6]),
        "slot" => any_json(select(vec!["2 ms", "10 ms", "667 us"])),
        "frame_size" => any_json(select(vec!["9 B", "16 B", "40 B"])),
        "rates" => any_json(select(vec![vec![1, 2, 3, 4, 5, 6, 7, 8], vec![1, 2, 4], vec![1], vec![1, 5]])),
        "connection_timeout" => optional(quantity(0..5_000u32, "ms")),
        "max_failed_slots" => any_json(prop_oneof![3 => Just(None), 1 => (8..20).prop_map(Some)]),
        "eb_n0_db" => any_json(20.0..35.0),
        "correctable_bits" => any_json(2..=4),
        "factor" => any_json(0.0..0.8),
        "paths" => any_json(2..=6),
        "powers" => any_json(vec(0.1..1.0, 2..6)),
        "shadowing_db" => any_json(0.0..1.0),
        "gain" => any_json(0.02..0.5),
        "initial_rtt" => optional(quantity(1..3_000u32, "ms")),
        "ack_delay" | "retransmission_delay" | "most" | "deviation" => quantity(0..40_000u32, "us"),
        "max_transmissions" => any_json(prop_oneof![3 => Just(None), 1 => (1..=5).prop_map(Some)]),
        "buffer" | "limit" => any_json(prop_oneof![3 => Just(1000), 1 => 1..=50]),
        "efficiency" => any_json(0.9..=1.0),
        "window" => quantity(1..3_000u32, "ms"),
        "rate" | "dch_rate" => quantity(30..3_000u32, "kbps"),
        "fach_rate" => quantity(60..400u32, "kbps"),
        "signalling_rate" => quantity(0..50u32, "kbps"),
        "signalling_size" => quantity(1..2_000u32, "B"),
        "dch_channels" | "users_per_tti" => any_json(1..=4),
        "switch_time" | "paging_time" | "time_to_trigger" => quantity(0..600u32, "ms"),
        "timeout" | "dch_inactivity" | "fach_inactivity" => quantity(1..8_000u32, "ms"),
        "high" => any_json(0..10),
        "low" => any_json(prop_oneof![4 => Just(1), 1 => Just(0)]),
        "volume" => quantity(0..3_000u32, "B"),
        "silence_probability" => any_json(prop_oneof![Just(0.0), 0.0..=1.0]),
        "delay" | "report_delay" => quantity(0..150_000u32, "us"),
        "loss" | "ack_loss" => loss(),
        "errors" => errors::model(),
        "tx_window" | "places" => any_json(16..=256),
        "rx_window" => any_json(256..=512),
        "max_dat" => any_json(prop_oneof![4 => Just(None), 1 => (2..=8).prop_map(Some)]),
        "discard_timer" => optional(any_json(select(vec!["500 ms", "750 ms", "1500 ms"]))),
        "t_reordering" => any_json(select(vec!["0 ms", "5 ms", "50 ms", "200 ms"])),
        "status_prohibit" => optional(any_json(select(vec!["0 ms", "5 ms", "60 ms", "500 ms"]))),
        "command_timer" | "timer" => quantity(30..600u32, "ms"),
        "prohibit" | "periodic" => optional(quantity(1..300u32, "ms")),
        "every_pdus" | "every_packets" => any_json(prop_oneof![Just(None), (1..=40).prop_map(Some)]),
        "window_share" => any_json(prop_oneof![Just(None), (0.1..1.0).prop_map(Some)]),
        "loss_rate" => any_json(prop_oneof![Just(0.0), 0.0..0.3]),
        "poll" => table(definition("Polling")),
        "status" => table(definition("Reports")),
        "header" => quantity(0..4u32, "B"),
        "error_rate" => any_json(0.0..0.4),
        "p" => any_json(0.0..0.05),
        "loss_in_good" | "error_in_good" => any_json(0.0..0.02),
        "r" | "loss_in_bad" | "error_in_bad" => any_json(0.2..1.0),
        "every" => any_json(8..200),
        "positions" => any_json(vec(0u32..150, 0..8)),
        "reordering" => (0.0..0.1, 0..80u32)
            .prop_map(|(share, ms)| json!({ "share": share, "delay": format!("{ms} ms") }))
            .boxed(),
        "drop_list" => any_json(prop_oneof![Just(vec![]), vec(0u32..150, 0..8)]),
        "packet_size" => quantity(prop_oneof![Just(1500), 60..=1500u32], "B"),
        "initial_window" | "report_every" => any_json(1..=10),
        "max_window" | "initial_ssthresh" => any_json(1..=64),
        "min_rto" => any_json(select(vec!["200 ms", "1 s"])),
        "clock" => any_json(select(vec!["1 ms", "10 ms", "100 ms"])),
        "delayed_ack" => any_json(select(vec!["0 s", "100 ms", "200 ms"])),
        "size" => quantity(prop_oneof![1..3_000u32, 1..60_000u32, 1..=200_000u32], "B"),
        "request" => quantity(0..1_000u32, "B"),
        "shape" => any_json(1.05..3.0),
        "interval" => quantity(5..500u32, "ms"),
        "q_ref" => any_json(0.0..60.0),
        "queue_feedback" => any_json(prop_oneof![Just(None), (0.01..1.9).prop_map(Some)]),
        "times_ms" => any_json((vec(0..40u64, 1..30), 1..40u64).prop_map(|(mut gaps, last)| {
            gaps.push(last);
            let sums = gaps.iter().scan(0, |sum, gap| {
                *sum += gap;
                Some(*sum)
            });
            sums.collect::<Vec<_>>()
        })),
        "down" => table(definition("Opportunities")),
        "up" => optional(table(definition("Opportunities"))),
        "light" => optional(table(definition("LightTrace"))),
        "train" => any_json(1..=20),
        "gap" => quantity(0..300u32, "ms"),
        "opportunity" => quantity(prop_oneof![Just(1504), 200..4_000u32], "B"),
        "times" => any_json(vec(0..2_000u32, 12).prop_map(|gaps| {
            let sums = gaps.iter().scan(0, |sum, gap| {
                *sum += gap;
                Some(format!("{sum} ms"))
            });
            sums.collect::<Vec<_>>()
        })),
        "delays" => any_json(vec((0..90u32).prop_map(|ms| format!("{ms} ms")), 12)),
        "bytes" => any_json(vec((1..9_000u32).prop_map(|n| format!("{n} B")), 12)),
        _ => return hsdpa_or_lte_by_name(key),
    })
}

/// `None` if the type of the key suffices.
fn hsdpa_or_lte_by_name(key: &str) -> Option<BoxedStrategy<Value>> {
    Some(match key {
        "codes" => any_json(1..=15),
        "processes" => any_json(1..=8),
        "layers" => any_json(1..=4),
        "reordering_window" => any_json(1..=32),
        "t1" => quantity(prop_oneof![1..400u32, Just(10_000)], "ms"),
        "ack_error" | "nack_error" => any_json(prop_oneof![Just(0.0), 0.0..0.2]),
        "category" => any_json(1..=12),
        "qci" => any_json(5..=9),
        "prioritized_rate" => optional(quantity(1..5_000u32, "kbps")),
        "snr_db" | "mean_snr_db" => any_json(0.0..20.0),
        // The recorded SNR is nearly constant. Otherwise, without combining, a block whose retransmissions have the
        // period of the recording would meet the same bad value every time.
        "snrs_db" => {
            any_json((0.0..20.0, vec(0.0..0.3, 1..40)).prop_map(|(level, ripple): (f64, Vec<f64>)| {
                ripple.into_iter().map(|db| level + db).collect::<Vec<_>>()
            }))
        }
        // With the value `stop` the channel would end, and waiting packets would wait for ever.
        "at_end" => any_json(Just("loop")),
        "speed" => quantity(3..200u32, "km/h"),
        "radius" => quantity(500..3_000u32, "m"),
        "distance" => any_json((20..400u32).prop_map(|m| format!("{m} m"))),
        "shadowing" => any_json((0.0..3.0).prop_map(|db| json!({ "sigma_db": db }))),
        "hs_share" => any_json(0.5..=1.0),
        "rings" => any_json(0..=2),
        "level_dbm" => any_json(-110.0..-75.0),
        "error_db" => any_json(prop_oneof![Just(0.0), 0.0..0.3]),
        "cycle" | "period" => any_json(select(vec!["2 ms", "4 ms", "20 ms"])),
        "outer_loop" => optional(any_json(
            (0.05..0.4, 0.1..1.0, any::<bool>(), 3.0..30.0).prop_map(|(bler, db, shared, limit)| {
                json!({ "target_bler": bler, "step_db": db, "per_round_trip": shared, "limit_db": limit })
            }),
        )),
        "iub" => optional(table(definition("Iub"))),
        "handover" => optional(table(definition("Handover"))),
        "cells" => any_json(2..=7),
        "hysteresis_db" => any_json(0.0..3.0),
        "interruption" => quantity(0..300u32, "ms"),
        "room" => quantity(2_100..20_000u32, "B"),
        "memory" => any_json(0.9..0.999),
        "patience" => quantity(1..1_000u32, "ms"),
        "delay_budget" => optional(quantity(1..1_000u32, "ms")),
        "request_period" => any_json(select(vec!["1 ms", "5 ms", "10 ms", "80 ms"])),
        "request_error" => any_json(prop_oneof![Just(0.0), 0.0..0.5]),
        "request_again" => any_json(Just("320 ms")),
        "drx" => optional(table(definition("Drx"))),
        "on_duration" => any_json(select(vec!["4 ms", "10 ms"])),
        "inactivity" => any_json(select(vec!["1 ms", "100 ms"])),
        "retransmission" => any_json(select(vec!["1 ms", "8 ms"])),
        "short_cycle" => optional(any_json(select(vec!["20 ms", "40 ms"]))),
        "long_cycle" => any_json(select(vec!["40 ms", "320 ms"])),
        "short_cycles" => any_json(1..=16),
        "rrc" => any_json(select(vec![
            Value::Null,
            json!({ "inactivity": "100 ms", "paging_cycle": "320 ms" }),
            json!({ "inactivity": "2 s", "prach_config": 6, "core_delay": "1 ms" }),
        ])),
        "headroom" => any_json(select(vec![
            Value::Null,
            json!({}),
            json!({ "periodic": "10 ms", "prohibit": "0 s", "path_loss_change_db": 1 }),
        ])),
        "release_after" => any_json(select(vec![2, 3, 4, 8])),
        "first_grant" => quantity(16..1_000u32, "B"),
        "path_loss_share" => any_json(select(vec![0.8, 1.0])),
        _ => return None,
    })
}

/// A user with line of sight to another site, but not to the own, might never receive a block.
fn without_hidden_sites(mut cell: Value) -> Value {
    if ["uma", "umi", "rma"].iter().any(|name| cell["path_loss"][name].is_object()) {
        cell["interference"] = json!({ "fixed": { "level_dbm": -90.0 } });
    }
    cell
}

/// A probability, or a loss model.
fn loss() -> BoxedStrategy<Value> {
    let models = definition("LossSpec");
    let names = registered(models).expect("a registry of loss models");
    let model = select(names).prop_flat_map(|name| variant(models, name));
    prop_oneof![2 => Just(json!(0.0)), 2 => any_json(0.0..0.1), 1 => model].boxed()
}

/// By name, or else by type; `None` keeps the default.
pub fn values(key: &str, property: &'static Value) -> Option<BoxedStrategy<Value>> {
    // A recorded list of bit rates keeps its default, because random rates would exceed the limits of the cell. In
    // other tables, `rates` has numbers of codes.
    if key == "rates" && property["items"]["$ref"] == "#/$defs/Rate" {
        return None;
    }
    if let Some(strategy) = by_name(key) {
        return Some(strategy);
    }
    // The cell's table depends on the radio.
    if key == "cell" {
        return Some(table(target(property)?).prop_map(without_hidden_sites).boxed());
    }
    // The load of other cells is either a fraction of their power or a number of connections, depending on
    // the type of the key.
    if key == "load" {
        return Some(match property["$ref"].as_str()? {
            "#/$defs/Probability" => any_json(0.5..=1.0),
            _ => (0.0..0.3).prop_map(|n| json!({ "connections": n })).boxed(),
        });
    }
    // The keys `mean`, `value` and `sd` belong to distributions of sizes or of times, so the type of the
    // value decides the unit.
    if ["mean", "value", "sd"].contains(&key) {
        return match property["$ref"].as_str()? {
            "#/$defs/Size" => Some(quantity(1..30_000u32, "B")),
            _ => Some(quantity(1..3_000u32, "ms")),
        };
    }
    if property["type"] == "boolean" {
        return Some(any_json(any::<bool>()));
    }
    let definition = target(property)?;
    match (registered(definition), choices(definition)) {
        (Some(names), _) => Some(select(names).prop_flat_map(|name| variant(definition, name)).boxed()),
        (_, Some(names)) => Some(any_json(select(names))),
        _ => None,
    }
}

/// Keys that [`values`] does not support keep their defaults.
pub fn table(definition: &'static Value) -> BoxedStrategy<Value> {
    let properties = definition["properties"].as_object();
    let columns: Vec<_> = properties
        .into_iter()
        .flatten()
        .filter_map(|(key, property)| Some((Just(key.clone()), values(key, property)?)))
        .collect();
    columns.prop_map(|pairs| Value::Object(Map::from_iter(pairs))).boxed()
}

pub fn variant(registry: &'static Value, name: &str) -> BoxedStrategy<Value> {
    let of_name = |entry: &&'static Value| entry["title"] == name;
    let entry = registry["anyOf"].as_array().and_then(|entries| entries.iter().find(of_name));
    let params = entry.and_then(|entry| target(&entry["properties"][name]));
    let params = params.unwrap_or_else(|| panic!("the schema has no parameters of `{name}`"));
    let name = name.to_owned();
    table(params).prop_map(move |params| json!({ name.as_str(): without_conflicts(params) })).boxed()
}

pub fn registered_as(name: &str) -> Vec<&'static str> {
    registered(definition(name)).expect("a registry")
}

pub fn variant_of(registry: &str, name: &str) -> BoxedStrategy<Value> {
    variant(definition(registry), name)
}

/// A drop list replaces random loss, an error model is adapted to the radio's blocks, an RLC protocol
/// replaces the retransmissions of a DCH, there are antenna ports for all layers, phones on a plain uplink
/// are always connected, and configured grants recur with a period of the standard.
fn without_conflicts(mut params: Value) -> Value {
    let has_harq = !params["combining"].is_null();
    if !has_harq && !params["rlc"].is_null() && params["rlc"]["arq"].is_null() {
        params["max_transmissions"] = Value::Null;
    }
    if params["uplink"]["scheduled"].is_null() && !params["rrc"].is_null() {
        params["rrc"] = Value::Null;
    }
    if !params["release_after"].is_null() {
        let ms = params["interval"].as_str().and_then(|text| text.strip_suffix(" ms")?.parse::<usize>().ok());
        params["interval"] = json!(["10 ms", "20 ms", "40 ms", "160 ms"][ms.unwrap_or(0) % 4]);
    }
    if params["up"].is_null() && params["light"].is_object() {
        params["light"]["up"] = Value::Null;
    }
    if let Some(layers) = params["layers"].as_u64() {
        params["antenna_ports"] = json!(layers.next_power_of_two());
    }
    if let (Some(pdus), Some(model)) = (params["pdus_per_tti"].as_u64(), params.get_mut("errors")) {
        errors::fit(model, pdus);
    }
    if params["drop_list"].as_array().is_some_and(|list| !list.is_empty()) {
        params["loss"] = json!(0.0);
    }
    params
}

/// Null in three of four cases.
pub fn optional(table: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop_oneof![3 => Just(Value::Null), 1 => table].boxed()
}

#[test]
fn schema_lists_the_registries() {
    assert_eq!(registered(definition("RadioSpec")).unwrap(), RadioSpec::NAMES);
    assert!(choices(definition("Delivered")).is_some_and(|orders| orders.len() >= 2));
}
