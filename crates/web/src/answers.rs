//! Stopping rules and answers about replications whose tables come back as earlier answers of the module.

use std::collections::BTreeMap;

use nodeb_answers::answer::Answer;
use nodeb_answers::answer::compare::{self, Asked};
use nodeb_answers::answer::run::{self, Ran};
use nodeb_answers::causes::{More, Paths, SMALL, Share};
use nodeb_answers::compare::Side as Compared;
use nodeb_answers::digits::{Shown, Unit, shown};
use nodeb_answers::metrics::{ALL, Group, Metric, Row, Tables, metrics, summarize};
use nodeb_answers::stopping::{Precision, Rule, Sequential};
use nodeb_base::cause::Cause;
use nodeb_base::table::{Table, join};
use nodeb_sim::Scenario;
use nodeb_sim::metrics::tables as described;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Answered, Failure, Task};
use crate::frame;

/// From which answers are made.
pub const TABLES: [&str; 6] = ["flows", "bearers", "channels", "phones", "downlinks", "uplinks"];
/// Names of the scenarios on the page.
const NAMES: [&str; 2] = ["A", "B"];
/// Equivalence margin, as a share of the first scenario's mean.
const MARGIN: f64 = 0.02;

/// Places of earlier answers behind the request.
type Places = Vec<(usize, usize)>;

/// Question whether replications suffice.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Judge {
    /// Before the precision is judged.
    runs: usize,
    relative: f64,
    max_runs: usize,
    answers: Places,
}

impl Judge {
    pub(crate) fn judged(&self, earlier: &[u8]) -> Answered {
        let tables = tables(&self.answers, earlier)?;
        let tables = &&tables[..];
        let min_runs = self.runs.max(2).min(self.max_runs);
        let precision = Precision { relative: self.relative, min_runs, max_runs: self.max_runs };
        let mut rule = Sequential::new(precision);
        let runs = Group::new(tables, ALL).runs.len();
        let rates = ["application_bps", "received_bps"].map(|name| tables.numbers("flows", name));
        rule.take(runs, &rates.each_ref().map(|rate| &rate[..]));
        let stop = rule.stop().map(|stop| stop.runs);
        Ok(json!({ "stop": stop, "ahead": rule.ahead(), "expected": rule.expected() }))
    }
}

/// Replications of a scenario.
#[derive(Debug, Deserialize)]
pub struct Side {
    #[serde(flatten)]
    task: Task,
    first: u64,
    runs: u64,
    /// Number of the earlier answers that hold its tables.
    batches: usize,
    /// Time of each cause on the critical path of a transfer, ns, in several replications.
    paths: Vec<BTreeMap<String, u64>>,
}

/// Scenario with its tables.
struct Replicated {
    scenario: Scenario,
    seed: u64,
    runs: usize,
    tables: Vec<Table>,
    paths: Option<Paths>,
}

impl Replicated {
    fn read(side: &Side, places: &[(usize, usize)], earlier: &[u8]) -> Result<Self, Failure> {
        let (scenario, seed) = side.task.scenario()?;
        let mut tables = tables(places, earlier)?;
        for table in &mut tables {
            table.keep_runs(side.first + side.runs);
        }
        Ok(Self { scenario, seed, runs: side.runs as usize, tables, paths: paths(&side.paths) })
    }

    fn summary(&self, metrics: &[Metric]) -> Vec<Row> {
        let tables = &self.tables[..];
        summarize(&Group::of_all(&tables), metrics, self.scenario.duration.as_secs())
    }
}

/// What the page shows about one scenario, or about two and their difference.
pub(crate) fn answer(sides: &[Side], places: &[(usize, usize)], earlier: &[u8]) -> Answered {
    let metrics = metrics(&described());
    let mut places = places;
    let mut read = Vec::with_capacity(sides.len());
    for side in sides {
        let (own, rest) = places.split_at_checked(side.batches).ok_or_else(lost)?;
        read.push(Replicated::read(side, own, earlier)?);
        places = rest;
    }
    let compared = if read.len() == NAMES.len() { compare(&read, &metrics) } else { None };
    let sides: Vec<Value> = read.into_iter().map(|side| side.said(&metrics)).collect();
    let mut said = json!({ "sides": sides, "compared": compared });
    compose(&mut said);
    Ok(said)
}

