use std::collections::BTreeMap;

use nodeb_base::table::{Table, join};
use nodeb_base::units::Time;
use nodeb_sim::metrics::RunResult;
use nodeb_sim::world::run_with_listener;
use nodeb_sim::{Control, Scenario, scenario};
use nodeb_timeline::Timeline;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::about::about;
use crate::answers::{self, Judge, Side};
use crate::frame::{self, Arrays};
use crate::host::report_progress;
use crate::over_time::{Options, OverTime};
use crate::reading::read;

const FILE: &str = "scenario";
/// A page draws no more in reasonable time.
const MAX_EVENTS: u64 = 400_000;
const MAX_TEXT: usize = 4_000_000;

/// Request of the page.
#[derive(Debug, Deserialize)]
#[serde(tag = "call", rename_all = "camelCase")]
pub enum Call {
    About,
    Read {
        text: String,
    },
    Run {
        #[serde(flatten)]
        task: Task,
        #[serde(default, rename = "overTime")]
        over_time: Option<Options>,
    },
    Replicate {
        #[serde(flatten)]
        task: Task,
        runs: u64,
    },
    Judge(Judge),
    Answer {
        sides: Vec<Side>,
        answers: Vec<(usize, usize)>,
    },
    Explain {
        #[serde(flatten)]
        task: Task,
        #[serde(default)]
        user: u64,
        #[serde(default)]
        transfer: u64,
    },
    Life {
        #[serde(flatten)]
        task: Task,
        #[serde(default, rename = "fromS")]
        from_s: f64,
        #[serde(default, rename = "toS")]
        to_s: Option<f64>,
        /// Number of the only user;
        #[serde(default)]
        user: Option<u32>,
        /// `None` for 400 000.
        #[serde(default)]
        most: Option<u64>,
    },
}

/// Replication to simulate: the scenario, the seed and the number of the replication.
#[derive(Debug, Deserialize)]
pub struct Task {
    pub text: String,
    #[serde(default)]
    pub seed: Option<u64>,
    /// Number of the replication, or of the first one if there are several; 0 by default.
    #[serde(default)]
    pub run: u64,
}

/// One of `ErrorKind` in the page's `api.ts`.
#[derive(Debug)]
pub struct Failure {
    kind: &'static str,
    message: String,
}

impl Failure {
    pub fn internal(message: &impl std::fmt::Display) -> Self {
        Self { kind: "internal", message: format!("the request is invalid: {message}") }
    }

    pub fn request(message: &impl ToString) -> Self {
        Self { kind: "request", message: message.to_string() }
    }
}

impl From<nodeb_sim::Error> for Failure {
    fn from(error: nodeb_sim::Error) -> Self {
        let kind = match error {
            nodeb_sim::Error::Scenario(_) => "scenario",
            nodeb_sim::Error::Cancelled => "cancelled",
        };
        Self { kind, message: error.to_string() }
    }
}

impl From<nodeb_explain::Error> for Failure {
    fn from(error: nodeb_explain::Error) -> Self {
        match error {
            nodeb_explain::Error::Run(error) => error.into(),
            other => Self::request(&other),
        }
    }
}

impl From<nodeb_timeline::Error> for Failure {
    fn from(error: nodeb_timeline::Error) -> Self {
        match error {
            nodeb_timeline::Error::Run(error) => error.into(),
            other => Self::request(&other),
        }
    }
}

pub type Answered = Result<Value, Failure>;

/// The request and the answer are in the form of [`frame`].
pub fn answer(request: &[u8]) -> Vec<u8> {
    let mut arrays = Arrays::default();
    let (head, earlier) = frame::split(request).unwrap_or_default();
    let found = match serde_json::from_slice(head) {
        Ok(call) => carry_out(call, earlier, &mut arrays),
        Err(error) => Err(Failure::internal(&error)),
    };
    match found {
        Ok(result) => arrays.answer(&json!({ "result": result })),
        Err(Failure { kind, message }) => {
            Arrays::default().answer(&json!({ "error": kind, "message": message }))
        }
    }
}

