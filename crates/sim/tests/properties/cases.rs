use nodeb_base::check::{Check, Problem};
use nodeb_base::units::Duration;
use nodeb_radio::{ChannelKey, Meter, RadioSpec};
use nodeb_sim::scenario::UserGroup;
use nodeb_sim::{Scenario, scenario};
use nodeb_tcp::TcpSpec;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::keys::{any_json, definition, optional, registered_as, schema, table, target, values, variant};
use crate::effective::effective;

#[derive(Clone)]
pub struct Case {
    pub scenario: Scenario,
    /// Every transfer must be complete at the end of the run.
    pub completes: bool,
}

/// As the text of a scenario file, so that it can be run.
impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "completes = {}\n{}", self.completes, scenario::to_toml(&self.scenario).unwrap())
    }
}

/// Random parameters except those in `given`.
pub fn radio_with(name: &'static str, given: Value) -> impl Strategy<Value = Radio> {
    variant(definition("RadioSpec"), name).prop_filter_map(
        "parameters that exclude each other",
        move |mut json| {
            let params = json[name].as_object_mut().expect("a table of parameters");
            for (key, value) in given.as_object().into_iter().flatten() {
                if definition_of_radio(name).contains_key(key) {
                    params.insert(key.clone(), value.clone());
                }
            }
            // The RLC mode without a protocol of its own is called `um` on `hsdpa` and `lte`.
            if ["hsdpa", "lte"].contains(&name) && params["rlc"] == "arq" {
                params.insert("rlc".to_owned(), json!("um"));
            }
            let modes = params.get_mut("rlc").and_then(Value::as_object_mut);
            for mode in modes.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut) {
                for key in ["max_dat", "discard_timer", "t_reordering"] {
                    if let (Some(value), Some(given)) = (mode.get_mut(key), given.get(key)) {
                        *value = given.clone();
                    }
                }
                // Sequence numbers of RLC, whose key is also one of PDCP.
                if let (Some(value), Some(given)) = (mode.get_mut("sn_length"), given.get("um_sn_length")) {
                    *value = given.clone();
                }
            }
            // A scheduled uplink always limits the transmissions of a block.
            let uplink =
                params.get_mut("uplink").and_then(|uplink| uplink.get_mut("scheduled")?.as_object_mut());
            if let Some(uplink) = uplink {
                uplink.retain(|_, value| !value.is_null());
                // Phones must be heard wherever they are: blocks that all fail are sent until the run ends.
                uplink.insert("power_dbm".to_owned(), json!(40.0));
            }
            // Without segmentation a PDU larger than every block would wait for ever, so PDUs are small.
            if params.get("segmentation") == Some(&json!(false)) && given.get("pdu_size").is_none() {
                params.insert("pdu_size".to_owned(), json!("40 B"));
            }
            params.retain(|_, value| !value.is_null());
            let (mut spec, mut problems) = read_radio(&json);
            if problems.iter().all(|problem| problem.message.starts_with("this has no effect")) {
                for problem in &problems {
                    remove(&mut json, &problem.path);
                }
                (spec, problems) = read_radio(&json);
            }
            problems.is_empty().then(|| Radio { spec, json: json[name].clone() })
        },
    )
}

fn read_radio(json: &Value) -> (RadioSpec, Vec<Problem>) {
    let spec: RadioSpec = serde_json::from_value(json.clone()).expect("a valid radio");
    let mut check = Check::default();
    spec.check(&mut check);
    (spec, check.into_problems())
}

fn remove(json: &mut Value, path: &[String]) {
    let (key, tables) = path.split_last().expect("a key");
    let table = tables.iter().try_fold(json, |table, key| table.get_mut(key));
    table.and_then(Value::as_object_mut).expect("a table").remove(key);
}

fn definition_of_radio(name: &str) -> &'static Map<String, Value> {
    let entries = definition("RadioSpec")["anyOf"].as_array().expect("alternatives");
    let entry = entries.iter().find(|entry| entry["title"] == name).expect("a registered radio");
    target(&entry["properties"][name]).expect("parameters")["properties"].as_object().expect("properties")
}

pub fn has(name: &str, key: &str) -> bool {
    definition_of_radio(name).contains_key(key)
}

/// With its parameters as JSON.
#[derive(Clone, Debug)]
pub struct Radio {
    pub spec: RadioSpec,
    pub json: Value,
}

impl Radio {
    pub fn number(&self, key: &str) -> Option<u64> {
        self.json[key].as_u64()
    }