/// Replaces each [`Shown`] by its texts.
fn compose(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(compose),
        Value::Object(fields) if fields.contains_key("number") => {
            let shown: Shown = serde_json::from_value(value.take()).unwrap_or_default();
            let (interval, in_one_cell) = (shown.interval(), shown.in_one_cell());
            *value = json!({ "value": shown.value(), "interval": interval, "in_one_cell": in_one_cell });
        }
        Value::Object(fields) => fields.values_mut().for_each(compose),
        _ => {}
    }
}

impl Replicated {
    fn said(self, metrics: &[Metric]) -> Value {
        let summary = self.summary(metrics);
        let causes = self.paths.as_ref().map(|paths| paths.bars("", SMALL));
        let scenario = serde_json::to_value(&self.scenario).unwrap_or_default();
        let answer = run::answer(&Ran {
            name: "",
            tables: &&self.tables[..],
            metrics,
            summary: &summary,
            runs: self.runs,
            seed: self.seed,
            stopping: "",
            loops: &run::loops(&scenario),
            why: self.paths.as_ref(),
            commands: false,
            next: None,
        });
        let mut said = json!(answer);
        said["causes"] = json!(causes);
        said["summary"] = summary.iter().map(|row| summary_row(row, metrics)).collect();
        said
    }
}

fn summary_row(row: &Row, metrics: &[Metric]) -> Value {
    let metric = metrics.iter().find(|metric| metric.name == row.metric);
    json!({
        "group": row.group,
        "metric": row.metric,
        "label": metric.map(|metric| &metric.label),
        "meaning": metric.map(|metric| &metric.meaning),
        "unit": row.unit,
        "mean": row.mean,
        "low": row.low,
        "high": row.high,
        "stdev": row.stdev,
        "n": row.runs,
        "shown": metric.map(|metric| shown(row.mean, row.low, row.high, Unit::new(&row.unit, metric.percent))),
    })
}

fn compare(read: &[Replicated], metrics: &[Metric]) -> Option<Answer> {
    let tables: Vec<&[Table]> = read.iter().map(|side| &side.tables[..]).collect();
    let groups: Vec<Vec<Group>> = tables.iter().map(|tables| Group::of_all(tables)).collect();
    let side = |at: usize| Compared {
        name: NAMES[at],
        tables: &tables[at],
        groups: &groups[at],
        duration_s: read[at].scenario.duration.as_secs(),
    };
    let comparison = nodeb_answers::compare::compare(&side(0), &[side(1)], metrics, read[0].seed, MARGIN);
    compare::answers(&comparison, &[], Asked::default()).pop()
}

/// Critical paths of a transfer of which only the time of each cause is known; `None` without any.
fn paths(paths: &[BTreeMap<String, u64>]) -> Option<Paths> {
    if paths.is_empty() {
        return None;
    }
    let occurs = |cause: &&Cause| paths.iter().any(|path| path.contains_key(cause.name()));
    let causes: Vec<Cause> = Cause::ALL.iter().filter(occurs).copied().collect();
    let share = |cause: &Cause| Share {
        cause: *cause,
        step: None,
        place: String::new(),
        site: None,
        round: None,
        after_loss: false,
    };
    let of_path = |path: &BTreeMap<String, u64>| -> Vec<u64> {
        causes.iter().map(|cause| path.get(cause.name()).copied().unwrap_or(0)).collect()
    };
    let ns = paths.iter().flat_map(of_path).collect();
    Some(Paths::new(causes.iter().map(share).collect(), ns, paths.len(), More::default()))
}

fn lost() -> Failure {
    Failure::internal(&"an earlier answer is missing")
}

/// Joins the tables of earlier answers, which are in order of the replications.
fn tables(places: &[(usize, usize)], earlier: &[u8]) -> Result<Vec<Table>, Failure> {
    let (mut tables, described) = (Vec::new(), described());
    for (begin, end) in places {
        let batch = earlier.get(*begin..*end).and_then(|frame| frame::tables(frame, &described));
        join(&mut tables, batch.ok_or_else(lost)?.into_iter().filter(|table| TABLES.contains(&table.name)));
    }
    Ok(tables)
}