fn carry_out(call: Call, earlier: &[u8], arrays: &mut Arrays) -> Answered {
    match call {
        Call::About => Ok(about()),
        Call::Read { text } => {
            check_size(&text)?;
            Ok(read(&text))
        }
        Call::Run { task, over_time } => run(&task, over_time.as_ref(), arrays),
        Call::Replicate { task, runs } => replicate(&task, runs, arrays),
        Call::Judge(judge) => judge.judged(earlier),
        Call::Answer { sides, answers } => answers::answer(&sides, &answers, earlier),
        Call::Explain { task, user, transfer } => {
            let (scenario, seed) = task.scenario()?;
            let path = nodeb_explain::explain(&scenario, seed, task.run, &control(), (user, transfer))?;
            Ok(json!({
                "sums": sums(&path),
                "transfer": arrays.table(&path.transfer()),
                "busy": arrays.table(&path.busy()),
                "spans": arrays.table(&path.spans()),
            }))
        }
        Call::Life { task, from_s, to_s, user, most } => {
            let options = nodeb_timeline::Options {
                from: Time(nanoseconds(from_s)?),
                to: to_s.map_or(Ok(Time(u64::MAX)), |to| nanoseconds(to).map(Time))?,
                user,
                most: most.unwrap_or(MAX_EVENTS),
            };
            life(&task, &options, arrays)
        }
    }
}

fn nanoseconds(seconds: f64) -> Result<u64, Failure> {
    if (0.0..=1e10).contains(&seconds) {
        Ok((seconds * 1e9).round() as u64)
    } else {
        Err(Failure::request(&format!("{seconds} s is not a time of a run; expected 0 s to 1e10 s")))
    }
}

fn check_size(text: &str) -> Result<(), Failure> {
    if text.len() <= MAX_TEXT {
        return Ok(());
    }
    Err(Failure::request(&format!("the scenario has {} bytes; expected at most {MAX_TEXT}", text.len())))
}

fn control() -> Control {
    Control::with_observer(report_progress)
}

impl Task {
    pub(crate) fn scenario(&self) -> Result<(Scenario, u64), Failure> {
        check_size(&self.text)?;
        let scenario = scenario::from_toml(&self.text, FILE, &[])?;
        let seed = self.seed.unwrap_or(scenario.seed);
        Ok((scenario, seed))
    }
}

/// Time of each cause on the path, ns.
fn sums(path: &nodeb_explain::Path) -> BTreeMap<&'static str, u64> {
    let mut sums = BTreeMap::new();
    for span in &path.spans {
        *sums.entry(span.cause.name()).or_insert(0) += span.duration().0;
    }
    sums
}

fn run(task: &Task, over_time: Option<&Options>, arrays: &mut Arrays) -> Answered {
    let (scenario, seed) = task.scenario()?;
    let (result, over_time) = match over_time {
        None => (nodeb_sim::run(&scenario, seed, task.run, &control())?, None),
        Some(options) => {
            let mut listener =
                OverTime::new(&scenario, options).map_err(|message| Failure::request(&message))?;
            let result = run_with_listener(&scenario, seed, task.run, &control(), &mut listener)?;
            (result, Some(listener))
        }
    };
    let tables = arrays.tables(&result.tables(task.run, &scenario));
    let over_time = over_time.map(|listener| {
        let (interval_s, table) = listener.into_table(result.end_s);
        json!({ "intervalS": interval_s, "table": arrays.table(&table) })
    });
    Ok(json!({ "tables": tables, "endS": result.end_s, "events": result.events, "overTime": over_time }))
}

fn replicate(task: &Task, runs: u64, arrays: &mut Arrays) -> Answered {
    let (scenario, seed) = task.scenario()?;
    let mut tables: Vec<Table> = Vec::new();
    for run in task.run..task.run.saturating_add(runs) {
        let result: RunResult = nodeb_sim::run(&scenario, seed, run, &control())?;
        let found = result.tables(run, &scenario);
        join(&mut tables, found.into_iter().filter(|table| answers::TABLES.contains(&table.name)));
    }
    Ok(json!({ "tables": arrays.tables(&tables) }))
}

fn life(task: &Task, options: &nodeb_timeline::Options, arrays: &mut Arrays) -> Answered {
    let (scenario, seed) = task.scenario()?;
    let found = nodeb_timeline::run(&scenario, seed, task.run, &control(), options)?;
    let Timeline { tables, names, places, until, .. } = found;
    let names: serde_json::Map<String, Value> =
        names.into_iter().map(|(column, names)| (column.to_owned(), json!(names))).collect();
    let hops: Vec<Value> = places
        .hops
        .into_iter()
        .map(|hop| json!({ "name": hop.name, "from": hop.from, "to": hop.to }))
        .collect();
    Ok(json!({
        "tables": arrays.tables(&tables),
        "names": names,
        "lanes": places.lanes,
        "places": hops,
        "nodeB": places.node_b,
        "untilS": until.as_secs(),
    }))
}