    pub fn pdu_bytes(&self) -> u64 {
        self.json["pdu_size"].as_str().map_or(1, |size| size.parse::<nodeb_base::units::Size>().unwrap().0)
    }

    pub fn in_sequence(&self) -> bool {
        let held_back = !self.json["reordering"].is_null();
        !held_back && self.json["delivery"].as_str().is_none_or(|order| order == "in_sequence")
    }

    /// It may give up so many blocks that TCP makes no progress.
    fn is_hopeless(&self, packet_bytes: u64) -> bool {
        let (am, um) = (&self.json["rlc"]["am"], &self.json["rlc"]["um"]);
        if [&am["max_dat"], &am["discard_timer"], &um["discard_timer"]].iter().any(|limit| !limit.is_null()) {
            return true;
        }
        if !self.json["discard_timer"].is_null() {
            return true;
        }
        if self.spec.parts().channel == Some(ChannelKey::Ue) {
            let resets = self.json["handover"].is_object();
            let given_up = self.number("max_transmissions").is_some() || self.json["t1"] != "10000 ms";
            let drops = given_up || resets;
            return am.is_null() && (drops || self.json["nack_error"] != 0.0);
        }
        self.number("max_transmissions").is_some_and(|most| {
            // With an error model, all transmissions of a block may fail in one burst of errors, so a limit
            // on transmissions makes the radio hopeless.
            if !self.json["errors"].is_null() {
                return true;
            }
            let blocks = packet_bytes.div_ceil(self.pdu_bytes()) as f64;
            let bler = self.spec.parts().tti.and_then(|tti| tti.bler).map_or(0.0, |bler| bler.0);
            blocks * bler.powi(most as i32) > 0.15
        })
    }
}

fn tcp_json() -> BoxedStrategy<Value> {
    values("tcp", &schema()["properties"]["tcp"]).expect("a registry of TCP families")
}

pub fn tcp() -> impl Strategy<Value = TcpSpec> {
    tcp_json().prop_filter_map("parameters that exclude each other", |tcp| {
        let users = json!([{ "traffic": { "ftp": { "size": "1 B" } } }]);
        let scenario = scenario::from_json(&json!({ "tcp": tcp, "users": users }).to_string());
        Some(scenario.ok()?.tcp)
    })
}

/// At least one is above 0.
pub fn ci() -> impl Strategy<Value = Vec<f64>> {
    (0.1..1.0, vec(prop_oneof![Just(0.0), 0.0..1.0], 0..6)).prop_map(|(first, mut rest)| {
        rest.insert(rest.len() / 2, first);
        rest
    })
}

/// Core network, proxy and Snoop agent.
fn boxes() -> impl Strategy<Value = [Value; 3]> {
    let proxy = values("proxy", &schema()["properties"]["proxy"]).expect("a registry of proxies");
    let link = || table(definition("Wired"));
    let core = prop_oneof![link(), any_json(vec(link(), 1..=3))].boxed();
    [optional(core), optional(proxy), optional(table(definition("Snoop")))]
}

/// Categories and channels of phones.
pub fn ue() -> BoxedStrategy<Value> {
    table(definition("Ue"))
}

/// `traffic`, `upload`, or both.
fn directions() -> impl Strategy<Value = [Value; 2]> {
    let traffic = || values("traffic", &definition("UserGroup")["properties"]["traffic"]).expect("traffic");
    let registry = definition("TrafficSpec");
    // Recorded traffic and packets from outside cannot be uploads.
    let names = registered_as("TrafficSpec").into_iter();
    let names: Vec<_> = names.filter(|name| !["replay", "external"].contains(name)).collect();
    let upload = move || select(names.clone()).prop_flat_map(move |name| variant(registry, name));
    prop_oneof![
        2 => traffic().prop_map(|traffic| [traffic, Value::Null]),
        1 => upload().prop_map(|upload| [Value::Null, upload]),
        1 => (traffic(), upload()).prop_map(|(traffic, upload)| [traffic, upload]),
    ]
}

fn group(channel: Option<ChannelKey>) -> impl Strategy<Value = Value> {
    let (no_ue, no_ci) = (Just(Value::Null).boxed(), Just(vec![]).boxed());
    let (ci, ue) = match channel {
        None => (no_ci, no_ue),
        Some(ChannelKey::Ci) => (prop_oneof![Just(vec![]), ci()].boxed(), no_ue),
        Some(ChannelKey::Ue) => (no_ci, ue()),
    };
    let bearer = || match channel {
        Some(ChannelKey::Ue) => optional(table(definition("Bearer"))),
        _ => Just(Value::Null).boxed(),
    };
    let options = (optional(tcp_json()), bearer(), bearer());
    (1..=2, 0..3_000u32, 0..3_000u32, directions(), ci, ue, options).prop_map(
        |(count, start, stagger, [traffic, upload], ci, ue, (tcp, bearer, upload_bearer))| {
            let (start, stagger) = (format!("{start} ms"), format!("{stagger} us"));
            json!({
                "count": count, "start": start, "stagger": stagger, "traffic": traffic, "upload": upload, "ci": ci,
                "tcp": tcp, "ue": ue, "bearer": bearer, "upload_bearer": upload_bearer,
            })
        },
    )
}

/// Every series that the radio can record.
fn all_series(radio: &RadioSpec) -> Value {
    let switches = definition("Record")["properties"].as_object().expect("switches");
    let parts = radio.parts();
    let given = |key: &str| match key {
        "scheduler" => parts.tti.is_some(),
        "bandwidth" => parts.meter == Some(Meter::Series),
        _ => true,
    };
    Value::Object(switches.keys().map(|key| (key.clone(), json!(given(key)))).collect())
}

/// With up to 6 users.
pub fn scenarios(name: &'static str) -> impl Strategy<Value = Case> {
    scenarios_with(name, json!({}))
}

/// With up to 6 users, and the radio's parameters in `given`.
pub fn scenarios_with(name: &'static str, given: Value) -> impl Strategy<Value = Case> {
    radio_with(name, given).prop_flat_map(move |radio| {
        let users = vec(group(radio.spec.parts().channel), 1..=3);
        let tables = ["Wired", "Uplink"].map(|name| table(definition(name)));
        let radio = Just(radio);
        (radio, tables, boxes(), tcp_json(), users, any::<u32>()).prop_filter_map(
            "parameters that exclude each other",
            move |(radio, [wired, uplink], [core, proxy, snoop], tcp, mut users, seed)| {
                let splits = !proxy.is_null() || !snoop.is_null();
                for (i, user) in users.iter_mut().enumerate() {
                    user["name"] = json!(format!("group {i}"));
                    // Proxies and Snoop agents handle downloads only.
                    let upload = if splits { user["upload"].take() } else { Value::Null };
                    if splits && user["traffic"].is_null() {
                        user["traffic"] = upload;
                    }
                    if name != "lte" || user["traffic"].is_null() || user["upload"].is_null() {
                        user["upload_bearer"] = Value::Null;
                    }
                }
                let text = json!({
                    "seed": seed,
                    "duration": "50000 s",
                    "wired": wired,
                    "core": core,
                    "proxy": proxy,
                    "snoop": snoop,
                    "uplink": uplink,
                    "radio": { name: radio.json },
                    "tcp": tcp,
                    "users": users,
                    "record": all_series(&radio.spec),
                });
                let mut scenario = effective(text).ok()?;
                if scenario.external_users().is_some() {
                    return None;
                }
                let ends = |group: &UserGroup| {
                    let of = [&group.traffic, &group.upload];
                    of.into_iter().flatten().all(|traffic| traffic.total_bytes().is_some())
                };
                let completes = !radio.is_hopeless(1500) && scenario.users.iter().all(ends);
                if !completes {
                    scenario.duration = Duration::from_secs(30);
                }
                Some(Case { scenario, completes })
            },
        )
    })
}

pub fn any_scenario() -> impl Strategy<Value = Case> {
    select(RadioSpec::NAMES).prop_flat_map(scenarios)
}

/// None is always rejected because of conflicting parameters.
#[test]
fn random_scenarios_contain_every_variant() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut met = std::collections::BTreeSet::new();
    for name in RadioSpec::NAMES {
        for _ in 0..150 {
            let case = scenarios(name).new_tree(&mut runner).expect("a scenario").current();
            met.extend(
                scenario::to_toml(&case.scenario)
                    .unwrap()
                    .split(['.', '[', ']', '"', '\n'])
                    .map(str::to_owned),
            );
        }
    }
    // The variant `external` is never generated, as only worlds that are driven from outside support it.
    let wanted = |name: &str| name != "external" && !met.contains(name);
    let missing: Vec<_> = Scenario::registry().into_iter().filter(|(_, name, _)| wanted(name)).collect();
    assert!(missing.is_empty(), "never generated: {missing:?}");
}
